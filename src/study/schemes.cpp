#include "study/schemes.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"

namespace pibinn::study {

namespace {

using Words = std::vector<std::string_view>;

constexpr std::string_view kUnrolled = "unrolled";
constexpr std::string_view kFcnRelu = "fcn-relu";
constexpr std::string_view kFcnSoft = "fcn-soft";
constexpr std::string_view kDense = "dense";

/// The words of a list, each known and named once; all that are known for an empty list.
Words words_of(std::string_view option, std::string_view list, const Words& known) {
    if (list.empty()) return known;
    Words words;
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find(',', at), list.size());
        const std::string_view word = list.substr(at, end - at);
        if (std::find(known.begin(), known.end(), word) == known.end())
            fail_usage(fmt::format("{}: unknown word '{}'", option, word),
                       hint_for_unknown(word, known));
        if (std::find(words.begin(), words.end(), word) != words.end())
            fail_usage(fmt::format("{}: '{}' stands twice", option, word), "name each scheme once");
        words.push_back(word);
        at = end + 1;
    }
    return words;
}

Words structures_of(const SchemeChoice& choice, StructureKind physics) {
    Words known{to_string(physics)};
    if (physics != StructureKind::dense) known.push_back(kDense);
    // A structure that exists, but not here, is no typing mistake.
    for (const StructureKind kind : {StructureKind::repeated, StructureKind::blocks,
                                     StructureKind::mask, StructureKind::dense}) {
        const std::string word(to_string(kind));
        if (std::find(known.begin(), known.end(), word) == known.end() &&
            fmt::format(",{},", choice.structures).find("," + word + ",") != std::string::npos)
            fail_usage(fmt::format("--structure: the problem's structure is '{}', not '{}'",
                                   to_string(physics), word),
                       fmt::format("choose from {}", fmt::join(known, ", ")));
    }
    return words_of("--structure", choice.structures, known);
}

}  // namespace

std::string Scheme::folder() const {
    return name.starts_with("fcn") ? name : fmt::format("{}-{}", name, structure);
}

Config Scheme::applied_to(Config config) const {
    NetworkSpec& spec = config.model;
    if (name == kFcnRelu || name == kFcnSoft) {
        spec.architecture = Architecture::fcn;
        spec.activation = name == kFcnRelu ? Activation::relu : Activation::soft;
        spec.weights = WeightKind::real;
        spec.update = Update::plain();
        config.dense_network = false;
    } else {
        spec.architecture = Architecture::unrolled;
        spec.weights = parse_weight_kind(name);
        config.dense_network = structure == kDense;
    }
    spec.validate();
    return config;
}

std::vector<Scheme> choose_schemes(const SchemeChoice& choice, StructureKind physics) {
    Words names;
    for (const WeightKind kind : weight_kinds()) names.push_back(to_string(kind));
    const Words kinds = words_of("--weights", choice.weights, names);
    const Words structures = structures_of(choice, physics);
    const Words architectures =
        words_of("--architecture", choice.architectures, {kUnrolled, kFcnRelu, kFcnSoft});
    const bool unrolled =
        std::find(architectures.begin(), architectures.end(), kUnrolled) != architectures.end();
    if (!unrolled && !(choice.weights.empty() && choice.structures.empty()))
        fail_usage(
            "--weights and --structure choose among unrolled networks, and none are asked for",
            "add unrolled to --architecture, or leave them out");
    std::vector<Scheme> schemes;
    if (unrolled)
        for (const std::string_view structure : structures)
            for (const std::string_view kind : kinds)
                schemes.push_back({std::string(kind), std::string(structure),
                                   kind == "one-bit" && structure == to_string(physics)});
    for (const std::string_view name : architectures)
        if (name != kUnrolled) schemes.push_back({std::string(name), std::string(kDense), false});
    return schemes;
}

}  // namespace pibinn::study
