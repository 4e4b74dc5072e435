#include "data/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "data/bytes.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

// What the first word of the answer says. It is written last.
enum class Ending : std::uint64_t { none, answer, error, memory };
constexpr std::uint64_t kStart = sizeof(Ending);

constexpr const char* kHint =
    "the file is damaged or made to do harm: save the array again, or as .npy";

bool write_at(int file, const void* data, std::size_t bytes, std::uint64_t at) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t done = ::pwrite(file, from, bytes, static_cast<off_t>(at));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        from += done;
        at += static_cast<std::uint64_t>(done);
        bytes -= static_cast<std::size_t>(done);
    }
    return true;
}

bool read_at(int file, void* data, std::size_t bytes, std::uint64_t at) {
    char* to = static_cast<char*>(data);
    while (bytes > 0) {
        const ssize_t done = ::pread(file, to, bytes, static_cast<off_t>(at));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        to += done;
        at += static_cast<std::uint64_t>(done);
        bytes -= static_cast<std::size_t>(done);
    }
    return true;
}

/// Where `grace` is given, the limit that ends the child comes so much later than the one that a
/// signal of its own announces.
void set_limit(int what, double value, double grace = 0) {
    constexpr double most = 0x1p62;
    const auto whole = [&](double v) { return static_cast<rlim_t>(std::min(std::ceil(v), most)); };
    rlimit now{};
    if (::getrlimit(static_cast<__rlimit_resource_t>(what), &now) != 0) return;
    now.rlim_max = std::min(now.rlim_max, whole(value + grace));
    now.rlim_cur = std::min(now.rlim_cur, whole(value));
    ::setrlimit(static_cast<__rlimit_resource_t>(what), &now);
}

/// Bytes of address space, and of it those that may be written.
struct Extent {
    double all = 0;
    double data = 0;
};

Extent own_extent() {
    std::array<char, 256> text{};
    const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? -1 : ::read(file, text.data(), text.size() - 1);
    if (file >= 0) ::close(file);
    unsigned long all = 0, data = 0;
    if (length <= 0 || std::sscanf(text.data(), "%lu %*u %*u %*u %*u %lu", &all, &data) != 2)
        return {};
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    return {page * static_cast<double>(all), page * static_cast<double>(data)};
}

/// Limits the memory to so much more than there is. The address space has room for what the
/// allocator reserves and does not use; what is written has less.
void limit_memory(double bytes) {
    constexpr double reserved = 256 << 20, overhead = 48 << 20;
    const Extent now = own_extent();
    if (now.all == 0) return;
    set_limit(RLIMIT_AS, now.all + bytes + reserved);
    set_limit(RLIMIT_DATA, now.data + bytes + overhead);
}

/// Returns the answer's file under its new number: it is the only one that stays open, so that the
/// child can neither write into the parent's files nor hold their locks.
int leave_the_parents_world(int file) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGSEGV, SIGBUS, SIGABRT,
                             SIGFPE, SIGILL, SIGXCPU, SIGXFSZ, SIGALRM, SIGCHLD, SIGTRAP, SIGSYS})
        std::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_DUMPABLE, 0);
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (nowhere < 0 || ::dup2(nowhere, stream) < 0) ::close(stream);
    constexpr int answer = STDERR_FILENO + 1;
    if (file != answer) ::dup2(file, answer);
    ::close_range(answer + 1, ~0U, 0);
    return answer;
}

void write_error(int file, ErrorKind kind, const std::string& message, const std::string& hint) {
    ChildAnswer answer(file);
    answer.write(static_cast<std::uint64_t>(kind));
    for (const std::string& text : {message, hint}) {
        answer.write(static_cast<std::uint64_t>(text.size()));
        answer.write(text.data(), text.size());
    }
}

Ending try_work(int file, const std::function<void(ChildAnswer&)>& work) {
    try {
        ChildAnswer answer(file);
        work(answer);
        return Ending::answer;
    } catch (const Error& error) {
        write_error(file, error.kind(), error.message(), error.hint());
        return Ending::error;
    } catch (const std::bad_alloc&) {
        return Ending::memory;
    } catch (const std::exception&) {  // of a length beyond any memory
        return Ending::memory;
    }
}

[[noreturn]] void be_the_child(const ChildLimits& limits, pid_t parent, int file,
                               const std::function<void(ChildAnswer&)>& work) {
    limit_memory(limits.memory);
    file = leave_the_parents_world(file);
    if (::getppid() != parent) ::_exit(1);  // it died before it could be asked to tell
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_CPU, limits.cpu_seconds, 1);
    set_limit(RLIMIT_FSIZE, limits.reply + (1 << 16));
    Ending ending = Ending::none;
    try {
        ending = try_work(file, work);
    } catch (...) {  // the error itself could not be written
    }
    write_at(file, &ending, sizeof ending, 0);
    ::_exit(0);
}

