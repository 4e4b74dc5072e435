#include "cli/row_sink.hpp"

#include <csignal>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/arrays.hpp"
#include "cli/console.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"

namespace pibinn::cli {

namespace {

class FileSink final : public RowSink {
public:
    FileSink(const std::string& out, std::size_t rows, std::size_t cols, Numbers numbers)
        : writer_(out, cols, rows > 0 ? std::optional(rows) : std::nullopt, numbers) {}
    void write(ConstBatchView rows) override { writer_.write(rows); }
    void commit() override { writer_.commit(); }

private:
    ArrayWriter writer_;
};

class StandardOutputRows final : public RowSink {
public:
    StandardOutputRows() {
        if (::isatty(STDOUT_FILENO) == 1)
            fail_usage("'--out -' would write raw numbers to the terminal",
                       "pipe them on, or name an array file such as x.npy");
        // When the reader ends early, the write fails instead of a signal ending the program.
        std::signal(SIGPIPE, SIG_IGN);
    }
    void write(ConstBatchView rows) override {
        ensure(rows.contiguous(), "rows without gaps");
        write_stdout(
            {reinterpret_cast<const char*>(rows.data), rows.rows * rows.cols * sizeof(float)});
    }
    void commit() override {}
};

/// Rows that are split inside.
class InterleavedSink final : public RowSink {
public:
    InterleavedSink(std::unique_ptr<RowSink> to, std::size_t vectors)
        : to_(std::move(to)), vectors_(vectors) {}
    void write(ConstBatchView rows) override { to_->write(interleave_complex(rows, vectors_)); }
    void commit() override { to_->commit(); }

private:
    std::unique_ptr<RowSink> to_;
    std::size_t vectors_;
};

/// A .npy file starts with the number of its rows. A device or pipe of another name gets one too.
void require_patchable(const std::string& out) {
    if (names_array(out) && !array_file(out).ends_with(".npy")) return;
    std::error_code code;
    const auto status = std::filesystem::status(out, code);
    if (std::filesystem::is_fifo(status) || std::filesystem::is_socket(status))
        fail_usage(fmt::format("'{}' is a pipe: a .npy file tells first how many rows it has, "
                               "which a stream does not",
                               out),
                   "write raw rows with --out -");
}

}  // namespace

std::unique_ptr<RowSink> make_rows(const std::string& out, std::size_t rows, std::size_t cols,
                                   const RowLayout& layout) {
    std::unique_ptr<RowSink> sink;
    if (out == "-") {
        sink = std::make_unique<StandardOutputRows>();
    } else {
        if (rows == 0) require_patchable(out);
        sink = std::make_unique<FileSink>(out, rows, cols, numbers_of(layout));
    }
    if (!layout.complex) return sink;
    return std::make_unique<InterleavedSink>(std::move(sink), layout.vectors);
}

}  // namespace pibinn::cli
