#include "pibinn/disturbance.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kDisturbedRowsPerTask = 64;

double energy(std::span<const float> values) {
    double sum = 0;
    for (const float v : values) sum += double{v} * v;
    return sum;
}

}  // namespace

void disturb(const Disturbance& disturbance, BatchView x, std::uint64_t seed, Purpose purpose,
             std::uint64_t first, ThreadPool& pool) {
    const Batch& artefacts = disturbance.artefacts;
    if (artefacts.rows() > 0 && artefacts.cols() != x.cols)
        fail_usage(fmt::format("artefacts have {} entries, signals {}", artefacts.cols(), x.cols),
                   "give artefacts that are as long as the signals");
    if (disturbance.none()) return;
    pool.run_chunks(
        x.rows, kDisturbedRowsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                Stream stream(seed, purpose, first + i);
                const auto row = x.row(i);
                if (artefacts.rows() > 0) {
                    const auto n =
                        artefacts.row(stream.below(static_cast<std::uint32_t>(artefacts.rows())));
                    const double span = disturbance.most_snr_db - disturbance.least_snr_db;
                    const double snr_db = disturbance.least_snr_db + span * stream.uniform();
                    const double power = energy(n);
                    const double kappa =
                        power > 0 ? std::sqrt(energy(row) / power) * std::pow(10.0, -snr_db / 20)
                                  : 0;
                    for (std::size_t j = 0; j < row.size(); ++j)
                        row[j] += static_cast<float>(kappa * n[j]);
                }
                if (disturbance.noise_std > 0)
                    for (float& v : row)
                        v += static_cast<float>(disturbance.noise_std * stream.normal());
            }
        });
}

void add_noise(BatchView y, double noise_std, std::uint64_t seed, Purpose purpose, ThreadPool& pool,
               std::uint64_t first) {
    if (!(noise_std >= 0 && std::isfinite(noise_std)))
        fail_usage(fmt::format("noise_std {} is not a number from 0 on", noise_std),
                   "give 0 for no noise");
    if (noise_std == 0) return;
    pool.run_chunks(y.rows, kDisturbedRowsPerTask,
                    [&](std::size_t, std::size_t begin, std::size_t end) {
                        for (std::size_t i = begin; i < end; ++i) {
                            Stream stream(seed, purpose, first + i);
                            for (float& v : y.row(i))
                                v += static_cast<float>(noise_std * stream.normal());
                        }
                    });
}

void add_noise(BatchView y, const SnrRange& snr_db, std::uint64_t seed, Purpose purpose,
               ThreadPool& pool, std::uint64_t first) {
    if (!(snr_db.least_db <= snr_db.most_db && std::isfinite(snr_db.least_db) &&
          std::isfinite(snr_db.most_db)))
        fail_usage(fmt::format("a signal-to-noise ratio from {} to {} dB is no range",
                               snr_db.least_db, snr_db.most_db),
                   "give the lower number first");
    if (!(snr_db.power >= 0 && std::isfinite(snr_db.power)))
        fail_usage(fmt::format("a signal-to-noise ratio of a power of {}", snr_db.power),
                   "give the mean square of a measurement, or 0 for each signal's own");
    pool.run_chunks(
        y.rows, kDisturbedRowsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                Stream stream(seed, purpose, first + i);
                const auto row = y.row(i);
                const double ratio_db =
                    snr_db.least_db + (snr_db.most_db - snr_db.least_db) * stream.uniform();
                const double power =
                    snr_db.power > 0
                        ? snr_db.power
                        : energy(row) / static_cast<double>(std::max<std::size_t>(1, row.size()));
                const double noise_std = std::sqrt(power) * std::pow(10.0, -ratio_db / 20);
                for (float& v : row) v += static_cast<float>(noise_std * stream.normal());
            }
        });
}

}  // namespace pibinn