/// How a child ended, or nothing where someone else took its status.
struct Status {
    std::optional<int> raw;
    bool late = false;
};

/// Waits for the child alone, whatever the program does about its other children, and ends it when
/// its time is over.
Status wait_for(pid_t child, double seconds) {
    const auto begin = std::chrono::steady_clock::now();
    Status status;
    double nap = 50e-6;
    for (;;) {
        int raw = 0;
        const pid_t got = ::waitpid(child, &raw, status.late ? 0 : WNOHANG);
        if (got == child) {
            status.raw = raw;
            return status;
        }
        if (got < 0 && errno != EINTR) return status;  // SIGCHLD is ignored, or others wait too
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        if (!status.late && passed.count() > seconds) {
            status.late = true;
            ::kill(child, SIGKILL);
        } else if (!status.late) {
            const timespec pause{0, static_cast<long>(1e9 * nap)};
            ::nanosleep(&pause, nullptr);
            nap = std::min(1.2 * nap, 4e-3);
        }
    }
}

[[noreturn]] void fail_child(const Status& status, Ending ending, const ChildLimits& limits,
                             const std::string& where) {
    const int signal = status.raw && WIFSIGNALED(*status.raw) ? WTERMSIG(*status.raw) : 0;
    if (status.late || signal == SIGXCPU)
        fail_input(fmt::format("'{}' was not read within {:.0f} s", where,
                               status.late ? limits.seconds : std::ceil(limits.cpu_seconds)),
                   kHint);
    if (ending == Ending::memory || signal == SIGXFSZ)
        fail_input(fmt::format("'{}' claims more than the {:.1f} MB that its file may take", where,
                               limits.memory / 1e6),
                   kHint);
    fail_input(fmt::format("'{}' cannot be read: its reader {}", where,
                           signal != 0 ? fmt::format("was ended by signal {} ({})", signal,
                                                     ::strsignal(signal))
                                       : "gave up"),
               kHint);
}

[[noreturn]] void rethrow(ChildReply& reply) {
    const auto kind = reply.read<std::uint64_t>();
    std::array<std::string, 2> texts;
    for (std::string& text : texts) {
        const auto length = reply.read<std::uint64_t>();
        text.resize(std::min(length, reply.left()));
        reply.read(text.data(), text.size());
    }
    if (kind == static_cast<std::uint64_t>(ErrorKind::io)) fail_io(texts[0], texts[1]);
    fail_input(texts[0], texts[1]);
}

}  // namespace

void ChildAnswer::write(const void* data, std::size_t bytes) {
    if (!write_at(file_, data, bytes, kStart + at_)) throw std::bad_alloc();
    at_ += bytes;
}

ChildReply::ChildReply(int file, std::uint64_t size, std::string where)
    : file_(file), size_(size), where_(std::move(where)) {}
ChildReply::ChildReply(ChildReply&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      at_(other.at_),
      size_(other.size_),
      where_(std::move(other.where_)) {}
ChildReply::~ChildReply() {
    if (file_ >= 0) ::close(file_);
}

void ChildReply::read(void* data, std::size_t bytes) {
    if (bytes > left() || !read_at(file_, data, bytes, kStart + at_))
        fail_input(fmt::format("'{}' cannot be read: its reader answered too little", where_),
                   kHint);
    at_ += bytes;
}

ChildReply run_in_child(const ChildLimits& limits, const std::string& where,
                        const std::function<void(ChildAnswer&)>& work) {
    const int file = ::memfd_create("pibinn-reply", MFD_CLOEXEC);
    if (file < 0)
        fail_io(fmt::format("cannot read '{}': {}", where, std::strerror(errno)),
                "close files or programs");
    ChildReply reply(file, 0, where);  // closes the file, whatever happens
    // No handler of the parent runs in the child.
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    const int error = errno;
    if (child == 0) be_the_child(limits, parent, file, work);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (child < 0)
        fail_io(fmt::format("cannot start a process to read '{}': {}", where, std::strerror(error)),
                "close programs, or raise the limit of processes");
    const Status status = wait_for(child, limits.seconds);
    struct stat written {};
    Ending ending = Ending::none;
    if (::fstat(file, &written) != 0 || !read_at(file, &ending, sizeof ending, 0))
        ending = Ending::none;
    const auto size = static_cast<std::uint64_t>(written.st_size);
    const bool whole = !status.late && size >= kStart &&
                       (!status.raw || (WIFEXITED(*status.raw) && WEXITSTATUS(*status.raw) == 0));
    if (!whole || (ending != Ending::answer && ending != Ending::error))
        fail_child(status, ending, limits, where);
    ChildReply whole_reply(::dup(file), size - kStart, where);
    if (ending == Ending::error) rethrow(whole_reply);
    return whole_reply;
}

}  // namespace pibinn
