#include "cli/ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include <cblas.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gnu/libc-version.h>
#include <sched.h>

#include "cli/console.hpp"
#include "cli/interrupt.hpp"
#include "core/machine.hpp"
#include "pibinn/error.hpp"
#include "pibinn/packed_model.hpp"
#include "pibinn/version.hpp"

namespace pibinn::cli {

namespace {

// What all ranks find wrong they find at nearly the same time; the end of rank 0 then ends the
// others.
constexpr auto kRankZeroFirst = std::chrono::milliseconds(700);
// Before they have met, that takes mpirun about a second.
constexpr auto kBeforeTheyMet = std::chrono::milliseconds(3000);

std::unique_ptr<Communicator> joined;
std::size_t own_threads = 0;

std::optional<std::size_t> number_of(const char* variable) {
    const char* const text = std::getenv(variable);
    if (text == nullptr || *text == '\0') return {};
    return std::strtoul(text, nullptr, 10);
}

/// What results depend on beside the version: which instructions products are made of.
std::string arithmetic() {
    return fmt::format("{} for BLAS, kernels {}, glibc {}", openblas_get_corename(),
                       fmt::join(packed_kernels(), " "), gnu_get_libc_version());
}

/// The cores that this process may use, as a text that is the same for those that share them.
std::string own_cores(std::size_t& count) {
    cpu_set_t set;
    CPU_ZERO(&set);
    count = std::max(1U, std::thread::hardware_concurrency());
    if (sched_getaffinity(0, sizeof set, &set) != 0) return "";
    count = static_cast<std::size_t>(CPU_COUNT(&set));
    std::string text;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &set)) text += fmt::format("{},", i);
    return text;
}

/// Whether something is the same on all ranks; unless `mixed`, it must be.
bool same_on_all(const std::vector<std::string>& hosts, const std::string& own, bool mixed,
                 std::string_view what, std::string_view why) {
    const std::vector<std::string> all = joined->gather_texts(own);
    for (std::size_t r = 1; r < all.size(); ++r) {
        if (all[r] == all[0]) continue;
        if (!mixed)
            fail_usage(fmt::format("{} of rank {} on {} is {}, that of rank 0 on {} is {}", what, r,
                                   hosts[r], all[r], hosts[0], all[0]),
                       fmt::format("{}: use equal ones, or say --mixed", why));
        return false;
    }
    return true;
}

/// Processes of one step of Slurm that were not told how to meet. The script of a job is no such
/// step, and of a shell (`srun -n 4 --pty bash`) there is one, whatever the number of its tasks.
std::optional<Launched> tasks_of_slurm() {
    const auto rank = number_of("SLURM_PROCID");
    const auto size = number_of("SLURM_STEP_NUM_TASKS");
    if (!rank || size.value_or(1) < 2 || number_of("SLURM_PTY_PORT")) return {};
    return Launched{*rank, *size, true};
}

/// What else would do the whole work once per process.
void require_all_met(const Launched& place, std::size_t met) {
    if (met >= place.size) return;
    fail_usage(
        fmt::format("the launcher started {} processes, of which MPI joined {}", place.size, met),
        "the mpirun is not that of the MPI which libpibinn_mpi.so was built with: load that "
        "module, or build with this one");
}

void warn_when_stopped() {
    static bool said = false;
    if (said || !interrupt_raised()) return;
    said = true;
    report_warning(
        "told to stop while other ranks have not answered; what was saved before is whole, and the "
        "same command with --resume (a study: the same command) goes on from there");
}

}  // namespace

std::optional<Launched> launched() {
    for (const auto& [rank, size] :
         {std::pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
          std::pair{"PMI_RANK", "PMI_SIZE"}, std::pair{"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}})
        if (const auto own = number_of(rank)) return Launched{*own, number_of(size).value_or(0)};
    return tasks_of_slurm();
}

Communicator& ranks() { return joined ? *joined : alone(); }

void join_ranks(bool mixed) {
    const std::optional<Launched> place = launched();
    if (!place || place->size == 1 || joined) return;
    if (place->apart)
        fail_usage(fmt::format("srun started {} processes that MPI cannot join", place->size),
                   "start them by 'srun --mpi=pmix' ('srun --mpi=list' shows what there is); for "
                   "commands of their own say 'env -u SLURM_PROCID pibinn ...'");
    std::unique_ptr<Communicator> met = start_mpi();
    require_all_met(*place, met->size());
    joined = std::move(met);
    const std::string host = host_name();
    const std::vector<std::string> hosts = joined->gather_texts(host);
    const bool versions = same_on_all(hosts, std::string(version()), mixed, "the version",
                                      "results of two versions do not mix");
    const bool roundings = same_on_all(hosts, arithmetic(), mixed, "the arithmetic",
                                       "processors of two kinds round differently");
    joined->set_mixed(!versions || !roundings);
    std::size_t cores = 1;
    const std::string place_text = host + ":" + own_cores(cores);
    const std::vector<std::string> places = joined->gather_texts(place_text);
    const auto sharing =
        static_cast<std::size_t>(std::count(places.begin(), places.end(), place_text));
    own_threads = std::max<std::size_t>(1, cores / sharing);
    if (joined->first()) joined->while_waiting(warn_when_stopped);
}

void require_one_process(std::string_view verb) {
    const std::optional<Launched> place = launched();
    if (!place || place->size < 2) return;
    fail_usage(fmt::format("{} is for one process, and {} were started", verb, place->size),
               "start it once: without mpirun, or by 'srun -n 1'");
}

void leave_ranks() { joined.reset(); }

void fail_ranks(const std::string& message, const std::string& hint, int code) {
    const std::size_t rank = joined ? joined->rank() : launched().value_or(Launched{}).rank;
    if (rank == 0) {
        report_error(message, hint);
    } else {
        std::this_thread::sleep_for(joined ? kRankZeroFirst : kBeforeTheyMet);
        report_error(fmt::format("rank {} on {}: {}", rank, host_name(), message), hint);
    }
    if (joined) joined->abort(code);
}

std::size_t threads_per_rank() { return own_threads; }

}  // namespace pibinn::cli
