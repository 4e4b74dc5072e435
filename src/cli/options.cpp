#include "cli/options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"

namespace pibinn::cli {

namespace {

constexpr std::size_t kMostThreads = 1024;
constexpr std::size_t kHelpWidth = 80;

std::string wrapped(std::string_view text) {
    std::string lines;
    std::size_t column = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        const bool fits = column + 1 + word.size() <= kHelpWidth;
        if (column > 0) lines += fits ? ' ' : '\n';
        column = (fits && column > 0 ? column + 1 : 0) + word.size();
        lines += word;
        at = end + 1;
    }
    return lines;
}

}  // namespace

CommandLine::CommandLine(std::string_view verb, std::string_view summary, std::string_view example)
    : verb_(verb), app_(wrapped(summary) + "\n", fmt::format("pibinn {}", verb)) {
    app_.footer(fmt::format("Example:\n  {}", example));
    app_.set_help_flag("--help,-h", "show this help");
    app_.get_formatter()->column_width(34);
    app_.get_formatter()->label("REQUIRED", "(required)");
    // The options of every verb stand last in its help.
    app_.add_option("--json", speech_.json, "write the result as JSON; '-' for standard output")
        ->type_name("FILE")
        ->group("Options of every verb");
    app_.add_flag("--quiet", speech_.quiet, "print nothing but errors")
        ->group("Options of every verb");
    optional("--threads", threads_, "threads to use; 0 means one a core", "N")
        ->group("Options of every verb");
}

CLI::Option* CommandLine::required(const std::string& name, std::string& value,
                                   const std::string& what, const std::string& type) {
    return app_.add_option(name, value, what)->required()->type_name(type);
}

std::string CommandLine::not_negative(const std::string& word) {
    return word.starts_with('-') ? fmt::format("{} is negative", word) : "";
}

bool CommandLine::parse(const Arguments& arguments) {
    const std::string see = fmt::format("see 'pibinn {} --help'", verb_);
    try {
        app_.parse(
            Arguments(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
    } catch (const CLI::CallForHelp&) {
        write_stdout(app_.help());
        return false;
    } catch (const CLI::ExtrasError&) {
        fail_unexpected(app_.remaining().front());
    } catch (const CLI::RequiredError& error) {
        // A required option is often missing because it was mistyped.
        for (const std::string& word : app_.remaining())
            if (word.starts_with('-')) fail_unexpected(word);
        fail_usage(error.what(), see);
    } catch (const CLI::ParseError& error) {
        fail_usage(error.what(), see);
    }
    if (threads_ > kMostThreads)
        fail_usage(fmt::format("--threads {} is over {}", threads_, kMostThreads),
                   "give 0 for one thread a core");
    return true;
}

void CommandLine::fail_unexpected(const std::string& word) const {
    const std::string see = fmt::format("see 'pibinn {} --help'", verb_);
    if (!word.starts_with('-')) fail_usage(fmt::format("unexpected argument '{}'", word), see);
    const std::string flag = word.substr(0, word.find('='));
    std::vector<std::string> flags;
    for (const CLI::Option* option : app_.get_options())
        for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    const std::string near =
        nearest_name(flag, std::vector<std::string_view>(flags.begin(), flags.end()));
    fail_usage(fmt::format("unknown option '{}'", flag),
               near.empty() ? see : fmt::format("did you mean '{}'?", near));
}

void ConfigOptions::add_to(CommandLine& line) {
    line.optional("CONFIG", file_, "TOML file; without it the embedded default", "FILE");
    line.optional("--set", sets_, "set a key over the file, such as problem.m=32", "KEY=VALUE")
        ->allow_extra_args(false);
    line.optional("--seed", seed_, "seed of everything random (1)", "N");
}

ConfigDocument ConfigOptions::document() const { return ConfigDocument(file_, sets_); }

Config ConfigOptions::load() const { return load(document()); }

Config ConfigOptions::load(const ConfigDocument& document) const {
    Config config = read_config(document);
    if (seed_) config.seed = *seed_;
    return config;
}

std::string ConfigOptions::words() const {
    std::string words;
    if (!file_.empty()) words += " " + shell_word(file_);
    for (const std::string& set : sets_) words += " --set " + shell_word(set);
    if (seed_) words += fmt::format(" --seed {}", *seed_);
    return words;
}

std::string shell_word(const std::string& word) {
    constexpr std::string_view plain = "%+,-./:=@_";
    const bool bare = !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               plain.find(c) != std::string_view::npos;
    });
    if (bare) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + "'";
}

}  // namespace pibinn::cli
