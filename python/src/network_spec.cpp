#include "network_spec.hpp"

#include <string>

#include <nanobind/stl/string.h>

#include "pibinn/error.hpp"

namespace pibinn::python {

namespace nb = nanobind;

namespace {

template <class T>
T get(const nb::dict& words, const char* key, T otherwise) {
    if (!words.contains(key)) return otherwise;
    try {
        return nb::cast<T>(words[key]);
    } catch (const nb::cast_error&) {
        fail_usage(std::string(key) + " is not of the type that it must be",
                   "give a word, a number or a truth value as the default is");
    }
}

std::string word(const nb::dict& words, const char* key, const char* otherwise) {
    return get<std::string>(words, key, otherwise);
}

Update update_of(const nb::dict& words) {
    const std::string name = word(words, "update", "accelerated");
    if (name == "plain") return Update::plain();
    if (name != "accelerated")
        fail_usage("unknown update '" + name + "'", "choose 'accelerated' or 'plain'");
    Update update = Update::accelerated();
    const std::string threshold = word(words, "threshold", "residual");
    if (threshold != "residual" && threshold != "fixed")
        fail_usage("unknown threshold '" + threshold + "'", "choose 'residual' or 'fixed'");
    update.residual_threshold = threshold == "residual";
    update.momentum = get(words, "momentum", true);
    update.onsager = get(words, "onsager", true);
    update.step = get(words, "step", true);
    return update;
}

}  // namespace

NetworkSpec spec_of(const nb::dict& words) {
    NetworkSpec spec;
    spec.architecture = parse_architecture(word(words, "architecture", "unrolled"));
    spec.layers = get(words, "layers", spec.layers);
    spec.activation = parse_activation(word(words, "activation", "soft"));
    spec.weights = parse_weight_kind(word(words, "weights", "one-bit"));
    spec.update = update_of(words);
    if (spec.tied()) spec.update.step = true;
    spec.delta = get(words, "delta", spec.delta);
    spec.pieces = get(words, "pieces", spec.pieces);
    spec.polish = get(words, "polish", spec.polish);
    spec.groups = parse_groups(word(words, "groups", "none"));
    spec.neighbours = get(words, "neighbours", spec.neighbours);
    spec.grid = get(words, "grid", spec.grid);
    spec.centre = get(words, "centre", spec.centre);
    spec.validate();
    return spec;
}

nb::dict to_dict(const NetworkSpec& spec) {
    nb::dict words;
    const auto text = [](std::string_view name) { return std::string(name); };
    words["architecture"] = text(to_string(spec.architecture));
    words["layers"] = spec.layers;
    words["activation"] = text(to_string(spec.activation));
    words["weights"] = text(to_string(spec.weights));
    words["update"] = text(to_string(spec.update));
    words["threshold"] = spec.update.residual_threshold ? "residual" : "fixed";
    words["momentum"] = spec.update.momentum;
    words["onsager"] = spec.update.onsager;
    words["step"] = spec.update.step;
    words["delta"] = spec.delta;
    words["pieces"] = spec.pieces;
    words["polish"] = spec.polish;
    words["groups"] = text(to_string(spec.groups));
    words["neighbours"] = spec.neighbours;
    words["grid"] = spec.grid;
    words["centre"] = spec.centre;
    return words;
}

}  // namespace pibinn::python
