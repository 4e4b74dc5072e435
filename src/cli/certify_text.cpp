#include "cli/certify_text.hpp"

#include <fmt/format.h>

#include "cli/console.hpp"
#include "core/escape.hpp"

namespace pibinn::cli {

std::string attached_text(const std::optional<AttachedCertificate>& attached) {
    if (!attached) return "";
    if (!attached->matches)
        return "warning: the attached certificate was made of other weights; run 'pibinn certify' "
               "again\n";
    return fmt::format("certificate: {}: {}\n", escaped(attached->verdict),
                       escaped(attached->statement.empty() ? attached->why : attached->statement));
}

std::string calibration_text(const std::optional<AttachedCalibration>& attached) {
    if (!attached) return "";
    if (!attached->matches)
        return "warning: the attached calibration was made of other weights; run 'pibinn certify "
               "--calibrate' again\n";
    return fmt::format("calibration: {}\n", escaped(attached->statement));
}

}  // namespace pibinn::cli
