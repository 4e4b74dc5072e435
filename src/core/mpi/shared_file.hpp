#pragma once

#include <string>

#include "core/mpi/calls.hpp"
#include "pibinn/communicator.hpp"

namespace pibinn::mpi {

/// A file of MPI-IO.
class MpiFile final : public SharedFile {
public:
    /// All ranks.
    MpiFile(Calls& calls, MPI_Comm comm, const std::filesystem::path& path, bool writes);
    /// Left open where close() was not called: to close it takes all ranks.
    ~MpiFile() override = default;

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
