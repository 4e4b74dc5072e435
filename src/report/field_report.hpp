#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/numbers.hpp"
#include "core/recovery_time.hpp"
#include "core/table.hpp"
#include "report/html.hpp"

namespace pibinn {

/// One method on one problem of the field's benchmark.
struct FieldRow {
    enum class Kind {
        network,
        reference,  ///< needs no network
        bound,      ///< told what no method can know: neither timed nor stored
        published   ///< by others: neither timed nor stored here
    };

    Kind kind = Kind::network;
    std::string method;
    std::string ensemble;          ///< of the operator: "rademacher", "gaussian"
    std::size_t n = 0;             ///< entries per signal
    std::size_t layers = 0;        ///< or iterations; 0 where there are none to choose
    std::optional<double> snr_db;  ///< nothing: no noise
    Spread energy_nmse_db;
    Spread nmse_db = {}, median_nmse_db = {};
    std::size_t bits = 0;
    RecoveryTime time = {};
    std::size_t signals = 0;  ///< that judged it
    std::size_t source = 0;   ///< of a published figure

    bool measured() const { return kind == Kind::network || kind == Kind::reference; }
};

/// One training of the benchmark.
struct FieldTraining {
    std::string network, ensemble;
    std::size_t n = 0, layers = 0;
    std::string noise;
    std::string stages;  ///< names and epochs
    double seconds = 0;  ///< per seed
    std::string command;
};

/// All that the page of the benchmark tells: plain data, made by whoever ran it.
struct FieldReport {
    std::size_t m = 0, seeds = 1, reference_seeds = 1;
    std::string device = "cpu";  ///< that trained the networks
    std::vector<FieldRow> rows;
    std::vector<FieldTraining> trainings;
    std::vector<std::string> sources;  ///< of published figures
    std::string machine, date, command, version;
};

/// One table of the benchmark: every method on one size, operator and depth, at every noise.
struct FieldTable {
    std::string heading;
    Table table;
};

/// Of every size and depth that has more to show than its place on the curve against depth.
std::vector<FieldTable> field_tables(const FieldReport& report);
/// Energy nmse by depth at one noise.
Table depth_table(const FieldReport& report);
/// What the headings of the tables mean, and what is told of published figures: a sentence each.
std::vector<std::string> field_notes(const FieldReport& report);
/// Error against depth and noise, then against stored bits and latency.
std::vector<Figure> depth_figures(const FieldReport& report);
std::vector<Figure> trade_figures(const FieldReport& report);

/// Tables and notes for a terminal.
std::string field_text(const FieldReport& report);
/// The HTML page of the benchmark.
std::string field_report(const FieldReport& report);

}  // namespace pibinn
