#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/config.hpp"
#include "cli/config_document.hpp"
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
        CLI::Option* const option = app_.add_option(name, value, what)->type_name(type);
        // The parser itself would let -3 wrap around to a huge number.
        if constexpr (std::is_same_v<T, std::size_t> ||
                      std::is_same_v<T, std::optional<std::size_t>>)
            option->check(not_negative);
        return option;
    }
    CLI::App& app() { return app_; }

    /// False when help was asked for, which is then printed. What the parser refuses is a usage
    /// error like any other.
    bool parse(const Arguments& arguments);

    const Speech& speech() const { return speech_; }
    std::size_t threads() const { return threads_; }

private:
    static std::string not_negative(const std::string& word);
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
    /// The same, with the document it came from, for who reads further sections.
    Config load(const ConfigDocument& document) const;
    ConfigDocument document() const;
    /// The words that name this configuration on a command line, a space before each.
    std::string words() const;

private:
    std::string file_;
    std::vector<std::string> sets_;
    std::optional<std::size_t> seed_;
};

/// A word as it is typed into a shell: quoted where a shell would not take it as it is.
std::string shell_word(const std::string& word);

}  // namespace pibinn::cli
