#include "cli/command_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <type_traits>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/ranks.hpp"
#include "core/escape.hpp"
#include "core/names.hpp"
#include "core/path.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "study/config_keys.hpp"

namespace pibinn::cli {

namespace {

constexpr std::size_t kMostThreads = 1024;
constexpr std::size_t kHelpWidth = 80;
constexpr const char* kEveryVerb = "Options of every verb";

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

/// The parser itself would let -3 wrap around to a huge number, and names no type in its errors.
std::string check_whole(const std::string& word) {
    if (word.starts_with('-') && word.size() > 1 &&
        std::isdigit(static_cast<unsigned char>(word[1])))
        return fmt::format("{} is negative", word);
    const bool digits = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
    return digits ? "" : fmt::format("'{}' is not a whole number", word);
}

std::string check_number(const std::string& word) {
    char* end = nullptr;
    std::strtod(word.c_str(), &end);
    return !word.empty() && *end == '\0' ? "" : fmt::format("'{}' is not a number", word);
}

/// Standard output, devices and pipes lose nothing.
bool replaces_file(const std::string& json) {
    if (json.empty() || json == "-") return false;
    std::error_code code;
    const auto status = std::filesystem::status(json, code);
    return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

/// In a folder of results, whatever is no .json file may be one of them, and these are.
bool is_name_of_results(const std::filesystem::path& json) {
    constexpr std::array results{"summary.json", "compare.json", "certificate.json",
                                 "study.json",   "results.json", "reproduction.json",
                                 "field.json",   "cell.json",    "case.json"};
    // The benchmark of the field names the files of this folder after its references.
    return json.extension() != ".json" || json.parent_path().filename() == "references" ||
           std::find(results.begin(), results.end(), json.filename()) != results.end();
}

}  // namespace

struct CommandLine::Parser {
    CLI::App app;

