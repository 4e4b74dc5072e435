#include "report/html.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "report/page_style.hpp"
#include "report/svg.hpp"

namespace pibinn {

namespace {

std::string element(std::string_view tag, std::string_view css_class, std::string_view text) {
    if (text.empty()) return {};
    return fmt::format("<{0} class=\"{1}\">{2}</{0}>", tag, css_class, escape_html(text));
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t k = 0; k < 3; ++k)
            group = group << 8 | (k < there ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k)
            text += k <= there ? letters[group >> (18 - 6 * k) & 63U] : '=';
    }
    return text;
}

/// Sentences wrap, where names and numbers do not.
bool holds_prose(const Table& table, std::size_t column) {
    constexpr std::size_t name = 44;  // letters of the longest
    return std::any_of(table.rows.begin(), table.rows.end(), [&](const Table::Row& row) {
        return column < row.cells.size() && row.cells[column].size() > name;
    });
}

}  // namespace

std::string escape_html(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            case '\'':
                result += "&#39;";
                break;
            default:
                result += c;
        }
    }
    return result;
}

Page::Page(std::string_view kind, std::string_view title, std::span<const std::string> facts,
           std::string_view lead)
    : title_(title) {
    body_ = "<header>\n" + element("p", "kind", kind);
    body_ += fmt::format("\n<h1>{}</h1>\n{}<ul class=\"facts\">", escape_html(title),
                         element("p", "lead", lead));
    for (const std::string& fact : facts) body_ += fmt::format("<li>{}</li>", escape_html(fact));
    body_ += "</ul>\n</header>\n";
}

void Page::section(std::string_view heading, std::string_view note) {
    end_section();
    body_ += fmt::format("<section>\n<h2>{}</h2>\n", escape_html(heading));
    body_ += element("p", "note", note);
    in_section_ = true;
}

void Page::end_section() {
    if (in_section_) body_ += "</section>\n";
    in_section_ = false;
}

void Page::paragraph(std::string_view text) {
    body_ += fmt::format("<p>{}</p>\n", escape_html(text));
}

void Page::key_figures(std::span<const KeyFigure> figures) {
    body_ += "<div class=\"key-figures\">\n";
    for (const KeyFigure& f : figures)
        body_ += fmt::format("<div class=\"card\">{}<div class=\"value\">{} {}</div>{}</div>\n",
                             element("div", "label", f.label), escape_html(f.value),
                             element("span", "unit", f.unit), element("div", "note", f.note));
    body_ += "</div>\n";
}

void Page::table(const Table& table) {
    const auto open = [&](std::string_view tag, std::size_t column) {
        return fmt::format("<{}{}>", tag,
                           table.columns[column].number ? " class=\"number\""
                           : holds_prose(table, column) ? " class=\"prose\""
                                                        : "");
    };
    body_ += "<div class=\"wide\"><table>\n<thead><tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c)
        body_ += open("th", c) + escape_html(table.columns[c].title) + "</th>";
    body_ += "</tr></thead>\n<tbody>\n";
    for (const Table::Row& row : table.rows) {
        ensure(row.cells.size() == table.columns.size(), "a table row needs one cell per column");
        body_ += row.highlight ? "<tr class=\"highlight\">" : "<tr>";
        for (std::size_t c = 0; c < row.cells.size(); ++c)
            body_ += open("td", c) + escape_html(row.cells[c]) + "</td>";
        body_ += "</tr>\n";
    }
    body_ += "</tbody></table></div>\n";
}

void Page::figures(std::span<const Figure> figures) {
    body_ += "<div class=\"figures\">\n";
    for (const Figure& f : figures) {
        body_ += "<figure>\n";
        if (!f.heading.empty()) body_ += fmt::format("<h3>{}</h3>\n", escape_html(f.heading));
        try {
            body_ += drawing(f);
        } catch (const Error& error) {
            body_ += element("p", "missing", fmt::format("No plot: {}", error.what()));
        }
        body_ += element("figcaption", "note", f.caption) + "</figure>\n";
    }
    body_ += "</div>\n";
}

std::string Page::drawing(const Figure& figure) {
    const auto draw = [&](const Plot& plot) {
        return inline_svg(plot_svg(plot), fmt::format("plot{}-", ++plots_), figure.heading);
    };
    if (!figure.plot.legend_beside) return draw(figure.plot);
    // A legend beside the curves leaves no room on a phone: the page shows the one that fits.
    return fmt::format("<div class=\"broad\">{}</div><div class=\"narrow\">{}</div>",
                       draw(figure.plot), draw(narrowed(figure.plot)));
}

void Page::picture(std::string_view png, std::string_view caption) {
    body_ += fmt::format(
        "<figure>\n<img alt=\"{}\" style=\"max-width: 100%; image-rendering: pixelated\" "
        "src=\"data:image/png;base64,{}\">\n{}</figure>\n",
        escape_html(caption), base64(png), element("figcaption", "note", caption));
}

void Page::code(std::string_view text) {
    body_ += fmt::format("<pre><code>{}</code></pre>\n", escape_html(text));
}

std::string Page::html(std::string_view footer) const {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}{}<footer>{}</footer>\n"
        "</main>\n</body>\n</html>\n",
        escape_html(title_), kPageStyle, body_, in_section_ ? "</section>\n" : "",
        escape_html(footer));
}

}  // namespace pibinn
