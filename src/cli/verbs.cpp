#include "cli/verbs.hpp"

#include <array>

namespace pibinn::cli {

std::span<const Verb> all_verbs() {
    static constexpr std::array verbs{
        Verb{"demo", "train on the embedded default problem, compare with other methods", run_demo},
        Verb{"sample", "write the problem of a configuration as arrays", run_sample},
        Verb{"init", "make the untrained network of a configuration", run_init},
        Verb{"train", "train the network of a configuration", run_train},
        Verb{"compare", "train several weight kinds and structures, side by side", run_compare},
        Verb{"eval", "measure how well a model recovers known signals", run_eval},
        Verb{"recover", "recover signals from measurements with a model", run_recover},
        Verb{"recover-image", "sense a photo patch by patch and recover it", run_recover_image},
        Verb{"solve", "recover signals with a reference solver instead of a model", run_solve},
        Verb{"certify", "say what the theory guarantees of a model", run_certify},
        Verb{"inspect", "show what a model is and the bits it stores", run_inspect},
        Verb{"export", "write a model in another format", run_export},
        Verb{"bench", "measure speed against what one would use instead", run_bench},
    };
    return verbs;
}

}  // namespace pibinn::cli
