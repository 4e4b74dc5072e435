#include "pibinn/array.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "data/csv.hpp"
#include "data/mat.hpp"
#include "data/npy_format.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/npz.hpp"

namespace pibinn {

namespace {

/// "file.npz:name" in its two parts; without a name the second is empty.
struct Place {
    std::string file;
    std::string name;
};

Place split_place(const std::string& place) {
    for (const std::string_view suffix : {".npz:", ".mat:"})
        if (const std::size_t at = place.rfind(suffix); at != std::string::npos)
            return {place.substr(0, at + suffix.size() - 1), place.substr(at + suffix.size())};
    return {place, ""};
}

constexpr std::array<std::string_view, 4> kSuffixes{".npy", ".npz", ".mat", ".csv"};

}  // namespace

std::string array_file(const std::string& place) { return split_place(place).file; }

bool names_array(std::string_view word) {
    const std::string file = split_place(std::string(word)).file;
    return std::any_of(kSuffixes.begin(), kSuffixes.end(),
                       [&](std::string_view suffix) { return file.ends_with(suffix); });
}

Batch read_array(const std::string& place) {
    const auto [file, name] = split_place(place);
    if (file.ends_with(".npz")) return name.empty() ? read_npz(file) : read_npz(file, name);
    if (file.ends_with(".mat")) return read_mat(file, name);
    if (file.ends_with(".npy")) return read_npy(file);
    if (file.ends_with(".csv")) return read_csv(file);
    fail_usage(fmt::format("'{}' is not an array file", place),
               "give x.npy, x.npz, x.npz:NAME, x.mat, x.mat:NAME or x.csv");
}

/// An open .npy file.
struct ArrayRows::File {
    std::string where;
    int descriptor = -1;
    NpyFormat format;

    explicit File(const std::string& path) : where(path) {
        descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor < 0)
            fail_io(fmt::format("cannot read '{}': {}", path, std::strerror(errno)),
                    "check the path");
    }
    ~File() { ::close(descriptor); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void read(std::uint64_t at, std::size_t bytes, char* into) const {
        while (bytes > 0) {
            const ssize_t done = ::pread(descriptor, into, bytes, static_cast<off_t>(at));
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0)
                fail_io(fmt::format("reading '{}' failed midway", where),
                        "check the disk, and that nobody else writes the file");
            into += done;
            at += static_cast<std::uint64_t>(done);
            bytes -= static_cast<std::size_t>(done);
        }
    }
};

ArrayRows::ArrayRows(const std::string& place) {
    struct stat status {};
    const bool regular = ::stat(place.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    if (!place.ends_with(".npy") || !regular) {
        whole_ = read_array(place);
        return;
    }
    file_ = std::make_unique<File>(place);
    const auto total = static_cast<std::uint64_t>(status.st_size);
    std::string start(std::min<std::uint64_t>(total, npy_longest_header), '\0');
    file_->read(0, start.size(), start.data());
    file_->format = parse_npy_header(start, total, place);
}

ArrayRows::~ArrayRows() = default;
ArrayRows::ArrayRows(ArrayRows&&) noexcept = default;
ArrayRows& ArrayRows::operator=(ArrayRows&&) noexcept = default;

std::size_t ArrayRows::rows() const { return file_ ? file_->format.rows : whole_.rows(); }
std::size_t ArrayRows::cols() const { return file_ ? file_->format.cols : whole_.cols(); }

Batch ArrayRows::read(std::size_t begin, std::size_t count) {
    ensure(begin <= rows() && count <= rows() - begin, "rows within the array");
    if (!file_) {
        Batch part(count, cols());
        std::copy_n(whole_.data() + begin * cols(), count * cols(), part.data());
        return part;
    }
    const NpyFormat& whole = file_->format;
    NpyFormat part = whole;
    part.rows = count;
    std::string bytes(count * whole.cols * whole.width, '\0');
    if (whole.fortran_order) {
        // Columns stand one after the other: a run of each makes the same order of fewer rows.
        const std::size_t run = count * whole.width;
        for (std::size_t j = 0; j < whole.cols; ++j)
            file_->read(whole.data_offset + (j * whole.rows + begin) * whole.width, run,
                        bytes.data() + j * run);
    } else {
        file_->read(whole.data_offset + begin * whole.cols * whole.width, bytes.size(),
                    bytes.data());
    }
    return decode_npy_numbers(part, bytes.data(), begin, file_->where);
}

}  // namespace pibinn
