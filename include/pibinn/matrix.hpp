// room: core
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace pibinn {

/// Cache-line aligned storage, so that vector loads never straddle lines.
template <class T>
struct AlignedAllocator {
    using value_type = T;
    static constexpr std::size_t alignment = 64;

    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>&) noexcept {}

    T* allocate(std::size_t count) {
        return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{alignment}));
    }
    void deallocate(T* p, std::size_t) noexcept {
        ::operator delete (p, std::align_val_t{alignment});
    }

    template <class U>
    bool operator==(const AlignedAllocator<U>&) const noexcept {
        return true;
    }
};

template <class T>
using AlignedBuffer = std::vector<T, AlignedAllocator<T>>;

/// A row-major window on numbers that someone else owns.
template <class T>
struct MatrixView {
    T* data = nullptr;
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::size_t stride = 0;  ///< distance between rows, at least cols

    MatrixView() = default;
    MatrixView(T* data_, std::size_t rows_, std::size_t cols_, std::size_t stride_)
        : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
    MatrixView(T* data_, std::size_t rows_, std::size_t cols_)
        : MatrixView(data_, rows_, cols_, cols_) {}

    /// A view that may write is also a view that may read.
    template <class U>
    requires(std::is_same_v<const U, T> && !std::is_const_v<U>)
        MatrixView(const MatrixView<U>& other)
        : MatrixView(other.data, other.rows, other.cols, other.stride) {}

    T& operator()(std::size_t i, std::size_t j) const { return data[i * stride + j]; }
    std::span<T> row(std::size_t i) const { return {data + i * stride, cols}; }

    MatrixView row_range(std::size_t begin, std::size_t end) const {
        return {data + begin * stride, end - begin, cols, stride};
    }
    MatrixView col_range(std::size_t begin, std::size_t end) const {
        return {data + begin, rows, end - begin, stride};
    }
    bool contiguous() const { return stride == cols || rows <= 1; }
};

/// An owned row-major matrix without gaps between rows. A batch has one signal per row.
template <class T>
class Matrix {
public:
    Matrix() = default;
    Matrix(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols), values_(rows * cols) {}

    std::size_t rows() const { return rows_; }
    std::size_t cols() const { return cols_; }
    std::size_t size() const { return values_.size(); }
    T* data() { return values_.data(); }
    const T* data() const { return values_.data(); }

    T& operator()(std::size_t i, std::size_t j) { return values_[i * cols_ + j]; }
    const T& operator()(std::size_t i, std::size_t j) const { return values_[i * cols_ + j]; }
    std::span<T> row(std::size_t i) { return {data() + i * cols_, cols_}; }
    std::span<const T> row(std::size_t i) const { return {data() + i * cols_, cols_}; }
    std::span<T> values() { return values_; }
    std::span<const T> values() const { return values_; }

    MatrixView<T> view() { return {data(), rows_, cols_}; }
    MatrixView<const T> view() const { return {data(), rows_, cols_}; }
    operator MatrixView<T>() { return view(); }
    operator MatrixView<const T>() const { return view(); }

    bool operator==(const Matrix&) const = default;

private:
    std::size_t rows_ = 0;
    std::size_t cols_ = 0;
    AlignedBuffer<T> values_;
};

using Batch = Matrix<float>;
using BatchView = MatrixView<float>;
using ConstBatchView = MatrixView<const float>;

/// The same numbers in another precision; references and theory work in float64.
template <class To, class From>
Matrix<To> convert(const Matrix<From>& from) {
    Matrix<To> to(from.rows(), from.cols());
    for (std::size_t i = 0; i < from.size(); ++i) to.data()[i] = static_cast<To>(from.data()[i]);
    return to;
}

}  // namespace pibinn
