#include "reference/reference.hpp"

#include <cmath>

#include "algebra/activate.hpp"
#include "algebra/ring_sum.hpp"
#include "model/network_sites.hpp"

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
    std::span<const double> whole(const std::string& name) const {
        for (const ParameterSlice& s : layout.slices())
            if (s.name == name) return values.subspan(s.offset, s.size);
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

/// Less their mean.
void centre(Vector& values) {
    double mean = 0;
    for (const double v : values) mean += v / static_cast<double>(values.size());
    for (double& v : values) v -= mean;
}

/// One signal of a network by sites: block by block, all repetitions of a group together.
struct SiteReference {
    const NetworkSpec& spec;
    Sites sites;
    std::span<const double> theta, gain, local, prior;

    /// x of z [repetition][entry]; returns the sum of slopes.
    double shrink(double tau, const std::vector<Vector>& z, std::vector<Vector>& x) const {
        const std::size_t halves = sites.grouping.halves;
        const std::size_t count = z[0].size() / halves;
        const auto members = static_cast<double>(sites.grouping.size());
        Vector energy(count), size(count), gains(count);
        for (const Vector& row : z)
            for (std::size_t j = 0; j < row.size(); ++j) energy[j % count] += row[j] * row[j];
        const bool wiener = spec.activation == Activation::wiener;
        const double noise = wiener ? theta[0] * theta[0] * tau * tau : 0;
        Vector seen = energy;
        if (wiener)
            for (std::size_t i = 0; i < count; ++i)
                seen[i] = energy[i] / (members * (std::exp(prior[i]) + noise));
        const std::size_t first = wiener ? 2 : 0;
        for (std::size_t i = 0; i < count; ++i) size[i] = (wiener ? local[1] : 1) * seen[i];
        for (std::size_t r = 1; r <= sites.near.rings; ++r)
            add_ring_sum(sites.near, r, count, local[first + r - 1], seen.data(), size.data());
        constexpr double tiny = 1e-30;  // a site without energy
        double slopes = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (wiener) {
                const double expected = std::exp(prior[i]) * (local[0] + size[i]);
                gains[i] = expected / (expected + noise + tiny);
                slopes += members * gains[i];
                continue;
            }
            size[i] = std::max(size[i], tiny);
            const double u = std::sqrt(size[i]);
            Vector at(theta.begin(), theta.end());
            for (double& t : at) t *= tau;
            const Vector ones(at.size(), 1.0);
            const ActivationNumbers<double> numbers{at[0], 0.0, at.size(), at.data(),
                                                    gain.empty() ? ones.data() : gain.data()};
            gains[i] = activate(spec.activation, u, numbers) / u;
            const double slope = onsager_slope(spec.activation, u, gains[i], numbers);
            slopes += spec.activation == Activation::hard
                          ? members * slope
                          : members * gains[i] + energy[i] / size[i] * (slope - gains[i]);
        }
        for (std::size_t e = 0; e < z.size(); ++e)
            for (std::size_t j = 0; j < z[e].size(); ++j) x[e][j] = gains[j % count] * z[e][j];
        return slopes;
    }
};

/// `first` is the first entry of the block within a repetition.
void solve_sites(const NetworkSpec& spec, const Matrix<double>& a,
                 const std::vector<Matrix<double>>& w, const Named& named, const Sites& sites,
                 const std::vector<Block>& blocks, std::size_t first, std::span<const double> y,
                 std::size_t row, std::vector<Matrix<double>>& out) {
    const std::size_t m = blocks[0].rows, n = blocks[0].cols, rows = blocks.size();
    const auto zeros = [&](std::size_t size) { return std::vector<Vector>(rows, Vector(size)); };
    auto x1 = zeros(n), x2 = zeros(n), r = zeros(m), r_before = zeros(m);
    const auto prior = named.whole("prior");
    double slopes = 0;
    for (std::size_t k = 1; k <= spec.layers; ++k) {
        const double beta = named.scalar("beta", k), omega = named.scalar("omega", k);
        auto v = zeros(n), z = zeros(n), x = zeros(n);
        double mean_abs = 0;
        const auto measurements = static_cast<double>(m * rows);
        for (std::size_t e = 0; e < rows; ++e) {
            for (std::size_t j = 0; j < n; ++j) v[e][j] = x1[e][j] + beta * (x1[e][j] - x2[e][j]);
            for (std::size_t i = 0; i < m; ++i) {
                r[e][i] = -y[blocks[e].row + i];
                for (std::size_t j = 0; j < n; ++j)
                    r[e][i] += a(blocks[e].row + i, blocks[e].col + j) * v[e][j];
            }
            if (spec.centre) centre(r[e]);
            for (std::size_t i = 0; i < m; ++i) {
                r[e][i] += omega * slopes / measurements * r_before[e][i];
                mean_abs += std::abs(r[e][i]) / measurements;
            }
        }
        const double step = named.scalar("step", k, 1);
        for (std::size_t e = 0; e < rows; ++e)
            for (std::size_t j = 0; j < n; ++j) {
                z[e][j] = spec.delta * v[e][j];
                for (std::size_t i = 0; i < m; ++i)
                    z[e][j] -= step * w[k - 1](blocks[e].row + i, blocks[e].col + j) * r[e][i];
            }
        const std::size_t halves = sites.grouping.halves;
        const SiteReference reference{
            spec,
            sites,
            named.all("theta", k),
            named.all("gain", k),
            named.all("local", k),
            prior.empty() ? prior : prior.subspan(first / halves, n / halves)};
        slopes = reference.shrink(spec.update.residual_threshold ? mean_abs : 1.0, z, x);
        for (std::size_t e = 0; e < rows; ++e)
            for (std::size_t j = 0; j < n; ++j) out[k - 1](row, blocks[e].col + j) = x[e][j];
        x2 = x1;
        x1 = x;
        r_before = r;
    }
}

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
            r[i] = -y[block.row + i];
            for (std::size_t j = 0; j < n; ++j) r[i] += a(block.row + i, block.col + j) * v[j];
        }
        if (spec.centre) centre(r);
        for (std::size_t i = 0; i < m; ++i) {
            r[i] += omega * slopes / static_cast<double>(m) * r_before[i];
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
    if (!spec.entrywise()) {
        const Sites sites = sites_of(spec, s);
        for (std::size_t row = 0; row < y.rows(); ++row)
            for (std::size_t u = 0; u < s.repeat(); u += sites.grouping.rows)
                for (const Block& part : s.parts()) {
                    std::vector<Block> blocks(sites.grouping.rows, part);
                    for (std::size_t e = 0; e < blocks.size(); ++e) {
                        blocks[e].row += (u + e) * s.rows() / s.repeat();
                        blocks[e].col += (u + e) * s.cols() / s.repeat();
                    }
                    solve_sites(spec, a, w, named, sites, blocks, part.col, y.row(row), row, out);
                }
    } else {
        for (std::size_t row = 0; row < y.rows(); ++row)
            for (std::size_t u = 0; u < s.repeat(); ++u)
                for (Block block : s.parts()) {
                    block.row += u * s.rows() / s.repeat();
                    block.col += u * s.cols() / s.repeat();
                    solve_block(spec, a, w, named, block, y.row(row), row, out);
                }
    }
    for (std::size_t row = 0; spec.polish > 0 && row < y.rows(); ++row)
        reference_polish(spec, op, named.whole("cut")[0], y.row(row), out.back().row(row));
    return out;
}

}  // namespace pibinn
