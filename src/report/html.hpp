#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/table.hpp"
#include "report/plot.hpp"

namespace pibinn {

/// Text as HTML shows it, in elements and in quoted attributes.
std::string escape_html(std::string_view text);

/// One figure that should be seen from afar.
struct KeyFigure {
    std::string label;
    std::string value;
    std::string unit;
    std::string note;
};

/// A plot with the words that go above and below it.
struct Figure {
    std::string heading;
    Plot plot;
    std::string caption;
};

/// Builds one self-contained page from top to bottom: no scripts, nothing from outside. All text is
/// plain and escaped here.
class Page {
public:
    /// `kind` is a word or two above the title; below it stand `lead`, the sentence that the page
    /// is there for, and `facts`.
    Page(std::string_view kind, std::string_view title, std::span<const std::string> facts,
         std::string_view lead = {});

    /// What follows belongs under this heading, until the next one.
    void section(std::string_view heading, std::string_view note = {});
    void paragraph(std::string_view text);
    void key_figures(std::span<const KeyFigure> figures);
    void table(const Table& table);
    /// Side by side where there is room. A plot with its legend beside it is drawn a second time,
    /// for narrow screens. A plot that cannot be drawn leaves a note in its place: a
    /// missing gnuplot costs the pictures, not the page.
    void figures(std::span<const Figure> figures);
    /// A PNG, held in the page itself.
    void picture(std::string_view png, std::string_view caption);
    /// Text as it is, for commands and files.
    void code(std::string_view text);

    /// The whole page; `footer` closes it.
    std::string html(std::string_view footer) const;

private:
    void end_section();
    std::string drawing(const Figure& figure);

    std::string title_;
    std::string body_;
    bool in_section_ = false;
    std::size_t plots_ = 0;
};

}  // namespace pibinn
