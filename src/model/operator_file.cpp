#include "model/operator_file.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "algebra/complex_links.hpp"
#include "data/claims.hpp"
#include "data/json_fields.hpp"
#include "model/link_codes.hpp"
#include "model/model_claims.hpp"
#include "model/model_tensors.hpp"
#include "model/spec_json.hpp"
#include "pibinn/error.hpp"
#include "pibinn/model.hpp"
#include "problem/operator_formula.hpp"

namespace pibinn {

namespace {

using Form = OperatorStorage::Form;

constexpr const char* kStructure = "pibinn.structure";
constexpr const char* kOperator = "pibinn.operator";

/// The narrowest type of numbers up to this one.
TensorType narrowest(std::size_t largest) {
    return largest < 0x100 ? TensorType::u8 : largest < 0x10000 ? TensorType::u16 : TensorType::u32;
}

TensorType offset_type(const Structure& s) { return narrowest(s.links()); }
TensorType row_type(const Structure& s) { return narrowest(s.rows() - 1); }

/// What a file holds of the places of links: of a complex mask those of its complex entries.
const Structure& stored_places(const Structure& s) {
    return s.complex_pattern() ? *s.complex_pattern() : s;
}

std::size_t pattern_bits(const Structure& whole) {
    const Structure& s = stored_places(whole);
    return 8 * (width_of(offset_type(s)) * s.offsets().size() +
                width_of(row_type(s)) * s.row_indices().size());
}

std::vector<std::uint8_t> narrow(std::span<const std::uint32_t> numbers, TensorType type) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t number : numbers)
        for (std::size_t b = 0; b < width_of(type); ++b)
            bytes.push_back(static_cast<std::uint8_t>(number >> (8 * b)));
    return bytes;
}

/// Whole numbers of any of these types.
AlignedBuffer<std::uint32_t> whole_numbers(const SafeTensors& file, const std::string& name) {
    const Tensor* const found = file.find(name);
    const auto widened = [](const auto& values) {
        return AlignedBuffer<std::uint32_t>(values.begin(), values.end());
    };
    if (found && found->type == TensorType::u8) return widened(values_of<std::uint8_t>(*found));
    if (found && found->type == TensorType::u16) return widened(values_of<std::uint16_t>(*found));
    return values_of<std::uint32_t>(file.at(name, TensorType::u32));
}

/// Of a complex operator the left half of the columns: real parts above imaginary parts.
std::span<const float> stored_values(const Operator& op) {
    return op.values().first(op.structure().shared_links());
}

bool has_signs(const OperatorFormula& formula) {
    return std::any_of(formula.parts.begin(), formula.parts.end(),
                       [](const BlockFormula& f) { return !f.flipped.empty(); });
}

std::size_t formula_bits(const OperatorFormula& formula, const Structure& s) {
    std::size_t bits = 0;
    for (std::size_t p = 0; p < formula.parts.size(); ++p) {
        const std::size_t n = s.parts()[p].cols;
        bits += formula.kind == FormulaKind::convolution
                    ? 32 * formula.parts[p].taps.size() + 64
                    : transform_rows(formula.kind, n) + (has_signs(formula) ? n : 0) + 32;
    }
    return bits;
}

/// One bit for each row of the whole transform.
std::vector<std::uint8_t> pack_rows(const OperatorFormula& formula, const Structure& s) {
    std::vector<bool> taken;
    for (std::size_t p = 0; p < formula.parts.size(); ++p) {
        const std::size_t begin = taken.size();
        taken.resize(begin + transform_rows(formula.kind, s.parts()[p].cols));
        for (const std::uint32_t row : formula.parts[p].rows) taken[begin + row] = true;
    }
    return pack_bits(taken);
}

