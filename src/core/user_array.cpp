#include "pibinn/user_array.hpp"

#include "pibinn/error.hpp"

namespace pibinn {

std::size_t UserArray::rows() const {
    return visit([](const auto& values) { return values.rows(); });
}

std::size_t UserArray::cols() const {
    return visit([](const auto& values) { return values.cols(); });
}

double UserArray::operator()(std::size_t i, std::size_t j) const {
    return visit([&](const auto& values) { return double{values(i, j)}; });
}

Batch UserArray::to_float32(std::size_t begin, std::size_t count, double unit) const {
    ensure(begin <= rows() && count <= rows() - begin, "rows that are there");
    Batch rounded(count, cols());
    visit([&](const auto& values) {
        const auto* const from = values.data() + begin * values.cols();
        for (std::size_t i = 0; i < rounded.size(); ++i)
            rounded.data()[i] = static_cast<float>(double{from[i]} / unit);
    });
    return rounded;
}

Batch UserArray::take_float32() && {
    return precise() ? to_float32() : std::get<Batch>(std::move(values_));
}

}  // namespace pibinn
