#include "cli/inspect_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/given_matrix.hpp"
#include "cli/model_text.hpp"
#include "cli/pattern_file.hpp"
#include "core/file.hpp"
#include "core/folder.hpp"
#include "core/numbers.hpp"
#include "core/table.hpp"
#include "model/operator_file.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/structure_finder.hpp"
#include "problem/near_sign.hpp"
#include "study/model_json.hpp"

namespace pibinn::cli {

namespace {

using nlohmann::ordered_json;

NetworkSpec spec_of(const MatrixInspection& inspection, const GivenMatrix& a) {
    NetworkSpec spec;
    spec.layers = inspection.layers;
    if (a.complex()) spec.groups = Groups::complex;
    return spec;
}

struct Order {
    std::vector<std::uint32_t> rows, cols;
};

Order order_of(const StructureFinding& finding, bool reordered) {
    Order order{finding.rows, finding.cols};
    if (!reordered) {
        std::iota(order.rows.begin(), order.rows.end(), 0U);
        std::iota(order.cols.begin(), order.cols.end(), 0U);
    }
    return order;
}

/// What a network on one of the structures would store.
struct Stored {
    BitCount bits;
    LinkShare share;
    std::size_t links = 0;  ///< per layer, those of a complex entry counted as its two numbers
    std::string entries;    ///< how those of the operator, in words
    std::string warning;
};

std::vector<Stored> count_fits(const NetworkSpec& spec, const GivenMatrix& a,
                               const StructureFinding& finding) {
    std::vector<Stored> stored;
    for (const StructureFit& fit : finding.fits) {
        const Operator op = a.on(finding, fit);
        stored.push_back({count_bits(spec, op), link_share(spec, op.structure()),
                          op.structure().shared_links(), storage_text(op), near_sign_warning(op)});
    }
    return stored;
}

/// The structure that stores the least in all; the earlier one where two store the same.
std::size_t smallest(const std::vector<Stored>& stored) {
    const auto less = [](const Stored& p, const Stored& q) { return p.bits.total < q.bits.total; };
    return static_cast<std::size_t>(std::min_element(stored.begin(), stored.end(), less) -
                                    stored.begin());
}

bool equal_blocks(const Structure& s) {
    for (const Block& b : s.diagonal())
        if (b.rows != s.diagonal()[0].rows || b.cols != s.diagonal()[0].cols) return false;
    return true;
}

std::string sentence(const StructureFinding& finding, const StructureFit& fit) {
    const Structure& s = fit.structure;
    const char* order = fit.reordered ? ", once rows and columns are reordered" : "";
    switch (s.kind()) {
        case StructureKind::dense:
            return fmt::format("dense: {} x {}", s.rows(), s.cols());
        case StructureKind::repeated:
            return fmt::format("repeated: the same block of {} x {}, {} times on the diagonal{}",
                               s.rows() / s.repeat(), s.cols() / s.repeat(), s.repeat(), order);
        case StructureKind::blocks: {
            const Block& first = s.diagonal()[0];
            return fmt::format("blocks: {} blocks on the diagonal, {}{}", s.diagonal().size(),
                               equal_blocks(s) ? fmt::format("of {} x {}", first.rows, first.cols)
                                               : "of different sizes",
                               order);
        }
        case StructureKind::mask:
            break;
    }
    return fmt::format("mask: {:.3g} % of the entries are not zero", 100 * finding.density());
}

std::string factor_text(double factor) {
    return factor < 1000 ? fmt::format("{:.3g}", factor)
                         : grouped(static_cast<std::size_t>(std::lround(factor)));
}

std::string fits_table(const StructureFinding& finding, const std::vector<Stored>& stored) {
    Table table = Table::of({"structure", "links per layer", "bits (paper)", "bits in all",
                             "bits per dense weight", "times smaller"});
    const auto dense = static_cast<double>(stored[0].bits.total);
    for (std::size_t f = 0; f < stored.size(); ++f) {
        const StructureFit& fit = finding.fits[f];
        const BitCount& bits = stored[f].bits;
        table.add({fmt::format("{}{}", to_string(fit.structure.kind()),
                               fit.reordered ? ", reordered" : ""),
                   grouped(stored[f].links), grouped(bits.paper), grouped(bits.total),
                   fmt::format("{:.3g}", stored[f].share.bits_per_dense_weight),
                   factor_text(dense / static_cast<double>(bits.total))});
    }
    return table_text(table);
}

std::string toml_string(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            quoted += c;
    }
    return quoted + "\"";
}

/// The section of a configuration that trains on this structure.
std::string config_lines(const std::string& operator_file, const Structure& s) {
    std::string text = fmt::format(
        "[problem]\nkind = \"arrays\"\noperator = {}\nx = \"x.npy\"\nstructure = \"{}\"\n",
        toml_string(operator_file), to_string(s.kind()));
    if (s.kind() == StructureKind::repeated) text += fmt::format("repeat = {}\n", s.repeat());
    if (s.kind() != StructureKind::blocks) return text;
    if (equal_blocks(s)) return text + fmt::format("repeat = {}\n", s.diagonal().size());
    text += "blocks = [";
    for (const Block& b : s.diagonal())
        text += fmt::format("{}[{}, {}]", b.first_link ? ", " : "", b.rows, b.cols);
    return text + "]\n";
}

/// A configuration reads a repeated operator as its block and others as they stand.
bool needs_own_file(const MatrixInspection& inspection, const StructureFit& fit) {
    return fit.reordered || fit.structure.kind() == StructureKind::repeated ||
           inspection.zero_below > 0;
}

/// The matrix as the configuration reads it, and the order it was put into.
void write_folder(const std::filesystem::path& folder, const GivenMatrix& a,
                  const StructureFinding& finding, const StructureFit& fit) {
    const Structure& s = fit.structure;
    const std::size_t repeat = s.repeat();
    make_folder(folder.string());
    const Order order = order_of(finding, fit.reordered);
    a.write(folder / "A.npy", std::span(order.rows).first(s.rows() / repeat),
            std::span(order.cols).first(s.cols() / repeat));
    if (fit.reordered) {
        write_npy_indices(folder / "rows.npy", order.rows);
        write_npy_indices(folder / "cols.npy", order.cols);
    }
    write_file(folder / "config.toml", config_lines("A.npy", s));
}

std::string advice(const MatrixInspection& inspection, const StructureFit& fit) {
    const bool own = needs_own_file(inspection, fit);
    std::string text = fmt::format("\nFewest bits in all: {}{}. ", to_string(fit.structure.kind()),
                                   fit.reordered ? ", reordered" : "");
    if (!inspection.out.empty())
        text += fmt::format(
            "Written: {}\n",
            (std::filesystem::path(inspection.out) /
             (fit.reordered ? "{A.npy,rows.npy,cols.npy,config.toml}" : "{A.npy,config.toml}"))
                .string());
    else if (own)
        text += "Add --out DIR to write A.npy as this configuration reads it, and the lines:\n";
    else
        text += "Train it with\n";
    text += '\n';
    text += config_lines(own || !inspection.out.empty() ? "A.npy" : inspection.file, fit.structure);
    if (fit.reordered)
        text +=
            "\nRow i of the reordered A is row rows[i] of yours, column j is column cols[j]. "
            "Train on\nx[:, cols] (and y[:, rows]); recovered signals return by "
            "x_yours[:, cols] = x.\n";
    return text;
}

ordered_json fit_json(const StructureFit& fit, const Stored& stored) {
    const Structure& s = fit.structure;
    ordered_json json{{"structure", to_string(s.kind())},
                      {"reordered", fit.reordered},
                      {"links_per_layer", stored.links},
                      {"bits", study::bits_json(stored.bits)},
                      {"operator_stored_as", stored.entries},
                      {"bits_per_dense_weight", stored.share.bits_per_dense_weight}};
    if (s.kind() == StructureKind::repeated) json["repeat"] = s.repeat();
    if (s.kind() == StructureKind::repeated || s.kind() == StructureKind::blocks) {
        json["blocks"] = ordered_json::array();
        for (const Block& b : s.diagonal()) json["blocks"].push_back({b.rows, b.cols});
    }
    return json;
}

StructureFinding find_in(const MatrixInspection& inspection, const GivenMatrix& a) {
    try {
        return a.find();
    } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("'{}': {}", inspection.file, error.message()),
                    error.hint());
    }
}

