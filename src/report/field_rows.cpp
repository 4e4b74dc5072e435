#include "report/field_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace pibinn {

std::string snr_words(const Snr& snr_db) {
    return snr_db ? fmt::format("{:g} dB", *snr_db) : "no noise";
}

std::string operator_words(const std::string& name) {
    if (name == "rademacher") return "signs";
    return name == "gaussian" ? "Gaussian" : name;
}

std::string row_words(const FieldRow& row) {
    if (row.kind == FieldRow::Kind::published)
        return fmt::format("{} [{}]", row.method, row.source + 1);
    if (row.kind == FieldRow::Kind::reference && row.layers > 0)
        return fmt::format("{}, {} iterations", row.method, row.layers);
    return row.method;
}

std::vector<std::size_t> sizes_of(const FieldReport& report) {
    std::vector<std::size_t> sizes;
    for (const FieldRow& row : report.rows)
        if (row.measured()) place_of(sizes, row.n);
    return sizes;
}

std::vector<std::string> operators_of(const FieldReport& report) {
    std::vector<std::string> names;
    for (const FieldRow& row : report.rows)
        if (row.measured()) place_of(names, row.ensemble);
    return names;
}

std::vector<std::size_t> depths_of(const FieldReport& report, std::size_t n) {
    std::vector<std::size_t> depths;
    for (const FieldRow& row : report.rows)
        if (row.kind == FieldRow::Kind::network && row.n == n) place_of(depths, row.layers);
    std::sort(depths.rbegin(), depths.rend());
    return depths;
}

std::vector<std::size_t> depths_of(const FieldReport& report, std::size_t n, const Snr& snr_db) {
    std::vector<std::size_t> depths;
    for (const FieldRow& row : report.rows)
        if (row.kind == FieldRow::Kind::network && row.n == n && row.snr_db == snr_db)
            place_of(depths, row.layers);
    std::sort(depths.rbegin(), depths.rend());
    return depths;
}

std::vector<Snr> noises_of(const FieldReport& report, std::size_t n, std::size_t layers) {
    std::vector<Snr> noises;
    for (const FieldRow& row : report.rows)
        if (row.kind == FieldRow::Kind::network && row.n == n && row.layers == layers)
            place_of(noises, row.snr_db);
    std::sort(noises.begin(), noises.end(),
              [](const Snr& a, const Snr& b) { return a && (!b || *a < *b); });
    return noises;
}

Snr usual_noise(const FieldReport& report) {
    const std::vector<std::size_t> sizes = sizes_of(report);
    if (sizes.empty()) return {};
    Snr usual;
    std::size_t most = 0;
    for (const std::size_t layers : depths_of(report, sizes.front()))
        for (const Snr& noise : noises_of(report, sizes.front(), layers)) {
            const std::size_t depths = depths_of(report, sizes.front(), noise).size();
            if (depths > most) usual = noise, most = depths;
        }
    return usual;
}

const FieldRow* best_published(const FieldReport& report, std::size_t n, std::size_t layers,
                               const Snr& snr_db) {
    const FieldRow* best = nullptr;
    for (const FieldRow& row : report.rows)
        if (row.kind == FieldRow::Kind::published && row.n == n && row.layers == layers &&
            row.snr_db == snr_db && (!best || row.energy_nmse_db.mean < best->energy_nmse_db.mean))
            best = &row;
    return best;
}

}  // namespace pibinn
