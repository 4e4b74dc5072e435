#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/file.hpp"
#include "data/array_format.hpp"
#include "data/npy_format.hpp"
#include "data/npy_rows.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npy.hpp"

namespace pibinn {

namespace {

/// An open file, read at any place of it.
class Descriptor {
public:
    explicit Descriptor(const std::string& path) : where_(path) {
        descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status {};
        if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
            const int error = errno;
            close();
            fail_io(fmt::format("cannot read '{}': {}", path, std::strerror(error)),
                    "check the path");
        }
        size_ = static_cast<std::uint64_t>(status.st_size);
    }
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    std::uint64_t size() const { return size_; }
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

private:
    void close() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    std::string where_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
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

std::unique_ptr<RowReader> open_npy(const std::string& file) {
    const auto opened = std::make_shared<const Descriptor>(file);
    return std::make_unique<NpyRows>([opened](std::uint64_t at, std::size_t bytes,
                                              char* into) { opened->read_bytes(at, bytes, into); },
                                     opened->size(), file);
}

}  // namespace

extern const ArrayFormat npy_format;
const ArrayFormat npy_format{
    .suffix = ".npy",
    .named = false,
    .text = false,
    .read = [](const std::string& file, const std::string&,
               Digits digits) { return decode_npy(read_file(file), file, digits); },
    .read_sparse = nullptr,
    .open = open_npy,
    .create = [](const NewArray& array) -> std::unique_ptr<RowWriter> {
        return std::make_unique<NewNpy>(array);
    },
    .require_name = nullptr};

}  // namespace pibinn
