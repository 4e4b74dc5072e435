#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/benches.hpp"

namespace pibinn::bench {

enum class Bench { latency, throughput, train, scaling, device, device_train, all };

/// The command line of the benchmark, checked.
struct BenchArguments {
    Bench bench = Bench::all;
    BenchOptions options;
    std::string plot;    ///< of scaling: an .svg file; empty for none
    std::string json;    ///< a file, "-" for standard output; empty for none
    bool quiet = false;  ///< nothing for the person at the terminal
    std::string help;    ///< not empty where help was asked for: print it and do nothing else
};

/// What stands on the command line after the program's name. A usage error for unknown names,
/// values out of range, and options that the bench would ignore.
BenchArguments parse_arguments(const std::vector<std::string>& words);

/// "50x100x20"; a usage error for anything else.
NetworkShape parse_shape(const std::string& word);

}  // namespace pibinn::bench