/// Set where a column keeps its sign.
std::vector<std::uint8_t> pack_column_signs(const OperatorFormula& formula, const Structure& s) {
    std::vector<bool> kept;
    for (std::size_t p = 0; p < formula.parts.size(); ++p) {
        const auto& flipped = formula.parts[p].flipped;
        for (std::size_t j = 0; j < s.parts()[p].cols; ++j)
            kept.push_back(flipped.empty() || !flipped[j]);
    }
    return pack_bits(kept);
}

std::vector<bool> bits_of(const SafeTensors& file, const std::string& name, std::size_t expected) {
    const auto bytes = bytes_of(file, name);
    if (bytes.size() != bytes_for_bits(expected))
        fail_input(fmt::format("{}: tensor '{}' has {} bytes, expected {}", file.where, name,
                               bytes.size(), bytes_for_bits(expected)),
                   kDamagedModel);
    return unpack_bits(bytes, expected);
}

FormulaKind formula_kind(const SafeTensors& file) {
    const auto [object, where] = metadata_json(file, kOperator);
    return JsonFields(object, where).choice("formula", parse_formula_kind);
}

OperatorFormula load_transform(const SafeTensors& file, FormulaKind kind, const Structure& s) {
    OperatorFormula formula{kind, {}};
    std::size_t all = 0, columns = 0;
    for (const Block& b : s.parts()) {
        all += transform_rows(kind, b.cols);
        columns += b.cols;
    }
    const auto taken = bits_of(file, "operator.rows", all);
    const auto scales = floats(file, "operator.scale", s.parts().size());
    std::vector<bool> kept;
    if (file.find("operator.signs")) kept = bits_of(file, "operator.signs", columns);
    std::size_t begin = 0, column = 0;
    for (const Block& b : s.parts()) {
        BlockFormula f;
        f.scale = scales[formula.parts.size()];
        const std::size_t rows = transform_rows(kind, b.cols);
        for (std::size_t r = 0; r < rows; ++r)
            if (taken[begin + r]) f.rows.push_back(static_cast<std::uint32_t>(r));
        begin += rows;
        for (std::size_t j = 0; j < b.cols && !kept.empty(); ++j, ++column)
            f.flipped.push_back(!kept[column]);
        formula.parts.push_back(std::move(f));
    }
    return formula;
}

/// The taps of every part, of which there are at most as many as the file holds.
OperatorFormula load_taps(const SafeTensors& file, std::size_t parts) {
    const auto bands = values_of<std::int32_t>(file.at("operator.bands", TensorType::i32));
    if (bands.size() != 2 * parts)
        fail_input(fmt::format("{}: tensor 'operator.bands' has {} numbers, expected {}",
                               file.where, bands.size(), 2 * parts),
                   kDamagedModel);
    const std::size_t all = file.at("operator.taps", TensorType::f32).bytes.size() / sizeof(float);
    const auto taps = floats(file, "operator.taps", all);
    OperatorFormula formula{FormulaKind::convolution, {}};
    std::size_t begin = 0;
    for (std::size_t p = 0; p < parts; ++p) {
        const std::int32_t count = bands[2 * p + 1];
        if (count < 1 || static_cast<std::size_t>(count) > all - begin)
            fail_input(fmt::format("{}: band {} has {} of the {} taps that are left", file.where, p,
                                   count, all - begin),
                       kDamagedModel);
        const auto own = taps.begin() + static_cast<std::ptrdiff_t>(begin);
        formula.parts.push_back({.taps = {own, own + count}, .first = bands[2 * p]});
        begin += static_cast<std::size_t>(count);
    }
    if (begin != all)
        fail_input(fmt::format("{}: {} taps, of which the bands have {}", file.where, all, begin),
                   kDamagedModel);
    return formula;
}

/// What `make` finds wrong, as an error of the file.
template <class Make>
auto of_file(const SafeTensors& file, Make&& make) {
    try {
        return make();
    } catch (const Error& error) {
        fail_input(fmt::format("{}: {}", file.where, error.message()), kDamagedModel);
    }
}

