// room: model
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "pibinn/activation.hpp"
#include "pibinn/grouping.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

enum class Architecture { unrolled, fcn };

/// How a layer's links are stored: enumerator and name of every kind. What a kind means is told in
/// src/model/weights, one file each.
#define PIBINN_WEIGHT_KINDS(X)            \
    X(real, "float")                      \
    X(one_bit, "one-bit")                 \
    X(one_bit_layer, "one-bit-layer")     \
    X(one_bit_channel, "one-bit-channel") \
    X(ternary, "ternary")                 \
    X(tied, "tied")

#define PIBINN_ENUMERATOR(value, name) value,
enum class WeightKind { PIBINN_WEIGHT_KINDS(PIBINN_ENUMERATOR) };
#undef PIBINN_ENUMERATOR

/// What a layer does beside the paper's update; all off is `plain`, all on is `accelerated`.
struct Update {
    bool residual_threshold = false;  ///< theta_k scales with mean|r_k| of the signal at hand
    bool momentum = false;            ///< beta_k: v_k = x_{k-1} + beta_k (x_{k-1} - x_{k-2})
    /// omega_k: r_k gains omega_k b_{k-1} r_{k-1}, b the mean slope of the activation times n / m;
    /// ||x_{k-1}||_0 / m for all activations but `piecewise`.
    bool onsager = false;
    bool step = false;  ///< s_k: z_k = delta v_k - s_k W_k^T r_k; tied weights always have it

    static Update plain() { return {}; }
    static Update accelerated() { return {true, true, true, true}; }
    /// Whatever the step, which only scales the weights.
    bool is_plain() const { return !residual_threshold && !momentum && !onsager; }
    bool operator==(const Update&) const = default;
};

/// Which entries an activation shrinks together, by their common magnitude.
enum class Groups {
    none,     ///< each by itself
    complex,  ///< real and imaginary part of a complex entry
    rows      ///< the same entry of all vectors of a row, which share their support
};

struct NetworkSpec {
    Architecture architecture = Architecture::unrolled;
    std::size_t layers = 20;
    Activation activation = Activation::soft;
    WeightKind weights = WeightKind::one_bit;
    Update update = Update::accelerated();
    double delta = 1.0;
    std::size_t pieces = 4;  ///< of activation `piecewise`
    /// Conjugate-gradient steps for ||y - A_S x_S||^2 on the support S of x_K, after the last
    /// layer. With groups S is a set of groups, taken whole.
    std::size_t polish = 0;
    Groups groups = Groups::none;
    /// Rings of neighbours whose energy counts for that of a site, with learned factors. In one
    /// dimension a ring is one site on either side, cyclic but for `wiener`.
    std::size_t neighbours = 0;
    std::size_t grid = 0;  ///< side of the square that the sites form; 0 for one dimension
    /// Residuals are taken less their mean over the rows of a block, which costs one measurement:
    /// for operators whose columns have a mean in common, as those of zeros and ones do.
    bool centre = false;

    /// Throws a usage error for combinations that do not exist.
    void validate() const;
    bool has_thresholds() const { return thresholds_per_layer() > 0; }
    std::size_t thresholds_per_layer() const;  ///< `pieces`, 1 or 0
    bool has_gains() const;                    ///< one beside each threshold
    std::size_t local_per_layer() const;       ///< factors of neighbours, and what `wiener` adds
    bool has_prior() const;                    ///< a variance per site
    /// Whether entries are shrunk one by one, whatever stands beside them.
    bool entrywise() const;
    /// Whether layers leave entries at zero: `wiener` keeps them all.
    bool has_support() const;
    bool tied() const { return weights == WeightKind::tied; }
    bool operator==(const NetworkSpec&) const = default;
};

std::string_view to_string(Architecture architecture);
std::string_view to_string(WeightKind kind);
std::string_view to_string(Groups groups);
Groups parse_groups(std::string_view name);
/// The groups of signals that go through an operator of this structure.
Grouping grouping_of(Groups groups, const Structure& structure);
std::string_view to_string(const Update& update);  ///< "plain" or "accelerated"
Architecture parse_architecture(std::string_view name);
WeightKind parse_weight_kind(std::string_view name);
/// Every kind, in the order of the list above.
std::span<const WeightKind> weight_kinds();

/// Bits per link in the model file.
std::size_t bits_per_link(WeightKind kind);

}  // namespace pibinn
