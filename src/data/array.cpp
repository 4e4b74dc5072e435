#include "pibinn/array.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "data/array_format.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

#define PIBINN_DECLARE(name) extern const ArrayFormat name##_format;
PIBINN_ARRAY_FORMATS(PIBINN_DECLARE)
#undef PIBINN_DECLARE

namespace {

#define PIBINN_ADDRESS(name) &name##_format,
constexpr std::array kFormats{PIBINN_ARRAY_FORMATS(PIBINN_ADDRESS)};
#undef PIBINN_ADDRESS

/// "file.npz:name" in its two parts; without a name the second is empty.
struct Place {
    std::string file;
    std::string name;
    const ArrayFormat* format = nullptr;  ///< null where no format has such a suffix
};

Place split_place(const std::string& place) {
    Place split{place, "", nullptr};
    for (const ArrayFormat* format : kFormats) {
        if (!format->named) continue;
        const std::string before = std::string(format->suffix) + ":";
        const std::size_t at = place.rfind(before);
        if (at == std::string::npos) continue;
        split.file = place.substr(0, at + before.size() - 1);
        split.name = place.substr(at + before.size());
        break;
    }
    for (const ArrayFormat* format : kFormats)
        if (split.file.ends_with(format->suffix)) split.format = format;
    return split;
}

/// "x.npy, x.npz, x.npz:NAME or x.csv", of the formats that can do something.
template <class Can>
std::string examples(Can&& can) {
    std::vector<std::string> words;
    for (const ArrayFormat* format : kFormats) {
        if (!can(*format)) continue;
        words.push_back(fmt::format("x{}", format->suffix));
        if (format->named) words.push_back(fmt::format("x{}:NAME", format->suffix));
    }
    std::string list;
    for (std::size_t i = 0; i < words.size(); ++i)
        list += (i == 0 ? "" : i + 1 < words.size() ? ", " : " or ") + words[i];
    return list;
}

Place readable(const std::string& place) {
    Place split = split_place(place);
    if (!split.format)
        fail_usage(fmt::format("'{}' is not an array file", place),
                   "give " + examples([](const ArrayFormat&) { return true; }));
    return split;
}

Place writable(const std::string& place) {
    Place split = split_place(place);
    std::error_code code;
    // The format of what has no suffix: a device or a pipe.
    if (!split.format && std::filesystem::is_other(std::filesystem::status(place, code)))
        split.format = kFormats.front();
    if (!split.format || !split.format->create)
        fail_usage(fmt::format("'{}' is not an array file that can be written", place),
                   "give " + examples([](const ArrayFormat& f) { return f.create != nullptr; }));
    if (split.format->require_name && !split.name.empty())
        split.format->require_name(split.file, split.name);
    return split;
}

/// The array of a place; of text, every two columns as one number where these are complex.
UserArray read_from(const Place& from, Digits digits, Numbers text) {
    UserArray array = from.format->read(from.file, from.name, digits);
    if (!from.format->text || text == Numbers::real) return array;
    if (array.cols() % 2 != 0)
        fail_input(fmt::format("'{}' has {} columns, which are no complex numbers", from.file,
                               array.cols()),
                   "a complex number has two columns: real part, imaginary part");
    return std::move(array).as_complex();
}

/// An array that is held whole.
class HeldReader final : public RowReader {
public:
    explicit HeldReader(UserArray whole)
        : numbers_(whole.complex() ? Numbers::complex : Numbers::real),
          whole_(std::move(whole).take_float32()) {}
    std::size_t rows() const override { return whole_.rows(); }
    std::size_t cols() const override { return whole_.cols(); }
    Numbers numbers() const override { return numbers_; }
    Batch read(std::size_t begin, std::size_t count) override {
        Batch part(count, cols());
        std::copy_n(whole_.data() + begin * cols(), count * cols(), part.data());
        return part;
    }

private:
    Numbers numbers_;
    Batch whole_;
};

}  // namespace

