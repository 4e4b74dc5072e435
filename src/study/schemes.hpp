#pragma once

#include <string>
#include <vector>

#include "pibinn/structure.hpp"
#include "pibinn/study.hpp"
#include "study/training_run.hpp"

namespace pibinn::study {

/// One network of a comparison.
struct Scheme {
    std::string name;       ///< the weight kind, or "fcn-relu" and "fcn-soft"
    std::string structure;  ///< of the network: the problem's own, or "dense"
    bool ours = false;      ///< one bit per link on the problem's own structure

    std::string folder() const;  ///< beneath that of the comparison
    /// The configuration of the problem with this network in it.
    Config applied_to(Config config) const;
};

/// The schemes of a choice: for every structure every weight kind, then the fully connected
/// networks, which have float weights and know no structure. Unknown words, words that stand twice
/// and structures that the problem has not are refused.
std::vector<Scheme> choose_schemes(const SchemeChoice& choice, StructureKind physics);

}  // namespace pibinn::study
