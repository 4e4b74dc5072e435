#include "bench/openblas_step.hpp"

#include <algorithm>
#include <cmath>

#include <cblas.h>

#include "bench/elementwise.hpp"

namespace pibinn::bench {

namespace {

// Rows that pass through all layers together. 4000 rows would leave the cache.
constexpr std::size_t kRows = 256;

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, std::size_t m, std::size_t n, std::size_t k,
          float alpha, const float* a, const float* b, float beta, float* c) {
    cblas_sgemm(CblasRowMajor, ta, tb, static_cast<int>(m), static_cast<int>(n),
                static_cast<int>(k), alpha, a, static_cast<int>(ta == CblasTrans ? m : k), b,
                static_cast<int>(tb == CblasTrans ? k : n), beta, c, static_cast<int>(n));
}

}  // namespace

OpenBlasStep::OpenBlasStep(PlainNetwork network, ThreadPool& pool)
    : network_(std::move(network)),
      pool_(pool),
      effective_(network_.latent.size()),
      parts_(pool.threads()) {
    // Threads that share the rows are faster than threads within a product of 50 x 100.
    openblas_set_num_threads(1);
    const auto make = [&](Gradient& gradient) {
        gradient.weights.resize(network_.latent.size());
        gradient.theta.resize(network_.layers);
    };
    for (Gradient* gradient : {&gradient_, &first_, &second_}) make(*gradient);
    for (Part& part : parts_) {
        make(part.gradient);
        part.x.resize(network_.layers + 1);
        part.r.resize(network_.layers + 1);
        for (std::size_t k = 1; k <= network_.layers; ++k) {
            part.x[k].resize(kRows * network_.n);
            part.r[k].resize(kRows * network_.m);
        }
        part.q.resize(kRows * network_.n);
        part.g.resize(kRows * network_.n);
        part.p.resize(kRows * network_.m);
    }
}

double OpenBlasStep::gradient(ConstBatchView y, ConstBatchView x) {
    signs(effective_.size(), network_.latent.data(), network_.scale, effective_.data());
    const std::size_t threads = parts_.size();
    pool_.run(threads, [&](std::size_t t) {
        Part& part = parts_[t];
        std::fill(part.gradient.weights.begin(), part.gradient.weights.end(), 0.0F);
        std::fill(part.gradient.theta.begin(), part.gradient.theta.end(), 0.0F);
        part.loss = 0;
        const std::size_t end = x.rows * (t + 1) / threads;
        for (std::size_t at = x.rows * t / threads; at < end; at += kRows) {
            const std::size_t to = std::min(end, at + kRows);
            rows_of(part, y.row_range(at, to), x.row_range(at, to), 1 / static_cast<float>(x.rows));
        }
    });
    double loss = 0;
    std::swap(gradient_, parts_[0].gradient);
    for (std::size_t t = 0; t < threads; ++t) {
        loss += parts_[t].loss;
        if (t == 0) continue;
        const Gradient& part = parts_[t].gradient;
        add(part.weights.size(), part.weights.data(), gradient_.weights.data());
        add(part.theta.size(), part.theta.data(), gradient_.theta.data());
    }
    return loss;
}

void OpenBlasStep::rows_of(Part& part, ConstBatchView y, ConstBatchView x, float factor) {
    const std::size_t rows = x.rows;
    const std::size_t m = network_.m;
    const std::size_t n = network_.n;
    const float* a = network_.a.data();
    for (std::size_t k = 1; k <= network_.layers; ++k) {
        const float* w = &effective_[(k - 1) * n * m];
        float* r = part.r[k].data();
        if (k == 1) {
            for (std::size_t e = 0; e < rows * m; ++e) r[e] = -y.data[e];
        } else {
            gemm(CblasNoTrans, CblasNoTrans, rows, m, n, 1, part.x[k - 1].data(), a, 0,
                 part.p.data());
            subtract(rows * m, part.p.data(), y.data, r);
        }
        gemm(CblasNoTrans, CblasTrans, rows, n, m, 1, r, w, 0, part.q.data());
        soft_threshold(rows * n, k == 1 ? nullptr : part.x[k - 1].data(), part.q.data(),
                       network_.theta[k - 1], part.x[k].data());
    }
    float* g = part.g.data();
    for (std::size_t i = 0; i < rows; ++i)
        part.loss += double{factor} * loss_gradient(n, &part.x[network_.layers][i * n],
                                                    x.row(i).data(), 2 * factor, g + i * n);
    for (std::size_t k = network_.layers; k >= 1; --k) {
        const float* w = &effective_[(k - 1) * n * m];
        part.gradient.theta[k - 1] += through_threshold(rows * n, part.x[k].data(), g);
        gemm(CblasTrans, CblasNoTrans, n, m, rows, -1, g, part.r[k].data(), 1,
             &part.gradient.weights[(k - 1) * n * m]);
        if (k == 1) break;
        gemm(CblasNoTrans, CblasNoTrans, rows, m, n, 1, g, w, 0, part.p.data());
        gemm(CblasNoTrans, CblasTrans, rows, n, m, -1, part.p.data(), a, 1, g);
    }
}

void OpenBlasStep::adam(float rate) {
    ++steps_;
    const auto correct1 = static_cast<float>(1 / (1 - std::pow(0.9, static_cast<double>(steps_))));
    const auto correct2 =
        static_cast<float>(1 / (1 - std::pow(0.999, static_cast<double>(steps_))));
    const float scale_gradient =
        network_.scale *
        dot_signs(effective_.size(), gradient_.weights.data(), network_.latent.data());
    bench::adam(effective_.size(), rate, correct1, correct2, gradient_.weights.data(),
                first_.weights.data(), second_.weights.data(), network_.latent.data());
    bench::adam(network_.layers, rate, correct1, correct2, gradient_.theta.data(),
                first_.theta.data(), second_.theta.data(), network_.theta.data());
    for (float& theta : network_.theta) theta = std::max(theta, 0.0F);
    float logarithm = std::log(network_.scale);
    bench::adam(1, rate, correct1, correct2, &scale_gradient, &scale_first_, &scale_second_,
                &logarithm);
    network_.scale = std::exp(logarithm);
}

}  // namespace pibinn::bench
