#include <cmath>

#include <fmt/format.h>

#include "algebra/activate.hpp"
#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "pibinn/network_spec.hpp"

namespace pibinn {

namespace {

constexpr NameTable<Architecture, 2> kArchitectures{
    {{Architecture::unrolled, "unrolled"}, {Architecture::fcn, "fcn"}}};

}  // namespace

std::string_view to_string(Architecture a) { return name_of(kArchitectures, a); }
std::string_view to_string(const Update& u) { return u.is_plain() ? "plain" : "accelerated"; }

Architecture parse_architecture(std::string_view name) {
    return parse_name(kArchitectures, name, "architecture");
}

bool NetworkSpec::has_thresholds() const { return rules_of(activation).has_threshold(); }

void NetworkSpec::validate() const {
    if (layers == 0 || layers > 10000)
        fail_usage(fmt::format("{} layers", layers), "set NetworkSpec::layers between 1 and 10000");
    if (!std::isfinite(delta) || delta <= 0)
        fail_usage(fmt::format("delta {} is not positive", delta), "the paper uses 0.48 to 1");
    if (architecture == Architecture::fcn && !update.is_plain())
        fail_usage("a fully connected network has no residual to accelerate by",
                   "set NetworkSpec::update = Update::plain() with architecture \"fcn\"");
    if (update.residual_threshold && !has_thresholds())
        fail_usage(fmt::format("activation '{}' has no threshold to scale by the residual",
                               to_string(activation)),
                   "use activation 'soft' or 'hard', or update 'plain'");
}

}  // namespace pibinn
