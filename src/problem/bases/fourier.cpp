#include <cmath>
#include <complex>
#include <vector>

#include <unsupported/Eigen/FFT>

#include "problem/basis_transform.hpp"

namespace pibinn {

namespace {

/// Signals that are sparse in frequency: s_j = sum_k c_k exp(2 pi i j k / n) / sqrt(n).
class FourierTransform final : public BasisTransform {
public:
    explicit FourierTransform(std::size_t n) : n_(n), norm_(std::sqrt(static_cast<double>(n))) {
        // Makes the tables of both directions, which calls then copy: calls may be concurrent, and
        // a transform of Eigen's is no constant.
        Numbers from(n), to(n);
        forward(fft_, from, to);
        inverse(fft_, from, to);
    }

    std::size_t length() const override { return 2 * n_; }
    void analyse(std::span<double> in, std::span<double> out) const override {
        run(forward, 1 / norm_, in, out);
    }
    void synthesise(std::span<double> in, std::span<double> out) const override {
        run(inverse, norm_, in, out);  // the inverse divides by n
    }

private:
    using Numbers = std::vector<std::complex<double>>;
    using Fft = Eigen::FFT<double>;

    static void forward(Fft& fft, const Numbers& from, Numbers& to) {
        if (from.size() == 1)  // of which Eigen's transform knows nothing
            to = from;
        else
            fft.fwd(to, from);
    }
    static void inverse(Fft& fft, const Numbers& from, Numbers& to) {
        if (from.size() == 1)
            to = from;
        else
            fft.inv(to, from);
    }

    template <class Transform>
    void run(Transform&& transform, double factor, std::span<const double> in,
             std::span<double> out) const {
        Fft fft = fft_;
        Numbers from(n_), to(n_);
        for (std::size_t j = 0; j < n_; ++j) from[j] = {in[j], in[n_ + j]};
        transform(fft, from, to);
        for (std::size_t k = 0; k < n_; ++k) {
            out[k] = factor * to[k].real();
            out[n_ + k] = factor * to[k].imag();
        }
    }

    std::size_t n_;
    double norm_;
    Fft fft_;
};

}  // namespace

extern const BasisDefinition fourier_basis;
const BasisDefinition fourier_basis{
    .name = "fourier",
    .make = [](std::size_t n) -> std::shared_ptr<const BasisTransform> {
        return std::make_shared<FourierTransform>(n);
    },
    .complex = true};

}  // namespace pibinn
