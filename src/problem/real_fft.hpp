#pragma once

#include <complex>
#include <span>
#include <vector>

#include <unsupported/Eigen/FFT>

namespace pibinn {

/// The Fourier transform of n real numbers, in float64: of the frequencies 0 .. n / 2, since the
/// others are their conjugates. O(n log n) unless n has large prime factors.
class RealFft {
public:
    explicit RealFft(std::size_t n) : n_(n), spectrum_(n / 2 + 1) {
        fft_.SetFlag(Eigen::FFT<double>::HalfSpectrum);
    }

    std::span<std::complex<double>> spectrum() { return spectrum_; }
    /// spectrum()[f] = sum_j x_j exp(-2 pi i f j / n).
    void forward(std::span<const double> x) {
        if (n_ == 1)  // of which Eigen's transform knows nothing
            spectrum_[0] = x[0];
        else
            fft_.fwd(spectrum_.data(), x.data(), static_cast<Eigen::Index>(n_));
    }
    /// The numbers of this spectrum.
    void inverse(std::span<double> x) {
        if (n_ == 1)
            x[0] = spectrum_[0].real();
        else
            fft_.inv(x.data(), spectrum_.data(), static_cast<Eigen::Index>(n_));
    }

private:
    std::size_t n_;
    std::vector<std::complex<double>> spectrum_;
    Eigen::FFT<double> fft_;
};

/// Multiplications of one transform, roughly: n times the sum of the prime factors of n.
inline std::size_t fft_work(std::size_t n) {
    std::size_t sum = 0;
    std::size_t rest = n;
    for (std::size_t p = 2; p * p <= rest; ++p)
        for (; rest % p == 0; rest /= p) sum += p;
    return n * (sum + (rest > 1 ? rest : 0));
}

}  // namespace pibinn
