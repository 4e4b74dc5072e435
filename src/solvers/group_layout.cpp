#include "solvers/group_layout.hpp"

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

void require_grouping(const Structure& s, const Grouping& grouping) {
    if (grouping.rows == 0 || s.repeat() % grouping.rows != 0)
        fail_usage(fmt::format("groups over {} repetitions of an operator that has {}",
                               grouping.rows, s.repeat()),
                   "give a number of repetitions that divides those there are");
    if (grouping.halves != 1 && grouping.halves != 2)
        fail_usage(fmt::format("groups of {} parts of a row", grouping.halves), "give 1 or 2");
    if (grouping.halves == 2 && (s.parts().size() != 1 || s.parts()[0].cols % 2 != 0))
        fail_usage("the entries of a row have no halves that could belong together",
                   "give an operator of one block with an even number of columns");
}

}  // namespace pibinn
