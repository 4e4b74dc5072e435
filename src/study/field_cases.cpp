#include "study/field_cases.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "study/word_list.hpp"

namespace pibinn::study {

namespace {

constexpr FieldNoise at(double db) { return SnrRange{db, db}; }
constexpr FieldNoise none = std::nullopt;
constexpr FieldNoise range = SnrRange{10, 40};

// Tied networks train a few numbers per layer in one or two minutes of two cores. The others train
// every weight of every layer, and stand for themselves at two ratios.
const FieldNetwork tied_signs{"tied", "rademacher"};
const FieldNetwork tied_wide{"tied", "rademacher", {"train.stage.tune.epochs=120"}};
const FieldNetwork tied_gaussian{"tied", "gaussian", {"train.stage.tune.epochs=120"}};
const FieldNetwork one_bit{"one-bit", "gaussian"};
const FieldNetwork float_gaussian{"float", "gaussian", {"train.stage.pretrain.epochs=100"}};
const std::vector<FieldNetwork> every_network{tied_signs, tied_gaussian, one_bit, float_gaussian};

const FieldPlan kField{250,
                       {"problem.train=4000", "problem.test=1000"},
                       {
                           // n, density, noise, layers, networks
                           {500, 0.1, {at(20), at(40)}, {16}, every_network},
                           {500, 0.1, {at(20), at(40)}, {4, 8, 12}, {tied_signs}},
                           {500, 0.1, {at(10), at(30), none}, {16}, {tied_signs}},
                           {500, 0.1, {range}, {16}, {tied_signs}},
                           {1000, 0.05, {at(20), at(40)}, {16}, {tied_wide}},
                           {2000, 0.025, {at(20), at(40)}, {16}, {tied_wide}},
                       }};

const FieldPlan kQuick{
    40,
    {"problem.train=250", "problem.test=60", "train.batch=50", "train.stage.tune.epochs=4",
     "train.stage.pretrain.epochs=2", "train.stage.joint.epochs=2", "train.stage.stage2.epochs=1"},
    {
        {80, 0.05, {at(20)}, {2, 4}, every_network},
        {80, 0.05, {at(40), none}, {4}, {tied_signs}},
        {80, 0.05, {range}, {4}, {tied_signs}},
        {160, 0.025, {at(20)}, {4}, {tied_signs}},
    }};

std::string noise_name(const FieldNoise& noise) {
    if (!noise) return "no-noise";
    if (noise->least_db == noise->most_db) return fmt::format("{:g}dB", noise->least_db);
    return fmt::format("{:g}-{:g}dB", noise->least_db, noise->most_db);
}

bool single(const FieldNoise& noise) { return !noise || noise->least_db == noise->most_db; }

bool same(const FieldNoise& a, const FieldNoise& b) {
    return a.has_value() == b.has_value() &&
           (!a || (a->least_db == b->least_db && a->most_db == b->most_db));
}

bool covers(const FieldNoise& wide, const FieldNoise& narrow) {
    return same(wide, narrow) || (wide && narrow && wide->least_db <= narrow->least_db &&
                                  narrow->most_db <= wide->most_db);
}

void add_missing(std::vector<std::size_t>& depths, const std::vector<std::size_t>& more) {
    depths.insert(depths.end(), more.begin(), more.end());
    std::sort(depths.begin(), depths.end());
    depths.erase(std::unique(depths.begin(), depths.end()), depths.end());
}

/// What every problem of a line has in common. Published operators have columns of norm 1.
std::vector<std::string> problem_settings(const FieldPlan& plan, const FieldLine& line,
                                          std::string_view ensemble) {
    return {
        fmt::format("problem.m={}", plan.m), fmt::format("problem.n={}", line.n),
        fmt::format("problem.density={}", line.density),
        fmt::format("problem.operator={}", ensemble == "gaussian" ? "gaussian-unit" : ensemble)};
}

constexpr std::string_view kSnrSetting = "problem.snr_db=";

/// The single ratios at which networks of this size are judged.
std::vector<FieldNoise> single_noises(const FieldPlan& plan, std::size_t n) {
    std::vector<FieldNoise> noises;
    for (const FieldLine& line : plan.lines)
        for (const FieldNoise& noise : line.noises)
            if (line.n == n && single(noise) &&
                std::none_of(noises.begin(), noises.end(),
                             [&](const FieldNoise& seen) { return same(seen, noise); }))
                noises.push_back(noise);
    // By rising ratio, which no noise ends.
    std::sort(noises.begin(), noises.end(), [](const FieldNoise& a, const FieldNoise& b) {
        return a && (!b || a->least_db < b->least_db);
    });
    return noises;
}

FieldCase make_case(const FieldPlan& plan, const FieldLine& line, const FieldNetwork& network,
                    const FieldNoise& noise, std::size_t layers,
                    std::span<const std::string> settings) {
    FieldCase c{fmt::format("{}-{}-n{}-K{}-{}", network.weights, network.ensemble, line.n, layers,
                            noise_name(noise)),
                network,
                line.n,
                layers,
                noise,
                {},
                {}};
    for (const FieldNoise& judged : single_noises(plan, line.n))
        if (covers(noise, judged)) c.judged.push_back(judged);
    c.settings = with_noise(problem_settings(plan, line, network.ensemble), noise);
    c.settings.push_back(fmt::format("model.layers={}", layers));
    c.settings.push_back(fmt::format("model.weights={}", network.weights));
    c.settings.emplace_back("model.activation=piecewise");
    c.settings.insert(c.settings.end(), network.settings.begin(), network.settings.end());
    c.settings.insert(c.settings.end(), plan.settings.begin(), plan.settings.end());
    c.settings.insert(c.settings.end(), settings.begin(), settings.end());
    return c;
}

}  // namespace

const FieldPlan& field_plan(bool quick) { return quick ? kQuick : kField; }

FieldPlan with_networks(const FieldPlan& plan, std::string_view networks) {
    const auto name = [](const FieldNetwork& network) {
        return fmt::format("{}-{}", network.weights, network.ensemble);
    };
    std::vector<std::string> names;
    for (const FieldLine& line : plan.lines)
        for (const FieldNetwork& network : line.networks)
            if (std::find(names.begin(), names.end(), name(network)) == names.end())
                names.push_back(name(network));
    const Words chosen = words_of("--networks", networks, Words(names.begin(), names.end()));
    FieldPlan part = plan;
    for (FieldLine& line : part.lines)
        std::erase_if(line.networks, [&](const FieldNetwork& network) {
            return std::find(chosen.begin(), chosen.end(), name(network)) == chosen.end();
        });
    std::erase_if(part.lines, [](const FieldLine& line) { return line.networks.empty(); });
    return part;
}

std::vector<std::string> with_noise(std::span<const std::string> settings,
                                    const FieldNoise& noise) {
    std::vector<std::string> changed;
    for (const std::string& setting : settings)
        if (!setting.starts_with(kSnrSetting)) changed.push_back(setting);
    if (noise)
        changed.push_back(single(noise) ? fmt::format("{}{:g}", kSnrSetting, noise->least_db)
                                        : fmt::format("{}[{:g}, {:g}]", kSnrSetting,
                                                      noise->least_db, noise->most_db));
    return changed;
}

std::vector<FieldCase> field_cases(const FieldPlan& plan, std::span<const std::string> settings) {
    std::vector<FieldCase> cases;
    std::vector<std::string> order;
    for (const FieldLine& line : plan.lines)
        for (const FieldNetwork& network : line.networks)
            for (const FieldNoise& noise : line.noises)
                for (const std::size_t layers : line.layers)
                    cases.push_back(make_case(plan, line, network, noise, layers, settings));
    const auto kind = [](const FieldCase& c) {
        return fmt::format("{} {}", c.network.weights, c.network.ensemble);
    };
    for (const FieldCase& c : cases)
        if (std::find(order.begin(), order.end(), kind(c)) == order.end()) order.push_back(kind(c));
    std::stable_sort(cases.begin(), cases.end(), [&](const FieldCase& a, const FieldCase& b) {
        return std::find(order.begin(), order.end(), kind(a)) <
               std::find(order.begin(), order.end(), kind(b));
    });
    return cases;
}

std::vector<FieldReference> field_references(const FieldPlan& plan,
                                             std::span<const std::string> settings) {
    std::vector<FieldReference> references;
    for (const FieldLine& line : plan.lines)
        for (const FieldNoise& noise : line.noises) {
            if (!single(noise)) continue;
            for (const FieldNetwork& network : line.networks) {
                FieldReference r{
                    fmt::format("{}-n{}-{}", network.ensemble, line.n, noise_name(noise)),
                    network.ensemble,
                    line.n,
                    noise,
                    line.layers,
                    {}};
                // Several lines may have one problem, at depths of their own.
                if (const auto seen = std::find_if(
                        references.begin(), references.end(),
                        [&](const FieldReference& other) { return other.name == r.name; });
                    seen != references.end()) {
                    add_missing(seen->iterations, line.layers);
                    continue;
                }
                r.settings = with_noise(problem_settings(plan, line, network.ensemble), noise);
                r.settings.insert(r.settings.end(), plan.settings.begin(), plan.settings.end());
                r.settings.insert(r.settings.end(), settings.begin(), settings.end());
                references.push_back(std::move(r));
            }
        }
    return references;
}

void require_field_settings(std::span<const std::string> settings) {
    for (const std::string& setting : settings) {
        const std::string key = setting.substr(0, setting.find('='));
        const bool varied =
            key == "model.layers" || key == "model.weights" || key == "model.activation" ||
            key == "model.structure" || key == "model.architecture" ||
            (key.starts_with("problem") && key != "problem.train" && key != "problem.test");
        if (varied)
            fail_usage(fmt::format("--set {}: the benchmark itself says what this is", setting),
                       "set keys of train, problem.train, problem.test or seed; 'pibinn train' "
                       "trains any other network");
    }
}

std::string noise_words(const FieldNoise& noise) {
    if (!noise) return "no noise";
    if (single(noise)) return fmt::format("{:g} dB", noise->least_db);
    return fmt::format("{:g} to {:g} dB", noise->least_db, noise->most_db);
}

std::span<const PublishedFigure> published_figures() {
    static const std::vector<PublishedFigure> figures{
        {"ALISTA", 500, 8, at(40), -32.42, 0},      {"ALISTA", 500, 16, at(40), -39.07, 0},
        {"ALISTA", 500, 8, at(20), -20.28, 0},      {"ALISTA", 500, 16, at(20), -21.08, 0},
        {"ALISTA", 1000, 16, at(40), -33.55, 0},    {"ALISTA", 1000, 16, at(20), -20.55, 0},
        {"ALISTA", 2000, 16, at(40), -25.18, 0},    {"ALISTA", 2000, 16, at(20), -17.79, 0},
        {"ALISTA-AT", 500, 8, at(40), -32.89, 0},   {"ALISTA-AT", 500, 16, at(40), -41.97, 0},
        {"ALISTA-AT", 500, 8, at(20), -20.25, 0},   {"ALISTA-AT", 500, 16, at(20), -21.80, 0},
        {"ALISTA-AT", 1000, 16, at(40), -34.51, 0}, {"ALISTA-AT", 1000, 16, at(20), -20.66, 0},
        {"ALISTA-AT", 2000, 16, at(40), -26.08, 0}, {"ALISTA-AT", 2000, 16, at(20), -17.87, 0},
        {"AGLISTA", 500, 8, at(40), -33.00, 0},     {"AGLISTA", 500, 16, at(40), -41.35, 0},
        {"AGLISTA", 500, 8, at(20), -20.57, 0},     {"AGLISTA", 500, 16, at(20), -21.37, 0},
        {"AGLISTA", 1000, 16, at(40), -35.48, 0},   {"AGLISTA", 1000, 16, at(20), -20.89, 0},
        {"AGLISTA", 2000, 16, at(40), -25.61, 0},   {"AGLISTA", 2000, 16, at(20), -17.74, 0},
        {"NA-ALISTA", 500, 8, at(40), -34.24, 0},   {"NA-ALISTA", 500, 16, at(40), -42.19, 0},
        {"NA-ALISTA", 500, 8, at(20), -20.80, 0},   {"NA-ALISTA", 500, 16, at(20), -21.64, 0},
        {"NA-ALISTA", 1000, 16, at(40), -39.13, 0}, {"NA-ALISTA", 1000, 16, at(20), -21.33, 0},
        {"NA-ALISTA", 2000, 16, at(40), -32.50, 0}, {"NA-ALISTA", 2000, 16, at(20), -20.16, 0},
        {"LISTA, tied", 500, 16, none, -36, 1},     {"LISTA, tied", 500, 16, at(40), -24, 1},
        {"LAMP, tied", 500, 16, none, -49, 1},      {"LAMP, tied", 500, 16, at(40), -35.5, 1},
        {"LISTA-CP", 500, 16, none, -35, 1},        {"LISTA-CP", 500, 16, at(40), -33, 1},
        {"ALISTA", 500, 16, none, -46, 1},          {"ALISTA", 500, 16, at(40), -35.5, 1},
        {"LM-FISTA", 500, 16, none, -53, 1},        {"LM-FISTA", 500, 16, at(40), -41.7, 1},
        {"LISTA-CPss", 500, 16, none, -61, 1},      {"LISTA-CPss", 500, 16, at(40), -44, 1},
        {"ALISTA-ss", 500, 16, none, -70, 1},       {"ALISTA-ss", 500, 16, at(40), -42, 1},
        {"LM-FISTA-ss", 500, 16, none, -72, 1},     {"LM-FISTA-ss", 500, 16, at(40), -44, 1},
        {"HyperLISTA", 500, 16, none, -61.4, 2},
    };
    return figures;
}

std::span<const std::string_view> published_sources() {
    static constexpr std::string_view sources[] = {
        "Behrens, Sauder and Jung, Neurally Augmented ALISTA, ICLR 2021: the training logs in "
        "its public repository, github.com/feeds/na-alista. Its own FISTA, whose lambda is not "
        "tuned, is left out.",
        "Read off the charts of github.com/coddmajes/LM-FISTA, to about half a dB. The set that "
        "it calls \"SNR 20\" is one of 40 dB; -ss selects the support.",
        "A reproduction of Chen, Liu, Wang and Yin, Hyperparameter Tuning is All You Need for "
        "LISTA, NeurIPS 2021: github.com/ThEpiCake/hyperlista-mbdl, on signals of exactly 50 "
        "entries.",
    };
    return sources;
}

}  // namespace pibinn::study
