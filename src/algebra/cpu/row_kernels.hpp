#pragma once

#include <cstddef>
#include <cstdint>

#include "pibinn/activation.hpp"

namespace pibinn::cpu {

/// Rows of a pass are padded with zeros to a multiple of this many floats (one cache line), so that
/// kernels run whole vectors on every target.
constexpr std::size_t kPad = 16;
constexpr std::size_t padded(std::size_t count) { return (count + kPad - 1) / kPad * kPad; }

/// The non-zero entries of each row of a batch, row after row: those of row i are the indices
/// starts[i] .. starts[i + 1] - 1.
struct Supports {
    const std::uint32_t* indices;
    const std::uint32_t* starts;

    std::size_t count(std::size_t i) const { return starts[i + 1] - starts[i]; }
};

struct ResidualArgs {
    std::size_t rows, m, stride;
    const float* p1;  ///< A x_{k-1}; null when x_{k-1} = 0
    const float* p2;  ///< A x_{k-2}; null without momentum
    const float* y;
    const float* previous;  ///< r_{k-1}; null without Onsager term
    const float* slopes;    ///< of the activation of layer k-1, summed over each row
    float beta, omega;
    float* r;         ///< out
    float* mean_abs;  ///< out: mean |r| of each row
};

/// r = (1 + beta) p1 - beta p2 - y + omega (slope / m) r_{k-1}
void residual_rows(const ResidualArgs& args);

/// The thresholds and gains of a learned shrink.
struct Pieces {
    std::size_t count = 0;
    const float* thresholds = nullptr;
    const float* gains = nullptr;
};

struct ThresholdArgs {
    std::size_t rows, n, stride;
    Activation activation;
    float delta, beta;
    const float* x1;         ///< x_{k-1}
    const float* x2;         ///< x_{k-2}
    const float* q;          ///< W^T r
    float step;              ///< times q
    const float* tau;        ///< one threshold a row, or what the thresholds of pieces scale with
    Pieces pieces;           ///< of `piecewise`
    float* x;                ///< out
    float* slopes;           ///< out: of the activation, summed over each row
    std::uint32_t* indices;  ///< out: the supports, and up to a vector beyond them
    std::uint32_t* starts;   ///< out
    std::uint8_t* signs;     ///< out: `sign_bytes` a row
    float softening;         ///< as in ActivationNumbers
    float* z;                ///< out: what the threshold was given; null for no use of it
};

/// Room for the signs of rows of this length, on any instruction set.
constexpr std::size_t sign_bytes(std::size_t stride) { return 2 * stride; }

/// x = H_tau(delta (x1 + beta (x1 - x2)) - step q), with its support.
void threshold_rows(const ThresholdArgs& args);

struct ResidualGradientArgs {
    std::size_t rows, m, stride;
    float* g;             ///< in: W hz, out: dL/dr
    float step;           ///< times W hz
    float* step_sum;      ///< out: <W hz, r_k> of each row; null for no use of it
    const float* next;    ///< dL/dr_{k+1}; null without Onsager term there
    const float* slopes;  ///< of the activation of layer k, summed over each row
    float omega_next;
    const float* r;          ///< r_k
    const float* from_mean;  ///< what each row's mean |r| gives; null for fixed thresholds
    const float* p1;         ///< A x_{k-1}; null when the gradient of beta is not asked for
    const float* p2;         ///< A x_{k-2}; null when x_{k-2} = 0
    const float* r_before;   ///< r_{k-1}; null when the gradient of omega is not asked for
    float* beta;             ///< out: <g, p1 - p2> of each row
    float* omega;            ///< out: <g, r_{k-1}> of each row
};

/// g = step g + omega_{k+1} (slope / m) next + from_mean sign(r), and what steps, beta and omega
/// gain by it.
void residual_gradient_rows(const ResidualGradientArgs& args);

/// out = c1 v1 + c2 v2; v2 may be null. All of whole padded rows.
void combine_rows(std::size_t count, float c1, const float* v1, float c2, const float* v2,
                  float* out);
struct SupportGradientArgs {
    std::size_t rows, stride;
    const std::uint8_t* signs;  ///< of x_k: everything happens where it is not zero
    const float* q;             ///< may be `hz` itself
    float c1, c2;
    const float* hz1;  ///< null for none
    const float* hz2;  ///< null for none
    float* hz;         ///< out
    float* tau;        ///< out: sum hz sign(x) of each row
};

/// hz = c1 hz1 + c2 hz2 - q where x is not zero, 0 elsewhere; and what a soft threshold gains by
/// it.
void support_gradient_rows(const SupportGradientArgs& args);

/// Batches and columns of one product: coefficient rows `c` (stride nc), vectors `v` (stride mv),
/// columns of length mv. Each touches only the entries in the supports.
struct ColumnArgs {
    std::size_t rows, nc, mv;
    Supports supports;
};

/// v_i = sum_j c_ij column_j - minus_i; `minus` may be null.
void gather_columns(const ColumnArgs& args, const float* c, const float* columns,
                    const float* minus, float* v);
/// c_ij = <column_j, v_i>
void dot_columns(const ColumnArgs& args, const float* v, const float* columns, float* c);

}  // namespace pibinn::cpu
