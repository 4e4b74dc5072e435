#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "data/array_format.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

class HeldWriter final : public RowWriter {
public:
    HeldWriter(NewArray array, std::uint64_t most_bytes,
               void (*save)(const NewArray&, ConstBatchView))
        : array_(std::move(array)), most_bytes_(most_bytes), save_(save) {
        require_room(array_.rows.value_or(0));
    }

    void write(ConstBatchView rows) override {
        if (rows.cols != array_.cols)
            fail_usage(fmt::format("expected rows of {} numbers, got {}", array_.cols, rows.cols),
                       "every row of an array has the same length");
        require_room(rows_ + rows.rows);
        for (std::size_t i = 0; i < rows.rows; ++i)
            values_.insert(values_.end(), rows.row(i).begin(), rows.row(i).end());
        rows_ += rows.rows;
    }

    void commit() override {
        if (array_.rows && rows_ != *array_.rows)
            fail_usage(fmt::format("{} of {} announced rows were written", rows_, *array_.rows),
                       "announce as many rows as will be written");
        save_(array_, {values_.data(), rows_, array_.cols, array_.cols});
    }

private:
    void require_room(std::size_t rows) const {
        const double bytes = 4.0 * static_cast<double>(rows) * static_cast<double>(array_.cols);
        if (bytes > static_cast<double>(most_bytes_))
            fail_usage(fmt::format("{} rows of {} numbers do not fit '{}', which holds at most {} "
                                   "bytes",
                                   rows, array_.cols, array_.file, most_bytes_),
                       "write a .npy file, which may be of any size");
    }

    NewArray array_;
    std::uint64_t most_bytes_;
    void (*save_)(const NewArray&, ConstBatchView);
    std::size_t rows_ = 0;
    AlignedBuffer<float> values_;
};

}  // namespace

std::unique_ptr<RowWriter> hold_rows(NewArray array, std::uint64_t most_bytes,
                                     void (*save)(const NewArray&, ConstBatchView)) {
    return std::make_unique<HeldWriter>(std::move(array), most_bytes, save);
}

std::string name_from_file(const std::string& file) {
    return std::filesystem::path(file).stem().string();
}

}  // namespace pibinn
