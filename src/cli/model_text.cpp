#include "cli/model_text.hpp"

#include <fmt/format.h>

#include "core/numbers.hpp"
#include "core/table.hpp"

namespace pibinn::cli {

namespace {

/// What entries share, and what follows the last layer, where a network has any of it.
std::string extras_text(const NetworkSpec& spec) {
    std::string text;
    if (spec.groups != Groups::none) text += fmt::format(", groups {}", to_string(spec.groups));
    if (spec.neighbours > 0) {
        text += fmt::format(", {} ring{} of neighbours", spec.neighbours,
                            spec.neighbours == 1 ? "" : "s");
        if (spec.grid > 0) text += fmt::format(" on a grid of {0} x {0}", spec.grid);
    }
    if (spec.centre) text += ", centred residuals";
    if (spec.polish > 0)
        text += fmt::format(", {} polish step{}", spec.polish, spec.polish == 1 ? "" : "s");
    return text;
}

}  // namespace

std::string model_lines(const Model& model) {
    const Structure& s = model.op.structure();
    const std::string repeat =
        s.kind() == StructureKind::repeated ? fmt::format(" x {}", s.repeat()) : "";
    // The block of a complex operator has a row and a column for either part.
    const std::size_t parts = s.is_complex() ? 2 : 1;
    return fmt::format(
        "{} network of {} {} layers on a {}{}{} operator of {} x {}\n"
        "{} links, {} activation, {} update, delta {}{}\n",
        to_string(model.spec.architecture), model.spec.layers, to_string(model.spec.weights),
        s.has_imaginary() ? "complex " : "", to_string(s.kind()), repeat, s.rows() / parts,
        s.cols() / parts, grouped(model.links()), to_string(model.spec.activation),
        to_string(model.spec.update), model.spec.delta, extras_text(model.spec));
}

std::string bits_table(const Model& model) {
    const BitCount bits = count_bits(model);
    Table table = Table::of({"bits", "paper", "total"});
    table.add({"weights", grouped(bits.weights), grouped(bits.weights)});
    table.add({"thresholds", grouped(bits.thresholds), grouped(bits.thresholds)});
    table.add({"momentum and Onsager", "", grouped(bits.momentum)});
    table.add({"scales", "", grouped(bits.scales)});
    table.add({"operator", "", grouped(bits.op)});
    table.add({"sum", grouped(bits.paper), grouped(bits.total)});
    return table_text(table) +
           "The paper counts weights and thresholds; the total is what must be stored.\n";
}

}  // namespace pibinn::cli
