#include "data/mat_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/file.hpp"
#include "data/bytes.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

// "MAT-File Format" of MathWorks, level 5: kinds of elements and the class of the array.
constexpr std::uint32_t kInt8 = 1, kInt32 = 5, kUint32 = 6, kSingle = 7, kMatrix = 14;
constexpr std::uint32_t kSingleClass = 7, kComplexFlag = 0x0800;
constexpr std::size_t kLongestName = 63;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

std::string valid_name(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !is_word(c); }, '_');
    if (name.empty() || !is_letter(name.front())) name = "x" + name;
    return name.substr(0, kLongestName);
}

/// Kind, length and data, filled up to 8 bytes; up to 4 bytes of data share the first 8.
void append_element(std::string& to, std::uint32_t kind, std::string_view data) {
    const auto length = static_cast<std::uint32_t>(data.size());
    if (length > 0 && length <= 4) {
        append_little(to, static_cast<std::uint32_t>(length << 16U | kind));
        to.append(data).append(4 - length, '\0');
        return;
    }
    append_little(to, kind);
    append_little(to, length);
    to.append(data).append((8 - length % 8) % 8, '\0');
}

std::string pair_of(std::uint32_t a, std::uint32_t b) {
    std::string bytes;
    append_little(bytes, a);
    append_little(bytes, b);
    return bytes;
}

}  // namespace

void require_mat_name(const std::string& file, const std::string& name) {
    if (valid_name(name) != name)
        fail_usage(fmt::format("'{}' cannot hold a variable named {}", file, shown(name)),
                   fmt::format("use letters, digits and _, a letter first, at most {}: '{}:{}'",
                               kLongestName, file, valid_name(name)));
}

void save_mat(const NewArray& array, ConstBatchView values) {
    const std::size_t parts = array.complex() ? 2 : 1;
    std::string matrix;
    append_element(matrix, kUint32,
                   pair_of(kSingleClass | (array.complex() ? kComplexFlag : 0), 0));
    append_element(matrix, kInt32,
                   pair_of(static_cast<std::uint32_t>(values.rows),
                           static_cast<std::uint32_t>(values.cols / parts)));
    append_element(matrix, kInt8,
                   array.name.empty() ? valid_name(name_from_file(array.file)) : array.name);
    // Column by column, and all real parts before all imaginary ones.
    for (std::size_t part = 0; part < parts; ++part) {
        std::string numbers;
        numbers.reserve(values.rows * values.cols / parts * sizeof(float));
        for (std::size_t j = part; j < values.cols; j += parts)
            for (std::size_t i = 0; i < values.rows; ++i) append_little(numbers, values(i, j));
        append_element(matrix, kSingle, numbers);
    }

    std::string head = "MATLAB 5.0 MAT-file, written by pibinn";
    head.resize(124, ' ');
    head += std::string("\x00\x01IM", 4);  // version 1.0, little-endian
    append_little(head, kMatrix);
    append_little(head, static_cast<std::uint32_t>(matrix.size()));
    AtomicFile file(array.file);
    file.write(head);
    file.write(matrix);
    file.commit();
}

}  // namespace pibinn
