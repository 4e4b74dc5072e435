#include "data/npy_format.hpp"

#include <charconv>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "data/bytes.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// The Python dict of the header, as written: {'descr': '<f4', 'fortran_order': False, 'shape': ()}
struct Fields {
    std::string descr;
    bool fortran_order = false;
    std::vector<std::uint64_t> shape;
};

/// Reads just the Python that a header may hold; it never evaluates anything.
class HeaderParser {
public:
    HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

    Fields parse() {
        Fields fields;
        bool has_descr = false, has_order = false, has_shape = false;
        expect('{');
        while (!accept('}')) {
            const std::string key = string();
            bool* const seen = key == "descr"           ? &has_descr
                               : key == "fortran_order" ? &has_order
                               : key == "shape"         ? &has_shape
                                                        : nullptr;
            if (!seen) fail("unknown key " + shown(key));
            if (*seen) fail("key " + shown(key) + " stands there twice");
            *seen = true;
            expect(':');
            if (seen == &has_descr) fields.descr = dtype();
            if (seen == &has_order) fields.fortran_order = boolean();
            if (seen == &has_shape) fields.shape = tuple();
            if (!accept(',') && peek() != '}') fail("expected ',' or '}'");
        }
        skip_space();
        if (at_ != text_.size()) fail("text after the closing '}'");
        if (!has_descr || !has_order || !has_shape)
            fail("'descr', 'fortran_order' and 'shape' must all be there");
        return fields;
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        fail_input(
            fmt::format("'{}' has a damaged .npy header: {} (at character {})", where_, why, at_),
            "save the array again with numpy.save");
    }

    void skip_space() {
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
            ++at_;
    }
    char peek() {
        skip_space();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool accept(char c) {
        if (peek() != c || at_ == text_.size()) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) fail(fmt::format("expected '{}'", c));
    }

    std::string string() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') fail("expected a string");
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) fail("a string does not end");
        const std::string value(text_.substr(at_ + 1, end - at_ - 1));
        at_ = end + 1;
        return value;
    }

    std::string dtype() {
        if (peek() == '[' || peek() == '(')
            fail_input(fmt::format("'{}' holds records (a structured dtype), not numbers", where_),
                       "save one field of them: numpy.save(path, array['field'])");
        return string();
    }

    bool boolean() {
        skip_space();
        for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}})
            if (text_.substr(at_).starts_with(word)) {
                at_ += std::string_view(word).size();
                return value;
            }
        fail("expected True or False");
    }

    std::vector<std::uint64_t> tuple() {
        std::vector<std::uint64_t> values;
        expect('(');
        while (!accept(')')) {
            values.push_back(length());
            if (!accept(',') && peek() != ')') fail("expected ',' or ')'");
        }
        return values;
    }

    std::uint64_t length() {
        skip_space();
        std::uint64_t value = 0;
        const char* const end = text_.data() + text_.size();
        const auto [stop, error] = std::from_chars(text_.data() + at_, end, value);
        if (error == std::errc::result_out_of_range) fail("a length in 'shape' is beyond 64 bits");
        if (error != std::errc{}) fail("expected a length in 'shape'");
        at_ = static_cast<std::size_t>(stop - text_.data());
        if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // numpy under Python 2 wrote 3L
        return value;
    }

    std::string_view text_;
    const std::string& where_;
    std::size_t at_ = 0;
};

void set_type(NpyFormat& format, const std::string& descr, const std::string& where) {
    const auto refuse = [&](std::string_view what, std::string_view hint) {
        fail_input(fmt::format("'{}' holds {} (dtype {})", where, what, shown(descr)),
                   std::string(hint));
    };
    constexpr std::string_view as_float = "save it as numpy.float32: array.astype('float32')";
    std::string_view name = descr;
    if (!name.empty() && std::string_view("<>=|").find(name[0]) != std::string_view::npos) {
        format.big_endian = name[0] == '>';
        name.remove_prefix(1);
    }
    const char letter = name.empty() ? '\0' : name[0];
    if (letter == 'O')
        refuse("Python objects, which are never unpickled", "save an array of plain numbers");
    if (letter == 'S' || letter == 'U' || letter == 'a') refuse("text, not numbers", as_float);
    if (letter == 'M' || letter == 'm') refuse("dates or times, not numbers", as_float);
    if (letter == 'V') refuse("raw bytes of an unknown meaning", as_float);

    if (name == "c8" || name == "c16") {
        format.complex = true;
        format.width = name == "c8" ? 4 : 8;
        return;
    }
    if (letter == 'c')
        refuse("complex numbers of a type that is not known here",
               "save it as numpy.complex64: array.astype('complex64')");
    const std::string_view width = name.empty() ? name : name.substr(1);
    const bool integer_width = width == "1" || width == "2" || width == "4" || width == "8";
    if (name == "?" || name == "b1")
        format.kind = NumberKind::boolean;
    else if (letter == 'i' && integer_width)
        format.kind = NumberKind::signed_integer;
    else if (letter == 'u' && integer_width)
        format.kind = NumberKind::unsigned_integer;
    else if (letter == 'f' && integer_width && width != "1")
        format.kind = NumberKind::floating;
    else
        refuse("numbers of a type that is not known here", as_float);
    format.width = name == "?" ? 1 : static_cast<std::size_t>(width[0] - '0');
}

