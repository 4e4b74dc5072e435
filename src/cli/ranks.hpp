#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "pibinn/communicator.hpp"

namespace pibinn::cli {

/// What mpirun or srun says of this process before it has talked to any other.
struct Launched {
    std::size_t rank = 0;
    std::size_t size = 0;  ///< 0: not told
    bool apart = false;    ///< Slurm started it as one of several that cannot meet by MPI
};
/// Nothing where neither started it.
std::optional<Launched> launched();

/// The processes that share the work of a verb: this one alone, until it has joined others.
Communicator& ranks();

/// Joins the ranks that this process was started with, where it was. Refuses a launcher whose
/// processes do not meet: each would do the whole work. Refuses ranks of another version or of
/// processors that round otherwise, unless `mixed`.
void join_ranks(bool mixed);
/// Refuses to do the work of a verb that ranks do not share once per rank.
void require_one_process(std::string_view verb);
/// The work is done on this rank.
void leave_ranks();

/// Says why this rank fails, as one line of the whole job, and ends all ranks with the exit code.
/// What every rank finds out by itself is said by rank 0. Returns where there are no other ranks.
void fail_ranks(const std::string& message, const std::string& hint, int code);

/// The threads of one rank where nobody asked for a number: its share of the cores that it may use.
std::size_t threads_per_rank();

}  // namespace pibinn::cli
