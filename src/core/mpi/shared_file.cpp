#include "core/mpi/shared_file.hpp"

#include <algorithm>

#include "pibinn/error.hpp"

namespace pibinn::mpi {

namespace {

// A count of MPI is an int.
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

}  // namespace

MpiFile::MpiFile(Calls& calls, const std::filesystem::path& path, bool writes)
    : calls_(calls), name_(path.string()), writes_(writes) {
    const std::lock_guard lock(calls_.mutex());
    require(MPI_File_open(MPI_COMM_SELF, name_.c_str(), writes ? MPI_MODE_WRONLY : MPI_MODE_RDONLY,
                          MPI_INFO_NULL, &file_),
            "open");
    MPI_Offset bytes = 0;
    const int code = MPI_File_get_size(file_, &bytes);
    if (code != MPI_SUCCESS) MPI_File_close(&file_);
    require(code, "see the size of");
    size_ = static_cast<std::uint64_t>(bytes);
}

MpiFile::~MpiFile() {
    const std::lock_guard lock(calls_.mutex());
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
}

void MpiFile::require(int code, const char* what) const {
    if (code == MPI_SUCCESS) return;
    fail_io(std::string("cannot ") + what + " '" + name_ + "': " + reason_of(code),
            "every host needs the same folder, with room in it");
}

void MpiFile::read_at(std::uint64_t offset, std::span<std::byte> into) {
    while (!into.empty()) {
        const std::size_t part = std::min(into.size(), kMostBytes);
        const std::lock_guard lock(calls_.mutex());
        MPI_Status status;
        require(MPI_File_read_at(file_, static_cast<MPI_Offset>(offset), into.data(),
                                 static_cast<int>(part), MPI_BYTE, &status),
                "read");
        int got = 0;
        MPI_Get_count(&status, MPI_BYTE, &got);
        if (got <= 0)
            fail_io("reading '" + name_ + "' failed midway",
                    "check the disk, and that nobody else writes the file");
        offset += static_cast<std::uint64_t>(got);
        into = into.subspan(static_cast<std::size_t>(got));
    }
}

void MpiFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const std::size_t part = std::min(bytes.size(), kMostBytes);
        const std::lock_guard lock(calls_.mutex());
        MPI_Status status;
        require(MPI_File_write_at(file_, static_cast<MPI_Offset>(offset), bytes.data(),
                                  static_cast<int>(part), MPI_BYTE, &status),
                "write");
        int put = 0;
        MPI_Get_count(&status, MPI_BYTE, &put);
        if (put <= 0) fail_io("cannot write '" + name_ + "': no space left", "make room");
        offset += static_cast<std::uint64_t>(put);
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
}

void MpiFile::close() {
    const std::lock_guard lock(calls_.mutex());
    if (writes_) require(MPI_File_sync(file_), "write");
    require(MPI_File_close(&file_), "close");
}

}  // namespace pibinn::mpi
