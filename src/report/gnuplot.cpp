#include "report/gnuplot.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

/// A file without a name: unlike a pipe it holds any amount, so that neither side ever waits for
/// the other.
class ScratchFile {
public:
    ScratchFile() : file_(std::tmpfile(), &std::fclose) {
        if (!file_)
            fail_io(fmt::format("cannot make a temporary file: {}", std::strerror(errno)),
                    "free some space in the folder for temporary files");
        // Only its copy as a standard stream is the child's.
        ::fcntl(descriptor(), F_SETFD, FD_CLOEXEC);
    }

    int descriptor() const { return ::fileno(file_.get()); }

    void write(const std::string& text) {
        const bool whole = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
        if (!whole || std::fflush(file_.get()) != 0)
            fail_io(fmt::format("cannot write a temporary file: {}", std::strerror(errno)),
                    "free some space in the folder for temporary files");
        std::rewind(file_.get());
    }

    std::string content() {
        std::rewind(file_.get());
        std::string text;
        char part[1 << 14];
        while (const std::size_t got = std::fread(part, 1, sizeof part, file_.get()))
            text.append(part, got);
        return text;
    }

private:
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

pid_t start(const ScratchFile& in, const ScratchFile& out, const ScratchFile& errors) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in.descriptor(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
    // No shell in between; -d leaves the user's own gnuplot settings aside.
    char program[] = "gnuplot", defaults[] = "-d", from_stdin[] = "-";
    char* arguments[] = {program, defaults, from_stdin, nullptr};
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, program, &actions, nullptr, arguments, ::environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT) fail_io("gnuplot not found", "install gnuplot-nox");
    if (error != 0)
        fail_io(fmt::format("cannot run gnuplot: {}", std::strerror(error)),
                "check that gnuplot runs from a terminal");
    return child;
}

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \n\t");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \n\t") - first + 1);
}

}  // namespace

std::string run_gnuplot(const std::string& script) {
    ScratchFile in, out, errors;
    in.write(script);
    const pid_t child = start(in, out, errors);
    int status = 0;
    pid_t ended = 0;
    do ended = ::waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    std::string drawing = out.content();
    if (ended != child || status != 0 || drawing.empty())
        fail_io(fmt::format("gnuplot failed (status {}): {}", status, trimmed(errors.content())),
                "check that 'gnuplot --version' says 5.4 or later");
    return drawing;
}

}  // namespace pibinn