/// A mask whose pattern is that of its taps: a few bytes may claim links without end.
Structure load_convolution_mask(const SafeTensors& file, std::size_t m, std::size_t n,
                                std::uint64_t file_bytes) {
    const OperatorFormula formula = load_taps(file, 1);
    const BlockFormula& f = formula.parts[0];
    // Sides beyond any operator, and rows beyond any memory, are refused before the pattern is
    // made.
    of_file(file, [&] { return Structure::dense(m, n); });
    check_row_claim(file.where, m, n, 1, file_bytes);
    of_file(file, [&] { require_taps(f, m, n); });
    const double pattern = convolution_links(f, m, n) + static_cast<double>(n);
    require_formula_claim(
        sizeof(std::uint32_t) * pattern, file_bytes,
        fmt::format("{}: the pattern of {} taps on {} x {}", file.where, f.taps.size(), m, n));
    return of_file(file, [&] { return convolution_mask(f, m, n); });
}

}  // namespace

OperatorStorage storage_of(const Operator& op) {
    const Structure& s = op.structure();
    const bool signs = op.is_sign();
    OperatorStorage storage;
    if (signs || op.is_zero_one())
        storage = {signs ? Form::signs : Form::ones, s.shared_links() + 32 + pattern_bits(s)};
    else
        storage = {Form::numbers, 32 * s.shared_links() + pattern_bits(s)};
    if (!op.formula()) return storage;
    const std::size_t by_formula = formula_bits(*op.formula(), s);
    return by_formula < storage.bits ? OperatorStorage{Form::formula, by_formula} : storage;
}

std::string storage_text(const Operator& op) {
    const bool complex = op.structure().has_imaginary();
    switch (storage_of(op).form) {
        case Form::signs:
            return complex ? "complex signs, two bits per entry" : "signs, one bit per entry";
        case Form::ones:
            return complex ? "complex zeros and ones, two bits per entry"
                           : "zeros and ones, one bit per entry";
        case Form::numbers:
            return complex ? "complex numbers, 64 bits per entry" : "numbers, 32 bits per entry";
        case Form::formula:
            break;
    }
    const OperatorFormula& formula = *op.formula();
    if (formula.kind != FormulaKind::convolution)
        return fmt::format("rows of a {} transform", to_string(formula.kind));
    std::size_t taps = 0;
    for (const BlockFormula& f : formula.parts) taps += f.taps.size();
    return fmt::format("{} taps, constant along the diagonals", taps);
}

StoredOperator::StoredOperator(const Operator& op, bool entries)
    : op_(op), entries_(entries), storage_(storage_of(op)) {
    const Structure& s = op.structure();
    const Structure& places = stored_places(s);
    const bool by_formula = entries && storage_.form == Form::formula;
    if (places.kind() == StructureKind::mask && !by_formula) {
        pattern_offsets_ = narrow(places.offsets(), offset_type(places));
        pattern_rows_ = narrow(places.row_indices(), row_type(places));
    }
    if (!entries) return;
    const auto values = stored_values(op);
    std::vector<bool> bits;
    if (storage_.form == Form::signs) {
        for (const float v : values) bits.push_back(v > 0);
        scale_ = {std::abs(values[0])};
    } else if (storage_.form == Form::ones) {
        for (const float v : values) bits.push_back(v != 0);
        scale_ = {*std::find_if(values.begin(), values.end(), [](float v) { return v != 0; })};
    } else if (storage_.form == Form::formula) {
        const OperatorFormula& formula = *op.formula();
        const bool taps = formula.kind == FormulaKind::convolution;
        for (const BlockFormula& f : formula.parts) {
            if (taps)
                bands_.insert(bands_.end(), {static_cast<std::int32_t>(f.first),
                                             static_cast<std::int32_t>(f.taps.size())});
            else
                scale_.push_back(f.scale);
            taps_.insert(taps_.end(), f.taps.begin(), f.taps.end());
        }
        if (!taps) rows_ = pack_rows(formula, s);
        if (has_signs(formula)) signs_ = pack_column_signs(formula, s);
    }
    bits_ = pack_bits(bits);
}

