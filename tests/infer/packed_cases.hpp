#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/cases.hpp"
#include "pibinn/model.hpp"
#include "problem/random_mask.hpp"

namespace pibinn::testing {

/// What a case's parameters are like, beside what its network says.
enum class Values {
    usual,          ///< weights near a scaled operator, moderate thresholds
    dead_outputs,   ///< every fifth output of a layer has links of zero alone
    no_threshold,   ///< the same, and thresholds of -0
    odd_momentum,   ///< beta takes all of a misfit off, or turns it round
    high_momentum,  ///< beta of 0.9, and small weights, or it would blow up
    zero_gains,     ///< of every other piece, from the one with the smallest threshold on
    zero_pieces,    ///< all gains of a layer are zero, and all thresholds of another
    unit_columns,   ///< an operator of signs whose columns have magnitudes of their own
    sign_operator,  ///< trained weights on an operator of signs
    zero_one,       ///< an operator of zeros and ones, and centred residuals
};

/// A network to pack.
struct Case {
    std::string name;
    Structure structure;
    NetworkSpec spec;
    Values values = Values::usual;
};

inline NetworkSpec spec_of(WeightKind weights, Update update,
                           Activation activation = Activation::soft, double delta = 1.0) {
    NetworkSpec spec;
    spec.layers = 5;
    spec.weights = weights;
    spec.update = update;
    if (spec.tied()) spec.update.step = true;
    spec.activation = activation;
    spec.delta = delta;
    return spec;
}

inline NetworkSpec learned_spec(WeightKind weights, Update update, std::size_t pieces = 4) {
    NetworkSpec spec = spec_of(weights, update, Activation::piecewise);
    spec.pieces = pieces;
    return spec;
}

/// Learned shrinks of every kind of weights and structure, and of any number of pieces.
inline void add_learned(std::vector<Case>& list) {
    for (auto kind : {StructureKind::dense, StructureKind::repeated, StructureKind::blocks,
                      StructureKind::mask})
        for (auto weights : {WeightKind::one_bit, WeightKind::one_bit_channel, WeightKind::ternary,
                             WeightKind::tied})
            for (auto update : {Update::plain(), Update::accelerated()})
                list.push_back({fmt::format("learned {} {} {}", to_string(kind), to_string(weights),
                                            to_string(update)),
                                some_structure(kind), learned_spec(weights, update)});
    for (const auto& structure :
         {Structure::dense(13, 21), Structure::dense(29, 47), some_mask(11, 17)})
        for (auto update : {Update::accelerated(), Update{false, true, true, true},
                            Update{true, false, false, true}})
            for (std::size_t pieces : {1U, 2U, 3U, 5U, 6U, 16U})
                list.push_back({fmt::format("{} pieces", pieces), structure,
                                learned_spec(WeightKind::one_bit, update, pieces)});
    for (auto values : {Values::zero_gains, Values::zero_pieces})
        for (const auto& structure : {Structure::dense(13, 21), some_mask(11, 17)})
            list.push_back({"no gain", structure,
                            learned_spec(WeightKind::tied, Update::accelerated()), values});
    NetworkSpec small_delta = learned_spec(WeightKind::one_bit, {false, true, false});
    small_delta.delta = 0.05;
    list.push_back({"learned small delta", Structure::dense(13, 21), small_delta});
}

/// Networks tied to an operator of signs.
inline void add_tied(std::vector<Case>& list) {
    for (auto kind : {StructureKind::dense, StructureKind::repeated, StructureKind::blocks,
                      StructureKind::mask})
        for (auto update : {Update::plain(), Update::accelerated()})
            list.push_back({fmt::format("tied {} {}", to_string(kind), to_string(update)),
                            some_structure(kind), spec_of(WeightKind::tied, update)});
    for (auto [m, n] : std::vector<std::pair<std::size_t, std::size_t>>{{1, 1},
                                                                        {3, 1},
                                                                        {5, 16},
                                                                        {31, 65},
                                                                        {50, 100},
                                                                        {64, 64},
                                                                        {65, 129},
                                                                        {80, 256},
                                                                        {129, 257},
                                                                        {200, 330},
                                                                        {333, 65},
                                                                        {640, 700}})
        for (auto update : {Update::plain(), Update::accelerated()}) {
            NetworkSpec spec = learned_spec(WeightKind::tied, update);
            spec.layers = 3;
            list.push_back({fmt::format("tied {}x{} {}", m, n, to_string(update)),
                            Structure::dense(m, n), spec});
        }
    // Long columns of signs, of which kernels hold no floats; many entries alive.
    for (auto [m, n] : std::vector<std::pair<std::size_t, std::size_t>>{
             {96, 40}, {100, 150}, {128, 300}, {191, 260}, {257, 400}})
        for (auto weights : {WeightKind::one_bit, WeightKind::ternary, WeightKind::tied})
            for (auto update : {Update::plain(), Update::accelerated()}) {
                NetworkSpec spec = spec_of(weights, update);
                spec.layers = 3;
                list.push_back(
                    {fmt::format("signs {}x{} {} {}", m, n, to_string(weights), to_string(update)),
                     Structure::dense(m, n), spec, Values::sign_operator});
            }
    const std::vector<std::pair<std::size_t, std::size_t>> shapes{{100, 60}, {5, 9}, {130, 90}};
    list.push_back({"signs in blocks", Structure::blocks(shapes),
                    learned_spec(WeightKind::tied, Update::accelerated())});
    list.push_back({"signs repeated", Structure::repeated(97, 120, 2),
                    learned_spec(WeightKind::tied, Update::accelerated())});
    for (const auto& structure : {Structure::dense(13, 21), some_mask(11, 17)}) {
        NetworkSpec one = learned_spec(WeightKind::tied, Update::accelerated());
        one.layers = 1;
        list.push_back({"tied, one layer", structure, one});
        list.push_back({"tied, unit columns", structure,
                        learned_spec(WeightKind::tied, Update::accelerated()),
                        Values::unit_columns});
    }
}

/// Operators of zeros and ones, tied and not.
inline void add_centred(std::vector<Case>& list) {
    const auto add = [&](const Structure& structure, WeightKind weights, Update update) {
        NetworkSpec spec = learned_spec(weights, update);
        spec.layers = 4;
        spec.centre = true;
        list.push_back(
            {fmt::format("centred {} {}x{} {} {}", to_string(structure.kind()), structure.rows(),
                         structure.cols(), to_string(weights), to_string(update)),
             structure, spec, Values::zero_one});
    };
    for (auto weights : {WeightKind::tied, WeightKind::one_bit, WeightKind::ternary})
        for (auto update : {Update::plain(), Update::accelerated()}) {
            for (auto kind : {StructureKind::dense, StructureKind::repeated, StructureKind::blocks,
                              StructureKind::mask})
                add(some_structure(kind), weights, update);
            for (auto [m, n] : std::vector<std::pair<std::size_t, std::size_t>>{
                     {13, 21}, {50, 100}, {80, 137}, {129, 257}})
                add(Structure::dense(m, n), weights, update);
            add(some_mask(130, 60), weights, update);
        }
}

inline const std::vector<Case>& cases() {
    static const std::vector<Case> all = [] {
        std::vector<Case> list;
        const auto add = [&list](const std::string& name, Structure structure, NetworkSpec spec,
                                 Values values = Values::usual) {
            list.push_back({name, std::move(structure), spec, values});
        };
        for (auto kind : {StructureKind::dense, StructureKind::repeated, StructureKind::blocks,
                          StructureKind::mask})
            for (auto weights : {WeightKind::one_bit, WeightKind::one_bit_layer,
                                 WeightKind::one_bit_channel, WeightKind::ternary})
                for (auto update : {Update::plain(), Update::accelerated()})
                    add(fmt::format("{} {} {}", to_string(kind), to_string(weights),
                                    to_string(update)),
                        some_structure(kind), spec_of(weights, update));
        for (auto activation : {Activation::hard, Activation::relu})
            for (const auto& structure : {Structure::dense(13, 21), some_mask(11, 17)})
                add(fmt::format("{}", to_string(activation)), structure,
                    spec_of(WeightKind::one_bit, Update::plain(), activation));
        add("hard accelerated", Structure::dense(13, 21),
            spec_of(WeightKind::one_bit, Update::accelerated(), Activation::hard));
        add("delta", Structure::dense(13, 21),
            spec_of(WeightKind::one_bit, Update::plain(), Activation::soft, 0.7));
        for (int bits = 1; bits < 7; ++bits)
            add(fmt::format("update {}", bits), Structure::dense(13, 21),
                spec_of(WeightKind::one_bit,
                        Update{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0}));
        // Factors that take all of a misfit off, or turn it round.
        for (const auto& structure : {Structure::dense(13, 21), some_mask(11, 17)})
            add("odd momentum", structure, spec_of(WeightKind::one_bit, Update::accelerated()),
                Values::odd_momentum);
        // Factors of x so small that its unit cannot follow them, and units that go far from 1 in
        // so many layers: up by delta, down by momentum.
        for (auto activation : {Activation::soft, Activation::hard, Activation::relu})
            for (const auto& structure : {Structure::dense(13, 21), some_mask(11, 17)})
                add("small delta", structure,
                    spec_of(WeightKind::one_bit_channel, {false, true, false}, activation, 0.05));
        for (const auto& structure : {Structure::dense(50, 70), some_mask(11, 17)}) {
            NetworkSpec deep = spec_of(WeightKind::one_bit, Update::plain(), Activation::soft, 0.5);
            deep.layers = 40;
            add("deep", structure, deep);
            deep.delta = 0.7;
            deep.update.momentum = true;
            add("deep momentum", structure, deep, Values::high_momentum);
            deep.update = Update::accelerated();
            add("deep momentum", structure, deep, Values::high_momentum);
        }
        // Zeros at a threshold of -0, which are as dead as at one of 0.
        for (auto update : {Update{false, true, false}, Update::accelerated()})
            add("no threshold", Structure::dense(13, 40), spec_of(WeightKind::ternary, update),
                Values::no_threshold);
        // One row, one column, whole and broken groups, words and vectors; more rows than are
        // summed in registers; more words than have their tables made at a time.
        for (auto [m, n] : std::vector<std::pair<std::size_t, std::size_t>>{{1, 1},
                                                                            {1, 40},
                                                                            {3, 1},
                                                                            {5, 16},
                                                                            {29, 33},
                                                                            {30, 64},
                                                                            {31, 65},
                                                                            {50, 100},
                                                                            {61, 17},
                                                                            {129, 70},
                                                                            {200, 130},
                                                                            {333, 65}})
            for (auto weights : {WeightKind::one_bit, WeightKind::ternary})
                for (auto update : {Update::plain(), Update::accelerated()})
                    // Few rows and many columns make the accelerated update blow up, and with it
                    // any rounding.
                    if (n <= 3 * m || update.is_plain())
                        add(fmt::format("{}x{} {} {}", m, n, to_string(weights), to_string(update)),
                            Structure::dense(m, n), spec_of(weights, update));
        // As many columns as a byte can tell apart, and more. Large networks of such weights
        // amplify errors, hence two layers.
        for (auto [m, n] : std::vector<std::pair<std::size_t, std::size_t>>{
                 {40, 256}, {67, 257}, {150, 300}, {150, 520}})
            for (auto update : {Update::plain(), Update::accelerated()}) {
                NetworkSpec wide = spec_of(WeightKind::one_bit, update);
                wide.layers = 2;
                add(fmt::format("{}x{} {}", m, n, to_string(update)), Structure::dense(m, n), wide);
            }
        // So many rows that one chain of additions would round too much.
        NetworkSpec tall = spec_of(WeightKind::one_bit, Update::accelerated());
        tall.layers = 2;
        add("3000x40", Structure::dense(3000, 40), tall);
        // Ternary outputs without links, and nothing that cuts off what rounding would leave there.
        add("dead ternary relu", Structure::dense(13, 40),
            spec_of(WeightKind::ternary, {false, true, true}, Activation::relu),
            Values::dead_outputs);
        // Blocks so small that tiles win.
        add("3x5 repeated", Structure::repeated(3, 5, 9),
            spec_of(WeightKind::one_bit, Update::accelerated()));
        add_learned(list);
        add_tied(list);
        add_centred(list);
        // The columns of a convolution, whose rows stand side by side.
        std::vector<std::uint32_t> offsets{0}, rows;
        for (std::uint32_t j = 0; j < 37; ++j) {
            for (std::uint32_t i = 0; i < 19; ++i) rows.push_back(j + i);
            offsets.push_back(static_cast<std::uint32_t>(rows.size()));
        }
        for (auto weights : {WeightKind::one_bit, WeightKind::ternary, WeightKind::tied})
            add("convolution", Structure::mask(55, 37, offsets, rows),
                learned_spec(weights, Update::accelerated()));
        add("130x40 mask", some_mask(130, 40), spec_of(WeightKind::one_bit, Update::accelerated()));
        return list;
    }();
    return all;
}

/// Networks that end with polish. Of zeros and ones, only with rows enough to find a support by,
/// and columns that are not nearly the same.
inline std::vector<Case> polish_cases() {
    std::vector<Case> list;
    const auto add = [&](const Structure& structure, WeightKind weights, bool centre) {
        NetworkSpec spec = learned_spec(weights, Update::accelerated());
        spec.polish = 4;
        spec.centre = centre;
        list.push_back({fmt::format("{} {}x{} {}{}", to_string(structure.kind()), structure.rows(),
                                    structure.cols(), to_string(weights), centre ? " centred" : ""),
                        structure, spec, centre ? Values::zero_one : Values::usual});
    };
    const Structure sparse = random_columns(31, 47, 6, 3);
    for (const auto& structure :
         {Structure::dense(13, 21), Structure::dense(50, 100), Structure::dense(110, 150),
          Structure::dense(1, 4), Structure::repeated(40, 50, 3),
          some_structure(StructureKind::blocks), some_mask(31, 47), sparse})
        for (const auto weights : {WeightKind::one_bit, WeightKind::tied})
            add(structure, weights, false);
    for (const auto& structure : {Structure::dense(50, 100), Structure::dense(110, 150),
                                  Structure::repeated(40, 50, 3), sparse})
        add(structure, WeightKind::tied, true);
    return list;
}

/// An operator of signs that columns scale, each by its own factor.
inline Operator unit_columns(const Operator& op) {
    AlignedBuffer<float> values(op.values().begin(), op.values().end());
    for (const Block& block : op.structure().parts())
        for (std::size_t j = 0; j < block.cols; ++j)
            for (std::size_t l = block.column_begin(j); l < block.column_begin(j + 1); ++l)
                values[block.first_link + l] *= 0.5F + 0.1F * static_cast<float>(j % 7);
    return {op.structure(), values};
}

/// Zeros and ones in full blocks, ones in masks.
inline Operator zeros_and_ones(const Structure& structure, std::uint64_t seed) {
    return Operator::random(structure,
                            structure.kind() == StructureKind::mask
                                ? OperatorEnsemble::binary_sparse
                                : OperatorEnsemble::bernoulli,
                            seed);
}

/// Gains of about 1 in all, some of them negative, and thresholds in no order.
inline void set_pieces(const Case& c, std::uint64_t seed, Model& model) {
    const std::size_t pieces = c.spec.pieces;
    Stream stream(seed, Purpose::tests, 2);
    for (std::size_t i = 0; i < model.gain.size(); ++i) {
        const std::size_t j = i % pieces, k = i / pieces;
        const auto at = static_cast<float>((3 * j + 1) % pieces);
        model.theta[i] = 0.05F + at * (0.05F + 0.1F * static_cast<float>(stream.uniform()));
        model.gain[i] = (j % 2 == 0 ? 1.2F : -0.4F) / static_cast<float>((pieces + 1) / 2);
        if (c.values == Values::zero_gains && at < 1.5F) model.gain[i] = 0;
        if (c.values == Values::zero_pieces && k == 1) model.gain[i] = 0;
        // In the last layer: whether rounding leaves a zero counts in the Onsager term.
        if (c.values == Values::zero_pieces && k == 4) model.theta[i] = j % 2 == 0 ? 0.0F : -0.0F;
    }
}

/// Weights near a scaled operator and moderate thresholds, so that layers stay alive.
inline Model some_model(const Case& c, std::uint64_t seed) {
    const bool signs = c.spec.tied() || c.values == Values::sign_operator;
    const auto ensemble = signs ? OperatorEnsemble::rademacher : OperatorEnsemble::gaussian;
    Operator op = Operator::random(c.structure, ensemble, seed);
    if (c.values == Values::unit_columns) op = unit_columns(op);
    if (c.values == Values::zero_one) op = zeros_and_ones(c.structure, seed);
    const auto backend = make_cpu_backend();
    const auto network = make_network(c.spec, op, *backend);
    Model model = untrained_model(c.spec, op, 0.1);
    const ParameterStore p = some_parameters(*network, op, *backend, seed);
    for (std::size_t k = 1; k <= model.weights.size(); ++k)
        model.weights[k - 1].assign(p.weights(k).begin(), p.weights(k).end());
    if (c.values == Values::dead_outputs || c.values == Values::no_threshold)
        for (auto& layer : model.weights)
            for (std::size_t l = 0; l < layer.size(); ++l)
                if (l / c.structure.rows() % 5 == 0) layer[l] = 0;
    for (std::size_t k = 0; k < model.step.size(); ++k)
        model.step[k] *= 0.9F + 0.05F * static_cast<float>(k % 5);
    model.theta.assign(p.theta().begin(), p.theta().end());
    set_pieces(c, seed, model);
    if (c.values == Values::no_threshold) std::ranges::fill(model.theta, -0.0F);
    model.beta.assign(p.beta().begin(), p.beta().end());
    if (c.values == Values::odd_momentum) model.beta = {-1.0F, -1.0F, -1.5F, 0.3F, -1.0F};
    if (c.values == Values::high_momentum) {
        std::ranges::fill(model.beta, 0.9F);
        for (auto& layer : model.weights)  // or it would blow up
            for (float& w : layer) w *= 0.1F;
    }
    model.omega.assign(p.omega().begin(), p.omega().end());
    return model;
}

inline Batch some_measurements(const Model& model, std::size_t rows, std::uint64_t seed) {
    Batch x(rows, model.op.cols());
    Stream stream(seed, Purpose::tests, 1);
    for (float& v : x.values())
        v = stream.uniform() < 0.2 ? static_cast<float>(stream.normal()) : 0.0F;
    ThreadPool pool(1);
    return model.op.apply(x, pool);
}

}  // namespace pibinn::testing
