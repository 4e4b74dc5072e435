#include "json_mutator.hpp"

#include <array>
#include <limits>

#include <nlohmann/json.hpp>

namespace pibinn::fuzz {

namespace {

using nlohmann::json;

// Words of model files and checkpoints, so that one kind becomes another.
constexpr std::array<std::string_view, 31> kWords{
    "dense",  "repeated", "blocks",  "mask",          "unrolled",        "fcn",
    "soft",   "hard",     "relu",    "piecewise",     "plain",           "accelerated",
    "fixed",  "residual", "one-bit", "one-bit-layer", "one-bit-channel", "ternary",
    "float",  "identity", "dct",     "dct2",          "matrix",          "patch",
    "zscore", "complex",  "rows",    "none",          "wiener",          "tied",
    "dft"};
// Fields that a file may have or not.
constexpr std::array<std::string_view, 7> kFields{
    "complex", "complex_measurements", "vectors", "groups", "neighbours", "grid", "repeat"};

json some_value(Dice& dice) {
    switch (dice.below(10)) {
        case 0:
            return nullptr;
        case 1:
            return dice.one_in(2);
        case 2:
            return json::array();
        case 3:
            return json::object();
        case 4:
            return dice.of<double>({-1, 0.5, 1e308, -0.0, 1e-320, 9e15});
        case 5:
            return dice.of(std::span<const std::string_view>(kWords));
        case 6:
            return std::string(dice.below(40), 'a');
        case 7:
            return -static_cast<std::int64_t>(dice.below(1000));
        default:
            return dice.size();
    }
}

/// A value chosen at random: one of the children of `root`, or of theirs.
json& some_node(json& root, Dice& dice) {
    json* node = &root;
    while (node->is_structured() && !node->empty() && (node == &root || !dice.one_in(4))) {
        auto child = node->begin();
        std::advance(child, static_cast<std::ptrdiff_t>(dice.below(node->size())));
        node = &*child;
    }
    return *node;
}

void change(json& root, Dice& dice) {
    json& node = some_node(root, dice);
    if (node.is_number_integer() && dice.one_in(2)) {
        const auto value = node.get<std::uint64_t>();
        node = dice.of<std::uint64_t>({value + 1, value - 1, value * 2, value / 2});
    } else if (node.is_string() && dice.one_in(2)) {
        node = dice.of(std::span<const std::string_view>(kWords));
    } else if (node.is_array() && dice.one_in(2)) {
        node.push_back(node.empty() ? some_value(dice) : json(node.front()));
    } else if (root.is_object() && dice.one_in(8)) {
        root.erase(root.empty() ? ""
                                : std::next(root.begin(),
                                            static_cast<std::ptrdiff_t>(dice.below(root.size())))
                                      .key());
    } else if (root.is_object() && dice.one_in(8)) {
        root[dice.of(std::span<const std::string_view>(kFields))] =
            dice.one_in(2)   ? json(dice.below(4))
            : dice.one_in(2) ? json(true)
                             : some_value(dice);
    } else {
        node = some_value(dice);
    }
}

/// Puts a list of lists of lists in the place of a number, word or list.
std::string nested(std::string text, Dice& dice) {
    const std::size_t at = text.find_first_of(":[,", dice.below(text.size()));
    if (at == std::string::npos) return text;
    const std::size_t depth = std::size_t{1} << dice.below(14);
    const bool objects = dice.one_in(3);
    std::string deep;
    for (std::size_t i = 0; i < depth; ++i) deep += objects ? "{\"a\":" : "[";
    deep += "1";
    if (!dice.one_in(4)) deep.append(depth, objects ? '}' : ']');
    const std::size_t end = text.find_first_of(",}]", at + 1);
    return text.replace(at + 1, (end == std::string::npos ? text.size() : end) - at - 1, deep);
}

}  // namespace

json parse_shallow(const std::string& text) {
    constexpr int deepest = 12;
    bool deep = false;
    const auto shallow = [&](int depth, json::parse_event_t, json&) {
        deep = deep || depth > deepest;
        return depth <= deepest;
    };
    json parsed = json::parse(text, shallow, false);
    return deep ? json(json::value_t::discarded) : parsed;
}

std::string mutate_json(const std::string& text, std::size_t most, Dice& dice) {
    if (dice.one_in(10)) return mutate_bytes(text, most);
    if (dice.one_in(30)) return nested(text, dice);
    json root = parse_shallow(text);
    if (!root.is_structured()) return mutate_bytes(text, most);
    for (std::size_t changes = 1 + dice.below(2); changes > 0; --changes) change(root, dice);
    return root.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace pibinn::fuzz
