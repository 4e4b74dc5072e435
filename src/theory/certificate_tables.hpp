#pragma once

#include <string>
#include <vector>

#include "core/table.hpp"
#include "pibinn/certificate.hpp"
#include "pibinn/suggest.hpp"

namespace pibinn {

/// The tables of a certificate, as data: text and page show the same ones.

/// A number of a certificate, a dash where there is none.
std::string certificate_number(double value);

/// A question that an engineer has, and the answer: one sentence or two.
struct Answer {
    std::string question;
    std::string answer;
    std::string figure;  ///< the answer in a word or a number, where it has one
};
/// Is it guaranteed, for which signals, the errors proven and measured, and what failed.
std::vector<Answer> answers(const Certificate& certificate);

/// What was measured, what bounds it, and the paper's terms, layer by layer.
Table layer_table(const Certificate& certificate);
/// Every title of layer_table that is not a plain word, and what it stands for.
Table notation_table(const Certificate& certificate);
/// Stability and sensitivity of the last layer, and Theorem 1. Only where there is a response.
Table response_table(const Certificate& certificate);
/// Where the numbers of response_table are proven.
std::string response_condition(const Certificate& certificate);
/// Membership in the sets of the paper.
Table set_table(const Certificate& certificate);
/// Which delta and scale put the model into the set of its activation.
Table suggestion_table(const Suggestion& suggestion);
/// What else is to be said of it; may be empty.
std::string suggestion_note(const Suggestion& suggestion);

}  // namespace pibinn
