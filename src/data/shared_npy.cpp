#include "data/shared_npy.hpp"

#include <array>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

SharedNpyRows::SharedNpyRows(Communicator& ranks, const std::string& path)
    : file_(ranks.open(path, false)),
      rows_(std::make_unique<NpyRows>(
          [file = file_](std::uint64_t at, std::size_t bytes, char* into) {
              file->read_at(at, std::as_writable_bytes(std::span(into, bytes)));
          },
          file_->size(), path)) {}

SharedNpyWriter::SharedNpyWriter(Communicator& ranks, const std::string& path, std::size_t rows,
                                 std::size_t cols, Numbers numbers)
    : ranks_(ranks), cols_(cols) {
    const bool complex = numbers == Numbers::complex;
    const std::string header =
        make_npy_header(complex ? "<c8" : "<f4", std::array{rows, complex ? cols / 2 : cols});
    header_ = header.size();
    std::string place;
    if (ranks_.first()) {
        whole_ = std::make_unique<AtomicFile>(path);
        whole_->write(header);
        place = whole_->let_others_write().string();
    }
    place_ = ranks_.broadcast_text(place);
    file_ = ranks_.open(place_, true);
}

SharedNpyWriter::~SharedNpyWriter() {
    if (committed_) return;
    // The rank that fails ends the others, which may leave rank 0 no time to remove what it made.
    std::error_code code;
    std::filesystem::remove(place_, code);
}

void SharedNpyWriter::write(std::size_t begin, ConstBatchView rows) {
    ensure(rows.cols == cols_ && rows.contiguous(), "rows of the array without gaps");
    file_->write_at(header_ + begin * cols_ * sizeof(float),
                    std::as_bytes(std::span(rows.data, rows.rows * rows.cols)));
}

void SharedNpyWriter::commit() {
    file_->close();
    ranks_.barrier();
    if (whole_) whole_->commit();
    committed_ = true;
}

}  // namespace pibinn
