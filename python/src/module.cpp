#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "pibinn/packed_model.hpp"
#include "pibinn/version.hpp"

NB_MODULE(_core, core) {
    using namespace pibinn::python;
    core.doc() = "The library behind pibinn. The classes of the package are what users call.";
    core.attr("__version__") = std::string(pibinn::version());
    core.def("packed_kernels", &pibinn::packed_kernels,
             "Names of the kernels that this machine has, the fastest first.");
    bind_errors(core);
    bind_operators(core);
    bind_problems(core);
    bind_models(core);
    bind_recovery(core);
    bind_training(core);
    bind_certificates(core);
    bind_solvers(core);
    bind_studies(core);
    bind_gradients(core);
}
