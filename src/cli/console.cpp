#include "cli/console.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "cli/interrupt.hpp"
#include "core/escape.hpp"
#include "core/file.hpp"
#include "core/folder.hpp"
#include "pibinn/error.hpp"

namespace pibinn::cli {

namespace {

// A bar on a terminal, or lines in whatever standard error is redirected to.
constexpr double kBarAfter = 2, kBarEvery = 0.1;
constexpr double kLineAfter = 10, kLineEvery = 30;
constexpr std::size_t kUsualColumns = 80;

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

/// Of the terminal behind standard error; asked anew each time, since a window can be resized.
std::size_t terminal_columns() {
    winsize size = {};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
    return size.ws_col;
}

/// As much of it as can be written: there is nowhere left to say that it could not.
void write_stderr(std::string_view text) { write_all(STDERR_FILENO, text.data(), text.size()); }

}  // namespace

void write_stdout(std::string_view text) {
    const int error = write_all(STDOUT_FILENO, text.data(), text.size());
    if (error == 0) return;
    fail_io(fmt::format("cannot write to standard output: {}", std::strerror(error)),
            error == EPIPE ? "what reads it ended early" : "check where it is redirected to");
}

void report_error(std::string_view message, std::string_view hint) {
    const std::string line = fmt::format("pibinn: error: {}; {}\n", escaped(message),
                                         hint.empty() ? "see 'pibinn --help'" : escaped(hint));
    write_stderr(line);
}

void report_warning(std::string_view text) {
    write_stderr(fmt::format("pibinn: warning: {}\n", escaped(text)));
}

Console::Console(OutputOptions output)
    : output_(std::move(output)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      pace_(terminal_ ? kBarAfter : kLineAfter, terminal_ ? kBarEvery : kLineEvery) {
    if (!output_.json.empty() && output_.json != "-") require_writable(output_.json);
}

Console::~Console() { clear_progress(); }

void Console::say(std::string_view text) const {
    if (output_.quiet || output_.json == "-") return;
    if (output_.data_on_stdout)
        write_stderr(text);
    else
        write_stdout(text);
}

void Console::remark(std::string_view kind, std::string_view text) {
    if (output_.quiet || text.empty()) return;
    clear_progress();
    const std::string line = fmt::format("pibinn: {}: {}\n", kind, escaped(text));
    write_stderr(line);
}

void Console::note(std::string_view text) { remark("note", text); }
void Console::warn(std::string_view text) { remark("warning", text); }

void Console::result(const nlohmann::ordered_json& json) const {
    if (output_.json.empty()) return;
    // Paths and metadata need not be UTF-8; JSON must be.
    const std::string text =
        json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    if (output_.json == "-")
        write_stdout(text);
    else
        write_file(output_.json, text);
}

ProgressSink Console::listener(const Interrupt& interrupt) {
    return [this, &interrupt](const Progress& event) {
        progress(event);
        return !interrupt.raised();
    };
}

bool Console::progress(const Progress& progress) {
    note(progress.note);
    if (output_.quiet) return true;
    const auto now = Clock::now();
    if (progress.task != task_) {
        task_ = progress.task;
        task_start_ = now;
        pace_.restart();
    }
    const double elapsed = seconds_between(task_start_, now);
    if (!pace_.due(elapsed)) return true;
    const std::string task = escaped(progress.task), detail = escaped(progress.detail);
    Progress shown = progress;
    shown.task = task;
    shown.detail = detail;
    if (terminal_)
        write_stderr(fmt::format("\r{}\033[K", progress_bar(shown, elapsed, terminal_columns())));
    else
        write_stderr(fmt::format("pibinn: {}\n", progress_text(shown, elapsed)));
    bar_shown_ = terminal_;
    return true;
}

void Console::clear_progress() {
    if (!bar_shown_) return;
    write_stderr("\r\033[K");
    bar_shown_ = false;
}

}  // namespace pibinn::cli
