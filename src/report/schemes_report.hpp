#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/numbers.hpp"
#include "core/recovery_time.hpp"
#include "core/table.hpp"
#include "pibinn/model.hpp"
#include "report/html.hpp"

namespace pibinn {

/// One network of a comparison, over its seeds.
struct SchemeRow {
    std::string scheme;     ///< the weight kind, or "fcn-relu" and "fcn-soft"
    std::string structure;  ///< of the network
    bool ours = false;      ///< one bit per link on the problem's own structure
    Spread train_nmse_db, test_nmse_db;
    std::size_t links = 0;  ///< of all layers
    BitCount bits;
    double sparsity = 0;            ///< share of zeros among the links
    std::optional<double> overlap;  ///< of ternary zeros with those of the physics
    RecoveryTime time;
    double seconds = 0;  ///< of training, per seed
    Spread test_median_nmse_db = {};

    /// |train - test| in dB.
    double gap_db() const;
};

/// One method that needs no network.
struct ReferenceRow {
    std::string method;
    Spread nmse_db;  ///< on the test set
    RecoveryTime time;
    std::size_t bits = 0;
    Spread energy_nmse_db = {}, median_nmse_db = {};
    bool bound = false;  ///< told what no method can know: neither timed nor stored
};

/// All that the page of a comparison tells: plain data, made by whoever ran it.
struct SchemesReport {
    std::string problem;             ///< a line on signals and noise
    std::vector<std::string> facts;  ///< a few words each
    std::vector<SchemeRow> rows;
    std::vector<ReferenceRow> references;
    std::string references_note = {};  ///< by how many signals they are judged, where not by all
    std::string command;               ///< that makes this comparison again
    std::string version;
};

/// Indices of the networks that none of the others beats in stored bits and test nmse.
std::vector<std::size_t> networks_front(const SchemesReport& report);

Table schemes_table(const SchemesReport& report);
Table references_table(const SchemesReport& report);
/// Both tables for a terminal, and below them what the times mean.
std::string schemes_text(const SchemesReport& report);
/// nmse against stored bits: one mark per scheme, one colour per structure, the front as a line,
/// references in grey.
Figure pareto_figure(const SchemesReport& report);
/// How ours, on the problem's structure, stands against ternary and channel-wise weights, one
/// sentence each: on the dense network, where the paper claims to generalise better, and on the
/// same structure, which tells what of that is due to the structure alone.
std::vector<std::string> verdicts(const SchemesReport& report);

std::string schemes_csv(const SchemesReport& report);
/// The HTML page of a comparison.
std::string schemes_report(const SchemesReport& report);

}  // namespace pibinn
