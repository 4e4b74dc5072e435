#include "study/field_json.hpp"

#include <array>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/file.hpp"
#include "core/names.hpp"
#include "data/json_fields.hpp"
#include "study/field_study.hpp"

namespace pibinn::study {

namespace {

using nlohmann::ordered_json;
using Kind = FieldRow::Kind;

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 2;
constexpr NameTable<Kind, 4> kRowKinds{{{Kind::network, "network"},
                                        {Kind::reference, "reference"},
                                        {Kind::bound, "bound"},
                                        {Kind::published, "published"}}};

Kind parse_row_kind(std::string_view word) { return parse_name(kRowKinds, word, "kind of row"); }

FieldRow row_of(const nlohmann::json& object, const std::string& what) {
    const JsonFields fields(object, what);
    FieldRow row;
    row.kind = fields.choice("kind", parse_row_kind);
    row.method = fields.word("method");
    row.ensemble = fields.word("operator");
    row.n = fields.whole("n", 1, kMost);
    if (fields.has("layers")) row.layers = fields.whole("layers", 1, kMost);
    if (fields.has("snr_db")) row.snr_db = fields.number("snr_db");
    const std::size_t count = fields.whole("seeds", 1, kMost);
    row.energy_nmse_db = {fields.number("energy_nmse_db"), fields.number("energy_std_db"), count};
    row.nmse_db = {fields.number("nmse_db"), fields.number("std_db"), count};
    row.median_nmse_db = {fields.number("median_nmse_db"), fields.number("median_std_db"), count};
    row.signals = fields.whole("signals", 1, kMost);
    if (row.measured()) {
        row.bits = fields.whole("stored_bits", 0, kMost);
        row.time = {fields.number("latency_microseconds"), fields.number("microseconds_per_signal"),
                    fields.whole("batch", 1, kMost), fields.whole("threads", 1, kMost)};
    }
    return row;
}

ordered_json training_json(const FieldTraining& t) {
    return {{"network", t.network}, {"operator", t.ensemble}, {"n", t.n},
            {"layers", t.layers},   {"noise", t.noise},       {"epochs", t.stages},
            {"seconds", t.seconds}, {"command", t.command}};
}

}  // namespace

ordered_json field_row_json(const FieldRow& row) {
    ordered_json json{{"kind", name_of(kRowKinds, row.kind)},
                      {"method", row.method},
                      {"operator", row.ensemble},
                      {"n", row.n}};
    if (row.layers > 0) json["layers"] = row.layers;
    if (row.snr_db) json["snr_db"] = *row.snr_db;
    json["energy_nmse_db"] = row.energy_nmse_db.mean;
    if (row.kind == Kind::published) {
        json["source"] = row.source + 1;
        return json;
    }
    json["energy_std_db"] = row.energy_nmse_db.deviation;
    json["nmse_db"] = row.nmse_db.mean;
    json["std_db"] = row.nmse_db.deviation;
    json["median_nmse_db"] = row.median_nmse_db.mean;
    json["median_std_db"] = row.median_nmse_db.deviation;
    json["seeds"] = row.energy_nmse_db.count;
    json["signals"] = row.signals;
    if (!row.measured()) return json;
    json["stored_bits"] = row.bits;
    json["latency_microseconds"] = row.time.latency_us;
    json["microseconds_per_signal"] = row.time.batch_us;
    json["batch"] = row.time.batch;
    json["threads"] = row.time.threads;
    return json;
}

void save_field_case(const std::filesystem::path& path, const FieldCaseFile& file) {
    ordered_json rows = ordered_json::array();
    for (const FieldRow& row : file.rows) rows.push_back(field_row_json(row));
    const ordered_json json{{"configuration", file.configuration},
                            {"epochs", file.stages},
                            {"seconds", file.seconds},
                            {"rows", rows}};
    write_file(path, json.dump(2) + "\n");
}

FieldCaseFile load_field_case(const std::filesystem::path& path) {
    const std::string what = path.string();
    const nlohmann::json json = parse_json_object(read_file(path), what);
    const JsonFields fields(json, what);
    FieldCaseFile file{
        fields.word("configuration"), {}, fields.word("epochs"), fields.number("seconds")};
    if (!json.contains("rows") || !json["rows"].is_array())
        fail_input(fmt::format("{}: no list 'rows'", what), "this is not a case of the benchmark");
    for (const nlohmann::json& row : json["rows"]) file.rows.push_back(row_of(row, what));
    return file;
}

ordered_json field_json(const FieldReport& report) {
    ordered_json rows = ordered_json::array();
    for (const FieldRow& row : report.rows) rows.push_back(field_row_json(row));
    ordered_json trainings = ordered_json::array();
    for (const FieldTraining& training : report.trainings)
        trainings.push_back(training_json(training));
    return {{"command", report.command},
            {"version", report.version},
            {"machine", report.machine},
            {"date", report.date},
            {"m", report.m},
            {"seeds", report.seeds},
            {"reference_seeds", report.reference_seeds},
            {"device", report.device},
            {"rows", rows},
            {"trainings", trainings},
            {"sources", report.sources}};
}

}  // namespace pibinn::study
