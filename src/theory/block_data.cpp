#include "theory/block_data.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "theory/row_measures.hpp"

namespace pibinn {

namespace {

using Eigen::Index;

constexpr Index kRowsPerTask = 128;

Support support_of(std::size_t block, std::span<const float> x) {
    Support support{block, {}};
    for (std::size_t j = 0; j < x.size(); ++j)
        if (x[j] != 0) support.entries.push_back(static_cast<std::uint32_t>(j));
    return support;
}

void append(Rows& rows, Index at, std::span<const float> values) {
    for (std::size_t j = 0; j < values.size(); ++j) rows(at, static_cast<Index>(j)) = values[j];
}

struct Tally {
    double error = 0, squares = 0;
    std::size_t leaks = 0, misses = 0;
    std::vector<double> errors, relative;  ///< one per signal
};

Tally compare(const Eigen::Ref<const Rows>& truth, const Rows& x) {
    Tally tally;
    for (Index i = 0; i < x.rows(); ++i) {
        bool leaks = false, misses = false;
        double square = 0, energy = 0;
        for (Index j = 0; j < x.cols(); ++j) {
            const double t = truth(i, j);
            leaks |= t == 0 && x(i, j) != 0;
            misses |= t != 0 && x(i, j) == 0;
            square += (x(i, j) - t) * (x(i, j) - t);
            energy += t * t;
        }
        tally.errors.push_back(std::sqrt(square));
        tally.relative.push_back(std::sqrt(square / energy));
        tally.error = std::max(tally.error, std::sqrt(square));
        tally.squares += square;
        tally.leaks += leaks;
        tally.misses += misses;
    }
    return tally;
}

/// The lower one of the two in the middle of an even number.
double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void append(std::vector<double>& to, const std::vector<double>& values) {
    to.insert(to.end(), values.begin(), values.end());
}

}  // namespace

void follow_silent_blocks(const std::vector<BlockNetwork>& networks, BlockData& data) {
    for (std::size_t b = 0; b < networks.size(); ++b)
        if (std::none_of(data.supports.begin(), data.supports.end(),
                         [&](const Support& s) { return s.block == b; }))
            data.supports.push_back({b, {0}});
    std::sort(data.supports.begin(), data.supports.end());
}

BlockData split_signals(const Model& model, const std::vector<BlockNetwork>& networks,
                        const CertifiedSignals& signals) {
    const std::size_t repeat = model.op.structure().repeat();
    const bool measured = signals.y.rows() > 0;
    BlockData data;
    std::set<Support> supports;
    for (std::size_t b = 0; b < networks.size(); ++b) {
        const BlockNetwork& network = networks[b];
        const auto most = static_cast<Index>(signals.x.rows() * repeat);
        BlockSignals parts;
        parts.x = Rows::Zero(most, static_cast<Index>(network.n()));
        parts.y = Rows::Zero(most, static_cast<Index>(network.m()));
        Index count = 0;
        for (std::size_t i = 0; i < signals.x.rows(); ++i)
            for (std::size_t u = 0; u < repeat; ++u) {
                const auto x = signals.x.row(i).subspan(
                    u * model.op.cols() / repeat + network.block.col, network.n());
                Support support = support_of(b, x);
                const std::size_t s = support.entries.size();
                if (s == 0) {
                    if (measured)
                        data.noise = std::max(
                            data.noise,
                            length_of(signals.y.row(i).subspan(
                                u * model.op.rows() / repeat + network.block.row, network.m())));
                    continue;
                }
                if (s > network.m())
                    fail_input(fmt::format("signal {} has {} entries that are not zero, but only "
                                           "{} measurements",
                                           i, s, network.m()),
                               "no theory tells them apart: certify sparser signals");
                append(parts.x, count, x);
                if (measured)
                    append(parts.y, count,
                           signals.y.row(i).subspan(
                               u * model.op.rows() / repeat + network.block.row, network.m()));
                data.largest = std::max(data.largest, s);
                supports.insert(std::move(support));
                ++count;
            }
        parts.x.conservativeResize(count, Eigen::NoChange);
        parts.y.conservativeResize(count, Eigen::NoChange);
        const Rows exact = parts.x * network.A.transpose();
        if (measured && count > 0)
            data.noise = std::max(data.noise, (parts.y - exact).rowwise().norm().maxCoeff());
        else
            parts.y = exact;
        if (count > 0) data.norm = std::max(data.norm, parts.x.rowwise().norm().maxCoeff());
        data.signals += static_cast<std::size_t>(count);
        data.blocks.push_back(std::move(parts));
    }
    if (data.signals == 0)
        fail_input(fmt::format("all {} signals are zero", signals.x.rows()),
                   "an empty support has nothing to certify: give signals that are not zero");
    data.supports.assign(supports.begin(), supports.end());
    return data;
}

std::vector<MeasuredLayer> measure_layers(const std::vector<BlockNetwork>& networks,
                                          const BlockData& data, ThreadPool& pool) {
    const std::size_t K = networks.front().spec.layers;
    std::vector<MeasuredLayer> out(K);
    std::vector<Tally> all(K);
    for (std::size_t b = 0; b < networks.size(); ++b) {
        const BlockSignals& parts = data.blocks[b];
        const auto rows = static_cast<std::size_t>(parts.x.rows());
        std::vector<std::vector<Tally>> tallies((rows + kRowsPerTask - 1) / kRowsPerTask);
        pool.run_chunks(
            rows, kRowsPerTask, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                const auto first = static_cast<Index>(begin);
                const auto count = static_cast<Index>(end - begin);
                const Rows y = parts.y.middleRows(first, count);
                for (const Rows& x : run_layers(networks[b], y))
                    tallies[chunk].push_back(compare(parts.x.middleRows(first, count), x));
            });
        for (const auto& chunk : tallies)
            for (std::size_t k = 0; k < K; ++k) {
                out[k].error = std::max(out[k].error, chunk[k].error);
                out[k].rms_error += chunk[k].squares;
                out[k].leaks += chunk[k].leaks;
                out[k].misses += chunk[k].misses;
                append(all[k].errors, chunk[k].errors);
                append(all[k].relative, chunk[k].relative);
            }
    }
    for (std::size_t k = 0; k < K; ++k) {
        out[k].rms_error = std::sqrt(out[k].rms_error / static_cast<double>(data.signals));
        out[k].relative_error = *std::max_element(all[k].relative.begin(), all[k].relative.end());
        out[k].median_error = median(std::move(all[k].errors));
        out[k].median_relative_error = median(std::move(all[k].relative));
    }
    return out;
}

}  // namespace pibinn
