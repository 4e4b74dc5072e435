#pragma once

#include <cstddef>

#include "algebra/backend.hpp"
#include "algebra/cuda/device.cuh"

namespace pibinn::cuda {

// One block of threads per row of a batch. Numbers of a layer are read where they are: a null
// pointer stands for 0 (a step: 1).

struct ResidualArgs {
    std::size_t m;
    const float *p1, *p2;  ///< A x_{k-1}, A x_{k-2}; null where they count nothing
    const float* y;
    const float* previous;  ///< r_{k-1}; null without Onsager term
    const float* slopes;    ///< of layer k-1, summed over each row
    const float *beta, *omega;
    float* r;         ///< out
    float* mean_abs;  ///< out: of each row
};

/// r = (1 + beta) p1 - beta p2 - y + omega (slope / m) r_{k-1}
void residual_rows(const Queue& queue, std::size_t rows, const ResidualArgs& args);

/// A layer's activation with its numbers.
struct Shrink {
    Activation activation;
    std::size_t pieces;  ///< 0 unless `piecewise`
    const float *theta, *gain;
    bool residual_threshold;
    float softening;
    float ramp;  ///< where it is not 0, what backward takes a hard threshold for
};

struct ThresholdArgs {
    std::size_t n;
    Shrink shrink;
    float delta;
    const float *x1, *x2;  ///< x_{k-1}, x_{k-2}; null where they count nothing
    const float* q;        ///< W^T r
    const float *step, *beta;
    const float* mean_abs;
    float *x, *z;   ///< out
    float* tau;     ///< out: of each row, the threshold or what pieces scale with
    float* slopes;  ///< out: of the activation, summed over each row
};

/// x = H_tau(z), z = delta (x1 + beta (x1 - x2)) - step q
void threshold_rows(const Queue& queue, std::size_t rows, const ThresholdArgs& args);

struct LossArgs {
    RowLoss kind;
    std::size_t n;
    const float *x, *target, *weights;
    float* gradient;  ///< out
    double* losses;   ///< out: of each row
};
void loss_rows(const Queue& queue, std::size_t rows, const LossArgs& args);

struct SignalGradientArgs {
    std::size_t n, m;
    Shrink shrink;
    const float *x, *z, *tau, *mean_abs;  ///< of layer k
    float delta;
    const float* q;                   ///< A^T dL/dp; at the top dL/dx itself
    const float *hz1, *hz2;           ///< of layers k+1 and k+2; null for none
    const float *beta1, *beta2;       ///< of layers k+1 and k+2
    const float* omega1;              ///< of layer k+1; null for none
    const float* omega_share;         ///< <dL/dr_{k+1}, r_k> of each row
    const float *x1, *x2;             ///< x_{k-1}, x_{k-2}; for the gradient of beta
    float* hz;                        ///< out: -dL/dz
    float* from_mean;                 ///< out: what each row's mean |r| passes on
    float* through_x;                 ///< out: what beta gains by z, of each row
    float *theta_share, *gain_share;  ///< out: [piece][row]; null for no use of them
    std::size_t rows;
};

/// hz = (delta (1 + beta1) hz1 - delta beta2 hz2 - q) dx/dz, and what thresholds and gains gain.
void signal_gradient_rows(const Queue& queue, const SignalGradientArgs& args);

struct ResidualGradientArgs {
    std::size_t m;
    float* g;  ///< in: W hz, out: dL/dr
    const float* step;
    const float* next;       ///< dL/dr_{k+1}; null without Onsager term there
    const float* slopes;     ///< of layer k
    const float* omega1;     ///< of layer k+1
    const float* r;          ///< r_k
    const float* from_mean;  ///< null for fixed thresholds
    const float *p1, *p2;    ///< A x_{k-1}, A x_{k-2}; null without gradient of beta
    const float* r_before;   ///< r_{k-1}; null without gradient of omega
    const float* slopes_before;
    const float* through_x;
    float delta;
    float *step_share, *beta_share, *omega_share;  ///< out, of each row; null for no use
    float* omega_dot;                              ///< out: <g, r_{k-1}> of each row
};

/// g = step g + omega1 (slope / m) next + from_mean sign(r), and what steps, beta and omega gain.
void residual_gradient_rows(const Queue& queue, std::size_t rows, const ResidualGradientArgs& args);

/// out = (1 + beta1) g1 - beta2 g2; g2 and beta2 may be null.
void combine(const Queue& queue, std::size_t count, const float* beta1, const float* g1,
             const float* beta2, const float* g2, float* out);

/// One number of a gradient and the shares of the rows in it.
struct ShareSum {
    const float* shares;
    float* to;
};
constexpr std::size_t kMostSums = 2 * kMostPieces + 3;
struct ShareSums {
    ShareSum sums[kMostSums];
    std::size_t count = 0;

    void add(const float* shares, float* to) {
        if (to != nullptr) sums[count++] = {shares, to};
    }
};
/// *to += the sum over the rows.
void add_shares(const Queue& queue, std::size_t rows, const ShareSums& sums);

struct LinearActivationArgs {
    std::size_t n;
    Activation activation;
    const float* theta;
    float* x;  ///< in: before the activation, out: behind it
};
void linear_activation_rows(const Queue& queue, std::size_t rows, const LinearActivationArgs& args);

/// The gradient g of what an activation without pieces gave, in place; `theta_share` gets what each
/// row adds to that of theta, or is null.
void linear_gradient_rows(const Queue& queue, std::size_t rows, std::size_t n, const float* x,
                          float* g, float* theta_share);

}  // namespace pibinn::cuda
