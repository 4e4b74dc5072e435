// room: model
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pibinn/matrix.hpp"
#include "pibinn/network_spec.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/signal_domain.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// Operator, network and weights: everything that is needed to recover signals.
struct Model {
    NetworkSpec spec;
    Operator op;
    /// Effective weights of layer 1..K, one number per link: for one-bit kinds each is plus or
    /// minus its scale. Empty for `tied`, whose weights are the operator.
    std::vector<AlignedBuffer<float>> weights;
    std::vector<float> theta;  ///< one per layer, or one per piece of each layer; empty for relu
    std::vector<float> gain;   ///< of `piecewise`: the slope that each threshold adds
    std::vector<float> step;   ///< one per layer; empty without steps
    std::vector<float> beta;   ///< one per layer; empty without momentum
    std::vector<float> omega;  ///< one per layer; empty without Onsager term
    std::vector<float> local;  ///< of neighbours and `wiener`: some per layer
    std::vector<float> prior;  ///< of `wiener`: the logarithm of each site's variance
    std::vector<float> cut;    ///< of `polish`: S holds |x_i| > cut max|x|, of groups; or empty
    /// How the signals it recovers become pixels or volts; plain where signals are coefficients.
    SignalDomain domain;
    /// What else the file tells: recipe, seed, scores, hash of the data.
    std::map<std::string, std::string> metadata;

    /// One .safetensors file (docs/file-format.md), written whole or not at all.
    void save(const std::filesystem::path& path) const;
    /// Believes nothing of the file: whatever does not fit together is an error that says what and
    /// where.
    static Model load(const std::filesystem::path& path);
    /// The same as the bytes of such a file. Errors call them `where`.
    std::string to_bytes() const;
    static Model from_bytes(std::string_view bytes, std::string where);

    /// The global scale of a `one-bit` model, 0 for other kinds.
    double scale() const;
    std::size_t links() const;  ///< of all layers; those of a tied network are the operator's
    /// The links of W_k, k = 1..K, without the step.
    std::span<const float> layer_links(std::size_t k) const;
    float step_of(std::size_t k) const { return step.empty() ? 1.0F : step[k - 1]; }
};

/// The network that a solver's first K iterations are: W_k from A / ||A||^2, made one-bit or
/// ternary where the kind asks for it, all thresholds `theta`. What training starts from.
Model untrained_model(const NetworkSpec& spec, const Operator& op, double theta);

/// The coefficients x_K of every row of y; with `every_layer`, x_1 .. x_K too. What the model's
/// domain makes of them, pixels or volts, is up to Recoverer.
Batch recover_coefficients(const Model& model, ConstBatchView y, ThreadPool& pool,
                           std::vector<Batch>* every_layer = nullptr);

/// Stored bits, counted both ways.
struct BitCount {
    std::size_t weights = 0;
    std::size_t thresholds = 0;  ///< and what else an activation learns
    std::size_t momentum = 0;    ///< beta and omega
    std::size_t scales = 0;      ///< and steps, and the cut of `polish`
    std::size_t op = 0;          ///< the operator, as operator_bits counts it
    std::size_t paper = 0;       ///< the paper's accounting: weights and thresholds
    std::size_t total = 0;       ///< what must really be stored
};

BitCount count_bits(const Model& model);
/// Of a network that need not be there yet.
BitCount count_bits(const NetworkSpec& spec, const Operator& op);

/// Bits of an operator in the model file, which takes the form of the fewest: 32 per entry, one per
/// entry and a scale where all are +-c or 0 and c, both with the pattern of a mask; or the numbers
/// of its formula.
std::size_t operator_bits(const Operator& op);

/// What the structure spares: the weights that stay beside those of the same layers without it.
struct LinkShare {
    std::size_t links = 0;          ///< of all layers
    std::size_t dense_weights = 0;  ///< m n per layer
    double bits_per_dense_weight = 0;
};

LinkShare link_share(const NetworkSpec& spec, const Structure& structure);

}  // namespace pibinn
