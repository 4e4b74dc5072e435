#pragma once

#include <optional>
#include <vector>

#include "algebra/backend.hpp"
#include "algebra/cpu/column_products.hpp"
#include "algebra/cpu/site_shrink.hpp"

namespace pibinn::cpu {

/// The unrolled layers on the CPU. Everything after the dense product W^T r lives on the support:
/// A x_k, the gradients of W_k and of x_{k-1} cost in proportion to the non-zero entries. With
/// p_k = A x_k kept for every layer, momentum costs vector additions only.
class CpuUnrolledPass final : public UnrolledPass {
public:
    CpuUnrolledPass(const Block& block, std::span<const float> operator_values, std::size_t layers,
                    std::size_t max_rows, const Sites& sites, PassUse use);

    void start(ConstBatchView y) override;
    void forward(std::size_t k, const LayerSettings& settings,
                 const LayerParameters& layer) override;
    void read_x(std::size_t k, BatchView to) const override;
    double loss(RowLoss kind, ConstBatchView target, std::span<const float> row_weights) override;
    void backward(std::size_t k, const LayerSettings& settings, const LayerParameters& layer,
                  const LayerGradients& gradients, Into into) override;

private:
    using Rows = AlignedBuffer<float>;

    /// What a layer does, with its numbers.
    struct LayerScalars : LayerSettings {
        LayerScalars(const LayerSettings& settings, const LayerParameters& layer);
        float theta, step, beta, omega;
        Pieces pieces;  ///< of `piecewise`, whose theta means nothing
        bool tied;      ///< the operator's own links are the weights
        bool by_sites;  ///< entries are not shrunk one by one
        SiteSettings sites;
    };

    ConstBatchView x(std::size_t k) const;
    /// What forward leaves of layer k (0 is the start).
    struct Layer {
        Rows r;
        Rows x, p;  ///< p = A x_k; both with momentum only, since later layers come back to them
        std::vector<float> mean_abs;
        std::vector<float> slopes;                   ///< of the activation, summed over each row
        std::vector<std::uint32_t> indices, starts;  ///< the supports of x_k
        std::vector<std::uint8_t> signs;
        float beta = 0, omega = 0;
        float softening = 0;
        bool by_sites = false;
        float ramp = 0;  ///< where it is not 0, what backward needs of it:
        Rows z;          ///< as of `piecewise`
        std::vector<float> tau;
        std::vector<std::uint32_t> reach_indices, reach_starts;
    };

    // Of networks whose activation looks at groups and neighbours (unrolled_sites.cpp):
    bool by_sites(const LayerSettings& settings) const;
    std::size_t group_rows() const { return shrink_.shape().sites.grouping.rows; }
    /// One mean |r| for all rows of a group.
    void share_mean(Layer& layer);
    void forward_sites(std::size_t k, const LayerScalars& scalars);
    void list_entries(std::size_t group, std::span<const std::uint32_t> sites,
                      std::vector<std::uint32_t>& indices, std::vector<std::uint32_t>& starts);
    void gradient_of_sites(std::size_t k, const LayerScalars& scalars,
                           const SupportGradientArgs& args, const LayerGradients& gradients);

    /// What forward leaves of layer k. A pass for recovery keeps the last three: momentum looks two
    /// layers back.
    Layer& at(std::size_t k) { return tape_[k % tape_.size()]; }
    const Layer& at(std::size_t k) const { return tape_[k % tape_.size()]; }
    Supports supports(const Layer& layer) const;
    /// Where a gradient passes: the support, or what a ramp lets through.
    Supports reach(const Layer& layer) const;
    /// Where x_k and A x_k go.
    float* x_rows(std::size_t k) { return momentum_ ? at(k).x.data() : x_[k % 2].data(); }
    float* p_rows(std::size_t k) { return momentum_ ? at(k).p.data() : p_.data(); }
    /// Room for them.
    void remember(bool momentum);
    void remember_ramp(Layer& layer);
    /// Rows of measurements less their means.
    void centre_rows(float* rows) const;
    /// r_k
    void residual(std::size_t k, const LayerScalars& scalars);
    /// -dL/dz_k on the reach of x_k into hz_[k % 3], from what layers k+1 and k+2 left; and into
    /// dtau_ what each row's threshold gains by it.
    void gradient_of_x(std::size_t k, const LayerScalars& scalars, const LayerGradients& gradients);
    /// Also leaves in from_mean_ what each row's mean |r_k| passes on.
    void gradient_of_theta(std::size_t k, const LayerScalars& scalars, BufferView theta);
    void gradient_of_weights(std::size_t k, const LayerScalars& scalars, BufferView weights,
                             Into into);
    void gradient_of_pieces(std::size_t k, const LayerScalars& scalars, BufferView theta,
                            BufferView gain);

    ColumnProducts products_;
    SiteShrink shrink_;
    SiteSums sums_;
    float unit_gain_ = 1;
    std::size_t layers_;
    std::size_t rows_ = 0;
    Rows a_, a_by_row_;  ///< the operator, in both layouts
    Rows w_, w_by_row_;  ///< the weights of the layer at hand, made when first needed
    Rows y_;
    Rows q_;
    bool momentum_ = false;
    Rows x_[2];                 ///< of the last two layers, without momentum
    Rows p_;                    ///< A x of the last layer, without momentum
    std::vector<float> tau_;    ///< a number a row: thresholds forward, beta's share backward
    std::vector<float> dtau_;   ///< what each row's threshold gains
    std::vector<float> omega_;  ///< omega's share of each row
    std::vector<float> step_;   ///< the step's share of each row
    std::vector<float> by_threshold_, by_gain_, counts_;  ///< the share of each row and piece
    Rows scaled_r_;                                       ///< r times the step
    std::vector<float> from_mean_;                        ///< what each row's mean |r| passes on
    std::vector<Layer> tape_;
    Rows hz_[3];  ///< -dL/dz of the last three layers, zero off the reach
    Rows gr_[3];  ///< dL/dr of the last three layers
    Rows gp_;     ///< dL/dp of the layer at hand
};

}  // namespace pibinn::cpu
