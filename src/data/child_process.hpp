#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace pibinn {

/// What a child process may take.
struct ChildLimits {
    double memory = 0;        ///< bytes, beside what the parent had
    double reply = 0;         ///< bytes that it may answer
    double cpu_seconds = 10;  ///< rounded up to whole ones
    double seconds = 60;      ///< on the clock
};

/// The answer that a child writes: bytes, one after the other.
class ChildAnswer {
public:
    explicit ChildAnswer(int file) : file_(file) {}
    void write(const void* data, std::size_t bytes);
    template <class T>
    void write(const T& value) {
        write(&value, sizeof value);
    }

private:
    int file_;
    std::uint64_t at_ = 0;
};

/// The answer as the parent reads it. Nothing in it is to be believed: what ran in the child may
/// have been misled by a hostile file. Reading beyond the end is an input error.
class ChildReply {
public:
    ChildReply(int file, std::uint64_t size, std::string where);
    ~ChildReply();
    ChildReply(ChildReply&& other) noexcept;
    ChildReply& operator=(ChildReply&&) = delete;

    std::uint64_t left() const { return size_ - at_; }
    void read(void* data, std::size_t bytes);
    template <class T>
    T read() {
        T value;
        read(&value, sizeof value);
        return value;
    }

private:
    int file_;
    std::uint64_t at_ = 0;
    std::uint64_t size_;
    std::string where_;
};

/// Runs `work` in a child process, so that whatever a library does with a hostile file happens
/// there: a crash, a loop without end or a claim on memory ends the child and becomes an input
/// error that names `where`. An Error that `work` throws is thrown here.
///
/// The child is a fork: it sees all memory of the parent and changes none. It leaves no core file,
/// has none of the parent's files open, dies with the parent and runs no handlers of signals or of
/// exit(). `work` must not use threads, nor locks that other threads of the parent may hold; the
/// C and C++ libraries, their memory included, are fine.
ChildReply run_in_child(const ChildLimits& limits, const std::string& where,
                        const std::function<void(ChildAnswer&)>& work);

}  // namespace pibinn
