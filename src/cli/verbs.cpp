#include "cli/verbs.hpp"

#include <array>

namespace pibinn::cli {

std::span<const Verb> all_verbs() {
#define PIBINN_LIST_VERB(function, name, summary) Verb{name, summary, run_##function},
    static constexpr std::array verbs{PIBINN_VERBS(PIBINN_LIST_VERB)};
#undef PIBINN_LIST_VERB
    return verbs;
}

}  // namespace pibinn::cli
