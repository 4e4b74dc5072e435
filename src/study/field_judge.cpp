#include "study/field_judge.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "study/comparison.hpp"
#include "study/config_document.hpp"

namespace pibinn::study {

namespace {

/// A method on the problem of one seed.
struct Judged {
    std::string method;
    std::size_t iterations = 0;
    ComparisonRow row;
};

std::vector<Judged> judge_references(const Problem& problem,
                                     const std::vector<std::size_t>& iterations, ThreadPool& pool) {
    Comparison comparison(problem, pool);
    std::vector<Judged> judged;
    const auto take = [&](std::size_t count, const char* name = nullptr) {
        while (judged.size() < comparison.rows().size()) {
            const ComparisonRow& row = comparison.rows()[judged.size()];
            judged.push_back({name ? name : row.method, count, row});
        }
    };
    constexpr std::size_t many = Comparison::kManyIterations;
    std::vector<std::size_t> counts = iterations;
    if (std::find(counts.begin(), counts.end(), many) == counts.end()) counts.push_back(many);
    for (const std::size_t count : counts) {
        if (count != many) comparison.add_lasso(LassoMethod::ista, count);
        take(count, "ISTA");
        comparison.add_lasso(LassoMethod::fista, count);
        take(count, "FISTA");
        comparison.add_amp(AmpShrink::soft, count);
        comparison.add_amp(AmpShrink::bernoulli_gaussian, count);
        take(count);
    }
    comparison.add_omp();
    comparison.add_linear();
    comparison.add_oracle();
    take(0);
    return judged;
}

/// The rows of the first seed, with means and deviations over all of them.
std::vector<FieldRow> rows_over_seeds(const std::vector<std::vector<Judged>>& seeds,
                                      const FieldRow& shared) {
    std::vector<FieldRow> rows;
    for (const Judged& first : seeds.front()) {
        // Signals of another seed may be too full for a bound, or for OMP.
        const auto over = [&](double Metrics::*figure) {
            std::vector<double> values;
            for (const std::vector<Judged>& seed : seeds)
                for (const Judged& other : seed)
                    if (other.method == first.method && other.iterations == first.iterations)
                        values.push_back(other.row.metrics.*figure);
            return spread(values);
        };
        FieldRow row = shared;
        if (first.row.bound) row.kind = FieldRow::Kind::bound;
        row.method = first.method;
        row.layers = first.iterations;
        row.energy_nmse_db = over(&Metrics::energy_nmse_db);
        row.nmse_db = over(&Metrics::nmse_db);
        row.median_nmse_db = over(&Metrics::median_nmse_db);
        row.bits = first.row.stored_bits;
        row.time = first.row.time;
        row.signals = first.row.metrics.signals;
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

std::string method_of(const FieldCase& field) {
    std::string name(field.network.weights);
    if (field.noise && field.noise->least_db < field.noise->most_db)
        name += fmt::format(", one model for {}", noise_words(field.noise));
    return name;
}

std::optional<double> ratio_of(const FieldNoise& noise) {
    if (!noise) return {};
    return noise->least_db;
}

std::vector<FieldRow> reference_rows(const FieldReference& field, const SeedProblems& problems,
                                     ThreadPool& pool) {
    std::vector<std::vector<Judged>> seeds;
    for (const auto& problem : problems)
        seeds.push_back(judge_references(*problem, field.iterations, pool));
    FieldRow shared;
    shared.kind = FieldRow::Kind::reference;
    shared.ensemble = field.ensemble;
    shared.n = field.n;
    shared.snr_db = ratio_of(field.noise);
    return rows_over_seeds(seeds, shared);
}

std::vector<FieldRow> network_rows(const FieldCase& field, const std::vector<SeedRun>& runs,
                                   ThreadPool& pool) {
    std::vector<FieldRow> rows;
    for (const FieldNoise& noise : field.judged) {
        // The test signals and the operator are those of the training: only the noise is another.
        const Config config = read_config(ConfigDocument("", with_noise(field.settings, noise)));
        const SeedProblems problems = make_problems(config, runs.size(), pool);
        std::vector<std::vector<Judged>> seeds;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            Comparison comparison(*problems[i], pool);
            comparison.add_model(method_of(field), runs[i].result.model);
            seeds.push_back({{method_of(field), field.layers, comparison.rows().back()}});
        }
        FieldRow shared;
        shared.ensemble = field.network.ensemble;
        shared.n = field.n;
        shared.snr_db = ratio_of(noise);
        for (FieldRow& row : rows_over_seeds(seeds, shared)) rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace pibinn::study
