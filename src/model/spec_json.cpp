#include "model/spec_json.hpp"

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

using nlohmann::json;

// No matrix this program can hold has a side beyond this; it keeps products of sizes from wrapping.
constexpr std::uint64_t kLargestSide = std::uint64_t{1} << 31;

template <class T>
T field(const json& object, const char* key, const std::string& where) {
    const auto found = object.find(key);
    try {
        if (found != object.end()) return found->get<T>();
    } catch (const json::exception&) {
    }
    fail_input(fmt::format("{}: '{}' is missing or of the wrong type", where, key),
               "the file is damaged or was not written by pibinn");
}

std::size_t size_field(const json& object, const char* key, const std::string& where) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() == 0 ||
        found->get<std::uint64_t>() > kLargestSide)
        fail_input(fmt::format("{}: '{}' is not a size between 1 and 2^31", where, key),
                   "the file is damaged or was not written by pibinn");
    return found->get<std::uint64_t>();
}

}  // namespace

json to_json(const NetworkSpec& spec) {
    return {{"architecture", to_string(spec.architecture)},
            {"layers", spec.layers},
            {"activation", to_string(spec.activation)},
            {"weights", to_string(spec.weights)},
            {"update", to_string(spec.update)},
            {"threshold", spec.update.residual_threshold ? "residual" : "fixed"},
            {"momentum", spec.update.momentum},
            {"onsager", spec.update.onsager},
            {"delta", spec.delta}};
}

NetworkSpec spec_from_json(const json& j, const std::string& where) {
    NetworkSpec spec;
    spec.architecture = parse_architecture(field<std::string>(j, "architecture", where));
    spec.layers = size_field(j, "layers", where);
    spec.activation = parse_activation(field<std::string>(j, "activation", where));
    spec.weights = parse_weight_kind(field<std::string>(j, "weights", where));
    spec.update.residual_threshold = field<std::string>(j, "threshold", where) == "residual";
    spec.update.momentum = field<bool>(j, "momentum", where);
    spec.update.onsager = field<bool>(j, "onsager", where);
    spec.delta = field<double>(j, "delta", where);
    spec.validate();
    return spec;
}

json structure_to_json(const Structure& s) {
    json j{{"kind", to_string(s.kind())}, {"m", s.rows()}, {"n", s.cols()}};
    if (s.kind() == StructureKind::repeated) j["repeat"] = s.repeat();
    if (s.kind() == StructureKind::blocks) {
        j["blocks"] = json::array();
        for (const Block& b : s.diagonal()) j["blocks"].push_back({b.rows, b.cols});
    }
    return j;
}

Structure structure_from_json(const json& j, std::span<const std::uint32_t> offsets,
                              std::span<const std::uint32_t> rows, const std::string& where) {
    const std::size_t m = size_field(j, "m", where);
    const std::size_t n = size_field(j, "n", where);
    const auto kind = parse_structure_kind(field<std::string>(j, "kind", where));
    switch (kind) {
        case StructureKind::dense:
            return Structure::dense(m, n);
        case StructureKind::repeated: {
            const std::size_t u = size_field(j, "repeat", where);
            if (m % u != 0 || n % u != 0)
                fail_input(fmt::format("{}: {} repetitions do not tile {} x {}", where, u, m, n),
                           "the file is damaged");
            return Structure::repeated(m / u, n / u, u);
        }
        case StructureKind::mask:
            return Structure::mask(m, n, {offsets.begin(), offsets.end()},
                                   {rows.begin(), rows.end()});
        case StructureKind::blocks:
            break;
    }
    std::vector<std::pair<std::size_t, std::size_t>> shapes;
    for (const json& shape : field<json::array_t>(j, "blocks", where)) {
        const json sides{{"rows", shape.is_array() && shape.size() == 2 ? shape[0] : json()},
                         {"cols", shape.is_array() && shape.size() == 2 ? shape[1] : json()}};
        shapes.emplace_back(size_field(sides, "rows", where), size_field(sides, "cols", where));
    }
    const Structure s = Structure::blocks(shapes);
    if (s.rows() != m || s.cols() != n)
        fail_input(fmt::format("{}: the blocks tile {} x {}, not {} x {}", where, s.rows(),
                               s.cols(), m, n),
                   "the file is damaged");
    return s;
}

}  // namespace pibinn
