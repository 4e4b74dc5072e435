#include "bench/random_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "pibinn/random.hpp"

namespace pibinn::bench {

namespace {

constexpr std::size_t kFlippedShare = 50;  // one sign in so many
constexpr float kMomentum = 0.3F;
constexpr float kOnsager = 0.3F;
// Below every threshold that is set, and far above the rounding of z.
constexpr float kProbe = 1e-2F;

// A learned shrink: thresholds over the first one, and their gains.
constexpr float kPieces[][2] = {{1.0F, 0.3F}, {1.3F, 0.7F}, {2.0F, 0.25F}, {3.5F, -0.2F}};

/// The threshold of the last of spec.layers layers; of a learned shrink the smallest one, the
/// others in proportion. Until it has its pieces, it is the soft threshold.
void set_last_threshold(Model& model, float theta, bool pieces) {
    const std::size_t last = model.spec.layers - 1;
    if (!model.spec.has_gains()) {
        model.theta.resize(last + 1);
        model.theta[last] = theta;
        return;
    }
    model.theta.resize((last + 1) * model.spec.pieces);
    model.gain.resize(model.theta.size());
    for (std::size_t j = 0; j < model.spec.pieces; ++j) {
        const std::size_t at = last * model.spec.pieces + j;
        model.theta[at] = pieces ? kPieces[j][0] * theta : theta;
        model.gain[at] = pieces ? kPieces[j][1] : j == 0 ? 1.0F : 0.0F;
    }
}

/// In the middle between a size and the next one that is clearly larger: on an entry, rounding
/// would decide whether it stays. Signals with one entry in the same place have sizes that are
/// equal but for rounding.
float gap_above(const std::vector<float>& sizes, float size) {
    constexpr float clearly = 1.001F;
    float next = std::numeric_limits<float>::infinity();
    for (const float other : sizes)
        if (other > clearly * size) next = std::min(next, other);
    return std::isfinite(next) ? (size + next) / 2 : clearly * size;
}

/// The signs of A in every layer, with 2 % of them flipped.
void set_signs(double norm, Model& model) {
    double sum = 0;
    for (const float a : model.op.values()) sum += std::abs(a);
    const auto links = static_cast<double>(model.op.values().size());
    const auto scale = static_cast<float>(sum / links / (norm * norm));
    AlignedBuffer<float> weights;
    for (const float a : model.op.values()) weights.push_back(a < 0 ? -scale : scale);
    model.weights.assign(model.spec.layers, weights);
    for (std::size_t k = 0; k < model.spec.layers; ++k) {
        Stream stream(kSeed, Purpose::weights, k);
        for (std::size_t flips = weights.size() / kFlippedShare; flips > 0; --flips) {
            float& w = model.weights[k][stream.below(static_cast<std::uint32_t>(weights.size()))];
            w = -w;
        }
    }
}

/// mean|r| of the last layer, row by row. With threshold t the layer shortens every entry that
/// stays by t mean|r|; `z` is what it gives with threshold 0.
std::vector<float> residual_means(Model& model, const Batch& z, ConstBatchView y,
                                  ThreadPool& pool) {
    set_last_threshold(model, kProbe, false);
    const Batch x = recover_coefficients(model, y, pool);
    std::vector<float> means(z.rows());
    for (std::size_t i = 0; i < z.rows(); ++i) {
        // The smallest entry that stays has lost the largest share: the least rounding.
        float smallest = 0;
        for (std::size_t j = 0; j < z.cols(); ++j) {
            const float size = std::abs(z(i, j));
            if (x(i, j) == 0 || (smallest > 0 && size >= smallest)) continue;
            smallest = size;
            means[i] = (size - std::abs(x(i, j))) / kProbe;
        }
        if (!(means[i] > 0))
            throw Error(ErrorKind::failed,
                        fmt::format("no entry of signal {} passes a threshold of {}", i, kProbe),
                        "give networks of more entries");
    }
    return means;
}

}  // namespace

Model random_network(const RandomSpec& spec) {
    Model model;
    model.spec.layers = spec.layers;
    model.spec.update = spec.update;
    model.spec.update.step = spec.weights == WeightKind::tied;
    model.spec.weights = spec.weights;
    model.spec.activation = spec.activation;
    model.op = Operator::random(spec.structure, spec.ensemble, kSeed);
    // The norm that theory expects: power iterations on a large operator take longer than the
    // measurement.
    const double norm =
        1 + std::sqrt(static_cast<double>(model.op.cols()) / static_cast<double>(model.op.rows()));
    if (model.spec.tied())
        model.step.assign(spec.layers, static_cast<float>(1 / (norm * norm)));
    else
        set_signs(norm, model);
    model.theta.resize(spec.layers * model.spec.thresholds_per_layer());
    if (model.spec.has_gains()) model.gain.resize(model.theta.size());
    if (spec.update.momentum) model.beta.assign(spec.layers, kMomentum);
    if (spec.update.onsager) model.omega.assign(spec.layers, kOnsager);
    return model;
}

void set_thresholds(Model& model, ConstBatchView y, double density, ThreadPool& pool) {
    const bool scaled = model.spec.update.residual_threshold;
    if (scaled && model.op.structure().kind() != StructureKind::dense)
        fail_usage(fmt::format("thresholds that scale with the residual of a {} network",
                               to_string(model.op.structure().kind())),
                   "give a dense network, or the plain update");
    // The network grows layer by layer; the last layer with threshold 0 gives z itself.
    Model grown = model;
    for (auto* numbers : {&grown.theta, &grown.gain, &grown.step, &grown.beta, &grown.omega})
        numbers->clear();
    grown.weights.clear();
    for (std::size_t k = 0; k < model.spec.layers; ++k) {
        grown.spec.layers = k + 1;
        if (!model.weights.empty()) grown.weights.push_back(std::move(model.weights[k]));
        set_last_threshold(grown, 0, false);
        if (!model.step.empty()) grown.step.push_back(model.step[k]);
        if (!model.beta.empty()) grown.beta.push_back(model.beta[k]);
        if (!model.omega.empty()) grown.omega.push_back(model.omega[k]);
        const Batch z = recover_coefficients(grown, y, pool);
        const std::vector<float> units =
            scaled ? residual_means(grown, z, y, pool) : std::vector<float>(z.rows(), 1.0F);
        std::vector<float> sizes;
        sizes.reserve(z.size());
        for (std::size_t i = 0; i < z.rows(); ++i)
            for (const float value : z.row(i)) sizes.push_back(std::abs(value) / units[i]);
        const auto rank =
            static_cast<std::ptrdiff_t>((1 - density) * static_cast<double>(sizes.size() - 1));
        std::nth_element(sizes.begin(), sizes.begin() + rank, sizes.end());
        set_last_threshold(grown, gap_above(sizes, sizes[static_cast<std::size_t>(rank)]), true);
    }
    model = std::move(grown);
}

double nonzero_share(const Batch& x) {
    const auto zeros = std::count(x.values().begin(), x.values().end(), 0.0F);
    return 1 - static_cast<double>(zeros) / static_cast<double>(x.size());
}

}  // namespace pibinn::bench
