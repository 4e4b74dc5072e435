#include "core/module.hpp"
#include "pibinn/communicator.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

std::unique_ptr<Communicator> start_mpi() {
    static const Module module =
        load_module("libpibinn_mpi.so", "pibinn_mpi_version", /*global=*/true);
    if (module.handle == nullptr)
        fail_usage(module.problem.empty() ? "this build has no MPI" : module.problem,
                   "build it with PIBINN_MPI=ON ('make build-mpi')");
    const auto start = reinterpret_cast<Communicator* (*)()>(module.entry("pibinn_mpi_start"));
    ensure(start != nullptr, "an entry point of the MPI module");
    return std::unique_ptr<Communicator>(start());
}

}  // namespace pibinn
