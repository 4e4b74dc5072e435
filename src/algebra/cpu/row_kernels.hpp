#pragma once

#include <cstddef>
#include <cstdint>

#include "pibinn/activation.hpp"

namespace pibinn::cpu {

/// Rows of a pass are padded with zeros to a multiple of this many floats (one cache line), so that
/// kernels run whole vectors on every target.
constexpr std::size_t kPad = 16;
constexpr std::size_t padded(std::size_t count) { return (count + kPad - 1) / kPad * kPad; }

/// The non-zero entries of each row of a batch: `count[i]` indices from indices + i * stride on.
struct Supports {
    const std::uint32_t* indices;
    const std::uint32_t* counts;
    std::size_t stride;
};

struct ResidualArgs {
    std::size_t rows, m, stride;
    const float* p1;  ///< A x_{k-1}; null when x_{k-1} = 0
    const float* p2;  ///< A x_{k-2}; null without momentum
    const float* y;
    const float* previous;        ///< r_{k-1}; null without Onsager term
    const std::uint32_t* counts;  ///< ||x_{k-1}||_0
    float beta, omega;
    float* r;         ///< out
    float* mean_abs;  ///< out: mean |r| of each row
};

/// r = (1 + beta) p1 - beta p2 - y + omega (count / m) r_{k-1}
void residual_rows(const ResidualArgs& args);

struct ThresholdArgs {
    std::size_t rows, n, stride;
    Activation activation;
    float delta, beta;
    const float* x1;         ///< x_{k-1}
    const float* x2;         ///< x_{k-2}
    const float* q;          ///< W^T r
    const float* tau;        ///< one threshold a row
    float* x;                ///< out
    std::uint32_t* indices;  ///< out: the support, `stride` + kPad apart
    std::uint32_t* counts;   ///< out
};

/// x = H_tau(delta (x1 + beta (x1 - x2)) - q), with its support.
void threshold_rows(const ThresholdArgs& args);

/// Batches and columns of one product: coefficient rows `c` (stride nc), vectors `v` (stride mv),
/// columns of length mv. Each touches only the entries in the supports.
struct ColumnArgs {
    std::size_t rows, nc, mv;
    Supports supports;
};

/// v_i = sum_j c_ij column_j
void gather_columns(const ColumnArgs& args, const float* c, const float* columns, float* v);
/// column_j -= sum_i c_ij v_i
void outer_columns(const ColumnArgs& args, const float* c, const float* v, float* columns);
/// c_ij = <column_j, v_i>
void dot_columns(const ColumnArgs& args, const float* v, const float* columns, float* c);

}  // namespace pibinn::cpu
