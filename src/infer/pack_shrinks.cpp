#include <algorithm>
#include <vector>

#include "infer/pack.hpp"

namespace pibinn {

namespace {

struct Piece {
    float threshold;
    float gain;
};

/// The pieces of layer k in the order of their thresholds. One that adds nothing would only make
/// entries count as support that are zero; the last is kept where all add nothing.
std::vector<Piece> sorted_pieces(const Model& model, std::size_t k) {
    const std::size_t count = model.spec.thresholds_per_layer();
    std::vector<Piece> pieces;
    for (std::size_t j = k * count; j < (k + 1) * count; ++j)
        pieces.push_back({model.theta[j], model.gain.empty() ? 1.0F : model.gain[j]});
    std::ranges::stable_sort(pieces, {}, &Piece::threshold);
    const Piece last = pieces.back();
    std::erase_if(pieces, [](const Piece& piece) { return piece.gain == 0; });
    if (pieces.empty()) pieces.push_back(last);
    return pieces;
}

}  // namespace

void pack_shrinks(const Model& model, PackedBlock& block) {
    const bool by_sites = !model.spec.entrywise() && !model.spec.has_prior();
    if (!model.spec.has_gains() && !by_sites) return;
    std::vector<std::vector<Piece>> layers;
    for (std::size_t k = 0; k < model.spec.layers; ++k) {
        layers.push_back(sorted_pieces(model, k));
        block.pieces = std::max(block.pieces, layers.back().size());
    }
    const std::size_t stride = block.piece_stride();
    block.shrinks.resize(layers.size() * 3 * stride);
    for (std::size_t k = 0; k < layers.size(); ++k) {
        float* to = block.shrinks.data() + k * 3 * stride;
        double slope = 0, offset = 0;
        for (std::size_t j = 0; j < stride; ++j) {
            const bool there = j < layers[k].size();
            const Piece piece = there ? layers[k][j] : Piece{layers[k].back().threshold, 0};
            slope += piece.gain;
            // A hard threshold leaves what is beyond it as it is.
            if (model.spec.activation != Activation::hard)
                offset -= double{piece.gain} * piece.threshold;
            to[j] = piece.threshold + 0.0F;  // never -0: thresholds are compared as integers
            to[stride + j] = static_cast<float>(offset);
            to[2 * stride + j] = static_cast<float>(slope);
        }
    }
}

}  // namespace pibinn
