#include "study/operator_source.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pibinn/array.hpp"
#include "pibinn/error.hpp"

namespace pibinn::study {

namespace {

using Shapes = std::vector<std::pair<std::size_t, std::size_t>>;

Batch read_matrix(const std::string& file) {
    Batch a = read_array(file);
    if (a.size() == 0)
        fail_input(fmt::format("operator '{}' is empty ({} x {})", file, a.rows(), a.cols()),
                   "give an m x n matrix");
    if (std::all_of(a.values().begin(), a.values().end(), [](float v) { return v == 0; }))
        fail_input(fmt::format("operator '{}' is zero", file), "give the matrix that measures");
    return a;
}

/// What `make` finds wrong with the matrix gains the name of its file.
template <class Make>
Operator named(const std::string& file, Make&& make) {
    try {
        return make();
    } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("operator '{}': {}", file, error.message()),
                    error.hint());
    }
}

Operator blocks_of(const std::string& file, const Batch& a, const Shapes& shapes) {
    const Structure s = Structure::blocks(shapes);
    if (s.rows() != a.rows() || s.cols() != a.cols())
        fail_input(
            fmt::format("the {} blocks end at row {} and column {}, but '{}' is {} x {}",
                        shapes.size(), s.rows(), s.cols(), file, a.rows(), a.cols()),
            "give blocks that tile the matrix; 'pibinn inspect FILE --structure' finds them");
    return named(file, [&] { return Operator::from_dense(a, s); });
}

Operator join_blocks(const std::vector<std::string>& files) {
    Shapes shapes;
    AlignedBuffer<float> values;
    for (const std::string& file : files) {
        const Batch a = read_matrix(file);
        const Operator block = Operator::from_dense(a);
        shapes.emplace_back(a.rows(), a.cols());
        values.insert(values.end(), block.values().begin(), block.values().end());
    }
    return {Structure::blocks(shapes), std::move(values)};
}

}  // namespace

Operator load_operator(const std::string& file, StructureKind structure, std::size_t repeat) {
    if (structure == StructureKind::mask)
        if (const auto sparse = read_sparse_array(file))
            return named(file, [&] { return Operator::from_sparse(*sparse); });
    const Batch a = read_matrix(file);
    switch (structure) {
        case StructureKind::dense:
            return Operator::from_dense(a);
        case StructureKind::repeated: {
            const Operator block = Operator::from_dense(a);
            return {Structure::repeated(a.rows(), a.cols(), repeat),
                    {block.values().begin(), block.values().end()}};
        }
        case StructureKind::blocks: {
            if (a.rows() % repeat != 0 || a.cols() % repeat != 0)
                fail_input(fmt::format("'{}' is {} x {}, which {} equal blocks do not tile", file,
                                       a.rows(), a.cols(), repeat),
                           "give the number of blocks on the diagonal as repeat");
            return blocks_of(file, a, Shapes(repeat, {a.rows() / repeat, a.cols() / repeat}));
        }
        case StructureKind::mask:
            break;
    }
    return named(file, [&] { return Operator::from_sparse(a); });
}

Operator load_operator(const ProblemConfig& problem) {
    if (!problem.block_files.empty()) return join_blocks(problem.block_files);
    const std::string& file = problem.operator_file;
    if (!problem.spec.blocks.empty())
        return blocks_of(file, read_matrix(file), problem.spec.blocks);
    return load_operator(file, problem.spec.structure, problem.spec.repeat);
}

Matrix<float> operator_matrix(const Operator& op) {
    const Structure& s = op.structure();
    if (s.kind() != StructureKind::repeated) return op.to_dense();
    const Structure block = Structure::dense(s.rows() / s.repeat(), s.cols() / s.repeat());
    return Operator(block, {op.values().begin(), op.values().end()}).to_dense();
}

}  // namespace pibinn::study
