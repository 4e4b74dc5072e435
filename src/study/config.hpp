#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pibinn/complex_rows.hpp"
#include "pibinn/network_spec.hpp"
#include "pibinn/recipe.hpp"
#include "pibinn/synthetic_problem.hpp"
#include "study/config_radio.hpp"
#include "study/config_real.hpp"
#include "study/problem_kind.hpp"

namespace pibinn::study {

/// The section [problem] of a configuration.
struct ProblemConfig {
    ProblemKind kind = ProblemKind::synthetic;
    /// What a synthetic problem is made of. `arrays` uses the structure, repeat and noise of it,
    /// and the others their sizes, sets and noise.
    SyntheticSpec spec;
    std::string operator_file;              ///< empty: drawn from the ensemble
    std::vector<std::string> block_files;   ///< instead of one file: the blocks of the diagonal
    std::string x_file;                     ///< of `arrays` and `signals`
    std::string y_file;                     ///< of `arrays`; empty: measured by the operator
    Numbers text = Numbers::real;           ///< what two columns of a .csv file are
    std::size_t vectors = 1;                ///< per row of x, of `arrays`
    std::optional<std::size_t> train_rows;  ///< what was not said follows the rows there are
    std::optional<std::size_t> test_rows;
    RealConfig real;    ///< of `images` and `signals`, and the basis of `arrays`
    RadioConfig radio;  ///< of `beamspace`, `access` and `fourier`

    /// The array files that it names.
    std::vector<std::string> files() const;
    /// The same and the folder of real data: whatever a training reads.
    std::vector<std::string> inputs() const;
};

/// What is known of the problem before its signals are read: equal to Problem::traits() of it, but
/// for what only the numbers of arrays tell (invariance and measurable, and that they are complex).
ProblemTraits traits_of(const ProblemConfig& problem);

struct Config {
    ProblemConfig problem;
    NetworkSpec model;
    /// model.structure = "dense": the network ignores the problem's structure and has every link of
    /// the whole matrix.
    bool dense_network = false;
    bool own_polish = false;  ///< model.polish is set; otherwise the recipe chooses
    OwnChoices own;           ///< keys that are set; of others signals and operator choose
    /// A network that ignores the structure knows neither parts nor vectors.
    OwnChoices choices() const { return {own.groups || dense_network, own.centre}; }
    std::uint64_t seed = 1;
};

class ConfigDocument;

struct ConfigKey;
/// Calls visit(section, key) for the keys of problem and model.
void visit_config_keys(const std::function<void(std::string_view, const ConfigKey&)>& visit);

/// Problem and model of a document. A section [train] may stand beside them; whoever trains reads
/// it from the same document.
Config read_config(const ConfigDocument& document);

}  // namespace pibinn::study
