#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/config.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"

namespace pibinn::cli {

/// The command line of one verb: its own options and those that every verb takes.
class CommandLine {
public:
    CommandLine(std::string_view verb, std::string_view summary, std::string_view example);

    CLI::Option* required(const std::string& name, std::string& value, const std::string& what,
                          const std::string& type = "FILE");
    template <class T>
    CLI::Option* optional(const std::string& name, T& value, const std::string& what,
                          const std::string& type) {
        return app_.add_option(name, value, what)->type_name(type);
    }
    CLI::App& app() { return app_; }

    /// False when help was asked for, which is then printed. What the parser refuses is a usage
    /// error like any other.
    bool parse(const Arguments& arguments);

    const Speech& speech() const { return speech_; }
    std::size_t threads() const { return threads_; }

private:
    [[noreturn]] void fail_unexpected(const std::string& word) const;

    std::string verb_;
    CLI::App app_;
    Speech speech_;
    std::size_t threads_ = 0;
};

/// [CONFIG.toml] [--set key=value]... [--seed N], of the verbs that work on a configuration.
class ConfigOptions {
public:
    void add_to(CommandLine& line);
    Config load() const;

private:
    std::string file_;
    std::vector<std::string> sets_;
    std::optional<std::uint64_t> seed_;
};

}  // namespace pibinn::cli
