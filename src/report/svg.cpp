#include "report/svg.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "report/gnuplot.hpp"
#include "report/html.hpp"

namespace pibinn {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
}

/// Removes every element from `open` to the next `close`.
void remove_all(std::string& text, std::string_view open, std::string_view close) {
    for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
        const std::size_t end = text.find(close, at);
        if (end == std::string::npos) return;
        text.erase(at, end + close.size() - at);
    }
}

/// Only tags are rewritten, never the text between them: that is the caller's.
std::string rewritten_tag(std::string tag, std::string_view prefix) {
    for (const char* attribute : {" id=\"", " id='", "href='#", "href=\"#", "url(#"})
        replace_all(tag, attribute, fmt::format("{}{}", attribute, prefix));
    // gnuplot writes the same colour in two ways.
    for (const char* form : {"rgb({:3}, {:3}, {:3})", "rgb({},{},{})"})
        replace_all(tag, fmt::format(fmt::runtime(form), kInk[0], kInk[1], kInk[2]), "var(--ink)");
    return tag;
}

}  // namespace

std::string inline_svg(std::string_view svg, std::string_view prefix, std::string_view label) {
    const std::size_t start = svg.find("<svg");
    const std::size_t end = svg.rfind("</svg>");
    ensure(start != std::string_view::npos && end != std::string_view::npos && start < end,
           "gnuplot's drawing is not an SVG document");
    std::string text(svg.substr(start, end + 6 - start));
    remove_all(text, "<title>", "</title>");
    remove_all(text, "<desc>", "</desc>");
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t open = std::min(text.find('<', at), text.size());
        const std::size_t close = std::min(text.find('>', open), text.size() - 1) + 1;
        result.append(text, at, open - at);
        result += rewritten_tag(text.substr(open, close - open), prefix);
        at = close;
    }
    result.insert(4, fmt::format(" role=\"img\" aria-label=\"{}\"", escape_html(label)));
    return result;
}

}  // namespace pibinn
