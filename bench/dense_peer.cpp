#include "bench/dense_peer.hpp"

#include <algorithm>
#include <limits>

#include <cblas.h>

#include "bench/elementwise.hpp"
#include "study/timing.hpp"

namespace pibinn::bench {

namespace {

/// Blocks of both matrices fit the cache meanwhile.
void transpose(const float* from, std::size_t rows, std::size_t cols, float* to) {
    constexpr std::size_t block = 32;
    for (std::size_t i = 0; i < rows; i += block)
        for (std::size_t j = 0; j < cols; j += block)
            for (std::size_t k = i; k < std::min(i + block, rows); ++k)
                for (std::size_t l = j; l < std::min(j + block, cols); ++l)
                    to[l * rows + k] = from[k * cols + l];
}

}  // namespace

void openblas_product(bool transposed, std::size_t rows, std::size_t inner, std::size_t outer,
                      const float* in, const float* matrix, float* out) {
    const auto i = static_cast<int>(inner);
    const auto o = static_cast<int>(outer);
    if (rows == 1) {
        if (transposed)
            cblas_sgemv(CblasRowMajor, CblasNoTrans, o, i, 1, matrix, i, in, 1, 0, out, 1);
        else
            cblas_sgemv(CblasRowMajor, CblasTrans, i, o, 1, matrix, o, in, 1, 0, out, 1);
    } else {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans,
                    static_cast<int>(rows), o, i, 1, in, i, matrix, transposed ? i : o, 0, out, o);
    }
}

DensePeer::DensePeer(const RecoveryNetwork& network, Product product, std::size_t workers,
                     ConstBatchView sample)
    : network_(network), product_(product), workspaces_(workers) {
    openblas_set_num_threads(1);  // threads share the rows, which is faster than sharing a product
    Batch x(sample.rows, network.n);
    const study::TimingBudget budget{0.04, 0, 1};
    const auto microseconds = [&](const Layout& layout) {
        lay_out(layout);
        return study::time_calls([&](std::size_t) { recover(sample, x, 0); }, budget).least_us;
    };
    Layout best;
    double least = std::numeric_limits<double>::infinity();
    const auto attempt = [&](const Layout& layout) {
        const double taken = microseconds(layout);
        if (taken < least) {
            least = taken;
            best = layout;
        }
    };
    const std::size_t rows = std::min<std::size_t>(sample.rows, 256);
    for (const bool a : {false, true})
        for (const bool w : {false, true}) attempt({a, w, rows});
    for (const std::size_t fewer : {std::size_t{64}, std::size_t{128}, sample.rows})
        if (fewer != rows && fewer <= sample.rows)
            attempt({best.operator_transposed, best.weights_transposed, fewer});
    lay_out(best);
}

void DensePeer::lay_out(const Layout& layout) {
    const std::size_t m = network_.m;
    const std::size_t n = network_.n;
    // The operator maps x (n) to p (m): n x m, as given, is not transposed. Weights map r (m) to
    // q (n): given as n x m, they are transposed.
    if (a_.empty() || layout.operator_transposed != layout_.operator_transposed) {
        a_ = network_.a;
        if (layout.operator_transposed) transpose(network_.a.data(), n, m, a_.data());
    }
    if (weights_.empty() || layout.weights_transposed != layout_.weights_transposed) {
        weights_ = network_.weights;
        const std::size_t sets = network_.tied ? 1 : network_.layers;
        for (std::size_t k = 0; k < sets && !layout.weights_transposed; ++k)
            transpose(&network_.weights[k * n * m], n, m, &weights_[k * n * m]);
    }
    layout_ = layout;
    for (Workspace& space : workspaces_) {
        for (AlignedBuffer<float>* buffer : {&space.x1, &space.x2, &space.v, &space.q})
            buffer->resize(layout.rows * n);
        for (AlignedBuffer<float>* buffer : {&space.p, &space.r}) buffer->resize(layout.rows * m);
        space.slopes.resize(layout.rows);
    }
}

void DensePeer::recover(ConstBatchView y, BatchView x, std::size_t worker) {
    for (std::size_t at = 0; at < y.rows; at += layout_.rows) {
        const std::size_t rows = std::min(layout_.rows, y.rows - at);
        recover_rows(y.data + at * network_.m, rows, x.data + at * network_.n, workspaces_[worker]);
    }
}

void DensePeer::recover_rows(const float* y, std::size_t rows, float* x, Workspace& space) {
    const std::size_t m = network_.m;
    const std::size_t n = network_.n;
    const bool simple = network_.plain && !network_.residual_threshold && network_.delta == 1 &&
                        !network_.tied && network_.pieces == 0;
    std::fill_n(space.x1.data(), rows * n, 0.0F);
    std::fill_n(space.x2.data(), rows * n, 0.0F);
    std::fill_n(space.r.data(), rows * m, 0.0F);
    std::fill_n(space.slopes.begin(), rows, 0.0F);
    for (std::size_t k = 0; k < network_.layers; ++k) {
        if (!simple) {
            accelerated_layer(k, y, rows, space);
            std::swap(space.x1, space.x2);
            continue;
        }
        if (k > 0)
            product_(layout_.operator_transposed, rows, n, m, space.x1.data(), a_.data(),
                     space.p.data());
        else
            std::fill_n(space.p.data(), rows * m, 0.0F);
        subtract(rows * m, space.p.data(), y, space.r.data());
        product_(layout_.weights_transposed, rows, m, n, space.r.data(), &weights_[k * n * m],
                 space.q.data());
        soft_threshold(rows * n, space.x1.data(), space.q.data(), network_.theta[k],
                       space.x2.data());
        std::swap(space.x1, space.x2);
    }
    std::copy_n(space.x1.data(), rows * n, x);
}

/// x2 of x1, x2 and r; row by row, since each row has a threshold of its own.
void DensePeer::accelerated_layer(std::size_t k, const float* y, std::size_t rows,
                                  Workspace& space) {
    const std::size_t m = network_.m;
    const std::size_t n = network_.n;
    const float* v = space.x1.data();
    if (!network_.plain) {
        momentum(rows * n, space.x1.data(), space.x2.data(), network_.beta[k], space.v.data());
        v = space.v.data();
    }
    product_(layout_.operator_transposed, rows, n, m, v, a_.data(), space.p.data());
    for (std::size_t i = 0; i < rows; ++i) {
        const float alive = network_.plain        ? 0
                            : network_.pieces > 0 ? space.slopes[i]
                                                  : count_alive(n, &space.x1[i * n]);
        space.p[i * m] =
            residual(m, &space.p[i * m], y + i * m,
                     network_.omega[k] * alive / static_cast<float>(m), &space.r[i * m]);
    }
    // The sums of |r| stand where the rows of p began.
    product_(layout_.weights_transposed, rows, m, n, space.r.data(),
             &weights_[network_.tied ? 0 : k * n * m], space.q.data());
    const std::size_t pieces = network_.pieces;
    for (std::size_t i = 0; i < rows; ++i) {
        const float tau =
            network_.residual_threshold ? space.p[i * m] / static_cast<float>(m) : 1.0F;
        if (pieces > 0)
            space.slopes[i] = piecewise_scaled(
                n, v + i * n, &space.q[i * n], network_.delta, network_.step[k], pieces,
                &network_.theta[k * pieces], &network_.gain[k * pieces], tau, &space.x2[i * n]);
        else
            soft_threshold_scaled(n, v + i * n, &space.q[i * n], network_.delta, network_.step[k],
                                  network_.theta[k] * tau, &space.x2[i * n]);
    }
}

}  // namespace pibinn::bench
