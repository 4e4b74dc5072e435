#include "cli/row_sink.hpp"

#include <csignal>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/console.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npy.hpp"

namespace pibinn::cli {

namespace {

class FileRows final : public RowSink {
public:
    FileRows(const std::string& out, std::size_t rows, std::size_t cols)
        : writer_(rows > 0 ? NpyWriter(out, rows, cols) : NpyWriter(out, cols)) {}
    void write(ConstBatchView rows) override { writer_.write(rows); }
    void commit() override { writer_.commit(); }

private:
    NpyWriter writer_;
};

class StandardOutputRows final : public RowSink {
public:
    StandardOutputRows() {
        if (::isatty(STDOUT_FILENO) == 1)
            fail_usage("'--out -' would write raw numbers to the terminal",
                       "pipe them on, or name a .npy file");
        // A reader that ends early is then an error like any other, and not the end by a signal.
        std::signal(SIGPIPE, SIG_IGN);
    }
    void write(ConstBatchView rows) override {
        ensure(rows.contiguous(), "rows without gaps");
        write_stdout(
            {reinterpret_cast<const char*>(rows.data), rows.rows * rows.cols * sizeof(float)});
    }
    void commit() override {}
};

/// The header of a .npy file tells its rows, and comes first.
void require_patchable(const std::string& out) {
    std::error_code code;
    const auto status = std::filesystem::status(out, code);
    if (std::filesystem::is_fifo(status) || std::filesystem::is_socket(status))
        fail_usage(fmt::format("'{}' is a pipe: a .npy file tells first how many rows it has, "
                               "which a stream does not",
                               out),
                   "write raw rows with --out -");
}

}  // namespace

std::unique_ptr<RowSink> make_rows(const std::string& out, std::size_t rows, std::size_t cols) {
    if (out == "-") return std::make_unique<StandardOutputRows>();
    if (rows == 0) require_patchable(out);
    return std::make_unique<FileRows>(out, rows, cols);
}

}  // namespace pibinn::cli
