#pragma once

#include <memory>
#include <string>

#include "core/file.hpp"
#include "data/npy_rows.hpp"
#include "pibinn/communicator.hpp"

namespace pibinn {

/// A .npy file that all ranks read, each the rows that it wants. All ranks make it.
class SharedNpyRows {
public:
    SharedNpyRows(Communicator& ranks, const std::string& path);

    std::size_t rows() const { return rows_->rows(); }
    std::size_t cols() const { return rows_->cols(); }
    Numbers numbers() const { return rows_->numbers(); }
    Batch read(std::size_t begin, std::size_t count) { return rows_->read(begin, count); }

private:
    std::shared_ptr<SharedFile> file_;
    std::unique_ptr<NpyRows> rows_;
};

/// A .npy file of float32 or complex64 that all ranks write, each the rows that it has. All ranks
/// make it and commit it; it appears then, and does not without.
class SharedNpyWriter {
public:
    /// A complex number has two of the columns.
    SharedNpyWriter(Communicator& ranks, const std::string& path, std::size_t rows,
                    std::size_t cols, Numbers numbers);
    ~SharedNpyWriter();
    SharedNpyWriter(const SharedNpyWriter&) = delete;
    SharedNpyWriter& operator=(const SharedNpyWriter&) = delete;

    /// Rows from `begin` on.
    void write(std::size_t begin, ConstBatchView rows);
    void commit();

private:
    Communicator& ranks_;
    std::unique_ptr<AtomicFile> whole_;  ///< rank 0 has it
    std::unique_ptr<SharedFile> file_;
    std::string place_;  ///< of what is written, until it is committed
    std::size_t header_ = 0, cols_ = 0;
    bool committed_ = false;
};

}  // namespace pibinn
