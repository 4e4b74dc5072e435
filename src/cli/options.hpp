#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "core/escape.hpp"
#include "study/config.hpp"

namespace pibinn::study {
class ConfigDocument;
}

namespace pibinn::cli {

// The verbs speak of configurations, runs and comparisons all the time.
using namespace study;

/// The date, as 2026-11-18.
std::string today();

/// [CONFIG.toml] [--set key=value]... [--seed N], of the verbs that work on a configuration.
class ConfigOptions {
public:
    /// The line must outlive this.
    void add_to(CommandLine& line);
    /// Refuses a --json that would overwrite what the configuration reads.
    Config load() const;
    /// The same, with the document it came from, for who reads further sections.
    Config load(const ConfigDocument& document) const;
    ConfigDocument document() const;
    /// The words that name this configuration on a command line, a space before each.
    std::string words() const;

private:
    const CommandLine* line_ = nullptr;
    std::string file_;
    std::vector<std::string> sets_;
    std::optional<std::size_t> seed_;
};

}  // namespace pibinn::cli
