#include "pibinn/signal_class.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "data/json_fields.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr const char* kKey = "pibinn.guarantee";
constexpr double kLongTail = 3;
// A sentence names no more entries than a reader takes in.
constexpr std::size_t kMostNamed = 12;

void require_support(const std::vector<std::uint32_t>& support, const Structure& structure) {
    if (support.empty())
        fail_usage("SignalClass::supports holds an empty support",
                   "name its entries, from 0 on, or leave the support out");
    std::vector<std::uint32_t> sorted = support;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.back() >= structure.cols())
        fail_usage(
            fmt::format("support entry {} is not below n = {}", sorted.back(), structure.cols()),
            "entries count from 0");
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
        fail_usage(fmt::format("support entry {} is named twice", *twice), "name it once");
}

}  // namespace

double usual_norm(std::size_t s) { return std::sqrt(static_cast<double>(s)) + kLongTail; }

void require_class(const SignalClass& signals, const Structure& structure) {
    for (const auto& [name, value] : {std::pair{"norm", signals.norm}, {"noise", signals.noise}})
        if (!(value >= 0 && std::isfinite(value)))
            fail_usage(fmt::format("SignalClass::{} {} is not a number from 0 on", name, value),
                       "leave it out for its default");
    if (signals.supports.empty() == (signals.size == 0))
        fail_usage(signals.size == 0 ? "the class of signals is empty"
                                     : "the class of signals has both supports and a size",
                   "give one of SignalClass::supports and SignalClass::size");
    for (const auto& support : signals.supports) require_support(support, structure);
    if (signals.size == 0) return;
    if (const std::size_t most = largest_size(structure); signals.size > most)
        fail_usage(fmt::format("SignalClass::size {} is more than the {} entries that a block's "
                               "measurements can tell apart",
                               signals.size, most),
                   fmt::format("give at most {}", most));
}

std::size_t largest_size(const Structure& structure) {
    std::size_t most = structure.parts().front().cols;
    for (const Block& b : structure.parts()) most = std::min({most, b.cols, b.rows});
    return most;
}

std::string in_words(const SignalClass& signals) {
    if (signals.size > 0)
        return fmt::format("at most {} nonzero{}", signals.size, signals.size == 1 ? "" : "s");
    if (signals.supports.size() > 1)
        return fmt::format("nonzeros on one of {} given supports", signals.supports.size());
    const auto& entries = signals.supports.front();
    if (entries.size() > kMostNamed)
        return fmt::format("nonzeros at {} given entries alone", entries.size());
    return fmt::format("nonzeros at entries {} alone", fmt::join(entries, ", "));
}

void keep_class(Model& model, const SignalClass& signals) {
    nlohmann::ordered_json json{{"norm", signals.norm}, {"noise", signals.noise}};
    if (signals.size > 0)
        json["size"] = signals.size;
    else
        json["supports"] = signals.supports;
    model.metadata[kKey] = json.dump();
}

std::optional<SignalClass> kept_class(const Model& model) {
    const auto found = model.metadata.find(kKey);
    if (found == model.metadata.end()) return {};
    const std::string what = fmt::format("metadata '{}'", kKey);
    const nlohmann::json json = parse_json_object(found->second, what);
    const JsonFields fields(json, what);
    SignalClass signals;
    signals.norm = fields.number("norm");
    signals.noise = fields.number("noise");
    if (fields.has("size")) {
        signals.size = fields.whole("size", 1, model.op.cols());
    } else {
        try {
            signals.supports = json.at("supports").get<std::vector<std::vector<std::uint32_t>>>();
        } catch (const nlohmann::json::exception&) {
            fail_input(what + ": 'supports' is no list of lists of entries",
                       "the file is damaged: certify a model that pibinn wrote");
        }
    }
    require_class(signals, model.op.structure());
    return signals;
}

}  // namespace pibinn
