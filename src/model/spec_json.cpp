#include "model/spec_json.hpp"

#include <fmt/format.h>

#include "data/claims.hpp"
#include "data/json_fields.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

using nlohmann::json;

// No matrix this program can hold has a side beyond this; it keeps products of sizes from wrapping.
constexpr std::uint64_t kLargestSide = std::uint64_t{1} << 31;

}  // namespace

json to_json(const NetworkSpec& spec) {
    json j = {{"architecture", to_string(spec.architecture)},
              {"layers", spec.layers},
              {"activation", to_string(spec.activation)},
              {"weights", to_string(spec.weights)},
              {"update", to_string(spec.update)},
              {"threshold", spec.update.residual_threshold ? "residual" : "fixed"},
              {"momentum", spec.update.momentum},
              {"onsager", spec.update.onsager},
              {"step", spec.update.step},
              {"delta", spec.delta},
              {"polish", spec.polish}};
    if (spec.has_gains()) j["pieces"] = spec.pieces;
    if (spec.groups != Groups::none) j["groups"] = to_string(spec.groups);
    if (spec.neighbours > 0) j["neighbours"] = spec.neighbours;
    if (spec.grid > 0) j["grid"] = spec.grid;
    if (spec.centre) j["centre"] = true;
    return j;
}

NetworkSpec spec_from_json(const json& j, const std::string& where) {
    const JsonFields fields(j, where);
    NetworkSpec spec;
    spec.architecture = fields.choice("architecture", parse_architecture);
    spec.layers = fields.whole("layers", 1, kLargestSide);
    spec.activation = fields.choice("activation", parse_activation);
    spec.weights = fields.choice("weights", parse_weight_kind);
    spec.update.residual_threshold = fields.word("threshold") == "residual";
    spec.update.momentum = fields.flag("momentum");
    spec.update.onsager = fields.flag("onsager");
    spec.delta = fields.number("delta");
    // Format 1 has neither steps nor pieces nor polish.
    spec.update.step = fields.has("step") && fields.flag("step");
    if (spec.has_gains()) spec.pieces = fields.whole("pieces", 1, kMostPieces);
    if (fields.has("groups")) spec.groups = fields.choice("groups", parse_groups);
    if (fields.has("neighbours")) spec.neighbours = fields.whole("neighbours", 0, kLargestSide);
    if (fields.has("grid")) spec.grid = fields.whole("grid", 0, kLargestSide);
    if (fields.has("centre")) spec.centre = fields.flag("centre");
    if (fields.has("polish")) spec.polish = fields.whole("polish", 0, kLargestSide);
    fields.checked([&] { spec.validate(); });
    return spec;
}

json structure_to_json(const Structure& s) {
    json j{{"kind", to_string(s.kind())}, {"m", s.rows()}, {"n", s.cols()}};
    if (s.is_complex()) j["complex"] = true;
    if (s.kind() == StructureKind::repeated) j["repeat"] = s.repeat();
    if (s.is_complex() && !s.has_imaginary()) j["imaginary"] = false;
    const Structure& places = s.complex_pattern() ? *s.complex_pattern() : s;
    if (places.kind() == StructureKind::blocks) {
        j["blocks"] = json::array();
        for (const Block& b : places.diagonal()) j["blocks"].push_back({b.rows, b.cols});
    }
    return j;
}

StructureKind structure_kind(const json& j, const std::string& where) {
    return JsonFields(j, where).choice("kind", parse_structure_kind);
}

std::pair<std::size_t, std::size_t> structure_sides(const json& j, const std::string& where) {
    const JsonFields fields(j, where);
    return {fields.whole("m", 1, kLargestSide), fields.whole("n", 1, kLargestSide)};
}

Structure structure_from_json(const json& j, std::span<const std::uint32_t> offsets,
                              std::span<const std::uint32_t> rows, std::uint64_t file_bytes,
                              const std::string& where) {
    const JsonFields fields(j, where);
    const auto sides = structure_sides(j, where);
    const std::size_t m = sides.first, n = sides.second;
    const auto repeated = [&] {
        const std::size_t u = fields.whole("repeat", 1, kLargestSide);
        if (m % u != 0 || n % u != 0)
            fail_input(fmt::format("{} repetitions do not tile {} x {}", u, m, n));
        return Structure::repeated(m / u, n / u, u);
    };
    const auto blocks = [&](std::size_t tiled_m, std::size_t tiled_n) {
        const Structure s = Structure::blocks(fields.pairs("blocks", kLargestSide));
        if (s.rows() != tiled_m || s.cols() != tiled_n)
            fail_input(fmt::format("the blocks tile {} x {}, not {} x {}", s.rows(), s.cols(),
                                   tiled_m, tiled_n));
        return s;
    };
    const StructureKind kind = structure_kind(j, where);
    // Of whatever kind, a field is of its type.
    if (fields.has("imaginary")) fields.flag("imaginary");
    if (fields.has("repeat")) fields.whole("repeat", 1, kLargestSide);
    if (fields.has("blocks")) fields.pairs("blocks", kLargestSide);
    const bool is_complex = fields.has("complex") && fields.flag("complex");
    const auto complex_mask = [&] {
        if (m % 2 != 0 || n % 2 != 0)
            fail_input(fmt::format("a complex mask does not tile {} x {}", m, n));
        const bool imaginary = !fields.has("imaginary") || fields.flag("imaginary");
        if (!fields.has("blocks"))
            return Structure::complex_mask(
                Structure::mask(m / 2, n / 2, {offsets.begin(), offsets.end()},
                                {rows.begin(), rows.end()}),
                imaginary);
        const Structure places = blocks(m / 2, n / 2);
        require_claim(4.0 * sizeof(std::uint32_t) * static_cast<double>(places.links()),
                      claim_factor::models, file_bytes,
                      fmt::format("the places of {} complex links", places.links()));
        return Structure::complex_mask(places, imaginary);
    };
    const auto complex = [&] {
        if (kind == StructureKind::mask) return complex_mask();
        if (kind != StructureKind::dense && kind != StructureKind::repeated)
            fail_input(fmt::format("a complex structure of kind {}", to_string(kind)));
        const std::size_t u =
            kind == StructureKind::dense ? 1 : fields.whole("repeat", 1, kLargestSide);
        if (m % (2 * u) != 0 || n % (2 * u) != 0)
            fail_input(fmt::format("{} complex block(s) do not tile {} x {}", u, m, n));
        return Structure::complex(m / (2 * u), n / (2 * u), u);
    };
    return fields.checked([&] {
        if (is_complex) return complex();
        switch (kind) {
            case StructureKind::repeated:
                return repeated();
            case StructureKind::mask:
                return Structure::mask(m, n, {offsets.begin(), offsets.end()},
                                       {rows.begin(), rows.end()});
            case StructureKind::blocks:
                return blocks(m, n);
            case StructureKind::dense:
                break;
        }
        return Structure::dense(m, n);
    });
}

}  // namespace pibinn
