// room: problem
#pragma once

#include <cstddef>
#include <string_view>

namespace pibinn {

/// Two laws of the amplitudes at which users arrive.
enum class AccessGains {
    paper,  ///< 1/(1 + d^4) at distance d: near users drown far ones
    flat    ///< 1, as under power control that knows the distance; fading remains
};

std::string_view to_string(AccessGains gains);
AccessGains parse_access_gains(std::string_view name);

/// Who sends in a cell without asking first: each of `users` with probability `activity`, at least
/// one. A user at distance d, anywhere in a disc, arrives with the amplitude 1/(1 + d^4), or 1. At
/// antenna a its channel is the mean of 5 paths, (e^{i phi} + 10^{-1/2} CN(0, 1)) e^{i a theta},
/// whose angles theta lie within 10 degrees: Ricean at 10 dB. (The single cell of Borgerding,
/// Schniter and Rangan, "AMP-inspired deep networks for sparse linear inverse problems", IEEE
/// Transactions on Signal Processing, 2017, whose cell is a hexagon.) A row holds one vector per
/// antenna, each of `users` real parts and then as many imaginary parts; all have the same support.
struct AccessPrior {
    std::size_t users = 512;
    double activity = 0.01;
    std::size_t antennas = 1;
    double radius = 1.05;  ///< of the cell
    AccessGains gains = AccessGains::paper;

    /// The mean energy of the entries of one antenna's vector.
    double mean_energy() const;
};

}  // namespace pibinn
