#include <array>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/console.hpp"
#include "cli/interrupt.hpp"
#include "cli/ranks.hpp"
#include "cli/verbs.hpp"
#include "cli/version_text.hpp"
#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "study/hint_keys.hpp"

namespace pibinn::cli {

namespace {

std::string help_text() {
    std::string text =
        "pibinn: Physics-Inspired Binary Neural Networks\n"
        "Recovers sparse signals x from measurements y = A x + noise.\n\n"
        "Usage: pibinn VERB [ARGUMENTS]\n\nVerbs:\n";
    for (const Verb& verb : all_verbs())
        text += fmt::format("  {:<15}{}\n", verb.name, verb.summary);
    return text +
           "\nOptions:\n"
           "  --help         show this help; 'pibinn help VERB' shows that of a verb\n"
           "  --version      show version, compiler, BLAS, kernels and devices\n\n"
           "Example: pibinn demo --out demo\n";
}

[[noreturn]] void fail_unknown_verb(const std::string& word) {
    std::vector<std::string_view> names;
    for (const Verb& verb : all_verbs()) names.push_back(verb.name);
    if (word.starts_with('-'))
        fail_usage(fmt::format("unknown option '{}' before a verb", word),
                   "options follow their verb: see 'pibinn --help'");
    fail_usage(fmt::format("unknown verb '{}'", word),
               word == "bench" ? "the benchmark is a program of its own: build/pibinn-bench"
                               : hint_for_unknown(word, names));
}

void dispatch(const Arguments& words) {
    if (words.empty()) fail_usage("no verb given", "see 'pibinn --help'");
    const bool help = words[0] == "--help" || words[0] == "-h" || words[0] == "help";
    if (help && words.size() == 1) return write_stdout(help_text());
    if (words[0] == "--version") return write_stdout(version_text());
    // "help VERB" is "VERB --help".
    const std::string& word = help ? words[1] : words[0];
    for (const Verb& verb : all_verbs())
        if (verb.name == word)
            return verb.run(help ? Arguments{"--help"} : Arguments{words.begin() + 1, words.end()});
    fail_unknown_verb(word);
}

/// Keys of the configuration and flags in place of the library's fields.
std::string in_words_of_the_program(const std::string& text) {
    static constexpr std::array flags{study::FieldKey{"set RunOptions::resume", "add --resume"},
                                      study::FieldKey{"RunOptions::folder", "--out"},
                                      study::FieldKey{"TrainJob::folder", "--out"},
                                      study::FieldKey{"TrainJob::resume", "--resume"}};
    return study::replace_fields(study::with_keys(text), flags);
}

int exit_code(ErrorKind kind) {
    return kind == ErrorKind::failed || kind == ErrorKind::internal ? 1 : 2;
}

int failed(const std::string& message, const std::string& hint, int code) {
    fail_ranks(message, hint, code);
    return code;
}

int run(const Arguments& words) {
    remove_temporaries_when_stopped();
    try {
        dispatch(words);
        leave_ranks();
        return 0;
    } catch (const Error& error) {
        return failed(in_words_of_the_program(error.message()),
                      in_words_of_the_program(error.hint()), exit_code(error.kind()));
    } catch (const std::filesystem::filesystem_error& error) {
        return failed(error.what(), "check the path and its permissions", exit_code(ErrorKind::io));
    } catch (const std::bad_alloc&) {
        return failed("not enough memory", "make the problem or the batch smaller", 1);
    } catch (const std::length_error&) {
        return failed("not enough memory", "make the problem or the batch smaller", 1);
    } catch (const std::exception& error) {
        return failed(error.what(), "please report this as a bug", 1);
    }
}

}  // namespace

}  // namespace pibinn::cli

int main(int argc, char** argv) {
    return pibinn::cli::run({argv + (argc > 0 ? 1 : 0), argv + argc});
}
