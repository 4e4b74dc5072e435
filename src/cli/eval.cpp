#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/options.hpp"
#include "cli/row_source.hpp"
#include "core/numbers.hpp"
#include "core/table.hpp"
#include "model/metrics_sum.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "pibinn/recoverer.hpp"
#include "study/evaluation_set.hpp"
#include "study/timing.hpp"

namespace pibinn::cli {

namespace {

std::string report(const Metrics& metrics, const RecoveryTime& time) {
    Table table = Table::of({"measure", "value"});
    table.add({"nmse (mean of ratios)", fmt::format("{:.2f} dB", metrics.nmse_db)});
    table.add({"energy nmse", fmt::format("{:.2f} dB", metrics.energy_nmse_db)});
    table.add({"median nmse", fmt::format("{:.2f} dB", metrics.median_nmse_db)});
    table.add({"signals exact to 1e-6", fmt::format("{:.1f} %", 100 * metrics.exact_share)});
    table.add({"support F1", fmt::format("{:.4f}", metrics.support_f1)});
    table.add({"signals", grouped(metrics.signals)});
    table.add({"zero signals skipped", grouped(metrics.skipped_zero_signals)});
    table.add({kLatencyHeading, rounded(time.latency_us)});
    table.add({kBatchTimeHeading, rounded(time.batch_us)});
    return table_text(table) + timing_note(time) + '\n';
}

struct Evaluation {
    Metrics metrics;
    RecoveryTime time;  ///< on the first chunk
};

/// Reads and judges a chunk of rows at a time, so that files may be larger than memory.
Evaluation evaluate_rows(const Model& model, const std::string& signals_file,
                         const std::string& measurements_file, Numbers text, ThreadPool& pool) {
    const ExpectedRows x_rows = signals_of(model), y_rows = measurements_of(model);
    ArrayRows signals(signals_file, text);
    require_rows(signals.rows(), signals.cols(), signals.numbers(), x_rows, signals_file);
    std::optional<ArrayRows> measurements;
    if (!measurements_file.empty()) {
        measurements.emplace(measurements_file, text);
        require_rows(measurements->rows(), measurements->cols(), measurements->numbers(), y_rows,
                     measurements_file);
        if (measurements->rows() != signals.rows())
            fail_input(fmt::format("{} signals but {} measurements ('{}')", signals.rows(),
                                   measurements->rows(), measurements_file),
                       "row i of the measurements must belong to row i of the signals");
    }
    const Recoverer recoverer(model);
    const std::size_t chunk = rows_per_chunk(model.op.rows(), model.op.cols());
    MetricsSum sum;
    std::optional<RecoveryTime> time;
    for (std::size_t done = 0; done < signals.rows(); done += chunk) {
        const std::size_t rows = std::min(chunk, signals.rows() - done);
        const auto read = [&](ArrayRows& from, const RowLayout& layout) {
            Batch part = from.read(done, rows);
            return layout.complex ? split_complex(part, layout.vectors) : part;
        };
        const Batch y = measurements ? read(*measurements, y_rows.layout) : Batch();
        const DataSet set = evaluation_set(model, read(signals, x_rows.layout), y, pool);
        sum.add(set.x, recoverer.coefficients(set.y, pool, nullptr, done));
        if (!time)
            time =
                time_recovery([&](ConstBatchView part,
                                  ThreadPool& threads) { recoverer.coefficients(part, threads); },
                              set.y, pool);
    }
    return {sum.result(), *time};
}

}  // namespace

void run_eval(const Arguments& arguments) {
    CommandLine line(
        "eval",
        "Measures how well a model recovers known signals. Without measurements the "
        "model's own operator makes them, free of noise. A model with a basis takes the "
        "signals themselves, pixels or samples, and is scored on them as in training: "
        "normalised. .npy files may be larger than memory.",
        "pibinn eval model.safetensors --signals x_test.npy --measurements y_test.npy");
    std::string model_file, signals_file, measurements_file;
    line.required("MODEL", model_file, "model file (.safetensors)");
    line.required("--signals", signals_file,
                  "the true signals, one per row (.npy, .npz, .mat, .csv, FILE:NAME)");
    line.optional("--measurements", measurements_file, "their measurements, one per row", "FILE");
    bool complex = false;
    line.flag("--complex", complex, kComplexHelp);
    if (!line.parse(arguments)) return;
    const Console console(line.output());
    const Numbers text = text_numbers(complex, {signals_file, measurements_file});

    const Model model = Model::load(model_file);
    if (model.spec.architecture == Architecture::fcn && measurements_file.empty())
        fail_usage("a fully connected model holds no operator to measure the signals with",
                   "give --measurements y.npy");
    ThreadPool pool(line.threads());
    const auto [metrics, time] = evaluate_rows(model, signals_file, measurements_file, text, pool);
    if (metrics.skipped_zero_signals == metrics.signals)
        fail_input(fmt::format("all {} signals of '{}' are zero", metrics.signals, signals_file),
                   "nmse divides by their norm: give signals that are not zero");
    console.say(report(metrics, time));
    console.result({{"nmse_db", metrics.nmse_db},
                    {"energy_nmse_db", metrics.energy_nmse_db},
                    {"median_nmse_db", metrics.median_nmse_db},
                    {"exact_share", metrics.exact_share},
                    {"support_f1", metrics.support_f1},
                    {"signals", metrics.signals},
                    {"skipped_zero_signals", metrics.skipped_zero_signals},
                    {"microseconds_per_signal", time.batch_us},
                    {"latency_microseconds", time.latency_us},
                    {"batch", time.batch},
                    {"threads", time.threads}});
}

}  // namespace pibinn::cli
