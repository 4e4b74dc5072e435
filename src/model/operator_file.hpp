#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/safetensors.hpp"
#include "pibinn/operator.hpp"

namespace pibinn {

/// How a model file stores an operator: in the way that takes the fewest bits. Of a complex one it
/// stores the real and the imaginary part of every entry, once.
struct OperatorStorage {
    enum class Form {
        numbers,  ///< 32 bits per entry
        signs,    ///< one bit per entry and a scale: +c or -c
        ones,     ///< the same: c or 0
        formula   ///< the numbers that it follows from
    };
    Form form = Form::numbers;
    std::size_t bits = 0;  ///< a mask's pattern included, unless that follows from the formula
};

OperatorStorage storage_of(const Operator& op);
/// The form in words: "signs, one bit per entry".
std::string storage_text(const Operator& op);

/// What a model file holds of structure and operator (docs/file-format.md).
class StoredOperator {
public:
    /// Without `entries` the structure alone, for networks that need no operator. `op` must outlive
    /// this, and this the tensors.
    StoredOperator(const Operator& op, bool entries);

    void add_to(std::vector<Tensor>& tensors, TensorMetadata& metadata) const;

private:
    const Operator& op_;
    bool entries_;
    OperatorStorage storage_;
    std::vector<std::uint8_t> bits_, rows_, signs_;
    std::vector<std::uint8_t> pattern_offsets_, pattern_rows_;  ///< numbers, as narrow as they fit
    std::vector<float> scale_, taps_;
    std::vector<std::int32_t> bands_;
};

/// The operator of this file follows from fewer numbers than it has entries.
bool has_formula(const SafeTensors& file);
/// The structure of a file of so many bytes. What it takes in memory may be at most what the file
/// warrants.
Structure load_structure(const SafeTensors& file, std::uint64_t file_bytes);
/// The operator of a file, whose structure has been found to fit the file.
Operator load_operator(const SafeTensors& file, const Structure& structure);

/// Metadata that belong to this part of the file.
bool is_operator_metadata(std::string_view key);

}  // namespace pibinn
