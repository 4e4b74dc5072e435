#include "algebra/cuda/row_kernels.cuh"

#include <cmath>

namespace pibinn::cuda {

namespace {

__device__ float number(const float* value, float otherwise = 0) {
    return value != nullptr ? *value : otherwise;
}

/// Long rows of a batch of a few hundred leave a device idle unless many threads share one.
constexpr std::size_t kLongRow = 4096;

template <class Kernel, class Args>
void launch(const Queue& queue, std::size_t rows, std::size_t length, Kernel kernel,
            const Args& args) {
    if (rows == 0) return;
    const unsigned threads = length >= kLongRow ? kMostThreads : kThreads;
    kernel<<<static_cast<unsigned>(rows), threads, 0, queue.stream>>>(args);
    check(cudaGetLastError(), "starting a kernel");
}

__global__ void residual_kernel(ResidualArgs a) {
    const std::size_t row = blockIdx.x, at = row * a.m;
    const float beta = a.p2 != nullptr ? number(a.beta) : 0.0F;
    const float by_p1 = 1 + number(a.beta);
    const float by_previous =
        a.previous != nullptr ? number(a.omega) * a.slopes[row] / static_cast<float>(a.m) : 0.0F;
    float sum = 0;
    for (std::size_t i = threadIdx.x; i < a.m; i += blockDim.x) {
        float r = -a.y[at + i];
        if (a.p1 != nullptr) r = fmaf(by_p1, a.p1[at + i], r);
        if (a.p2 != nullptr) r = fmaf(-beta, a.p2[at + i], r);
        if (a.previous != nullptr) r = fmaf(by_previous, a.previous[at + i], r);
        a.r[at + i] = r;
        sum += fabsf(r);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) a.mean_abs[row] = sum / static_cast<float>(a.m);
}

/// Where the residual overflowed, everything is above a threshold that follows it, so that what
/// comes out tells.
__device__ float threshold_of(const Shrink& s, float mean_abs) {
    if (s.activation == Activation::relu) return 0;
    const float theta = s.pieces > 0 ? 1.0F : number(s.theta);
    if (!s.residual_threshold) return theta;
    const float tau = theta * mean_abs;
    return isfinite(tau) || s.activation == Activation::hard ? tau : -INFINITY;
}

__device__ float shrunk(const Shrink& s, float z, float tau) {
    switch (s.activation) {
        case Activation::soft:
            return z > tau ? z - tau : (z < -tau ? z + tau : 0.0F);
        case Activation::hard:
            if (!(z >= tau || z <= -tau)) return 0;
            return s.softening == 0 ? z : z - copysignf(s.softening * tau, z);
        case Activation::relu:
            return z > 0 ? z : 0.0F;
        case Activation::piecewise: {
            float sum = 0;
            for (std::size_t j = 0; j < s.pieces; ++j)
                sum = fmaf(s.gain[j], fmaxf(fabsf(z) - s.theta[j] * tau, 0.0F), sum);
            return copysignf(1.0F, z) * sum;
        }
        default:
            return NAN;  // refused by the backend
    }
}

__device__ float slope_of(const Shrink& s, float z, float x, float tau) {
    if (s.pieces == 0) return x != 0 ? 1.0F : 0.0F;
    float sum = 0;
    for (std::size_t j = 0; j < s.pieces; ++j)
        if (fabsf(z) > s.theta[j] * tau) sum += s.gain[j];
    return sum;
}

__global__ void threshold_kernel(ThresholdArgs a) {
    const std::size_t row = blockIdx.x, at = row * a.n;
    const float tau = threshold_of(a.shrink, a.mean_abs[row]);
    const float beta = number(a.beta), step = number(a.step, 1);
    float slopes = 0;
    for (std::size_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        float v = 0;
        if (a.x1 != nullptr) {
            v = a.x1[at + j];
            v = fmaf(beta, a.x2 != nullptr ? v - a.x2[at + j] : v, v);
        }
        const float z = fmaf(-step, a.q[at + j], a.delta * v);
        const float x = shrunk(a.shrink, z, tau);
        a.z[at + j] = z;
        a.x[at + j] = x;
        slopes += slope_of(a.shrink, z, x, tau);
    }
    slopes = block_sum(slopes);
    if (threadIdx.x != 0) return;
    a.slopes[row] = slopes;
    a.tau[row] = tau;
}

__global__ void loss_kernel(LossArgs a) {
    const std::size_t row = blockIdx.x, at = row * a.n;
    float squares = 0;
    for (std::size_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        const float g = a.x[at + j] - a.target[at + j];
        a.gradient[at + j] = g;
        squares = fmaf(g, g, squares);
    }
    squares = block_sum(squares);
    const float weight = a.weights[row];
    float factor = 2 * weight, loss = squares;
    if (a.kind == RowLoss::norm) {
        loss = sqrtf(squares);
        factor = loss > 0 ? weight / loss : 0.0F;
    } else if (a.kind == RowLoss::tempered) {
        loss = powf(squares, kTempered / 2);
        factor = squares > 0 ? weight * kTempered * loss / squares : 0.0F;
    }
    for (std::size_t j = threadIdx.x; j < a.n; j += blockDim.x) a.gradient[at + j] *= factor;
    if (threadIdx.x == 0) a.losses[row] = double{weight} * loss;
}

/// dx/dz and sign(z) times -dx/dtau of an activation with one threshold.
struct Slopes {
    float by_z, by_tau;
};
__device__ Slopes slopes_of(const Shrink& s, float z, float x, float tau) {
    if (s.activation == Activation::hard && s.ramp > 0) {
        // As algebra/cpu/ramp_kernels.hpp says.
        const float width = s.ramp * (1 - s.softening);
        const float size = fabsf(z);
        if (!(size > (1 - width) * tau)) return {0, 0};
        if (size >= (1 + width) * tau || width == 0) return {1, s.softening};
        const float relative = size / tau;
        const float climb = 1 / (2 * width);
        const float step = (relative - 1 + width) * climb;
        const float jump = (relative - s.softening) * climb;
        return {step + jump, s.softening * step + relative * jump};
    }
    return x != 0 ? Slopes{1, 1} : Slopes{0, 0};
}

__global__ void __launch_bounds__(kMostThreads) signal_gradient_kernel(SignalGradientArgs a) {
    const std::size_t row = blockIdx.x, at = row * a.n;
    const Shrink& s = a.shrink;
    const float c1 = a.hz1 != nullptr ? a.delta * (1 + number(a.beta1)) : 0.0F;
    const float c2 = a.hz2 != nullptr ? -a.delta * number(a.beta2) : 0.0F;
    const float tau = a.tau[row];
    float theta[kMostPieces], gain[kMostPieces];
    float by_theta[kMostPieces] = {}, by_gain[kMostPieces] = {}, beyond[kMostPieces] = {};
    const std::size_t pieces = s.pieces;
    for (std::size_t p = 0; p < pieces; ++p) {
        theta[p] = s.theta[p] * tau;
        gain[p] = s.gain[p];
    }
    float by_tau = 0, through = 0;
    for (std::size_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        const float z = a.z[at + j];
        float h = -a.q[at + j];
        if (a.hz1 != nullptr) h = fmaf(c1, a.hz1[at + j], h);
        if (a.hz2 != nullptr) h = fmaf(c2, a.hz2[at + j], h);
        float hz = 0;
        if (pieces > 0) {
            const float size = fabsf(z);
            const float towards = signbit(z) ? -h : h;
            float slope = 0;
            for (std::size_t p = 0; p < pieces; ++p) {
                if (!(size > theta[p])) continue;
                slope += gain[p];
                by_theta[p] += towards;
                by_gain[p] = fmaf(-towards, size - theta[p], by_gain[p]);
                beyond[p] += 1;
            }
            hz = slope != 0 ? h * slope : 0.0F;
        } else {
            const float x = a.x[at + j];
            const Slopes slopes = slopes_of(s, z, x, tau);
            hz = slopes.by_z != 0 ? h * slopes.by_z : 0.0F;
            if (slopes.by_tau != 0) by_tau += (z < 0 ? -slopes.by_tau : slopes.by_tau) * h;
        }
        a.hz[at + j] = hz;
        if (a.x1 != nullptr)
            through -= hz * (a.x2 != nullptr ? a.x1[at + j] - a.x2[at + j] : a.x1[at + j]);
    }
    if (a.x1 != nullptr) through = block_sum(through);
    const auto m = static_cast<float>(a.m);
    float from_mean = 0;
    if (pieces > 0) {
        const float carried = a.omega1 != nullptr ? *a.omega1 / m * a.omega_share[row] : 0.0F;
        for (std::size_t p = 0; p < pieces; ++p) {
            const float threshold = gain[p] * block_sum(by_theta[p]);
            const float own = block_sum(by_gain[p]);
            const float count = block_sum(beyond[p]);
            from_mean = fmaf(threshold, s.theta[p] / m, from_mean);
            if (threadIdx.x != 0) continue;
            a.theta_share[p * a.rows + row] = threshold * tau;
            a.gain_share[p * a.rows + row] = fmaf(carried, count, own);
        }
    } else {
        by_tau = block_sum(by_tau);
        from_mean = by_tau * number(s.theta) / m;
        if (threadIdx.x == 0 && a.theta_share != nullptr)
            a.theta_share[row] = s.residual_threshold ? by_tau * a.mean_abs[row] : by_tau;
    }
    if (threadIdx.x != 0) return;
    a.from_mean[row] = from_mean;
    a.through_x[row] = through;
}

__global__ void residual_gradient_kernel(ResidualGradientArgs a) {
    const std::size_t row = blockIdx.x, at = row * a.m;
    const auto m = static_cast<float>(a.m);
    const float step = number(a.step, 1);
    const float carried = a.next != nullptr ? number(a.omega1) * a.slopes[row] / m : 0.0F;
    const float from_mean = a.from_mean != nullptr ? a.from_mean[row] : 0.0F;
    float by_step = 0, by_beta = 0, by_omega = 0;
    for (std::size_t i = threadIdx.x; i < a.m; i += blockDim.x) {
        const float r = a.r[at + i];
        const float product = a.g[at + i];
        by_step = fmaf(product, r, by_step);
        float g = step * product;
        if (a.next != nullptr) g = fmaf(carried, a.next[at + i], g);
        if (a.from_mean != nullptr) g += r > 0 ? from_mean : (r < 0 ? -from_mean : 0.0F);
        a.g[at + i] = g;
        if (a.p1 != nullptr)
            by_beta =
                fmaf(g, a.p2 != nullptr ? a.p1[at + i] - a.p2[at + i] : a.p1[at + i], by_beta);
        if (a.r_before != nullptr) by_omega = fmaf(g, a.r_before[at + i], by_omega);
    }
    by_step = block_sum(by_step);
    by_beta = block_sum(by_beta);
    by_omega = block_sum(by_omega);
    if (threadIdx.x != 0) return;
    if (a.step_share != nullptr) a.step_share[row] = by_step;
    if (a.beta_share != nullptr) a.beta_share[row] = fmaf(a.delta, a.through_x[row], by_beta);
    if (a.r_before == nullptr) return;
    a.omega_dot[row] = by_omega;
    if (a.omega_share != nullptr) a.omega_share[row] = by_omega * a.slopes_before[row] / m;
}

struct CombineArgs {
    std::size_t count;
    const float *beta1, *g1, *beta2, *g2;
    float* out;
};

__global__ void combine_kernel(CombineArgs a) {
    const float c1 = 1 + number(a.beta1);
    const float c2 = a.g2 != nullptr ? -number(a.beta2) : 0.0F;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < a.count;
         i += stride)
        a.out[i] = a.g2 != nullptr ? fmaf(c1, a.g1[i], c2 * a.g2[i]) : c1 * a.g1[i];
}

struct AddSharesArgs {
    std::size_t rows;
    ShareSums sums;
};

__global__ void add_shares_kernel(AddSharesArgs a) {
    const ShareSum& sum = a.sums.sums[blockIdx.x];
    double total = 0;
    for (std::size_t i = threadIdx.x; i < a.rows; i += blockDim.x) total += sum.shares[i];
    total = block_sum(total);
    if (threadIdx.x == 0) *sum.to += static_cast<float>(total);
}

__global__ void linear_activation_kernel(LinearActivationArgs a) {
    const std::size_t at = std::size_t{blockIdx.x} * a.n;
    const Shrink shrink{a.activation, 0, a.theta, nullptr, false, 0, 0};
    const float tau = threshold_of(shrink, 0);
    for (std::size_t j = threadIdx.x; j < a.n; j += blockDim.x)
        a.x[at + j] = shrunk(shrink, a.x[at + j], tau);
}

struct LinearGradientArgs {
    std::size_t n;
    const float* x;
    float *g, *theta_share;
};

__global__ void linear_gradient_kernel(LinearGradientArgs a) {
    const std::size_t row = blockIdx.x, at = row * a.n;
    float sum = 0;
    for (std::size_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        const float x = a.x[at + j];
        if (x == 0) a.g[at + j] = 0;
        sum -= x > 0 ? a.g[at + j] : -a.g[at + j];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0 && a.theta_share != nullptr) a.theta_share[row] = sum;
}

}  // namespace

