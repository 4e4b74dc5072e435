#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/file.hpp"
#include "data/array_format.hpp"
#include "data/npy_format.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npy.hpp"

namespace pibinn {

namespace {

/// An open .npy file, whose rows are read from the disk when they are asked for.
class NpyRows final : public RowReader {
public:
    explicit NpyRows(const std::string& path) : where_(path) {
        descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status {};
        if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
            const int error = errno;
            close();
            fail_io(fmt::format("cannot read '{}': {}", path, std::strerror(error)),
                    "check the path");
        }
        try {
            const auto total = static_cast<std::uint64_t>(status.st_size);
            std::string start(std::min<std::uint64_t>(total, npy_longest_header), '\0');
            read_bytes(0, start.size(), start.data());
            format_ = parse_npy_header(start, total, path);
        } catch (...) {
            close();
            throw;
        }
    }
    ~NpyRows() override { close(); }
    NpyRows(const NpyRows&) = delete;
    NpyRows& operator=(const NpyRows&) = delete;

    std::size_t rows() const override { return format_.rows; }
    std::size_t cols() const override { return format_.columns(); }
    Numbers numbers() const override { return format_.complex ? Numbers::complex : Numbers::real; }

    Batch read(std::size_t begin, std::size_t count) override {
        NpyFormat part = format_;
        part.rows = count;
        const std::size_t width = format_.bytes();
        std::string bytes(count * format_.cols * width, '\0');
        if (format_.fortran_order) {
            // Columns stand one after the other: a run of each makes the same order of fewer rows.
            const std::size_t run = count * width;
            for (std::size_t j = 0; j < format_.cols; ++j)
                read_bytes(format_.data_offset + (j * format_.rows + begin) * width, run,
                           bytes.data() + j * run);
        } else {
            read_bytes(format_.data_offset + begin * format_.cols * width, bytes.size(),
                       bytes.data());
        }
        return decode_npy_numbers<float>(part, bytes.data(), begin, where_);
    }

private:
    void close() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    void read_bytes(std::uint64_t at, std::size_t bytes, char* into) const {
        while (bytes > 0) {
            const ssize_t done = ::pread(descriptor_, into, bytes, static_cast<off_t>(at));
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0)
                fail_io(fmt::format("reading '{}' failed midway", where_),
                        "check the disk, and that nobody else writes the file");
            into += done;
            at += static_cast<std::uint64_t>(done);
            bytes -= static_cast<std::size_t>(done);
        }
    }

    std::string where_;
    int descriptor_ = -1;
    NpyFormat format_;
};

class NewNpy final : public RowWriter {
public:
    explicit NewNpy(const NewArray& array)
        : writer_(array.file, array.rows, array.cols, array.numbers) {}
    void write(ConstBatchView rows) override { writer_.write(rows); }
    void commit() override { writer_.commit(); }

private:
    NpyWriter writer_;
};

}  // namespace

extern const ArrayFormat npy_format;
const ArrayFormat npy_format{
    .suffix = ".npy",
    .named = false,
    .text = false,
    .read = [](const std::string& file, const std::string&,
               Digits digits) { return decode_npy(read_file(file), file, digits); },
    .read_sparse = nullptr,
    .open = [](const std::string& file) -> std::unique_ptr<RowReader> {
        return std::make_unique<NpyRows>(file);
    },
    .create = [](const NewArray& array) -> std::unique_ptr<RowWriter> {
        return std::make_unique<NewNpy>(array);
    },
    .require_name = nullptr};

}  // namespace pibinn
