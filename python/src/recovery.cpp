#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "pibinn/complex_rows.hpp"
#include "pibinn/error.hpp"
#include "pibinn/recoverer.hpp"
#include "work.hpp"

namespace pibinn::python {

namespace {

using nb::literals::operator""_a;

/// The memory of an array while someone looks at it. One signal is recovered in microseconds, and
/// the interface of arrays that others use here (ndarray of nanobind) takes another two.
class Buffer {
public:
    Buffer(nb::handle array, int flags) {
        held_ = PyObject_GetBuffer(array.ptr(), &buffer_, flags) == 0;
        if (!held_) PyErr_Clear();
    }
    ~Buffer() {
        if (held_) PyBuffer_Release(&buffer_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    bool held() const { return held_; }
    int dimensions() const { return buffer_.ndim; }
    std::size_t size(int axis) const { return static_cast<std::size_t>(buffer_.shape[axis]); }
    bool of(const char* format) const { return std::strcmp(buffer_.format, format) == 0; }
    template <class T>
    T* data() const {
        return static_cast<T*>(buffer_.buf);
    }

private:
    Py_buffer buffer_{};
    bool held_ = false;
};

constexpr int kRead = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT;
constexpr int kWrite = PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE;

/// numpy.empty and its two types, looked up once.
struct NumPy {
    nb::object empty, float32, complex64;

    static const NumPy& get() {
        static const auto* found = [] {
            const nb::module_ numpy = nb::module_::import_("numpy");
            return new NumPy{numpy.attr("empty"), numpy.attr("dtype")("float32"),
                             numpy.attr("dtype")("complex64")};
        }();
        return *found;
    }

    nb::object rows(bool vector, std::size_t count, std::size_t entries, bool complex) const {
        const nb::object shape =
            vector ? nb::object(nb::int_(entries)) : nb::object(nb::make_tuple(count, entries));
        return empty(shape, complex ? complex64 : float32);
    }
};

/// Fewer rows are faster on the caller's thread than shared out.
constexpr std::size_t kFewRows = 16;

/// A model ready to recover signals, with working memory for as many threads as use it at a time.
class Recovery {
public:
    Recovery(const Model& model, const std::string& kernel) : recoverer_(model, kernel) {}

    /// Signals of a vector, or of rows, of float32 or complex64 without gaps; None for arrays of
    /// any other kind, which the caller converts.
    nb::object recover(nb::handle measurements, std::size_t threads) const {
        const Buffer y(measurements, kRead);
        const bool complex = recoverer_.domain().measurement_rows().complex;
        if (!y.held() || !y.of(complex ? "Zf" : "f")) return nb::none();
        const bool vector = y.dimensions() == 1;
        if (!vector && y.dimensions() != 2) return nb::none();
        const std::size_t count = vector ? 1 : y.size(0);
        require_width(y.size(vector ? 0 : 1));
        const SignalDomain& domain = recoverer_.domain();
        const nb::object found = NumPy::get().rows(
            vector, count, domain.signal_rows().entries(recoverer_.entries()), domain.complex);
        if (count == 0) return found;
        const Buffer x(found, kWrite);
        {
            const nb::gil_scoped_release release;
            const BatchView to(x.data<float>(), count, recoverer_.entries());
            const ConstBatchView from(y.data<float>(), count, recoverer_.measurements());
            if (complex)
                recover_complex(from, to, threads);
            else
                recover_rows(from, to, threads);
        }
        return found;
    }

    /// x_1 .. x_K of split rows, as split rows.
    nb::list layers(const Rows<float>& y, std::size_t threads) const {
        require_width(y.shape(1) / (recoverer_.domain().measurement_rows().complex ? 2 : 1));
        std::vector<Batch> every;
        {
            const nb::gil_scoped_release release;
            recoverer_.coefficients(view_of(y), shared_pool(threads), &every);
        }
        nb::list result;
        for (Batch& layer : every) result.append(to_numpy(std::move(layer)));
        return result;
    }

    const Recoverer& recoverer() const { return recoverer_; }

private:
    void require_width(std::size_t cols) const {
        const RowLayout layout = recoverer_.domain().measurement_rows();
        const std::size_t expected = layout.entries(recoverer_.measurements());
        if (cols != expected)
            fail_input(fmt::format("expected {} {}measurements per row, got {}", expected,
                                   layout.complex ? "complex " : "", cols),
                       "give measurements made by this model's operator");
    }

    void recover_rows(ConstBatchView y, BatchView x, std::size_t threads) const {
        const PackedModel* packed = recoverer_.packed();
        const bool alone = y.rows < kFewRows || threads == 1;
        if (packed == nullptr || !recoverer_.domain().plain()) {
            const Batch found = recoverer_(y, shared_pool(alone ? 1 : threads));
            std::copy_n(found.data(), found.size(), x.data);
            return;
        }
        require_numbers(y, 0, recoverer_.domain().measurement_rows());
        if (alone) {
            auto workspace = take(*packed);
            packed->recover_coefficients(y, x, *workspace);
            give_back(std::move(workspace));
        } else {
            packed->recover_coefficients(y, x, shared_pool(threads));
        }
        require_recovered(x, 0, recoverer_.domain().signal_rows());
    }

    void recover_complex(ConstBatchView y, BatchView x, std::size_t threads) const {
        const SignalDomain& domain = recoverer_.domain();
        const Batch y_split = split_complex(y, domain.vectors);
        if (!domain.complex) return recover_rows(y_split, x, threads);
        Batch x_split(x.rows, x.cols);
        recover_rows(y_split, x_split, threads);
        interleave_complex(x_split, x, domain.vectors);
    }

    using Workspace = PackedModel::Workspace;

    std::unique_ptr<Workspace> take(const PackedModel& packed) const {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                auto workspace = std::move(idle_.back());
                idle_.pop_back();
                return workspace;
            }
        }
        return std::make_unique<Workspace>(packed);
    }

    void give_back(std::unique_ptr<Workspace> workspace) const {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(workspace));
    }

    Recoverer recoverer_;
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace

void bind_recovery(nb::module_& core) {
    nb::class_<Recovery>(core, "Recovery", "A model ready to recover signals.")
        .def(nb::init<const Model&, const std::string&>(), "model"_a, "kernel"_a = "auto")
        .def("recover", &Recovery::recover, "measurements"_a.none(), "threads"_a = 0)
        .def("layers", &Recovery::layers, "measurements"_a, "threads"_a = 0)
        .def_prop_ro("kernel", [](const Recovery& recovery) -> nb::object {
            const PackedModel* packed = recovery.recoverer().packed();
            return packed == nullptr ? nb::none() : nb::cast(packed->kernel());
        });
}

}  // namespace pibinn::python
