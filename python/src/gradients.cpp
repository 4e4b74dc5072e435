#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "algebra/backend.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "model/model_parameters.hpp"
#include "model/network.hpp"
#include "pibinn/error.hpp"
#include "work.hpp"

namespace pibinn::python {

namespace {

using nb::literals::operator""_a;

/// The squared error of every row, summed up, and its gradient by the weights as they are stored
/// and by all other numbers: by what a training step is made of.
nb::tuple gradient_of(const Model& model, const Rows<float>& y, const Rows<float>& target) {
    if (y.shape(0) != target.shape(0) || y.shape(1) != model.op.rows() ||
        target.shape(1) != model.op.cols())
        fail_usage("measurements and coefficients do not fit the model",
                   "give one pair per row, in split rows");
    require_fitting(model);
    const ParameterStore effective = parameters_of(model);
    ParameterStore gradient(effective.shared_layout());
    double loss = 0;
    {
        const nb::gil_scoped_release release;
        const std::unique_ptr<Backend> backend = make_cpu_backend();
        const auto network = make_network(model.spec, model.op, *backend);
        const std::vector<float> weights(y.shape(0), 1.0F);
        loss = network->gradient(effective, view_of(y), view_of(target), RowLoss::squared, weights,
                                 gradient, shared_pool(1));
    }
    nb::dict by_name;
    for (const ParameterSlice& slice : gradient.layout().slices())
        by_name[slice.name.c_str()] =
            line_to_numpy<float>(gradient.values().subspan(slice.offset, slice.size));
    return nb::make_tuple(loss, by_name);
}

}  // namespace

void bind_gradients(nb::module_& core) {
    core.def("gradient", &gradient_of, "model"_a, "measurements"_a, "coefficients"_a);
}

}  // namespace pibinn::python
