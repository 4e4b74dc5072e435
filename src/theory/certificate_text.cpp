#include <string>

#include <fmt/format.h>

#include "core/numbers.hpp"
#include "pibinn/certificate.hpp"
#include "pibinn/suggest.hpp"
#include "theory/certificate_tables.hpp"
#include "theory/wrapped_text.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kQuestions = 24;

std::string responses_text(const Certificate& c) {
    if (!c.response) return "Stability, sensitivity and Theorem 1 are for the plain update only.\n";
    return table_text(response_table(c)) + wrapped(response_condition(c));
}

}  // namespace

std::string Certificate::text() const {
    std::string out = wrapped(statement()) + "\n";
    for (const Answer& a : answers(*this))
        out += fmt::format("{:<{}}", a.question, kQuestions) + wrapped(a.answer, kQuestions);
    out += "\nLayer by layer\n\n" + table_text(layer_table(*this)) + "\n" +
           table_text(notation_table(*this));
    out += "\nStability and sensitivity\n\n" + responses_text(*this);
    out += "\nIn the terms of the paper\n\n" +
           wrapped(fmt::format("{} distinct supports of up to {} entries, noise up to {:.3g}, "
                               "eigenvalues of Q on the supports in [{:.4g}, {:.4g}].",
                               grouped(supports), support_size, terms.noise, r, L)) +
           "\n";
    out += table_text(set_table(*this));
    if (all)
        out += wrapped(fmt::format(
            "alpha over all supports of {} entries is at most {:.4g}; needed, eq. to7, bound "
            "and Cvg are for {}.",
            all->size, pibinn::alpha(all->terms), supports_text()));
    return out + "\n" + wrapped(fmt::format("{}: {}", to_string(verdict), why));
}

std::string Suggestion::text() const {
    const std::string note = suggestion_note(*this);
    return "\nWhich delta and scale give alpha < 1\n\n" + table_text(suggestion_table(*this)) +
           (note.empty() ? "" : wrapped(note));
}

}  // namespace pibinn
