#include "study/config_operator.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "core/path.hpp"
#include "pibinn/array.hpp"
#include "study/config.hpp"
#include "study/config_document.hpp"

namespace pibinn::study {

namespace {

using Value = ConfigValue;

/// Random sensing of images and signals knows how many equal blocks it has, and no other pattern.
void require_own_sizes(const Value& value, const ProblemConfig& problem) {
    if (problem.kind == ProblemKind::images || problem.kind == ProblemKind::signals)
        value.fail("images and signals are sensed by equal blocks or by a file",
                   "set repeat to the number of blocks, or operator to a file");
}

/// An ensemble and the structure must go together; binary-sparse is a structure of its own.
void set_ensemble(const Value& value, bool structure_given, SyntheticSpec& spec) {
    spec.ensemble = value.word([](std::string_view word) {
        try {
            return parse_operator_ensemble(word);
        } catch (const Error& error) {
            fail_usage(error.message(), error.hint() + " a file ends in .npy, .npz, .mat or .csv");
        }
    });
    if (spec.ensemble == OperatorEnsemble::binary_sparse) {
        if (structure_given && spec.structure != StructureKind::mask)
            value.fail(fmt::format("a binary-sparse operator is a mask of its ones, and the "
                                   "structure is '{}'",
                                   to_string(spec.structure)),
                       "set problem.structure = \"mask\", or remove it");
        spec.structure = StructureKind::mask;
    } else if (spec.structure == StructureKind::mask && !drawn_on_masks(spec.ensemble)) {
        value.fail(
            fmt::format("a {} operator cannot be drawn on a mask", to_string(spec.ensemble)),
            "use gaussian, gaussian-unit, rademacher or binary-sparse, or another structure");
    }
}

}  // namespace

void set_operator(const ConfigValue& value, bool structure_given, ProblemConfig& problem) {
    if (value.node().is_array()) {
        if (problem.spec.structure != StructureKind::blocks)
            value.fail("several files are the blocks of a diagonal",
                       "set problem.structure = \"blocks\", or name one file");
        require_own_sizes(value, problem);
        problem.block_files = value.paths();
        return;
    }
    const std::string name = value.text();
    if (names_array(name))
        problem.operator_file = value.path();
    else
        set_ensemble(value, structure_given, problem.spec);
}

void set_blocks(const ConfigValue& value, bool sizes_given, ProblemConfig& problem) {
    if (problem.operator_file.empty()) require_own_sizes(value, problem);
    if (problem.spec.structure != StructureKind::blocks)
        value.fail(fmt::format("the structure is '{}'", to_string(problem.spec.structure)),
                   "set problem.structure = \"blocks\"");
    if (!problem.block_files.empty())
        value.fail("the operator is a list of blocks, which have their own sizes",
                   "remove blocks, or name one file that holds the whole matrix");
    if (sizes_given)
        value.fail("m, n, ratio or repeat is given too", "give the sizes of the blocks alone");
    for (const auto& shape : value.lists(1, kLargestSide)) {
        if (shape.size() != 2)
            value.fail(
                fmt::format("block {} has {} sizes", problem.spec.blocks.size(), shape.size()),
                "write blocks = [[16, 32], [8, 16]]: rows and columns of each");
        problem.spec.blocks.emplace_back(shape[0], shape[1]);
    }
    if (problem.spec.blocks.empty()) value.fail("there are 0 blocks", "give at least one");
}

void set_mask_density(const ConfigValue& value, ProblemConfig& problem) {
    require_own_sizes(value, problem);
    if (problem.spec.structure != StructureKind::mask)
        value.fail(fmt::format("the structure is '{}'", to_string(problem.spec.structure)),
                   "set problem.structure = \"mask\"");
    if (problem.kind == ProblemKind::arrays || !problem.operator_file.empty())
        value.fail("the mask is that of the operator's non-zero entries",
                   "remove mask_density, or the operator to draw both");
    if (problem.spec.ensemble == OperatorEnsemble::binary_sparse)
        value.fail("a binary-sparse operator says how many ones a column has",
                   "remove mask_density, or set problem.ones_per_column instead");
    problem.spec.mask_density = value.number(0, 1, true);
}

void set_ones_per_column(const ConfigValue& value, ProblemConfig& problem) {
    if (problem.spec.ensemble != OperatorEnsemble::binary_sparse)
        value.fail("the operator is not binary-sparse",
                   "set problem.operator = \"binary-sparse\", or remove it");
    problem.spec.ones_per_column = value.whole(1, kLargestSide);
}

void look_in_folder(const std::string& folder, ProblemConfig& problem) {
    const std::filesystem::path path = folder;
    const auto take = [&](std::string& file, const char* name, bool needed) {
        if (file.empty() && (needed || path_exists(path / name))) file = (path / name).string();
    };
    const bool own_signals = !problem.x_file.empty();
    if (problem.block_files.empty()) take(problem.operator_file, "A.npy", true);
    take(problem.x_file, "x.npy", true);
    // The folder's measurements belong to the folder's signals.
    if (!own_signals) take(problem.y_file, "y.npy", false);
}

void require_text_files(const ConfigValue& value, const ProblemConfig& problem) {
    for (const std::string& file : {problem.operator_file, problem.x_file, problem.y_file})
        if (file.ends_with(".csv")) return;
    value.fail(
        "none of the arrays is a .csv file, and other formats say themselves whether numbers are "
        "complex",
        "remove it");
}

}  // namespace pibinn::study
