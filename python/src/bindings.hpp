#pragma once

#include <nanobind/nanobind.h>

namespace pibinn::python {

// One function per noun of the library, each in a file of its own.
void bind_errors(nanobind::module_& core);
void bind_operators(nanobind::module_& core);
void bind_problems(nanobind::module_& core);
void bind_models(nanobind::module_& core);
void bind_recovery(nanobind::module_& core);
void bind_training(nanobind::module_& core);
void bind_certificates(nanobind::module_& core);
void bind_solvers(nanobind::module_& core);
void bind_studies(nanobind::module_& core);
void bind_gradients(nanobind::module_& core);

}  // namespace pibinn::python
