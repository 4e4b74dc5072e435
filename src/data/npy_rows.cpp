#include "data/npy_rows.hpp"

#include <algorithm>

namespace pibinn {

NpyRows::NpyRows(ReadAt read_at, std::uint64_t total, std::string where)
    : read_at_(std::move(read_at)), where_(std::move(where)) {
    std::string start(std::min<std::uint64_t>(total, npy_longest_header), '\0');
    read_at_(0, start.size(), start.data());
    format_ = parse_npy_header(start, total, where_);
}

Batch NpyRows::read(std::size_t begin, std::size_t count) {
    NpyFormat part = format_;
    part.rows = count;
    const std::size_t width = format_.bytes();
    std::string bytes(count * format_.cols * width, '\0');
    if (format_.fortran_order) {
        // Columns stand one after the other: a run of each makes the same order of fewer rows.
        const std::size_t run = count * width;
        for (std::size_t j = 0; j < format_.cols; ++j)
            read_at_(format_.data_offset + (j * format_.rows + begin) * width, run,
                     bytes.data() + j * run);
    } else {
        read_at_(format_.data_offset + begin * format_.cols * width, bytes.size(), bytes.data());
    }
    return decode_npy_numbers<float>(part, bytes.data(), begin, where_);
}

}  // namespace pibinn