void StoredOperator::add_to(std::vector<Tensor>& tensors, TensorMetadata& metadata) const {
    const Structure& s = op_.structure();
    const Form form = storage_.form;
    metadata[kStructure] = structure_to_json(s).dump();
    const Structure& places = stored_places(s);
    if (!pattern_rows_.empty()) {
        tensors.push_back({"structure.offsets",
                           offset_type(places),
                           {places.offsets().size()},
                           std::as_bytes(std::span(pattern_offsets_))});
        tensors.push_back({"structure.rows",
                           row_type(places),
                           {places.links()},
                           std::as_bytes(std::span(pattern_rows_))});
    }
    if (entries_ && form == Form::formula)
        metadata[kOperator] = nlohmann::json{{"formula", to_string(op_.formula()->kind)}}.dump();
    if (entries_ && form == Form::numbers)
        tensors.push_back(make_tensor<float>("operator", TensorType::f32, {s.shared_links()},
                                             stored_values(op_)));
    const auto add = [&](const char* name, TensorType type, const auto& values) {
        if (!values.empty()) tensors.push_back(flat(name, type, values));
    };
    add(form == Form::ones ? "operator.ones" : "operator.bits", TensorType::u8, bits_);
    add("operator.rows", TensorType::u8, rows_);
    add("operator.signs", TensorType::u8, signs_);
    add("operator.scale", TensorType::f32, scale_);
    add("operator.bands", TensorType::i32, bands_);
    add("operator.taps", TensorType::f32, taps_);
}

bool has_formula(const SafeTensors& file) { return file.metadata.contains(kOperator); }

Structure load_structure(const SafeTensors& file, std::uint64_t file_bytes) {
    const auto [object, where] = metadata_json(file, kStructure);
    AlignedBuffer<std::uint32_t> offsets;
    AlignedBuffer<std::uint32_t> rows;
    if (structure_kind(object, where) == StructureKind::mask) {
        if (has_formula(file) && formula_kind(file) == FormulaKind::convolution) {
            const auto [m, n] = structure_sides(object, where);
            return load_convolution_mask(file, m, n, file_bytes);
        }
        // Those of complex blocks are a few numbers.
        if (!object.contains("blocks")) {
            offsets = whole_numbers(file, "structure.offsets");
            rows = whole_numbers(file, "structure.rows");
        }
    }
    return structure_from_json(object, offsets, rows, file_bytes, where);
}

Operator load_operator(const SafeTensors& file, const Structure& s) {
    if (has_formula(file)) {
        const FormulaKind kind = formula_kind(file);
        OperatorFormula formula = kind == FormulaKind::convolution
                                      ? load_taps(file, s.parts().size())
                                      : load_transform(file, kind, s);
        return of_file(file, [&] { return Operator::from_formula(s, std::move(formula)); });
    }
    for (const char* name : {"operator.bits", "operator.ones"}) {
        if (!file.find(name)) continue;
        const auto bits = bits_of(file, name, s.shared_links());
        const float scale = floats(file, "operator.scale", 1)[0];
        const float off = name == std::string_view("operator.bits") ? -scale : 0.0F;
        AlignedBuffer<float> values(s.links());
        for (std::size_t l = 0; l < s.shared_links(); ++l) values[l] = bits[l] ? scale : off;
        complete_complex(s, std::span(values));
        return {s, std::move(values)};
    }
    const auto stored = floats(file, "operator", s.shared_links());
    AlignedBuffer<float> values(s.links());
    std::copy(stored.begin(), stored.end(), values.begin());
    complete_complex(s, std::span(values));
    return {s, std::move(values)};
}

bool is_operator_metadata(std::string_view key) { return key == kStructure || key == kOperator; }

std::size_t operator_bits(const Operator& op) { return storage_of(op).bits; }

}  // namespace pibinn
