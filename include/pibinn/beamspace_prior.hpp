// room: problem
#pragma once

#include <cstddef>
#include <string_view>

namespace pibinn {

/// Two laws of the paths of a channel.
enum class PathGains {
    paper,  ///< gains CN(0, 1), then CN(0, 10^-0.5); directions uniform in [-1/2, 1/2]
    code    ///< of the authors' program: 1, then 10^-0.5 CN(0, 1); directions sin(angle) / 2
};

std::string_view to_string(PathGains gains);
PathGains parse_path_gains(std::string_view name);

/// Channels of a millimetre-wave antenna array behind a lens (Gao, Dai, Han and Wang, "Reliable
/// beamspace channel estimation for millimeter-wave massive MIMO systems with lens antenna array",
/// IEEE Transactions on Wireless Communications, 2017). With N antennas, a path of direction psi
/// and gain beta adds beta sin(pi N d) / (N sin(pi d)) to beam k, where d = psi - k/N and
/// k = -(N-1)/2 .. (N-1)/2: a peak whose energy leaks into the beams beside it. The first path is
/// the line of sight. A row is one user's channel: N real parts, then N imaginary parts.
struct BeamspacePrior {
    std::size_t antennas = 256;
    std::size_t paths = 3;
    PathGains gains = PathGains::paper;
};

}  // namespace pibinn
