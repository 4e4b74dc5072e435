#include "bench/dense_peer.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include <cblas.h>

#include "bench/openblas_loops.hpp"
#include "bench/recovery_loops.hpp"

namespace pibinn::bench {

namespace {

/// Blocks of both fit the cache while it is turned.
void turn(const float* from, std::size_t rows, std::size_t cols, float* to) {
    constexpr std::size_t block = 32;
    for (std::size_t i = 0; i < rows; i += block)
        for (std::size_t j = 0; j < cols; j += block)
            for (std::size_t k = i; k < std::min(i + block, rows); ++k)
                for (std::size_t l = j; l < std::min(j + block, cols); ++l)
                    to[l * rows + k] = from[k * cols + l];
}

}  // namespace

void openblas_product(bool turned, std::size_t rows, std::size_t inner, std::size_t outer,
                      const float* in, const float* matrix, float* out) {
    const auto i = static_cast<int>(inner);
    const auto o = static_cast<int>(outer);
    if (rows == 1) {
        if (turned)
            cblas_sgemv(CblasRowMajor, CblasNoTrans, o, i, 1, matrix, i, in, 1, 0, out, 1);
        else
            cblas_sgemv(CblasRowMajor, CblasTrans, i, o, 1, matrix, o, in, 1, 0, out, 1);
    } else {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, turned ? CblasTrans : CblasNoTrans,
                    static_cast<int>(rows), o, i, 1, in, i, matrix, turned ? i : o, 0, out, o);
    }
}

DensePeer::DensePeer(const RecoveryNetwork& network, Product product, std::size_t lanes,
                     ConstBatchView sample)
    : network_(network), product_(product), lanes_(lanes) {
    openblas_set_num_threads(1);  // threads share the rows, which is faster than sharing a product
    Batch x(sample.rows, network.n);
    const auto seconds = [&](const Layout& layout) {
        using Clock = std::chrono::steady_clock;
        lay_out(layout);
        double fastest = std::numeric_limits<double>::infinity();
        const auto start = Clock::now();
        while (Clock::now() - start < std::chrono::milliseconds(40)) {
            const auto before = Clock::now();
            recover(sample, x, 0);
            fastest =
                std::min(fastest, std::chrono::duration<double>(Clock::now() - before).count());
        }
        return fastest;
    };
    Layout best;
    double least = std::numeric_limits<double>::infinity();
    const auto attempt = [&](const Layout& layout) {
        const double taken = seconds(layout);
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
            attempt({best.operator_turned, best.weights_turned, fewer});
    lay_out(best);
}

void DensePeer::lay_out(const Layout& layout) {
    const std::size_t m = network_.m;
    const std::size_t n = network_.n;
    // The operator takes x (n) to p (m): n x m, as it is given, is the straight one. Weights take r
    // (m) to q (n): given as n x m, they are turned.
    if (a_.empty() || layout.operator_turned != layout_.operator_turned) {
        a_ = network_.a;
        if (layout.operator_turned) turn(network_.a.data(), n, m, a_.data());
    }
    if (weights_.empty() || layout.weights_turned != layout_.weights_turned) {
        weights_ = network_.weights;
        for (std::size_t k = 0; k < network_.layers && !layout.weights_turned; ++k)
            turn(&network_.weights[k * n * m], n, m, &weights_[k * n * m]);
    }
    layout_ = layout;
    for (Lane& lane : lanes_) {
        for (AlignedBuffer<float>* buffer : {&lane.x1, &lane.x2, &lane.v, &lane.q})
            buffer->resize(layout.rows * n);
        for (AlignedBuffer<float>* buffer : {&lane.p, &lane.r}) buffer->resize(layout.rows * m);
    }
}

void DensePeer::recover(ConstBatchView y, BatchView x, std::size_t lane) {
    for (std::size_t at = 0; at < y.rows; at += layout_.rows) {
        const std::size_t rows = std::min(layout_.rows, y.rows - at);
        recover_rows(y.data + at * network_.m, rows, x.data + at * network_.n, lanes_[lane]);
    }
}

void DensePeer::recover_rows(const float* y, std::size_t rows, float* x, Lane& lane) {
    const std::size_t m = network_.m;
    const std::size_t n = network_.n;
    const bool simple = network_.plain && !network_.residual_threshold && network_.delta == 1;
    std::fill_n(lane.x1.data(), rows * n, 0.0F);
    std::fill_n(lane.x2.data(), rows * n, 0.0F);
    std::fill_n(lane.r.data(), rows * m, 0.0F);
    for (std::size_t k = 0; k < network_.layers; ++k) {
        if (!simple) {
            accelerated_layer(k, y, rows, lane);
            std::swap(lane.x1, lane.x2);
            continue;
        }
        if (k > 0)
            product_(layout_.operator_turned, rows, n, m, lane.x1.data(), a_.data(), lane.p.data());
        else
            std::fill_n(lane.p.data(), rows * m, 0.0F);
        subtract(rows * m, lane.p.data(), y, lane.r.data());
        product_(layout_.weights_turned, rows, m, n, lane.r.data(), &weights_[k * n * m],
                 lane.q.data());
        soft_threshold(rows * n, lane.x1.data(), lane.q.data(), network_.theta[k], lane.x2.data());
        std::swap(lane.x1, lane.x2);
    }
    std::copy_n(lane.x1.data(), rows * n, x);
}

/// x2 of x1, x2 and r; row by row, since each row has a threshold of its own.
void DensePeer::accelerated_layer(std::size_t k, const float* y, std::size_t rows, Lane& lane) {
    const std::size_t m = network_.m;
    const std::size_t n = network_.n;
    const float* v = lane.x1.data();
    if (!network_.plain) {
        momentum(rows * n, lane.x1.data(), lane.x2.data(), network_.beta[k], lane.v.data());
        v = lane.v.data();
    }
    product_(layout_.operator_turned, rows, n, m, v, a_.data(), lane.p.data());
    for (std::size_t i = 0; i < rows; ++i) {
        const float alive = network_.plain ? 0 : count_alive(n, &lane.x1[i * n]);
        lane.p[i * m] = residual(m, &lane.p[i * m], y + i * m,
                                 network_.omega[k] * alive / static_cast<float>(m), &lane.r[i * m]);
    }
    // The sums of |r| stand where the rows of p began.
    product_(layout_.weights_turned, rows, m, n, lane.r.data(), &weights_[k * n * m],
             lane.q.data());
    for (std::size_t i = 0; i < rows; ++i) {
        const float theta = network_.residual_threshold
                                ? network_.theta[k] * lane.p[i * m] / static_cast<float>(m)
                                : network_.theta[k];
        soft_threshold_scaled(n, v + i * n, &lane.q[i * n], network_.delta, theta, &lane.x2[i * n]);
    }
}

}  // namespace pibinn::bench
