#include <nlohmann/json.hpp>

#include "study/reproduction.hpp"

namespace pibinn::study {

using nlohmann::ordered_json;

namespace {

ordered_json spread_json(const std::optional<Spread>& value) {
    if (!value) return {};
    return {{"mean", value->mean}, {"std", value->deviation}, {"seeds", value->count}};
}

}  // namespace

ordered_json reproduction_json(const ReproductionReport& report) {
    ordered_json tables = ordered_json::array();
    for (const ReproducedTable& table : report.tables) {
        ordered_json rows = ordered_json::array();
        for (const ReproducedRow& row : table.rows) {
            ordered_json numbers = ordered_json::object();
            for (std::size_t q = 0; q < row.numbers.size(); ++q) {
                const ReproducedNumber& number = row.numbers[q];
                numbers[table.quantities[q].name] = {
                    {"published",
                     number.published ? ordered_json(*number.published) : ordered_json()},
                    {"paper", spread_json(number.paper)},
                    {"default", spread_json(number.ours)}};
            }
            rows.push_back({{"row", row.label},
                            {"numbers", numbers},
                            {"paper_verdict", to_string(row.paper)},
                            {"default_verdict", to_string(row.ours)},
                            {"note", row.note},
                            {"folder", row.folder},
                            {"command", row.command}});
        }
        tables.push_back({{"id", table.id}, {"title", table.title}, {"rows", rows}});
    }
    ordered_json claims = ordered_json::array();
    for (const ReproducedClaim& claim : report.claims)
        claims.push_back({{"id", claim.id},
                          {"claim", claim.text},
                          {"verdict", to_string(claim.verdict)},
                          {"evidence", claim.evidence}});
    return {{"command", report.command},
            {"quick", report.quick},
            {"seeds", report.seeds},
            {"trainings", report.trainings},
            {"core_seconds", report.core_seconds},
            {"machine", report.machine},
            {"date", report.date},
            {"version", report.version},
            {"commits", report.commits},
            {"tables", tables},
            {"claims", claims}};
}

}  // namespace pibinn::study
