#include "pibinn/basis.hpp"

#include <array>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "problem/basis_transform.hpp"

namespace pibinn {

#define PIBINN_DECLARE(name) extern const BasisDefinition name##_basis;
PIBINN_BASES(PIBINN_DECLARE)
#undef PIBINN_DECLARE

namespace {

constexpr std::size_t kTransformRowsPerTask = 16;

// In the order of BasisKind.
#define PIBINN_ADDRESS(name) &name##_basis,
constexpr std::array kBases{PIBINN_BASES(PIBINN_ADDRESS)};
#undef PIBINN_ADDRESS

const BasisDefinition& definition(BasisKind kind) {
    return *kBases[static_cast<std::size_t>(kind)];
}

/// The kind of this name among the bases that `allowed` lists.
BasisKind parse(std::string_view name, const std::vector<std::string_view>& allowed) {
    for (std::size_t i = 0; i < kBases.size(); ++i)
        for (const std::string_view word : allowed)
            if (kBases[i]->name == name && word == name) return static_cast<BasisKind>(i);
    fail_usage(fmt::format("unknown basis '{}'", name), hint_for_unknown(name, allowed));
}

}  // namespace

std::string_view to_string(BasisKind kind) { return definition(kind).name; }

BasisKind parse_basis_kind(std::string_view name) {
    std::vector<std::string_view> names;
    for (const BasisDefinition* basis : kBases) names.push_back(basis->name);
    return parse(name, names);
}

std::vector<std::string_view> basis_names() {
    std::vector<std::string_view> names;
    for (const BasisDefinition* basis : kBases)
        if (basis->make) names.push_back(basis->name);
    return names;
}

BasisKind parse_named_basis(std::string_view name) { return parse(name, basis_names()); }

Basis Basis::named(BasisKind kind, std::size_t n) {
    if (!definition(kind).make)
        fail_usage(
            fmt::format("basis '{}' does not follow from a length of {}", to_string(kind), n),
            "give the matrix itself");
    Basis basis;
    basis.kind_ = kind;
    basis.transform_ = definition(kind).make(n);
    return basis;
}

bool Basis::is_complex() const { return definition(kind_).complex; }

std::size_t Basis::length() const { return transform_ ? transform_->length() : 0; }

Batch Basis::transform(ConstBatchView rows, bool analysis, ThreadPool& pool) const {
    const std::size_t run = transform_ ? length() : rows.cols;
    if (run != 0 && rows.cols % run != 0)
        fail_usage(fmt::format("rows of {} numbers do not fit a basis of {}", rows.cols, run),
                   "give signals of the length that the basis was made for");
    Batch result(rows.rows, rows.cols);
    pool.run_chunks(rows.rows, kTransformRowsPerTask,
                    [&](std::size_t, std::size_t begin, std::size_t end) {
                        std::vector<double> in(run), out(run);
                        for (std::size_t i = begin; i < end; ++i)
                            for (std::size_t at = 0; at < rows.cols; at += run) {
                                const auto part = rows.row(i).subspan(at, run);
                                in.assign(part.begin(), part.end());
                                if (!transform_)
                                    out = in;
                                else if (analysis)
                                    transform_->analyse(in, out);
                                else
                                    transform_->synthesise(in, out);
                                for (std::size_t j = 0; j < run; ++j)
                                    result(i, at + j) = static_cast<float>(out[j]);
                            }
                    });
    return result;
}

Batch Basis::to_coefficients(ConstBatchView signals, ThreadPool& pool) const {
    return transform(signals, true, pool);
}

Batch Basis::to_signals(ConstBatchView coefficients, ThreadPool& pool) const {
    return transform(coefficients, false, pool);
}

}  // namespace pibinn
