#pragma once

#include <optional>
#include <string>

#include "cli/command_line.hpp"

namespace pibinn::cli {

/// The options of `certify` that make it a calibration, and what it shares with a certificate.
class CalibrateOptions {
public:
    /// The line must outlive this.
    void add_to(CommandLine& line);
    /// Whether a calibration is asked for. Refuses options that belong to the other of the two.
    bool asked(const Arguments& arguments) const;
    /// Calibrates, stores and prints.
    void run(const std::string& model_file, const std::string& measurements, bool complex,
             std::size_t seed, const std::string& out, bool attach) const;

private:
    const CommandLine* line_ = nullptr;
    std::string signals_;
    std::optional<double> confidence_, coverage_, noise_std_, snr_db_;
};

}  // namespace pibinn::cli