void residual_rows(const Queue& queue, std::size_t rows, const ResidualArgs& args) {
    launch(queue, rows, args.m, residual_kernel, args);
}

void threshold_rows(const Queue& queue, std::size_t rows, const ThresholdArgs& args) {
    launch(queue, rows, args.n, threshold_kernel, args);
}

void loss_rows(const Queue& queue, std::size_t rows, const LossArgs& args) {
    launch(queue, rows, args.n, loss_kernel, args);
}

void signal_gradient_rows(const Queue& queue, const SignalGradientArgs& args) {
    launch(queue, args.rows, args.n, signal_gradient_kernel, args);
}

void residual_gradient_rows(const Queue& queue, std::size_t rows,
                            const ResidualGradientArgs& args) {
    launch(queue, rows, args.m, residual_gradient_kernel, args);
}

void combine(const Queue& queue, std::size_t count, const float* beta1, const float* g1,
             const float* beta2, const float* g2, float* out) {
    launch(queue, blocks_for(count), 0, combine_kernel,
           CombineArgs{count, beta1, g1, beta2, g2, out});
}

void add_shares(const Queue& queue, std::size_t rows, const ShareSums& sums) {
    launch(queue, sums.count, rows, add_shares_kernel, AddSharesArgs{rows, sums});
}

void linear_activation_rows(const Queue& queue, std::size_t rows,
                            const LinearActivationArgs& args) {
    launch(queue, rows, args.n, linear_activation_kernel, args);
}

void linear_gradient_rows(const Queue& queue, std::size_t rows, std::size_t n, const float* x,
                          float* g, float* theta_share) {
    launch(queue, rows, n, linear_gradient_kernel, LinearGradientArgs{n, x, g, theta_share});
}

}  // namespace pibinn::cuda
