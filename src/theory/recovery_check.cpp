#include "pibinn/recovery_check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/names.hpp"
#include "core/numbers.hpp"
#include "data/json_fields.hpp"
#include "pibinn/calibration.hpp"
#include "pibinn/certificate.hpp"
#include "pibinn/error.hpp"
#include "theory/binomial_tail.hpp"
#include "theory/certificate_json.hpp"
#include "theory/row_measures.hpp"

namespace pibinn {

namespace {

constexpr NameTable<CheckMeasure, 4> kMeasures{
    {{CheckMeasure::relative_residual, "relative residual"},
     {CheckMeasure::residual, "residual"},
     {CheckMeasure::length, "length"},
     {CheckMeasure::nonzeros, "nonzeros"}}};
// A certificate is proven of real numbers; the network that recovers has float32.
constexpr double kRoundingSlack = 1e-4;
constexpr std::size_t kRowsSaid = 5;

/// How far the measure of a part is beyond what a limit allows; at most 0 where it is not.
double excess(const CheckLimit& limit, const RowMeasures& row) {
    const double slack = limit.proven ? kRoundingSlack : 0;
    switch (limit.measure) {
        case CheckMeasure::relative_residual:
            return row.relative_residual().value_or(0) - limit.most;
        case CheckMeasure::residual:
            return row.residual.value_or(0) - limit.most * (1 + slack) - slack * row.measured;
        case CheckMeasure::length:
            return row.length - limit.most * (1 + slack);
        case CheckMeasure::nonzeros:
            return static_cast<double>(row.nonzeros) - limit.most;
    }
    return 0;
}

bool proves_errors(const std::string& verdict) {
    return verdict == to_string(Verdict::guaranteed) || verdict == to_string(Verdict::on_supports);
}

/// ||A_S|| over the supports that the bound of an attached certificate speaks of; nothing where an
/// older one does not tell.
std::optional<double> norm_on_supports(const nlohmann::json& json, const JsonFields& fields) {
    const auto source = json.find("source");
    const bool of_a_size = source != json.end() && source->contains("size");
    const bool over_all = of_a_size && !fields.flag("sampled");
    if (!over_all) return fields.number("operator_norm");
    if (!fields.has("operator_norm_all")) return {};
    return fields.number("operator_norm_all");
}

}  // namespace

std::string_view to_string(CheckMeasure measure) { return name_of(kMeasures, measure); }

RecoveryCheck::RecoveryCheck(const Model& model) : model_(model) {
    take_calibration();
    take_certificate();
    if (!limits_.empty()) return;
    const std::string hint = "keep a calibration in the model by attach_calibration";
    if (unusable_.empty()) fail_usage("the model carries no calibration and no certificate", hint);
    fail_usage(fmt::format("{}", fmt::join(unusable_, ", and ")), hint);
}

void RecoveryCheck::take_calibration() {
    const auto attached = attached_calibration(model_);
    if (!attached) return;
    if (!attached->matches) {
        unusable_.emplace_back("the attached calibration was made of other weights");
        return;
    }
    for (const auto& [measure, most] :
         {std::pair{CheckMeasure::relative_residual, attached->residual},
          {CheckMeasure::length, attached->length},
          {CheckMeasure::nonzeros, attached->nonzeros}})
        if (most)
            limits_.push_back(
                {measure, *most, false, 1 - attached->coverage, attached->confidence});
}

void RecoveryCheck::take_certificate() {
    const auto attached = attached_certificate(model_);
    if (!attached) return;
    if (!attached->matches) {
        unusable_.emplace_back("the attached certificate was made of other weights");
        return;
    }
    if (!proves_errors(attached->verdict)) {
        unusable_.emplace_back("the attached certificate proves no limit of the error");
        return;
    }
    if (model_.spec.polish > 0) {
        unusable_.emplace_back("the attached certificate does not cover the model's polish");
        return;
    }
    const nlohmann::json json =
        parse_json_object(model_.metadata.at(kCertificateKey), kCertificateKey);
    const JsonFields fields(json, kCertificateKey);
    const auto bound = json.find("bound");
    if (bound == json.end() || !bound->is_array() || bound->empty() || !bound->back().is_number())
        fail_input(fmt::format("{} has no error bound", kCertificateKey),
                   "make the certificate again");
    const double error = bound->back().get<double>();
    if (const auto norm = norm_on_supports(json, fields))
        limits_.push_back(
            {CheckMeasure::residual, *norm * error + fields.number("noise"), true, 0, 1});
    limits_.push_back({CheckMeasure::length, fields.number("B") + error, true, 0, 1});
    limits_.push_back({CheckMeasure::nonzeros,
                       static_cast<double>(fields.whole("support_size", 1, model_.op.cols())), true,
                       0, 1});
}

void RecoveryCheck::add(ConstBatchView y, ConstBatchView coefficients, ThreadPool& pool) {
    // A calibration speaks of whole signals, a certificate of their parts in the blocks.
    std::vector<RowPart> parts{whole_row(model_)};
    const auto proven = [](const CheckLimit& limit) { return limit.proven; };
    if (std::any_of(limits_.begin(), limits_.end(), proven))
        for (const RowPart& part : parts_of_row(model_)) parts.push_back(part);
    const Matrix<RowMeasures> rows = measure_rows(model_, y, coefficients, parts, pool);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
        const auto own = rows.row(i);
        bool outside = false;
        for (CheckLimit& limit : limits_) {
            const auto beyond = [&](const RowMeasures& part) { return excess(limit, part) > 0; };
            const bool exceeded = limit.proven ? std::any_of(own.begin() + 1, own.end(), beyond)
                                               : beyond(own.front());
            limit.exceeded += exceeded;
            outside = outside || exceeded;
        }
        if (outside && rows_.size() < kMostRows) rows_.push_back(signals_ + i);
        outside_ += outside;
    }
    signals_ += rows.rows();
}