    Parser(std::string_view verb, std::string_view summary)
        : app(wrapped(summary) + "\n", fmt::format("pibinn {}", verb)) {}
};

CommandLine::CommandLine(std::string_view verb, std::string_view summary, std::string_view example)
    : verb_(verb), parser_(std::make_unique<Parser>(verb, summary)) {
    CLI::App& app = parser_->app;
    app.footer(fmt::format("Example:\n  {}", example));
    app.set_help_flag("--help,-h", "show this help");
    app.get_formatter()->column_width(34);
    app.get_formatter()->label("REQUIRED", "(required)");
    // The options of every verb stand last in its help.
    optional("--json", output_.json, "write the result as JSON; '-' for standard output", "FILE",
             kEveryVerb);
    app.add_flag("--quiet", output_.quiet, "print nothing but errors")->group(kEveryVerb);
    optional("--threads", threads_, "threads to use; 0 means one per core", "N", kEveryVerb);
}

CommandLine::~CommandLine() = default;

void CommandLine::required(const std::string& name, std::string& value, const std::string& what,
                           const std::string& type) {
    parser_->app.add_option(name, value, what)->required()->type_name(type);
    note_place(name, value, type);
}

template <class T>
void CommandLine::optional(const std::string& name, T& value, const std::string& what,
                           const std::string& type, const std::string& group) {
    CLI::Option* const option = parser_->app.add_option(name, value, what)->type_name(type);
    if (!group.empty()) option->group(group);
    if constexpr (std::is_same_v<T, std::size_t> || std::is_same_v<T, std::optional<std::size_t>>)
        option->check(check_whole);
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>)
        option->check(check_number);
    if constexpr (std::is_same_v<T, std::string>) note_place(name, value, type);
    // Words by their place are as many as there are.
    if constexpr (std::is_same_v<T, std::vector<std::string>>)
        option->allow_extra_args(!name.starts_with("-"));
}

template void CommandLine::optional(const std::string&, std::string&, const std::string&,
                                    const std::string&, const std::string&);
template void CommandLine::optional(const std::string&, std::size_t&, const std::string&,
                                    const std::string&, const std::string&);
template void CommandLine::optional(const std::string&, double&, const std::string&,
                                    const std::string&, const std::string&);
template void CommandLine::optional(const std::string&, std::optional<std::size_t>&,
                                    const std::string&, const std::string&, const std::string&);
template void CommandLine::optional(const std::string&, std::optional<double>&, const std::string&,
                                    const std::string&, const std::string&);
template void CommandLine::optional(const std::string&, std::optional<std::string>&,
                                    const std::string&, const std::string&, const std::string&);
template void CommandLine::optional(const std::string&, std::vector<std::string>&,
                                    const std::string&, const std::string&, const std::string&);

void CommandLine::flag(const std::string& name, bool& value, const std::string& what) {
    parser_->app.add_flag(name, value, what);
}

void CommandLine::takes_ranks() {
    shared_ = true;
    parser_->app
        .add_flag(
            "--mixed", mixed_,
            "under mpirun: allow ranks of other versions and processors, whose results differ")
        ->group(kEveryVerb);
}

bool CommandLine::given(const std::string& name) const { return parser_->app.count(name) > 0; }

std::string CommandLine::text() const {
    std::string words = "pibinn " + verb_;
    for (const std::string& word : arguments_) words += " " + shell_word(word);
    return words;
}

std::string CommandLine::see_help() const { return fmt::format("see 'pibinn {} --help'", verb_); }

bool CommandLine::parse(const Arguments& arguments) {
    CLI::App& app = parser_->app;
    arguments_ = arguments;
    try {
        app.parse(Arguments(arguments.rbegin(), arguments.rend()));  // it takes them from the back
    } catch (const CLI::CallForHelp&) {
        write_stdout(app.help());
        return false;
    } catch (const CLI::ExtrasError&) {
        fail_unexpected(app.remaining().front());
    } catch (const CLI::RequiredError& error) {
        // A required option is often missing because it was mistyped.
        for (const std::string& word : app.remaining())
            if (word.starts_with('-')) fail_unexpected(word);
        fail_usage(error.what(), see_help());
    } catch (const CLI::ParseError& error) {
        fail_usage(error.what(), see_help());
    }
    if (threads_ > kMostThreads)
        fail_usage(fmt::format("--threads {} is over {}", threads_, kMostThreads),
                   "give 0 for one thread per core");
    require_json_beside_places();
    if (!shared_) require_one_process(verb_);
    if (shared_) {
        join_ranks(mixed_);
        if (threads_ == 0) threads_ = threads_per_rank();
        if (!ranks().first()) {
            output_.quiet = true;
            output_.json.clear();
        }
    }
    return true;
}

void CommandLine::note_place(const std::string& name, const std::string& value,
                             const std::string& type) {
    if (&value != &output_.json && (type == "FILE" || type == "DIR"))
        places_.push_back({name, &value, type == "DIR"});
}

void CommandLine::require_json_beside_places() const {
    if (!replaces_file(output_.json)) return;
    const std::string& json = output_.json;
    for (const auto& [option, value, folder] : places_) {
        if (value->empty() || *value == "-") continue;
        const std::string file = array_file(*value);
        const bool same = same_file(json, folder ? *value : file);
        if (same || (folder && lies_in(json, *value) && is_name_of_results(json)))
            fail_usage(fmt::format("--json '{}' would overwrite {} '{}'", json,
                                   same ? option : fmt::format("a file of {}", option), *value),
                       "choose another file for --json");
    }
}

void CommandLine::require_other_json(const std::vector<std::string>& places) const {
    if (!replaces_file(output_.json)) return;
    std::error_code code;
    for (const std::string& place : places)
        if (!place.empty() &&
            (same_file(output_.json, array_file(place)) ||
             (std::filesystem::is_directory(place, code) &&
              std::filesystem::exists(output_.json, code) && lies_in(output_.json, place))))
            fail_usage(
                fmt::format("--json '{}' would overwrite the input '{}'", output_.json, place),
                "choose another file for --json");
}

std::string CommandLine::value_after(const std::string& word) const {
    if (const std::size_t equals = word.find('='); equals != std::string::npos)
        return word.substr(equals + 1);
    const auto at = std::find(arguments_.begin(), arguments_.end(), word);
    const bool follows =
        at != arguments_.end() && at + 1 != arguments_.end() && !at[1].starts_with("--");
    return follows ? at[1] : "";
}

void CommandLine::fail_unexpected(const std::string& word) const {
    if (!word.starts_with('-'))
        fail_usage(fmt::format("unexpected argument '{}'", word), see_help());
    const std::string flag = word.substr(0, word.find('='));
    if (configured_) {
        const std::string bare = flag.substr(flag.find_first_not_of('-') == std::string::npos
                                                 ? flag.size()
                                                 : flag.find_first_not_of('-'));
        if (const std::string setting = study::setting_of(bare, value_after(word));
            !setting.empty())
            fail_usage(fmt::format("unknown option '{}'", flag),
                       fmt::format("it is a key of the configuration: --set {}", setting));
    }
    std::vector<std::string> flags;
    for (const CLI::Option* option : parser_->app.get_options())
        for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    const std::string near =
        nearest_name(flag, std::vector<std::string_view>(flags.begin(), flags.end()));
    fail_usage(fmt::format("unknown option '{}'", flag),
               near.empty() ? see_help() : fmt::format("did you mean '{}'?", near));
}

}  // namespace pibinn::cli
