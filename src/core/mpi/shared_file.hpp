#pragma once

#include <string>

#include "core/mpi/calls.hpp"
#include "pibinn/communicator.hpp"

namespace pibinn::mpi {

/// A file of MPI-IO, which this rank has open by itself. To open one together is a collective call:
/// it blocks inside MPI, and for ever where a rank does not see the file.
class MpiFile final : public SharedFile {
public:
    MpiFile(Calls& calls, const std::filesystem::path& path, bool writes);
    ~MpiFile() override;
    MpiFile(const MpiFile&) = delete;
    MpiFile& operator=(const MpiFile&) = delete;

    std::uint64_t size() const override { return size_; }
    void read_at(std::uint64_t offset, std::span<std::byte> into) override;
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
    void close() override;

private:
    /// The io error of a call that did not succeed.
    void require(int code, const char* what) const;

    Calls& calls_;
    std::string name_;
    MPI_File file_ = MPI_FILE_NULL;
    std::uint64_t size_ = 0;
    bool writes_;
};

}  // namespace pibinn::mpi
