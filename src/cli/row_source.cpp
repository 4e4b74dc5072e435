#include "cli/row_source.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "core/file.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"

namespace pibinn::cli {

namespace {

static_assert(std::endian::native == std::endian::little, "raw rows are little-endian");

// More than a pipe holds: a read then takes all that is there.
constexpr std::size_t kBufferBytes = 256U << 10U;

class FileSource final : public RowSource {
public:
    FileSource(const std::string& place, const ExpectedRows& expected, Numbers text)
        : array_(place, text) {
        require_rows(array_.rows(), array_.cols(), array_.numbers(), expected, place);
    }
    std::size_t rows() const override { return array_.rows(); }
    Batch read(std::size_t most) override {
        const std::size_t count = std::min(most, array_.rows() - done_);
        done_ += count;
        return array_.read(done_ - count, count);
    }

private:
    ArrayRows array_;
    std::size_t done_ = 0;
};

class StandardInputRows final : public RowSource {
public:
    StandardInputRows(const ExpectedRows& expected, Numbers text)
        : complex_(expected.layout.complex),
          cols_(expected.width),
          buffer_(std::max<std::size_t>(1, kBufferBytes / row_bytes()) * cols_) {
        if (complex_ != (text == Numbers::complex))
            fail_usage(
                fmt::format("the model takes {} complex {}, and raw rows do not say what "
                            "they are",
                            complex_ ? fmt::to_string(expected.entries()) : "no", expected.noun),
                complex_ ? "add --complex: rows are then real part and imaginary part of "
                           "each in turn"
                         : "remove --complex");
        if (::isatty(STDIN_FILENO) == 1)
            fail_usage("'--in -' would read raw numbers from the terminal",
                       "pipe the rows in, or name a file");
    }
    std::size_t rows() const override { return 0; }

    Batch read(std::size_t most) override {
        while (held_ < row_bytes() && !ended_) fill();
        if (held_ < row_bytes()) {
            check_end();
            return {};
        }
        const std::size_t count = leading_numbers(std::min(most, held_ / row_bytes()));
        Batch rows(count, cols_);
        std::copy_n(buffer_.data(), rows.size(), rows.data());
        held_ -= count * row_bytes();
        std::memmove(buffer_.data(), buffer_.data() + rows.size(), held_);
        done_ += count;
        return rows;
    }

private:
    std::size_t row_bytes() const { return cols_ * sizeof(float); }

    /// Waits for input and takes all that is available.
    void fill() {
        char* const bytes = reinterpret_cast<char*>(buffer_.data());
        const ssize_t got =
            ::read(STDIN_FILENO, bytes + held_, buffer_.size() * sizeof(float) - held_);
        if (got < 0 && errno == EAGAIN) return wait_for_input(STDIN_FILENO);
        if (got < 0 && errno == EINTR) return;
        if (got < 0)
            fail_io(fmt::format("cannot read standard input: {}", std::strerror(errno)),
                    "check where it comes from");
        ended_ = got == 0;
        held_ += static_cast<std::size_t>(got);
        constexpr std::string_view npy = "\x93NUMPY";
        if (done_ == 0 && std::string_view(bytes, std::min(held_, npy.size())) == npy)
            fail_input("standard input is a .npy file, not raw rows",
                       "name the file, or send its numbers alone: array.astype('<f4').tobytes()");
    }

    void check_end() const {
        const std::string expected =
            complex_
                ? fmt::format("raw rows are {} complex values of two float32, {} bytes each",
                              cols_ / 2, row_bytes())
                : fmt::format("raw rows are {} float32 values, {} bytes each", cols_, row_bytes());
        if (held_ > 0)
            fail_input(
                fmt::format("standard input is truncated: {} bytes after row {}", held_, done_),
                expected + ": was the stream cut off, or are its rows of another width?");
        if (done_ == 0) fail_input("standard input holds no measurements: it has 0 rows", expected);
    }

    /// The number of rows, of the first `count`, before one with a value that is not a number. They
    /// are recovered before the error, however the stream is split into reads.
    std::size_t leading_numbers(std::size_t count) const {
        for (std::size_t i = 0; i < count * cols_; ++i) {
            if (std::isfinite(buffer_[i])) continue;
            if (i >= cols_) return i / cols_;
            fail_input(fmt::format("standard input has {} at row {}, column {}{} (counted from 0)",
                                   buffer_[i], done_, complex_ ? i / 2 : i,
                                   complex_ && i % 2 == 1 ? ", imaginary part" : ""),
                       "replace NaN and infinite values");
        }
        return count;
    }

    bool complex_;
    std::size_t cols_;  ///< floats of a row
    AlignedBuffer<float> buffer_;
    std::size_t held_ = 0;  ///< bytes
    std::size_t done_ = 0;  ///< rows
    bool ended_ = false;
};

/// Complex rows, split as they come.
class SplitSource final : public RowSource {
public:
    SplitSource(std::unique_ptr<RowSource> from, std::size_t vectors)
        : from_(std::move(from)), vectors_(vectors) {}
    std::size_t rows() const override { return from_->rows(); }
    Batch read(std::size_t most) override {
        const Batch rows = from_->read(most);
        return rows.rows() > 0 ? split_complex(rows, vectors_) : Batch();
    }

private:
    std::unique_ptr<RowSource> from_;
    std::size_t vectors_;
};

}  // namespace

std::size_t rows_per_chunk(std::size_t measurements, std::size_t signal_entries) {
    constexpr std::size_t bytes = 16U << 20U;
    return std::max<std::size_t>(1, bytes / (sizeof(float) * (measurements + signal_entries)));
}

std::unique_ptr<RowSource> open_rows(const std::string& place, const ExpectedRows& expected,
                                     Numbers text) {
    std::unique_ptr<RowSource> source;
    if (place == "-")
        source = std::make_unique<StandardInputRows>(expected, text);
    else
        source = std::make_unique<FileSource>(place, expected, text);
    if (!expected.layout.complex) return source;
    return std::make_unique<SplitSource>(std::move(source), expected.layout.vectors);
}

}  // namespace pibinn::cli
