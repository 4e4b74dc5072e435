#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.hpp"
#include "cli/verbs.hpp"

namespace pibinn::cli {

/// The command line of one verb: its own options and those that every verb takes. The parser behind
/// it is included by one source alone, since it takes seconds to compile.
class CommandLine {
public:
    CommandLine(std::string_view verb, std::string_view summary, std::string_view example);
    ~CommandLine();

    /// `name` is "--flag", or a word in capitals for an argument by its place; `type` is what the
    /// help calls its value.
    void required(const std::string& name, std::string& value, const std::string& what,
                  const std::string& type = "FILE");
    /// Of std::string, std::size_t, double, std::optional of either number, or a list of strings,
    /// which collects one word per use, or
    /// all words by their place. `group` is a heading of its own in the help.
    template <class T>
    void optional(const std::string& name, T& value, const std::string& what,
                  const std::string& type, const std::string& group = {});
    void flag(const std::string& name, bool& value, const std::string& what);

    /// The verb works on a configuration: an unknown option that is one of its keys gets a hint.
    void takes_configuration() { configured_ = true; }

    /// The verb shares its work with the ranks that it was started with: adds --mixed, and parse()
    /// joins them. Other ranks than 0 print nothing and write no JSON.
    void takes_ranks();

    /// False when help was asked for, which is then printed. What the parser refuses is a usage
    /// error like any other.
    bool parse(const Arguments& arguments);
    /// Whether an option was given. After parse().
    bool given(const std::string& name) const;

    /// "pibinn VERB ..." with the words that were given, as a shell takes them. After parse().
    std::string text() const;

    /// Refuses a --json that would overwrite one of these, or a file in one that is a folder.
    /// parse() asks this of every file on the command line; who finds more there asks again.
    void require_other_json(const std::vector<std::string>& places) const;

    const OutputOptions& output() const { return output_; }
    std::size_t threads() const { return threads_; }

private:
    struct Parser;
    /// A file or a folder that an option names.
    struct Place {
        std::string option;
        const std::string* value;
        bool folder;
    };
    void note_place(const std::string& name, const std::string& value, const std::string& type);
    void require_json_beside_places() const;
    [[noreturn]] void fail_unexpected(const std::string& word) const;
    std::string see_help() const;
    /// The value that was meant for an unknown option, empty for none.
    std::string value_after(const std::string& word) const;

    std::string verb_;
    Arguments arguments_;  ///< as they were given
    bool configured_ = false;
    bool shared_ = false;  ///< by ranks
    bool mixed_ = false;
    OutputOptions output_;
    std::size_t threads_ = 0;
    std::vector<Place> places_;
    std::unique_ptr<Parser> parser_;
};

}  // namespace pibinn::cli
