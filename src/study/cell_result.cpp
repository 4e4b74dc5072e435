#include "study/cell_result.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/file.hpp"
#include "core/names.hpp"
#include "data/json_fields.hpp"
#include "pibinn/certificate.hpp"
#include "pibinn/error.hpp"
#include "pibinn/sparsity.hpp"

namespace pibinn::study {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kSeconds = "seconds_";

constexpr std::array kQuantities{
    Quantity{"train_nmse_db", "train nmse dB", 2, QuantityRule::decibels},
    Quantity{"test_nmse_db", "test nmse dB", 2, QuantityRule::decibels},
    Quantity{"gap_db", "gap dB", 3},
    Quantity{"train_energy_nmse_db", "train energy nmse dB", 2, QuantityRule::decibels},
    Quantity{"test_energy_nmse_db", "test energy nmse dB", 2, QuantityRule::decibels},
    Quantity{"test_median_nmse_db", "median dB", 2, QuantityRule::decibels},
    Quantity{"exact_percent", "exact %", 1},
    Quantity{"links", "links", 0, QuantityRule::equal},
    Quantity{"bits_paper", "bits (paper's count)", 0, QuantityRule::equal},
    Quantity{"bits_total", "bits (all stored)", 0},
    Quantity{"bits_per_weight", "bits per weight of the dense network", 6},
    Quantity{"scale", "scale", 4, QuantityRule::share},
    Quantity{"zeros_percent", "zeros %", 1, QuantityRule::share},
    Quantity{"overlap_percent", "overlap %", 1, QuantityRule::share},
    Quantity{"alpha", "alpha", 3},
    Quantity{"largest_f", "largest f_k", 3},
    Quantity{"proven_db", "proven dB of the longest signal", 1},
    Quantity{"rises_db", "rises from layer to layer dB", 2},
    Quantity{"seconds", "seconds in all", 1, QuantityRule::time},
    Quantity{"seconds_pretrain", "seconds of pretrain", 1, QuantityRule::time},
    Quantity{"seconds_stage1", "of stage 1", 1, QuantityRule::time},
    Quantity{"seconds_stage2", "of stage 2", 1, QuantityRule::time},
};

std::string stage_list(const Recipe& recipe) {
    std::string words;
    for (const Stage& stage : recipe.stages)
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", stage.name, stage.epochs);
    return words;
}

/// What a network without the structure would have: the paper's 3 billion.
double dense_weights(const Model& model, std::size_t m, std::size_t n) {
    const double layers = static_cast<double>(model.spec.layers);
    const double square = static_cast<double>(n) * static_cast<double>(n);
    const double product = static_cast<double>(m) * static_cast<double>(n);
    return model.spec.architecture == Architecture::fcn ? product + (layers - 1) * square
                                                        : layers * product;
}

void add_terms(CellResult& result, const SeedRun& seed, std::vector<std::uint32_t> support,
               ThreadPool& pool) {
    CertificateInput input;
    input.support = std::move(support);
    input.samples = 1;  // the terms need no signals
    const Certificate c = certify(seed.result.model, input, {}, pool);
    double largest = 0;
    for (const LayerTerms& layer : c.terms.layers) {
        largest = std::max(largest, layer.f);
        result.curves["f"].push_back(layer.f);
        result.curves["f_mu_s"].push_back(layer.f + layer.mu * static_cast<double>(c.terms.s));
    }
    result.numbers["largest_f"] = largest;
    result.numbers["alpha"] = c.alpha;
}

ordered_json finite(double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

}  // namespace

std::optional<double> CellResult::number(const std::string& name) const {
    const auto found = numbers.find(name);
    if (found == numbers.end()) return {};
    return found->second;
}

const std::vector<double>* CellResult::curve(const std::string& name) const {
    const auto found = curves.find(name);
    return found == curves.end() ? nullptr : &found->second;
}

std::span<const Quantity> quantities() { return kQuantities; }

Quantity find_quantity(std::string_view name, std::string_view where) {
    for (const Quantity& quantity : kQuantities)
        if (quantity.name == name) return quantity;
    std::vector<std::string_view> names;
    for (const Quantity& quantity : kQuantities) names.push_back(quantity.name);
    fail_usage(fmt::format("{}: unknown quantity '{}'", where, name),
               hint_for_unknown(name, names));
}

std::optional<Spread> over_cells(std::span<const CellResult* const> cells,
                                 const std::string& quantity) {
    std::vector<double> values;
    for (const CellResult* cell : cells) {
        const std::optional<double> value = cell->number(quantity);
        if (!value) return {};
        values.push_back(*value);
    }
    if (values.empty()) return {};
    return spread(values);
}

std::vector<double> mean_curve(std::span<const CellResult* const> cells, const std::string& curve) {
    std::vector<double> mean;
    for (const CellResult* cell : cells) {
        const std::vector<double>* values = cell->curve(curve);
        if (!values) return {};
        mean.resize(std::max(mean.size(), values->size()));
        for (std::size_t k = 0; k < values->size(); ++k)
            mean[k] += (*values)[k] / static_cast<double>(cells.size());
    }
    return mean;
}

CellResult digest(const TrainingRun& run, const SeedRun& seed, ThreadPool& pool) {
    const TrainResult& trained = seed.result;
    const Model& model = trained.model;
    const Operator& physics = seed.problem->op;
    CellResult result;
    result.stages = stage_list(run.train.recipe);
    auto& n = result.numbers;
    n["train_nmse_db"] = trained.train.nmse_db;
    n["test_nmse_db"] = trained.test.nmse_db;
    n["gap_db"] = std::abs(trained.train.nmse_db - trained.test.nmse_db);
    n["train_energy_nmse_db"] = trained.train.energy_nmse_db;
    n["test_energy_nmse_db"] = trained.test.energy_nmse_db;
    n["test_median_nmse_db"] = trained.test.median_nmse_db;
    n["exact_percent"] = 100 * trained.test.exact_share;
    const BitCount bits = count_bits(model);
    n["links"] = static_cast<double>(model.links());
    n["bits_paper"] = static_cast<double>(bits.paper);
    n["bits_total"] = static_cast<double>(bits.total);
    n["bits_per_weight"] =
        static_cast<double>(bits.paper) /
        dense_weights(model, physics.structure().rows(), physics.structure().cols());
    n["scale"] = model.scale();
    n["zeros_percent"] = 100 * sparsity(model);
    if (run.config.dense_network && model.spec.weights == WeightKind::ternary)
        if (const auto share = overlap(model, physics.structure()))
            n["overlap_percent"] = 100 * *share;
    if (const auto& c = seed.certificate; c && c->verdict == Verdict::guaranteed)
        n["proven_db"] = 2 * to_db(c->bound.error.back() / trained.guarantee->signals.norm);
    double seconds = 0;
    for (const auto& [stage, time] : trained.seconds) {
        n[std::string(kSeconds) + stage] = time;
        seconds += time;
    }
    n["seconds"] = seconds;
    result.curves["train_nmse_db"] = trained.train_nmse_db_per_layer;
    const std::vector<double>& layers = result.curves["test_nmse_db"] =
        trained.test_nmse_db_per_layer;
    double rises = 0;
    for (std::size_t k = 1; k < layers.size(); ++k)
        rises += std::max(0.0, layers[k] - layers[k - 1]);
    n["rises_db"] = rises;
    const NetworkSpec& spec = model.spec;
    const auto& support = run.config.problem.spec.prior.support;
    if (!support.empty() && spec.architecture == Architecture::unrolled &&
        (spec.activation == Activation::soft || spec.activation == Activation::hard) &&
        spec.update == Update::plain())
        add_terms(result, seed, {support.begin(), support.end()}, pool);
    return result;
}

CellResult load_cell(const std::filesystem::path& file) {
    const nlohmann::json json =
        parse_json_object(read_file(file), fmt::format("'{}'", file.string()));
    try {
        CellResult result;
        result.configuration = json.at("configuration").get<std::string>();
        result.stages = json.at("stages").get<std::string>();
        result.failure = json.value("failure", "");
        for (const auto& [name, value] : json.at("numbers").items())
            if (value.is_number()) result.numbers[name] = value.get<double>();
        for (const auto& [name, values] : json.at("curves").items())
            for (const auto& value : values)
                result.curves[name].push_back(value.is_number() ? value.get<double>() : NAN);
        return result;
    } catch (const nlohmann::json::exception& error) {
        fail_input(fmt::format("'{}' is not what a study keeps: {}", file.string(), error.what()),
                   "remove the file to train this cell again");
    }
}

void save_cell(const std::filesystem::path& file, const CellResult& result) {
    ordered_json numbers = ordered_json::object(), curves = ordered_json::object();
    for (const auto& [name, value] : result.numbers) numbers[name] = finite(value);
    for (const auto& [name, values] : result.curves) {
        curves[name] = ordered_json::array();
        for (const double value : values) curves[name].push_back(finite(value));
    }
    const ordered_json json{{"configuration", result.configuration},
                            {"stages", result.stages},
                            {"failure", result.failure},
                            {"numbers", numbers},
                            {"curves", curves}};
    write_file(file, json.dump(2) + "\n");
}

}  // namespace pibinn::study