void RecoveryCheck::append(const std::string& json) {
    const nlohmann::json other = nlohmann::json::parse(json);
    ensure(other.at("limits").size() == limits_.size(), "a check of the same model");
    for (std::size_t i = 0; i < limits_.size(); ++i)
        limits_[i].exceeded += other["limits"][i].at("exceeded").get<std::size_t>();
    for (const nlohmann::json& row : other.at("rows"))
        if (rows_.size() < kMostRows) rows_.push_back(signals_ + row.get<std::size_t>());
    outside_ += other.at("outside").get<std::size_t>();
    signals_ += other.at("signals").get<std::size_t>();
}

bool RecoveryCheck::another_kind() const {
    return std::any_of(limits_.begin(), limits_.end(), [&](const CheckLimit& limit) {
        if (limit.exceeded == 0) return false;
        return limit.proven ||
               binomial_tail(signals_, limit.share, limit.exceeded) <= 1 - limit.confidence;
    });
}

std::string RecoveryCheck::text() const {
    if (outside_ == 0)
        return fmt::format("all {} signals are within the limits that the model carries",
                           grouped(signals_));
    std::vector<std::string> beyond;
    bool proven = false;
    double share = 0;
    for (const CheckLimit& limit : limits_) {
        if (limit.exceeded == 0) continue;
        proven = proven || limit.proven;
        share = std::max(share, limit.share);
        beyond.push_back(fmt::format("{} over {:.4g} ({})", to_string(limit.measure), limit.most,
                                     grouped(limit.exceeded)));
    }
    const std::vector<std::size_t> first(
        rows_.begin(),
        rows_.begin() + static_cast<std::ptrdiff_t>(std::min(kRowsSaid, rows_.size())));
    std::string text = fmt::format(
        "{} of {} signals leave the class of the model's {}: {}; rows {}{}", grouped(outside_),
        grouped(signals_), proven ? "certificate" : "calibration", fmt::join(beyond, ", "),
        fmt::join(first, ", "), outside_ > first.size() ? ", ..." : "");
    if (proven) return text + "; what it guarantees does not hold for these";
    return text + fmt::format("; at most {:.4g} % of its kind exceed each limit: {}", 100 * share,
                              another_kind() ? "these measurements are of another kind"
                                             : "no more than chance allows");
}

std::string RecoveryCheck::json() const {
    nlohmann::ordered_json limits = nlohmann::ordered_json::array();
    for (const CheckLimit& limit : limits_)
        limits.push_back({{"measure", to_string(limit.measure)},
                          {"most", limit.most},
                          {"from", limit.proven ? "certificate" : "calibration"},
                          {"share", limit.share},
                          {"exceeded", limit.exceeded}});
    return nlohmann::ordered_json{{"signals", signals_},
                                  {"outside", outside_},
                                  {"another_kind", another_kind()},
                                  {"rows", rows_},
                                  {"limits", limits}}
        .dump(2);
}

}  // namespace pibinn
