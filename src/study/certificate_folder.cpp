#include "study/certificate_folder.hpp"

#include <nlohmann/json.hpp>

#include "core/file.hpp"
#include "core/folder.hpp"
#include "theory/certificate_json.hpp"

namespace pibinn::study {

nlohmann::ordered_json certificate_json(const CertificateReport& report) {
    nlohmann::ordered_json json = to_json(report.certificate);
    if (report.suggestion) json["suggestion"] = to_json(*report.suggestion);
    return json;
}

void write_certificate(const CertificateReport& report, const std::filesystem::path& folder) {
    const std::string page = certificate_report(report);
    const std::string spectral = plot_svg(spectral_figure(report.certificate).plot);
    const std::string error = plot_svg(error_figure(report.certificate).plot);
    const std::string json = certificate_json(report).dump(
        2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    make_folder(folder);
    write_file(folder / "certificate.json", json + "\n");
    write_file(folder / "certificate.html", page);
    write_file(folder / "spectral.svg", spectral);
    write_file(folder / "error.svg", error);
}

}  // namespace pibinn::study
