#include "bench/random_network.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "pibinn/random.hpp"

namespace pibinn::bench {

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kFlippedShare = 50;  // one sign in so many
constexpr float kMomentum = 0.3F;
constexpr float kOnsager = 0.3F;
// Below every threshold that is set, and far above the rounding of z.
constexpr float kProbe = 1e-2F;

/// mean|r| of the last layer, row by row. With threshold t the layer shortens every entry that
/// stays by t mean|r|; `z` is what it gives with threshold 0.
std::vector<float> residual_means(Model& model, const Batch& z, ConstBatchView y,
                                  ThreadPool& pool) {
    model.theta.back() = kProbe;
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

Model random_network(const Structure& structure, std::size_t layers, const Update& update) {
    Model model;
    model.spec.layers = layers;
    model.spec.update = update;
    model.op = Operator::random(structure, OperatorEnsemble::gaussian, kSeed);
    // The norm that theory expects: power iterations on a large operator take longer than the
    // measurement.
    const double norm =
        1 + std::sqrt(static_cast<double>(model.op.cols()) / static_cast<double>(model.op.rows()));
    double sum = 0;
    for (const float a : model.op.values()) sum += std::abs(a);
    const auto scale =
        static_cast<float>(sum / static_cast<double>(structure.links()) / (norm * norm));
    AlignedBuffer<float> weights;
    for (const float a : model.op.values()) weights.push_back(a < 0 ? -scale : scale);
    model.weights.assign(layers, weights);
    for (std::size_t k = 0; k < layers; ++k) {
        Stream stream(kSeed, Purpose::weights, k);
        for (std::size_t flips = weights.size() / kFlippedShare; flips > 0; --flips) {
            float& w = model.weights[k][stream.below(static_cast<std::uint32_t>(weights.size()))];
            w = -w;
        }
    }
    model.theta.resize(layers);
    if (update.momentum) model.beta.assign(layers, kMomentum);
    if (update.onsager) model.omega.assign(layers, kOnsager);
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
    grown.weights.clear();
    grown.theta.clear();
    for (std::size_t k = 0; k < model.spec.layers; ++k) {
        grown.spec.layers = k + 1;
        grown.weights.push_back(std::move(model.weights[k]));
        grown.theta.push_back(0);
        grown.beta.resize(std::min(k + 1, model.beta.size()));
        grown.omega.resize(std::min(k + 1, model.omega.size()));
        if (!model.beta.empty()) grown.beta[k] = model.beta[k];
        if (!model.omega.empty()) grown.omega[k] = model.omega[k];
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
        grown.theta[k] = sizes[static_cast<std::size_t>(rank)];
    }
    model = std::move(grown);
}

double nonzero_share(const Batch& x) {
    const auto zeros = std::count(x.values().begin(), x.values().end(), 0.0F);
    return 1 - static_cast<double>(zeros) / static_cast<double>(x.size());
}

}  // namespace pibinn::bench
