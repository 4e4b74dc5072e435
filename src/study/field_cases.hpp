#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pibinn/disturbance.hpp"

namespace pibinn::study {

/// Noise of the measurements: at one ratio, anywhere in a range of them, or none.
using FieldNoise = std::optional<SnrRange>;

/// A network of the field's benchmark, and what is said over the default recipe to train it.
struct FieldNetwork {
    std::string_view weights;
    std::string_view ensemble;  ///< of the operator
    std::vector<std::string_view> settings = {};
};

/// One line of the benchmark: every network of it at every noise and every depth.
struct FieldLine {
    std::size_t n = 0;
    double density = 0;
    std::vector<FieldNoise> noises;
    std::vector<std::size_t> layers;
    std::vector<FieldNetwork> networks;
};

/// A benchmark as it is written down.
struct FieldPlan {
    std::size_t m = 0;
    std::vector<std::string_view> settings;  ///< of every problem and every training
    std::vector<FieldLine> lines;
};

/// The benchmark of the literature, and a miniature of it for a minute.
const FieldPlan& field_plan(bool quick);

/// The lines of a plan with the networks of a list with commas alone, such as
/// "tied-rademacher,one-bit-gaussian"; an empty list names all.
FieldPlan with_networks(const FieldPlan& plan, std::string_view networks);

/// One training of the benchmark, and what it is judged by.
struct FieldCase {
    std::string name;  ///< of its folder
    FieldNetwork network;
    std::size_t n = 0;
    std::size_t layers = 0;
    FieldNoise noise;
    std::vector<FieldNoise> judged;     ///< the noise itself, or the single ratios in its range
    std::vector<std::string> settings;  ///< of its configuration
};

/// One problem that methods without a network are judged by, stopped after each of these numbers of
/// iterations.
struct FieldReference {
    std::string name;  ///< of its file
    std::string_view ensemble;
    std::size_t n = 0;
    FieldNoise noise;
    std::vector<std::size_t> iterations;
    std::vector<std::string> settings;
};

/// Network by network, in the order in which the plan first names them.
std::vector<FieldCase> field_cases(const FieldPlan& plan, std::span<const std::string> settings);
std::vector<FieldReference> field_references(const FieldPlan& plan,
                                             std::span<const std::string> settings);
/// The settings of a case with another noise.
std::vector<std::string> with_noise(std::span<const std::string> settings, const FieldNoise& noise);

/// Refuses a setting that would make the benchmark another one: it varies layers, weights, sizes
/// and noise itself.
void require_field_settings(std::span<const std::string> settings);

/// "20 dB", "10 to 40 dB", "no noise".
std::string noise_words(const FieldNoise& noise);

/// A figure that others have published on the same problem, in dB of energy nmse.
struct PublishedFigure {
    std::string_view method;
    std::size_t n = 0;
    std::size_t layers = 0;
    FieldNoise noise;
    double energy_nmse_db = 0;
    std::size_t source = 0;  ///< in `published_sources`
};

/// All for m = 250, Gaussian operators with columns of norm 1, float weights.
std::span<const PublishedFigure> published_figures();
std::span<const std::string_view> published_sources();

}  // namespace pibinn::study
