#include "study/operator_source.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "pibinn/array.hpp"
#include "pibinn/error.hpp"

namespace pibinn::study {

namespace {

using Shapes = std::vector<std::pair<std::size_t, std::size_t>>;

/// How the numbers of a file are read: training takes all digits, solvers work in float32.
using MatrixReader = UserArray (*)(const std::string& file, Numbers text);

UserArray read_float32(const std::string& file, Numbers text) {
    UserArray a = read_user_array(file, text);
    const bool complex = a.complex();
    UserArray rounded = std::move(a).take_float32();
    return complex ? std::move(rounded).as_complex() : rounded;
}

UserArray read_matrix(const std::string& file, Numbers text = Numbers::real,
                      MatrixReader read = read_user_array) {
    UserArray a = read(file, text);
    if (a.size() == 0)
        fail_input(fmt::format("operator '{}' is empty ({} x {})", file, a.rows(), a.entries()),
                   "give an m x n matrix");
    const auto zero = [](auto v) { return static_cast<float>(v) == 0; };
    if (a.visit(
            [&](const auto& m) { return std::all_of(m.values().begin(), m.values().end(), zero); }))
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

/// Every entry of a matrix as a link of a structure.
Operator on_structure(const UserArray& a, const Structure& structure) {
    return a.visit([&](const auto& m) { return Operator::from_dense(m, structure); });
}

Operator all_entries(const UserArray& a) {
    if (a.complex()) return Operator::from_complex(a);
    return on_structure(a, Structure::dense(a.rows(), a.cols()));
}

/// The values of some blocks, one after the other, in float64 where any of them is.
Operator joined(const Structure& structure, std::span<const Operator> blocks) {
    AlignedBuffer<float> values;
    AlignedBuffer<double> precise;
    bool any = false;
    for (const Operator& block : blocks) {
        const auto rounded = block.values();
        const auto own = block.precise_values();
        values.insert(values.end(), rounded.begin(), rounded.end());
        if (block.precise())
            precise.insert(precise.end(), own.begin(), own.end());
        else
            precise.insert(precise.end(), rounded.begin(), rounded.end());
        any = any || block.precise();
    }
    if (any) return Operator::from_values(structure, std::move(precise));
    return {structure, std::move(values)};
}

Operator blocks_of(const std::string& file, const UserArray& a, const Shapes& shapes) {
    const Structure s = Structure::blocks(shapes);
    if (s.rows() != a.rows() || s.cols() != a.entries())
        fail_input(
            fmt::format("the {} blocks end at row {} and column {}, but '{}' is {} x {}",
                        shapes.size(), s.rows(), s.cols(), file, a.rows(), a.entries()),
            "give blocks that tile the matrix; 'pibinn inspect FILE --structure' finds them");
    return named(file,
                 [&] { return a.complex() ? Operator::from_complex(a, s) : on_structure(a, s); });
}

/// Of complex blocks, and of real ones among them.
Operator join_complex_blocks(const Structure& s, std::span<const UserArray> blocks) {
    std::vector<double> re, im;
    for (const UserArray& a : blocks)
        for (std::size_t j = 0; j < a.entries(); ++j)
            for (std::size_t i = 0; i < a.rows(); ++i) {
                re.push_back(a(i, a.complex() ? 2 * j : j));
                im.push_back(a.complex() ? a(i, 2 * j + 1) : 0);
            }
    return Operator::from_complex(s, re, im);
}

Operator join_blocks(const std::vector<std::string>& files) {
    Shapes shapes;
    std::vector<UserArray> matrices;
    bool complex = false;
    for (const std::string& file : files) {
        matrices.push_back(read_matrix(file));
        shapes.emplace_back(matrices.back().rows(), matrices.back().entries());
        complex = complex || matrices.back().complex();
    }
    const Structure s = Structure::blocks(shapes);
    if (complex) return join_complex_blocks(s, matrices);
    std::vector<Operator> blocks;
    for (const UserArray& a : matrices) blocks.push_back(all_entries(a));
    return joined(s, blocks);
}

Operator read_operator(const std::string& file, StructureKind structure, std::size_t repeat,
                       Numbers text, MatrixReader read) {
    if (structure == StructureKind::mask)
        if (const auto sparse = read_sparse_array(file))
            return named(file, [&] { return Operator::from_sparse(*sparse); });
    const UserArray a = read_matrix(file, text, read);
    switch (structure) {
        case StructureKind::dense:
            return all_entries(a);
        case StructureKind::repeated:
            if (a.complex()) return Operator::from_complex(a, repeat);
            return joined(Structure::repeated(a.rows(), a.cols(), repeat),
                          std::array{all_entries(a)});
        case StructureKind::blocks: {
            const std::size_t cols = a.entries();
            if (a.rows() % repeat != 0 || cols % repeat != 0)
                fail_input(fmt::format("'{}' is {} x {}, which {} equal blocks do not tile", file,
                                       a.rows(), cols, repeat),
                           "give the number of blocks on the diagonal as repeat");
            return blocks_of(file, a, Shapes(repeat, {a.rows() / repeat, cols / repeat}));
        }
        case StructureKind::mask:
            break;
    }
    return named(file, [&] {
        return a.complex() ? Operator::from_complex_sparse(a)
                           : a.visit([](const auto& m) { return Operator::from_sparse(m); });
    });
}

}  // namespace

Operator load_operator(const std::string& file, StructureKind structure, std::size_t repeat,
                       Numbers text) {
    return read_operator(file, structure, repeat, text, read_float32);
}

Operator load_operator(const ProblemConfig& problem) {
    if (!problem.block_files.empty()) return join_blocks(problem.block_files);
    const std::string& file = problem.operator_file;
    if (!problem.spec.blocks.empty())
        return blocks_of(file, read_matrix(file), problem.spec.blocks);
    return read_operator(file, problem.spec.structure, problem.spec.repeat, problem.text,
                         read_user_array);
}

Operator load_real_operator(const ProblemConfig& problem) {
    Operator op = load_operator(problem);
    if (op.structure().is_complex())
        fail_input(fmt::format("operator '{}' holds complex numbers, and the signals of a problem "
                               "of kind {} are real",
                               problem.operator_file, to_string(problem.kind)),
                   "set problem.kind = \"arrays\" and give complex signals, or the real part of "
                   "the operator");
    return op;
}

Matrix<float> operator_matrix(const Operator& op) {
    const Structure& s = op.structure();
    if (s.is_complex() && !s.has_imaginary())
        return Operator(*s.complex_pattern(),
                        {op.values().begin(), op.values().begin() + s.shared_links()})
            .to_dense();
    if (s.kind() != StructureKind::repeated) return op.to_dense();
    const Structure block = Structure::dense(s.rows() / s.repeat(), s.cols() / s.repeat());
    return Operator(block, {op.values().begin(), op.values().end()}).to_dense();
}

bool has_complex_matrix(const Structure& structure, const SignalDomain& domain) {
    return structure.has_imaginary() || domain.complex_measurements;
}

Matrix<float> interleaved_matrix(const Operator& op) {
    const Matrix<float> block = operator_matrix(op);
    const std::size_t m = block.rows() / 2;
    const std::size_t n = op.structure().has_imaginary() ? block.cols() / 2 : block.cols();
    Matrix<float> pairs(m, 2 * n);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            pairs(i, 2 * j) = block(i, j);
            pairs(i, 2 * j + 1) = block(m + i, j);
        }
    return pairs;
}

}  // namespace pibinn::study