std::vector<PatternPanel> panels_of(MatrixView<const float> a, const StructureFinding& finding,
                                    const StructureFit& fit) {
    std::vector<PatternPanel> panels;
    const auto add = [&](const char* title, bool reordered) {
        const Order order = order_of(finding, reordered);
        panels.push_back({title, pattern_of(a, order.rows, order.cols)});
    };
    add("as given", false);
    if (fit.reordered) add("reordered", true);
    return panels;
}

}  // namespace

void inspect_matrix(const MatrixInspection& inspection, const Console& console) {
    if (!inspection.out.empty())
        for (const char* name : {"A.npy", "rows.npy", "cols.npy"})
            require_other_file((std::filesystem::path(inspection.out) / name).string(),
                               {inspection.file});
    const GivenMatrix a(inspection.file, inspection.zero_below);
    const StructureFinding finding = find_in(inspection, a);
    const NetworkSpec spec = spec_of(inspection, a);
    const std::vector<Stored> stored = count_fits(spec, a, finding);
    const std::size_t least = smallest(stored);
    const StructureFit& best = finding.fits[least];

    std::string text = fmt::format("{}: {} x {}, {} non-zero {}entries ({:.3g} %)\n",
                                   inspection.file, finding.m, finding.n, grouped(finding.nonzeros),
                                   a.complex() ? "complex " : "", 100 * finding.density());
    for (const StructureFit& fit : finding.fits)
        if (finding.fits.size() == 1 || fit.structure.kind() != StructureKind::dense)
            text += fmt::format("  {}\n", sentence(finding, fit));
    text += fmt::format("  entries: {}: {} bits\n", stored[least].entries,
                        grouped(stored[least].bits.op));
    if (!stored[least].warning.empty()) text += fmt::format("  {}\n", stored[least].warning);
    text += fmt::format("\n{} one-bit layers would store\n{}", spec.layers,
                        fits_table(finding, stored));
    if (!inspection.picture.empty())
        write_pattern(panels_of(a.entries(), finding, best), inspection.picture);
    if (!inspection.out.empty()) write_folder(inspection.out, a, finding, best);
    console.say(text + advice(inspection, best));

    ordered_json fits = ordered_json::array();
    for (std::size_t f = 0; f < stored.size(); ++f)
        fits.push_back(fit_json(finding.fits[f], stored[f]));
    console.result(
        {{"m", finding.m},
         {"n", finding.n},
         {"nonzeros", finding.nonzeros},
         {"density", finding.density()},
         {"complex", a.complex()},
         {"layers", spec.layers},
         {"structures", fits},
         {"smallest", fit_json(best, stored[least])},
         {"config", config_lines(needs_own_file(inspection, best) || !inspection.out.empty()
                                     ? "A.npy"
                                     : inspection.file,
                                 best.structure)}});
}

}  // namespace pibinn::cli
