#include "cli/console.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "cli/interrupt.hpp"
#include "core/file.hpp"
#include "core/folder.hpp"
#include "pibinn/error.hpp"

namespace pibinn::cli {

namespace {

constexpr double kSilentSeconds = 2;
constexpr double kRedrawSeconds = 0.1;
constexpr std::size_t kBarWidth = 30;

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

}  // namespace

std::string one_line(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f)
            line += fmt::format("\\x{:02x}", byte);
        else
            line += c;
    }
    return line;
}

void write_stdout(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
        return;
    const int error = errno;
    fail_io(fmt::format("cannot write to standard output: {}", std::strerror(error)),
            error == EPIPE ? "what reads it ended early" : "check where it is redirected to");
}

void report_error(std::string_view message, std::string_view hint) {
    const std::string line = fmt::format("pibinn: error: {}; {}\n", one_line(message),
                                         hint.empty() ? "see 'pibinn --help'" : one_line(hint));
    std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string progress_line(const Progress& p, double seconds) {
    const double rate = seconds > 0 ? static_cast<double>(p.done - p.restored) / seconds : 0;
    std::string line(p.task);
    if (p.total > 0) {
        const double share =
            std::min(1.0, static_cast<double>(p.done) / static_cast<double>(p.total));
        const auto filled = static_cast<std::size_t>(share * kBarWidth);
        line += fmt::format(" [{}{}] {:3.0f} %", std::string(filled, '#'),
                            std::string(kBarWidth - filled, '.'), 100 * share);
    }
    line += fmt::format("  {:.3g}/s", rate);
    if (p.total > p.done && rate > 0)
        line += fmt::format("  {:.0f} s left", static_cast<double>(p.total - p.done) / rate);
    if (!p.detail.empty()) line += fmt::format("  {}", p.detail);
    return line;
}

Console::Console(OutputOptions output)
    : output_(std::move(output)), bar_allowed_(!output_.quiet && ::isatty(STDERR_FILENO) == 1) {
    if (!output_.json.empty() && output_.json != "-") require_writable(output_.json);
}

Console::~Console() { clear_progress(); }

void Console::say(std::string_view text) const {
    if (output_.quiet || output_.json == "-") return;
    if (output_.data_on_stdout)
        std::fwrite(text.data(), 1, text.size(), stderr);
    else
        write_stdout(text);
}

void Console::note(std::string_view text) {
    if (output_.quiet || text.empty()) return;
    clear_progress();
    const std::string line = fmt::format("pibinn: note: {}\n", one_line(text));
    std::fwrite(line.data(), 1, line.size(), stderr);
}

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
    if (!bar_allowed_) return true;
    const auto now = Clock::now();
    if (progress.task != task_) {
        task_ = progress.task;
        task_start_ = now;
    }
    const double elapsed = seconds_between(task_start_, now);
    if (elapsed < kSilentSeconds || seconds_between(last_drawn_, now) < kRedrawSeconds) return true;
    last_drawn_ = now;
    bar_shown_ = true;
    fmt::print(stderr, "\r{}\033[K", one_line(progress_line(progress, elapsed)));
    std::fflush(stderr);
    return true;
}

void Console::clear_progress() {
    if (!bar_shown_) return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    bar_shown_ = false;
}

}  // namespace pibinn::cli
