#include "study/schemes.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "study/word_list.hpp"

namespace pibinn::study {

namespace {

constexpr std::string_view kUnrolled = "unrolled";
constexpr std::string_view kFcnRelu = "fcn-relu";
constexpr std::string_view kFcnSoft = "fcn-soft";
constexpr std::string_view kDense = "dense";

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
