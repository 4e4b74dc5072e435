#include <cmath>

#include <fmt/format.h>

#include "algebra/activate.hpp"
#include "algebra/sites.hpp"
#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "pibinn/network_spec.hpp"

namespace pibinn {

namespace {

// Conjugate gradients end after as many steps as the support has entries.
constexpr std::size_t kMostPolish = 1000;

constexpr NameTable<Architecture, 2> kArchitectures{
    {{Architecture::unrolled, "unrolled"}, {Architecture::fcn, "fcn"}}};
constexpr NameTable<Groups, 3> kGroups{
    {{Groups::none, "none"}, {Groups::complex, "complex"}, {Groups::rows, "rows"}}};

}  // namespace

std::string_view to_string(Architecture a) { return name_of(kArchitectures, a); }
std::string_view to_string(const Update& u) { return u.is_plain() ? "plain" : "accelerated"; }

Architecture parse_architecture(std::string_view name) {
    return parse_name(kArchitectures, name, "architecture");
}

std::size_t NetworkSpec::thresholds_per_layer() const {
    switch (rules_of(activation).thresholds) {
        case ActivationRules::Thresholds::none:
            return 0;
        case ActivationRules::Thresholds::one:
            return 1;
        case ActivationRules::Thresholds::pieces:
            return pieces;
    }
    return 0;
}

std::string_view to_string(Groups g) { return name_of(kGroups, g); }
Groups parse_groups(std::string_view name) { return parse_name(kGroups, name, "grouping"); }

std::size_t NetworkSpec::local_per_layer() const {
    return neighbours + (activation == Activation::wiener ? 2 : 0);
}

bool NetworkSpec::has_prior() const { return activation == Activation::wiener; }

bool NetworkSpec::entrywise() const {
    return groups == Groups::none && neighbours == 0 && !rules_of(activation).by_sites;
}

bool NetworkSpec::has_support() const { return !rules_of(activation).by_sites; }

bool NetworkSpec::has_gains() const {
    return rules_of(activation).thresholds == ActivationRules::Thresholds::pieces;
}

void NetworkSpec::validate() const {
    if (layers == 0 || layers > 10000)
        fail_usage(fmt::format("{} layers", layers), "set NetworkSpec::layers between 1 and 10000");
    if (!std::isfinite(delta) || delta <= 0)
        fail_usage(fmt::format("delta {} is not positive", delta), "the paper uses 0.48 to 1");
    // Before the update: tied weights come with an accelerated one, which is not what is wrong.
    if (architecture == Architecture::fcn && tied())
        fail_usage("a fully connected network has no operator to tie its weights to",
                   "use architecture 'unrolled' with weights 'tied'");
    if (architecture == Architecture::fcn && !update.is_plain())
        fail_usage("a fully connected network has no residual to accelerate by",
                   "set NetworkSpec::update = Update::plain() with architecture \"fcn\"");
    if (has_gains() && (pieces == 0 || pieces > kMostPieces))
        fail_usage(
            fmt::format("activation 'piecewise' of {} pieces", pieces),
            fmt::format("set NetworkSpec::pieces between 1 and {}; 4 is usual", kMostPieces));
    if (polish > kMostPolish)
        fail_usage(fmt::format("{} polish steps", polish),
                   fmt::format("set NetworkSpec::polish to at most {}; 6 are usual", kMostPolish));
    if (architecture == Architecture::fcn) {
        const auto refuse = [](const char* what, const char* hint) { fail_usage(what, hint); };
        if (!entrywise())
            refuse("a fully connected network shrinks entries one by one",
                   "set NetworkSpec::groups = Groups::none and neighbours = 0, and use activation "
                   "'relu', 'soft' or 'hard' with architecture 'fcn'");
        if (centre)
            refuse("a fully connected network has no residual to centre",
                   "leave NetworkSpec::centre off with architecture 'fcn'");
        if (has_gains())
            refuse("a fully connected network has no learned shrink",
                   "use activation 'relu', 'soft' or 'hard' with architecture 'fcn'");
        if (polish > 0)
            refuse("a fully connected network knows no operator to polish with",
                   "set NetworkSpec::polish = 0 with architecture 'fcn'");
    }
    if (neighbours > kMostRings)
        fail_usage(fmt::format("{} rings of neighbours", neighbours),
                   fmt::format("set NetworkSpec::neighbours to at most {}", kMostRings));
    if (polish > 0 && !has_support())
        fail_usage(fmt::format("activation '{}' keeps every entry, which leaves no support to "
                               "polish",
                               to_string(activation)),
                   "set NetworkSpec::polish = 0 with activation 'wiener'");
    if (!entrywise() && activation == Activation::relu)
        fail_usage("relu has no magnitude that groups or neighbours could share",
                   "use activation 'soft', 'hard' or 'piecewise' with groups");
    if (tied() && !update.step)
        fail_usage("tied weights are the operator, which a step has to scale",
                   "set NetworkSpec::update.step = true with weights 'tied'");
    if (update.residual_threshold && !has_thresholds())
        fail_usage(fmt::format("activation '{}' has no threshold to scale by the residual",
                               to_string(activation)),
                   "use activation 'soft' or 'hard', or update 'plain'");
}

}  // namespace pibinn
