#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "core/progress_text.hpp"
#include "pibinn/progress.hpp"

namespace pibinn::cli {

class Interrupt;

/// What of its results a verb was asked to print, and where.
struct OutputOptions {
    std::string json;    ///< a file, "-" for standard output, empty for none
    bool quiet = false;  ///< nothing but errors for the person at the terminal
    /// Standard output belongs to data: what is said goes to standard error.
    bool data_on_stdout = false;
};

/// All of the text, or an io error: a full disk behind a redirection must not pass unnoticed.
void write_stdout(std::string_view text);

/// One line on standard error, whatever characters a file or an argument put into the message.
void report_error(std::string_view message, std::string_view hint);

/// The same of a warning.
void report_warning(std::string_view text);

/// Where a verb's results go: text for a person, JSON for a program, a bar while it lasts.
class Console {
public:
    /// Refuses a JSON file that cannot be written before any work is done.
    explicit Console(OutputOptions output);
    ~Console();
    Console(const Console&) = delete;
    Console& operator=(const Console&) = delete;

    void say(std::string_view text) const;
    /// What a person should know at once, as a line on standard error; an empty text is none.
    void note(std::string_view text);
    /// The same of what a person should look into.
    void warn(std::string_view text);
    void result(const nlohmann::ordered_json& json) const;

    /// Shows how far a task has come, unless quiet. On a terminal: a bar, from the second second
    /// on. Where standard error is redirected: a line after ten seconds and then every thirty.
    /// Always answers to go on.
    bool progress(const Progress& progress);
    /// The same as a listener of long work, which stops once the interrupt is raised.
    ProgressSink listener(const Interrupt& interrupt);
    void clear_progress();

private:
    void remark(std::string_view kind, std::string_view text);

    using Clock = std::chrono::steady_clock;

    OutputOptions output_;
    bool terminal_;
    ProgressPace pace_;
    bool bar_shown_ = false;
    std::string task_;
    Clock::time_point task_start_;
};

}  // namespace pibinn::cli
