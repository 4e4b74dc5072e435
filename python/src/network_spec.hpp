#pragma once

#include <nanobind/nanobind.h>

#include "pibinn/network_spec.hpp"

namespace pibinn::python {

/// A network in the words of a configuration: layers, activation, weights, update, delta, ...
NetworkSpec spec_of(const nanobind::dict& words);
nanobind::dict to_dict(const NetworkSpec& spec);

}  // namespace pibinn::python
