#pragma once

#include <cstddef>

#include "algebra/backend.hpp"
#include "algebra/cuda/device.cuh"

namespace pibinn::cuda {

/// Partial sums of a reduction: few enough that each block of what follows adds them up itself.
constexpr unsigned kPartials = 256;

void fill(const Queue& queue, float value, float* values, std::size_t count);
void multiply(const Queue& queue, float factor, float* values, std::size_t count);
void keep_at_least(const Queue& queue, float least, float* values, std::size_t count);
void average(const Queue& queue, float share, const float* values, float* mean, std::size_t count);
void add(const Queue& queue, const float* part, float* total, std::size_t count);

/// kPartials sums of v^2, or of g sign(latent), in float64.
void partial_squares(const Queue& queue, const float* values, std::size_t count, double* partials);
void partial_sign_dots(const Queue& queue, const float* gradient, const float* latent,
                       std::size_t count, double* partials);
/// The sum of `count` partial sums: `*total` = or +=.
void finish_sum(const Queue& queue, const double* partials, std::size_t count, bool accumulate,
                double* total);
void to_float(const Queue& queue, const double* value, float* to);

struct AdamArgs {
    AdamStep step;
    float correct1, correct2;  ///< 1 / (1 - beta^step)
    const double* partials;    ///< of the gradient's squares, where it is clipped
    double* sign_dots;         ///< out, or null: partial sums of g sign(value), adam_blocks of them
    bool logarithm;            ///< of one number: moves its logarithm
    float *values, *first, *second;
    const float* gradient;
    std::size_t count;
};
/// At most kMostBlocks.
unsigned adam_blocks(std::size_t count);
void adam(const Queue& queue, const AdamArgs& args);

constexpr std::size_t kMostLevels = 8;

struct QuantiseArgs {
    float levels[kMostLevels];
    std::size_t level_count;
    bool signs_only;
    const float* latent;
    float* effective;
};
/// One scale for all of `count` links: *scale, or where `partials` are given, the mean of
/// magnitudes that these add up to.
void quantise(const Queue& queue, const QuantiseArgs& args, const float* scale,
              const double* partials, std::size_t count);
void partial_magnitudes(const Queue& queue, const float* values, std::size_t count,
                        double* partials);
/// The mean magnitude of each column as its scale. Column j has the links offsets[j] ..
/// offsets[j + 1] - 1, or without offsets `rows` links each.
void quantise_columns(const Queue& queue, const QuantiseArgs& args, const unsigned* offsets,
                      std::size_t rows, std::size_t columns);

/// The two places of each number of a complex block of `rows` rows; as Backend's operations.
void average_pairs(const Queue& queue, std::size_t rows, float* links, std::size_t count);
void copy_pairs(const Queue& queue, std::size_t rows, float* links, std::size_t count);
void move_towards_levels(const Queue& queue, const float* level, float strength, float* weights,
                         std::size_t count);

/// dense[places[l]] = links[l]
void scatter(const Queue& queue, const float* links, const unsigned* places, std::size_t count,
             float* dense);
/// links[l] = or += dense[places[l]]
void gather(const Queue& queue, const float* dense, const unsigned* places, std::size_t count,
            bool accumulate, float* links);

}  // namespace pibinn::cuda
