#include "solvers/pursuit.hpp"

#include <algorithm>
#include <cmath>

#include "algebra/products.hpp"
#include "solvers/columns.hpp"

namespace pibinn {

namespace {

// A column that is nearer to the span of the chosen ones than this (squared, of a unit column)
// cannot be told from rounding of float32 entries.
constexpr double kDependent = 1e-12;

// A column that was chosen by mistake, and found out when the right ones joined it, ends with a
// coefficient of rounding size: less than this share of y, which is float32. (At 50 x 100 and
// density 0.05 this raises the signals of exactly the right support from 99.4 to over 99.9 %.)
constexpr double kRoundingCoefficient = 1e-5;

void subtract(double factor, std::span<const double> a, std::span<double> from) {
    for (std::size_t i = 0; i < a.size(); ++i) from[i] -= factor * a[i];
}

}  // namespace

OmpSolver::Pursuit::Pursuit(const UnitColumns& block, const Grouping& grouping, std::size_t stride,
                            ThreadPool& pool)
    : block_(block),
      layout_(block.shape.cols(), stride, 1, grouping),
      rows_(grouping.rows),
      halves_(grouping.halves),
      sites_(block.shape.cols() / grouping.halves),
      stride_(stride),
      pool_(pool),
      use_gram_(block.gram.size() > 0),
      width_(use_gram_ ? block.shape.cols() : block.shape.rows()),
      residual_(rows_, block.shape.rows()),
      correlation_(rows_, block.shape.cols()) {}

void OmpSolver::Pursuit::start(MatrixView<const double> y, MatrixView<const double> correlations) {
    chosen_.clear();
    factor_.clear();
    target_.clear();
    groups_ = 0;
    energy_ = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
        std::ranges::copy(y.row(r), residual_.row(r).begin());
        std::ranges::copy(correlations.row(r), correlation_.row(r).begin());
        energy_ += dot(y.row(r), y.row(r));
    }
    residual_energy_ = energy_;
}

double OmpSolver::Pursuit::goal(double tolerance, double noise_std) const {
    const auto m = static_cast<double>(block_.shape.rows() * rows_);
    return std::max(tolerance * tolerance * energy_, noise_std * noise_std * m);
}

std::size_t OmpSolver::Pursuit::most_groups() const {
    return std::min(block_.shape.rows(), block_.shape.cols()) / halves_;
}

/// The energy of A^T r in a group; of a single entry its magnitude will do.
double OmpSolver::Pursuit::strength(std::size_t group) const {
    if (rows_ * halves_ == 1) return std::abs(correlation_(0, group));
    double sum = 0;
    for (std::size_t r = 0; r < rows_; ++r)
        for (std::size_t h = 0; h < halves_; ++h) {
            const double c = correlation_(r, h * sites_ + group);
            sum += c * c;
        }
    return sum;
}

bool OmpSolver::Pursuit::step() {
    std::size_t best = 0;
    double most = strength(0);
    for (std::size_t j = 1; j < sites_; ++j)
        if (const double own = strength(j); own > most) {
            best = j;
            most = own;
        }
    return most != 0.0 && take_group(best);
}

bool OmpSolver::Pursuit::take_group(std::size_t j) {
    bool any = false;
    for (std::size_t h = 0; h < halves_; ++h) any |= take_column(h * sites_ + j);
    groups_ += any ? 1 : 0;
    return any;
}

bool OmpSolver::Pursuit::take_column(std::size_t j) {
    if (!take(j)) return false;
    residual_energy_ -= explain(j);
    return true;
}

/// Makes column j the next of the basis.
bool OmpSolver::Pursuit::take(std::size_t j) {
    const std::size_t k = chosen_.size();
    basis_.resize((k + 1) * width_);
    const auto next = basis_row(k);
    if (use_gram_)
        std::copy_n(block_.gram.row(j).begin(), width_, next.begin());
    else
        scatter_column(block_.shape.parts().front(), block_.values, j, next);
    const std::size_t start = factor_.size();
    double left = 1;
    for (std::size_t i = 0; i < k; ++i) {
        const double along = use_gram_ ? basis_row(i)[j] : dot(basis_row(i), next);
        factor_.push_back(along);
        left -= along * along;
        subtract(along, basis_row(i), next);
    }
    if (!use_gram_) left = dot(next, next);
    if (block_.inverse_norm[j] == 0 || left <= kDependent) {
        factor_.resize(start);
        return false;
    }
    const double scale = std::sqrt(left);
    factor_.push_back(scale);
    for (double& v : next) v /= scale;
    chosen_.push_back(static_cast<std::uint32_t>(j));
    return true;
}

/// Removes what the newest basis vector explains from residuals and correlations; returns its
/// energy.
double OmpSolver::Pursuit::explain(std::size_t j) {
    const auto newest = basis_row(chosen_.size() - 1);
    double energy = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
        const double along =
            use_gram_ ? correlation_(r, j) / factor_.back() : dot(newest, residual_.row(r));
        subtract(along, newest, use_gram_ ? correlation_.row(r) : residual_.row(r));
        target_.push_back(along);
        energy += along * along;
    }
    if (!use_gram_)
        adjoint_links<double>(block_.shape, block_.values, residual_, correlation_, pool_);
    return energy;
}

/// Solves L^T fitted = target for every repetition.
void OmpSolver::Pursuit::fit() {
    fitted_ = target_;
    for (std::size_t k = chosen_.size(); k-- > 0;) {
        const double* row = factor_.data() + k * (k + 1) / 2;
        for (std::size_t r = 0; r < rows_; ++r) {
            fitted_[k * rows_ + r] /= row[k];
            for (std::size_t i = 0; i < k; ++i)
                fitted_[i * rows_ + r] -= row[i] * fitted_[k * rows_ + r];
        }
    }
}

double OmpSolver::Pursuit::coefficient(std::size_t k, std::size_t r) const {
    return fitted_[k * rows_ + r] * block_.inverse_norm[chosen_[k]];
}

void OmpSolver::Pursuit::write(std::span<float> x) {
    fit();
    const double negligible =
        kRoundingCoefficient *
        std::sqrt(energy_ / std::max<double>(1, static_cast<double>(chosen_.size())));
    // The columns of a group stand behind each other.
    for (std::size_t k = 0, end = 0; k < chosen_.size(); k = end) {
        double energy = 0;
        for (; end < chosen_.size() && chosen_[end] % sites_ == chosen_[k] % sites_; ++end)
            for (std::size_t r = 0; r < rows_; ++r)
                energy += fitted_[end * rows_ + r] * fitted_[end * rows_ + r];
        if (std::sqrt(energy) <= negligible) continue;
        for (std::size_t c = k; c < end; ++c)
            for (std::size_t r = 0; r < rows_; ++r)
                x[r * stride_ + chosen_[c]] = static_cast<float>(coefficient(c, r));
    }
}

}  // namespace pibinn
