#include <map>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "model/model_parameters.hpp"
#include "model/network_sites.hpp"
#include "network_spec.hpp"
#include "pibinn/error.hpp"
#include "pibinn/metrics.hpp"
#include "pibinn/model.hpp"
#include "pibinn/study.hpp"
#include "work.hpp"

namespace pibinn::python {

namespace {

using nb::literals::operator""_a;

nb::dict bits_of(const Model& model) {
    const BitCount count = count_bits(model);
    nb::dict bits;
    bits["weights"] = count.weights;
    bits["thresholds"] = count.thresholds;
    bits["momentum"] = count.momentum;
    bits["scales"] = count.scales;
    bits["operator"] = count.op;
    bits["paper"] = count.paper;
    bits["total"] = count.total;
    return bits;
}

/// Everything that is learned beside links, by name.
nb::dict scalars_of(const Model& model) {
    nb::dict scalars;
    for_each_scalar(model, [&](const char* name, const std::vector<float>& values) {
        if (!values.empty()) scalars[name] = line_to_numpy<float>(values);
    });
    return scalars;
}

/// The same network with other numbers, as many of each.
Model with_numbers(const Model& model, const nb::dict& scalars,
                   const std::vector<Line<float>>& weights) {
    Model changed = model;
    for_each_scalar(changed, [&](const char* name, std::vector<float>& values) {
        if (scalars.contains(name)) values = list_of(nb::cast<Line<float>>(scalars[name]));
    });
    if (weights.size() != changed.weights.size())
        fail_usage("the weights of " + std::to_string(weights.size()) + " layers for a model of " +
                       std::to_string(changed.weights.size()),
                   "give one array per layer");
    for (std::size_t k = 0; k < weights.size(); ++k)
        changed.weights[k].assign(weights[k].data(), weights[k].data() + weights[k].shape(0));
    require_fitting(changed);
    // Scores and certificates were those of other numbers.
    std::erase_if(changed.metadata, [](const auto& entry) {
        return entry.first.find("nmse") != std::string::npos ||
               entry.first.find("certificate") != std::string::npos ||
               entry.first.find("calibration") != std::string::npos;
    });
    return changed;
}

nb::dict domain_of(const Model& model) {
    const SignalDomain& domain = model.domain;
    nb::dict result;
    result["complex"] = domain.complex;
    result["complex_measurements"] = domain.complex_measurements;
    result["vectors"] = domain.vectors;
    result["basis"] = std::string(to_string(domain.basis.kind()));
    result["plain"] = domain.plain();
    result["patch"] = domain.patch;
    result["normalize"] = std::string(to_string(domain.normalize));
    result["mean"] = domain.mean;
    result["deviation"] = domain.deviation;
    return result;
}

/// How the sites of an activation lie, for those who run the network by other means.
nb::dict sites_of_model(const Model& model) {
    const Sites sites = sites_of(model.spec, model.op.structure());
    nb::dict result;
    result["rows"] = sites.grouping.rows;
    result["halves"] = sites.grouping.halves;
    result["rings"] = sites.near.rings;
    result["grid"] = sites.near.grid;
    result["cyclic"] = sites.near.cyclic;
    return result;
}

Metrics evaluate(const Model& model, const AnyRows& signals, const nb::object& measurements) {
    const Batch x = split_rows(signals, model.domain.signal_rows(), "signals");
    Batch y;
    if (!measurements.is_none())
        y = split_rows(nb::cast<AnyRows>(measurements), model.domain.measurement_rows(),
                       "measurements");
    const nb::gil_scoped_release release;
    return study::evaluate(model, x, y, shared_pool(0));
}

nb::dict metrics_of(const Metrics& metrics) {
    nb::dict result;
    result["nmse_db"] = metrics.nmse_db;
    result["energy_nmse_db"] = metrics.energy_nmse_db;
    result["median_nmse_db"] = metrics.median_nmse_db;
    result["support_f1"] = metrics.support_f1;
    result["signals"] = metrics.signals;
    result["skipped_zero_signals"] = metrics.skipped_zero_signals;
    result["exact_share"] = metrics.exact_share;
    return result;
}

/// What `domain` makes of coefficients: split rows in, split rows out.
nb::object to_signals(const Model& model, const Rows<float>& coefficients) {
    Batch signals;
    {
        const nb::gil_scoped_release release;
        signals = model.domain.to_signals(view_of(coefficients), shared_pool(0));
    }
    return to_numpy(std::move(signals));
}

}  // namespace

void bind_models(nb::module_& core) {
    nb::class_<Model>(core, "Model", "Operator, network, weights and metadata.")
        .def_static("load", &Model::load, "path"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("save", &Model::save, "path"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_static(
            "from_bytes",
            [](const nb::bytes& bytes, const std::string& where) {
                return Model::from_bytes({bytes.c_str(), bytes.size()}, where);
            },
            "content"_a, "where"_a)
        .def("to_bytes",
             [](const Model& model) {
                 const std::string bytes = model.to_bytes();
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def_static(
            "untrained",
            [](const nb::dict& spec, const Operator& op, double theta) {
                return untrained_model(spec_of(spec), op, theta);
            },
            "spec"_a, "op"_a, "theta"_a)
        .def_prop_ro("spec", [](const Model& model) { return to_dict(model.spec); })
        .def_ro("op", &Model::op)
        .def_prop_ro("metadata", [](const Model& model) { return model.metadata; })
        .def_prop_ro("scalars", &scalars_of)
        .def_prop_ro("scale", &Model::scale)
        .def_prop_ro("links", &Model::links)
        .def(
            "layer_links",
            [](const Model& model, std::size_t k) {
                return line_to_numpy<float>(model.layer_links(k));
            },
            "k"_a)
        .def("with_numbers", &with_numbers, "scalars"_a, "weights"_a)
        .def_prop_ro("bits", &bits_of)
        .def_prop_ro("domain", &domain_of)
        .def_prop_ro("sites", &sites_of_model)
        .def("to_signals", &to_signals, "coefficients"_a)
        .def(
            "evaluate",
            [](const Model& model, const AnyRows& signals, const nb::object& measurements) {
                return metrics_of(evaluate(model, signals, measurements));
            },
            "signals"_a, "measurements"_a = nb::none());
    core.def(
        "measure",
        [](const Rows<float>& truth, const Rows<float>& estimate) {
            if (truth.shape(0) != estimate.shape(0) || truth.shape(1) != estimate.shape(1))
                fail_usage("truth and estimate have different shapes", "give rows of one length");
            const nb::gil_scoped_release release;
            const Metrics metrics = measure(view_of(truth), view_of(estimate));
            const nb::gil_scoped_acquire acquire;
            return metrics_of(metrics);
        },
        "truth"_a, "estimate"_a);
}

}  // namespace pibinn::python