std::span<const ArrayFormat* const> array_formats() { return kFormats; }

std::string array_file(const std::string& place) { return split_place(place).file; }

bool names_array(std::string_view word) { return split_place(std::string(word)).format != nullptr; }

std::vector<std::string_view> array_suffixes() {
    std::vector<std::string_view> suffixes;
    for (const ArrayFormat* format : kFormats) suffixes.push_back(format->suffix);
    return suffixes;
}

std::vector<std::string_view> written_array_suffixes() {
    std::vector<std::string_view> suffixes;
    for (const ArrayFormat* format : kFormats)
        if (format->create) suffixes.push_back(format->suffix);
    return suffixes;
}

void require_writable_array(const std::string& place) { writable(place); }

Batch read_array(const std::string& place) {
    const Place from = readable(place);
    return real_numbers(from.format->read(from.file, from.name, Digits::float32), place);
}

void require_real(const UserArray& array, const std::string& place) {
    if (array.complex())
        fail_input(fmt::format("'{}' holds complex numbers, but real ones are wanted here", place),
                   "operator, signals and measurements of a problem of arrays may be complex; "
                   "otherwise give a real array, such as array.real");
}

Batch real_numbers(UserArray array, const std::string& place) {
    require_real(array, place);
    return std::move(array).take_float32();
}

UserArray read_real_array(const std::string& place) {
    UserArray array = read_user_array(place, Numbers::real);
    require_real(array, place);
    return array;
}

UserArray read_user_array(const std::string& place, Numbers text) {
    return read_from(readable(place), Digits::all, text);
}

std::optional<SparseMatrix> read_sparse_array(const std::string& place) {
    const Place from = readable(place);
    if (!from.format->read_sparse) return std::nullopt;
    return from.format->read_sparse(from.file, from.name);
}

void write_array(const std::string& place, ConstBatchView values, Numbers numbers) {
    ArrayWriter writer(place, values.cols, values.rows, numbers);
    writer.write(values);
    writer.commit();
}

ArrayRows::ArrayRows(const std::string& place, Numbers text) {
    const Place from = readable(place);
    std::error_code code;
    if (from.format->open && std::filesystem::is_regular_file(from.file, code))
        reader_ = from.format->open(from.file);
    else
        reader_ = std::make_unique<HeldReader>(read_from(from, Digits::float32, text));
}

ArrayRows::~ArrayRows() = default;
ArrayRows::ArrayRows(ArrayRows&&) noexcept = default;
ArrayRows& ArrayRows::operator=(ArrayRows&&) noexcept = default;

std::size_t ArrayRows::rows() const { return reader_->rows(); }
std::size_t ArrayRows::cols() const { return reader_->cols(); }
Numbers ArrayRows::numbers() const { return reader_->numbers(); }

Batch ArrayRows::read(std::size_t begin, std::size_t count) {
    if (begin > rows() || count > rows() - begin)
        fail_usage(
            fmt::format("rows {} to {} of an array of {} rows", begin, begin + count, rows()),
            "read rows that are there");
    return reader_->read(begin, count);
}

ArrayWriter::ArrayWriter(const std::string& place, std::size_t cols,
                         std::optional<std::size_t> rows, Numbers numbers) {
    const Place to = writable(place);
    if (numbers == Numbers::complex && cols % 2 != 0)
        fail_usage(fmt::format("rows of {} columns hold no whole number of complex numbers", cols),
                   "a complex number has two columns");
    writer_ = to.format->create({to.file, to.name, cols, rows, numbers});
}

ArrayWriter::~ArrayWriter() = default;
ArrayWriter::ArrayWriter(ArrayWriter&&) noexcept = default;
ArrayWriter& ArrayWriter::operator=(ArrayWriter&&) noexcept = default;

void ArrayWriter::write(ConstBatchView rows) { writer_->write(rows); }
void ArrayWriter::commit() { writer_->commit(); }

}  // namespace pibinn
