#include "harness.hpp"

#include <cstdlib>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef PIBINN_FUZZ
#include <sanitizer/common_interface_defs.h>
#endif

namespace pibinn::fuzz {

namespace {

void rewrite(int file, const std::uint8_t* data, std::size_t size) {
    bool written = file >= 0 && ::ftruncate(file, 0) == 0;
    if (written && size > 0) written = ::pwrite(file, data, size, 0) == static_cast<ssize_t>(size);
    if (!written) report("the harness itself failed", "its input file cannot be written");
}

std::string named_file() { return "input-" + std::to_string(::getpid()); }

}  // namespace

std::string as_file(const std::uint8_t* data, std::size_t size) {
    static const int file = ::memfd_create("input", MFD_CLOEXEC);
    static const std::string path = "/proc/self/fd/" + std::to_string(file);
    rewrite(file, data, size);
    return path;
}

std::string as_named_file(const std::uint8_t* data, std::size_t size) {
    static const int file = [] {
        std::atexit([] { ::unlink(named_file().c_str()); });
        return ::open(named_file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }();
    rewrite(file, data, size);
    return named_file();
}

void keep_children_apart() {
#ifdef PIBINN_FUZZ
    static const int once =
        ::pthread_atfork(nullptr, nullptr, [] { __sanitizer_set_death_callback(nullptr); });
    static_cast<void>(once);
#endif
}

const ArrayFormat& array_format(std::string_view suffix) {
    for (const ArrayFormat* format : array_formats())
        if (format->suffix == suffix) return *format;
    report("the harness itself failed", "no reader of this suffix");
}

}  // namespace pibinn::fuzz

#ifdef PIBINN_FUZZ
// Freed memory waits for reuse in 16 MB instead of 256, since the limit on memory is for the
// reader. Short stacks of allocations save a tenth of the time.
extern "C" const char* __asan_default_options() {  // NOLINT: the name is the sanitizer's
    return "quarantine_size_mb=16:malloc_context_size=2:handle_abort=1";
}
#endif