void set_shape(NpyFormat& format, const std::vector<std::uint64_t>& shape,
               const std::string& where) {
    if (shape.empty())
        fail_input(fmt::format("'{}' holds a single number (a 0-D array)", where),
                   "save a 2-D array with one signal per row");
    if (shape.size() > 2)
        fail_input(fmt::format("'{}' holds a {}-D array of shape ({}{})", where, shape.size(),
                               fmt::join(shape.begin(), shape.begin() + 3, ", "),
                               shape.size() > 3 ? ", ..." : ""),
                   "save a 2-D array with one signal per row: array.reshape(len(array), -1)");
    format.rows = shape.size() == 2 ? shape[0] : (shape[0] == 0 ? 0 : 1);
    format.cols = shape.back();
    if (format.rows > 0 && format.cols == 0)
        fail_input(fmt::format("'{}' holds {} rows of 0 numbers", where, format.rows),
                   "save a 2-D array with one signal per row");
}

/// The dict of a header, and where the numbers after it start.
struct Header {
    Fields fields;
    std::size_t data_offset = 0;
};

Header read_header(std::string_view start, std::uint64_t total, const std::string& where) {
    if (!start.starts_with(kMagic))
        fail_input(
            fmt::format("'{}' is not a .npy array: it does not start with \\x93NUMPY", where),
            start.starts_with("PK") ? "it looks like a zip archive: name it .npz"
                                    : "save the array with numpy.save");
    const auto major = load_little<std::uint8_t>(start, 6, where);
    const auto minor = load_little<std::uint8_t>(start, 7, where);
    if (major < 1 || major > 3 || minor != 0)
        fail_input(fmt::format("'{}' has .npy version {}.{}; 1.0, 2.0 and 3.0 are known", where,
                               major, minor),
                   "save the array with numpy.save");
    const std::size_t text_at = major == 1 ? 10 : 12;
    const std::uint64_t text_length = major == 1 ? load_little<std::uint16_t>(start, 8, where)
                                                 : load_little<std::uint32_t>(start, 8, where);
    if (text_length > npy_longest_header - text_at)
        fail_input(fmt::format("'{}' has a .npy header of {} bytes; at most {} are read", where,
                               text_length, npy_longest_header - text_at),
                   "save the array again with numpy.save");
    if (text_at + text_length > start.size())
        fail_input(fmt::format("'{}' is truncated: its .npy header has {} bytes, the file {}",
                               where, text_at + text_length, total),
                   "copy or save the file again");

    return {HeaderParser(start.substr(text_at, text_length), where).parse(), text_at + text_length};
}

}  // namespace

NpyFormat parse_npy_header(std::string_view start, std::uint64_t total, const std::string& where) {
    const auto [fields, data_offset] = read_header(start, total, where);
    NpyFormat format;
    format.data_offset = data_offset;
    format.fortran_order = fields.fortran_order;
    set_type(format, fields.descr, where);
    set_shape(format, fields.shape, where);

    const std::uint64_t there = total - format.data_offset;
    std::uint64_t wanted = 0;
    if (__builtin_mul_overflow(format.rows, format.cols, &wanted) ||
        __builtin_mul_overflow(wanted, format.bytes(), &wanted) || wanted > there)
        fail_input(
            fmt::format("'{}' is truncated: its header says {} x {} numbers of {} bytes, but "
                        "{} bytes follow",
                        where, format.rows, format.cols, format.bytes(), there),
            "copy or save the file again");
    if (wanted < there)
        fail_input(fmt::format("'{}' has {} bytes after its {} x {} numbers", where, there - wanted,
                               format.rows, format.cols),
                   "save one array per .npy file");
    return format;
}

std::string decode_npy_text(std::string_view bytes, const std::string& where) {
    const auto [fields, data_offset] = read_header(bytes, bytes.size(), where);
    const std::string_view descr = fields.descr;
    const bool wide = descr.starts_with("<U");
    const std::string_view data = bytes.substr(data_offset);
    constexpr std::size_t longest = 64;
    if (!fields.shape.empty() || !(wide || descr.starts_with("|S")) || data.size() > longest)
        fail_input(fmt::format("'{}' is not a short text (dtype {})", where, shown(descr)),
                   "save the file again");
    std::string text;
    for (std::size_t i = 0; i < data.size(); i += wide ? 4 : 1)
        if (data[i] != '\0') text += data[i];
    return text;
}

std::string make_npy_header(std::string_view descr, std::span<const std::size_t> shape) {
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   descr, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    constexpr std::size_t before = 10, alignment = 64;
    while ((before + text.size() + 1) % alignment != 0) text += ' ';
    text += '\n';
    ensure(text.size() <= std::numeric_limits<std::uint16_t>::max(), "a .npy header fits 64 KiB");
    std::string header(kMagic);
    header += {'\x01', '\x00'};
    append_little(header, static_cast<std::uint16_t>(text.size()));
    return header + text;
}

}  // namespace pibinn
