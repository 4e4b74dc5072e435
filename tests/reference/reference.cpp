#include "reference/reference.hpp"

#include <cmath>

#include "algebra/activate.hpp"

namespace pibinn {

namespace {

using Vector = std::vector<double>;

/// Parameters by name, from the flat buffer.
struct Named {
    const ParameterLayout& layout;
    std::span<const double> values;

    std::span<const double> all(const std::string& name, std::size_t k) const {
        for (const ParameterSlice& s : layout.slices())
            if (s.name == name + "." + std::to_string(k)) return values.subspan(s.offset, s.size);
        return {};
    }
    double scalar(const std::string& name, std::size_t k, double otherwise = 0) const {
        const auto found = all(name, k);
        return found.empty() ? otherwise : found[0];
    }
    Matrix<double> weights(std::size_t k) const {
        const Structure& structure = layout.structure(k);
        const std::size_t offset = layout.slices()[k - 1].offset;
        Matrix<double> w(structure.rows(), structure.cols());
        structure.for_each_link([&](std::size_t i, std::size_t j, std::size_t link) {
            w(i, j) = values[offset + link];
        });
        return w;
    }
};

/// Runs one block of one signal: y = measurements block.row .., x_k written at block.col ..
void solve_block(const NetworkSpec& spec, const Matrix<double>& a,
                 const std::vector<Matrix<double>>& w, const Named& named, const Block& block,
                 std::span<const double> y, std::size_t row, std::vector<Matrix<double>>& out) {
    const std::size_t m = block.rows;
    const std::size_t n = block.cols;
    Vector x1(n), x2(n), r(m), r_before(m);
    double slopes = 0;  // of the activation of the layer before, summed up
    for (std::size_t k = 1; k <= spec.layers; ++k) {
        const double beta = named.scalar("beta", k);
        const double omega = named.scalar("omega", k);
        Vector v(n);
        for (std::size_t j = 0; j < n; ++j) v[j] = x1[j] + beta * (x1[j] - x2[j]);
        double mean_abs = 0;
        for (std::size_t i = 0; i < m; ++i) {
            r[i] = omega * slopes / static_cast<double>(m) * r_before[i] - y[block.row + i];
            for (std::size_t j = 0; j < n; ++j) r[i] += a(block.row + i, block.col + j) * v[j];
            mean_abs += std::abs(r[i]) / static_cast<double>(m);
        }
        const double step = named.scalar("step", k, 1);
        Vector tau(named.all("theta", k).begin(), named.all("theta", k).end());
        for (double& t : tau) t *= spec.update.residual_threshold ? mean_abs : 1.0;
        const ActivationNumbers<double> numbers{tau.empty() ? 0.0 : tau[0], 0.0, tau.size(),
                                                tau.data(), named.all("gain", k).data()};
        slopes = 0;
        Vector x(n);
        for (std::size_t j = 0; j < n; ++j) {
            double z = spec.delta * v[j];
            for (std::size_t i = 0; i < m; ++i)
                z -= step * w[k - 1](block.row + i, block.col + j) * r[i];
            x[j] = activate(spec.activation, z, numbers);
            slopes += onsager_slope(spec.activation, z, x[j], numbers);
            out[k - 1](row, block.col + j) = x[j];
        }
        x2 = x1;
        x1 = x;
        r_before = r;
    }
}

}  // namespace

std::vector<Matrix<double>> reference_layers(const NetworkSpec& spec, const Operator& op,
                                             const ParameterLayout& layout,
                                             std::span<const double> parameters,
                                             const Matrix<double>& y) {
    const Named named{layout, parameters};
    std::vector<Matrix<double>> w;
    for (std::size_t k = 1; k <= spec.layers; ++k)
        w.push_back(spec.tied() ? convert<double>(op.to_dense()) : named.weights(k));
    std::vector<Matrix<double>> out(spec.layers, Matrix<double>(y.rows(), op.cols()));
    if (spec.architecture == Architecture::fcn) {
        for (std::size_t k = 1; k <= spec.layers; ++k) {
            const Matrix<double>& in = k == 1 ? y : out[k - 2];
            for (std::size_t row = 0; row < y.rows(); ++row)
                for (std::size_t j = 0; j < op.cols(); ++j) {
                    double z = 0;
                    for (std::size_t i = 0; i < in.cols(); ++i) z += in(row, i) * w[k - 1](i, j);
                    out[k - 1](row, j) = activate(spec.activation, z, named.scalar("theta", k));
                }
        }
        return out;
    }
    const Structure& s = op.structure();
    const Matrix<double> a = convert<double>(op.to_dense());
    for (std::size_t row = 0; row < y.rows(); ++row)
        for (std::size_t u = 0; u < s.repeat(); ++u)
            for (Block block : s.parts()) {
                block.row += u * s.rows() / s.repeat();
                block.col += u * s.cols() / s.repeat();
                solve_block(spec, a, w, named, block, y.row(row), row, out);
            }
    return out;
}

}  // namespace pibinn
