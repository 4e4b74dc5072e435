#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/options.hpp"
#include "core/numbers.hpp"
#include "core/table.hpp"
#include "pibinn/error.hpp"
#include "pibinn/metrics.hpp"
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
    table.add({"support F1", fmt::format("{:.4f}", metrics.support_f1)});
    table.add({"signals", grouped(metrics.signals)});
    table.add({"zero signals skipped", grouped(metrics.skipped_zero_signals)});
    table.add({kLatencyHeading, rounded(time.latency_us)});
    table.add({kBatchTimeHeading, rounded(time.batch_us)});
    return table_text(table) + timing_note(time) + '\n';
}

}  // namespace

void run_eval(const Arguments& arguments) {
    CommandLine line(
        "eval",
        "Measures how well a model recovers known signals. Without measurements the "
        "model's own operator makes them, free of noise. A model with a basis takes the "
        "signals themselves, pixels or samples, and is scored on them as in training: "
        "normalised.",
        "pibinn eval model.safetensors --signals x_test.npy --measurements y_test.npy");
    std::string model_file, signals_file, measurements_file;
    line.required("MODEL", model_file, "model file (.safetensors)");
    line.required("--signals", signals_file,
                  "the true signals, one per row (.npy, .npz, .mat, .csv, FILE:NAME)");
    line.optional("--measurements", measurements_file, "their measurements, one per row", "FILE");
    if (!line.parse(arguments)) return;
    const Console console(line.output());

    const Model model = Model::load(model_file);
    const Batch signals = read_rows(signals_file, model.op.cols(), "signal entries");
    Batch measurements;
    if (!measurements_file.empty())
        measurements = read_rows(measurements_file, model.op.rows(), "measurements");
    ThreadPool pool(line.threads());
    const DataSet set = evaluation_set(model, signals, measurements, pool);
    const Recoverer recoverer(model);
    const Metrics metrics = measure(set.x, recoverer.coefficients(set.y, pool));
    if (metrics.skipped_zero_signals == metrics.signals)
        fail_input(fmt::format("all {} signals of '{}' are zero", metrics.signals, signals_file),
                   "nmse divides by their norm: give signals that are not zero");

    const RecoveryTime time = time_recovery(
        [&](ConstBatchView rows, ThreadPool& threads) { recoverer.coefficients(rows, threads); },
        set.y, pool);
    console.say(report(metrics, time));
    console.result({{"nmse_db", metrics.nmse_db},
                    {"energy_nmse_db", metrics.energy_nmse_db},
                    {"support_f1", metrics.support_f1},
                    {"signals", metrics.signals},
                    {"skipped_zero_signals", metrics.skipped_zero_signals},
                    {"microseconds_per_signal", time.batch_us},
                    {"latency_microseconds", time.latency_us},
                    {"batch", time.batch},
                    {"threads", time.threads}});
}

}  // namespace pibinn::cli
