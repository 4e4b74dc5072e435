#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "data/array_format.hpp"
#include "pibinn/error.hpp"
#include "pibinn/matrix.hpp"

/// What libFuzzer and replay.cpp call. The functions that start with LLVM have the names that
/// libFuzzer expects.
extern "C" {
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
/// Only harnesses that include mutator.hpp have this one.
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed);
}

namespace pibinn::fuzz {

/// Why the last input was refused; empty where it was read.
inline std::string refusal;

/// Ends the process, which makes the input a finding.
[[noreturn]] inline void report(const char* what, const char* detail) {
    std::fprintf(stderr, "finding: %s: %s\n", what, detail);
    std::abort();
}

inline void require(bool holds, const char* what) {
    if (!holds) report("a property does not hold", what);
}

/// Runs a reader. Errors of the kinds `usage` and `input` are the right answer to a hostile file;
/// every other error is a finding.
template <class Read>
int survive(Read&& read) {
    refusal.clear();
    try {
        read();
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage && error.kind() != ErrorKind::input)
            report("an error of the wrong kind", error.what());
        refusal = error.what();
        for (const char c : refusal)
            require(static_cast<unsigned char>(c) >= 0x20, "an error is one line of text");
    } catch (const std::exception& error) {
        report("an exception", error.what());
    }
    return 0;
}

/// The bytes as a file, for a reader that takes a path. There is one such file per process, and it
/// lies in memory.
std::string as_file(const std::uint8_t* data, std::size_t size);
/// The same with a name in the working folder, for a library that asks for the real path.
std::string as_named_file(const std::uint8_t* data, std::size_t size);

/// From now on a child process that dies leaves no finding behind: it is there to die.
void keep_children_apart();

/// The reader of the arrays of one suffix, which `read_array` would find by the name of the file.
const ArrayFormat& array_format(std::string_view suffix);

inline bool finite(std::span<const float> values) {
    for (const float value : values)
        if (!std::isfinite(value)) return false;
    return true;
}

inline void require_finite(const Matrix<float>& values) {
    require(finite(values.values()), "every number that was read is finite");
}
inline void require_finite(const UserArray& values) { require_finite(values.to_float32()); }

/// Reads an array with all its digits, and that float32 has the same ones as far as it goes.
inline UserArray read_both_ways(const ArrayFormat& format, const std::string& path) {
    UserArray all = format.read(path, "", Digits::all);
    require_finite(all);
    const UserArray rounded = format.read(path, "", Digits::float32);
    require(rounded.to_float32() == all.to_float32(), "float64 rounds to the float32 that is read");
    require(rounded.complex() == all.complex(), "numbers are complex in either precision");
    require(all.cols() == (all.complex() ? 2 : 1) * all.entries(),
            "two columns per complex number");
    return all;
}

}  // namespace pibinn::fuzz
