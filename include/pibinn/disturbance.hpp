// room: problem
#pragma once

#include <cstdint>

#include "pibinn/matrix.hpp"
#include "pibinn/random.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// What is added to signals before the operator measures them, y = A (x + disturbance): white noise
/// and artefacts, x + kappa n. Everything is in the coordinates of x, which in an orthonormal basis
/// have the same energies as the signals themselves.
struct Disturbance {
    double noise_std = 0;
    Batch artefacts;          ///< a random one of these rows is added to each signal; none if empty
    double least_snr_db = 0;  ///< the ratio ||x||^2 / ||kappa n||^2 is drawn uniformly, in dB,
    double most_snr_db = 0;   ///< between these two

    bool none() const { return noise_std == 0 && artefacts.rows() == 0; }
};

/// Disturbs every row of x, row i from the stream (seed, purpose, first + i). A zero signal or a
/// silent artefact has no signal-to-noise ratio: nothing is added then.
void disturb(const Disturbance& disturbance, BatchView x, std::uint64_t seed, Purpose purpose,
             std::uint64_t first, ThreadPool& pool);

/// Noise relative to signals: the ratio of the powers of A x and of the noise is drawn uniformly,
/// in dB, between the two, once for each row.
struct SnrRange {
    double least_db = 0;
    double most_db = 0;
    /// The mean square of a number of A x that the ratio is about, the same for every signal: noise
    /// is then as strong in faint signals as in others. 0: that of each signal's own A x.
    double power = 0;

    bool operator==(const SnrRange&) const = default;
};

/// Adds N(0, noise_std^2) to every entry, row i from the stream (seed, purpose, first + i).
void add_noise(BatchView y, double noise_std, std::uint64_t seed, Purpose purpose, ThreadPool& pool,
               std::uint64_t first = 0);
/// The same, of a deviation that is the root of the power (of the row unless the range has one)
/// times 10^(-snr / 20).
void add_noise(BatchView y, const SnrRange& snr_db, std::uint64_t seed, Purpose purpose,
               ThreadPool& pool, std::uint64_t first = 0);

}  // namespace pibinn
