#include "study/field_cases.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "core/test_folder.hpp"
#include "pibinn/error.hpp"
#include "study/config.hpp"
#include "study/config_document.hpp"
#include "study/field_json.hpp"

namespace pibinn::study {
namespace {

const FieldCase* case_named(const std::vector<FieldCase>& cases, const std::string& name) {
    for (const FieldCase& c : cases)
        if (c.name == name) return &c;
    return nullptr;
}

TEST(FieldCases, TheBenchmarkIsThatOfTheLiterature) {
    const std::vector<FieldCase> cases = field_cases(field_plan(false), {});
    std::set<std::string> names;
    for (const FieldCase& c : cases) names.insert(c.name);
    EXPECT_EQ(names.size(), cases.size());
    // Tied to signs: five noises and their range at 16 layers, three more depths at two noises, two
    // noises of two larger sizes. Tied to Gaussian operators: five noises. The others: two.
    EXPECT_EQ(cases.size(), 5u + 1 + 3 * 2 + 2 * 2 + 2 + 2 * 2);
    for (const char* name : {"tied-rademacher-n500-K16-10dB", "tied-rademacher-n500-K4-40dB",
                             "tied-gaussian-n500-K16-40dB", "one-bit-gaussian-n500-K16-40dB",
                             "float-gaussian-n500-K16-20dB", "tied-rademacher-n2000-K16-40dB"})
        EXPECT_TRUE(case_named(cases, name)) << name;
}

TEST(FieldCases, APartOfItHasTheNamedNetworksAlone) {
    const FieldPlan part = with_networks(field_plan(false), "tied-rademacher,float-gaussian");
    const std::vector<FieldCase> cases = field_cases(part, {});
    EXPECT_LT(cases.size(), field_cases(field_plan(false), {}).size());
    for (const FieldCase& c : cases)
        EXPECT_TRUE(c.name.starts_with("tied-rademacher-") || c.name.starts_with("float-gaussian-"))
            << c.name;
    EXPECT_EQ(field_cases(with_networks(field_plan(false), ""), {}).size(),
              field_cases(field_plan(false), {}).size());
    EXPECT_THROW(with_networks(field_plan(false), "tied"), Error);
}

TEST(FieldCases, ACaseIsAConfiguration) {
    const std::vector<FieldCase> cases = field_cases(field_plan(false), {});
    for (const FieldCase& c : cases) {
        const Config config = read_config(ConfigDocument("", c.settings));
        const SyntheticSpec& spec = config.problem.spec;
        EXPECT_EQ(spec.m, 250u);
        EXPECT_EQ(spec.n, c.n);
        EXPECT_NEAR(spec.prior.density * static_cast<double>(c.n), 50, 1e-9);
        // Published operators have columns of norm 1.
        EXPECT_EQ(to_string(spec.ensemble),
                  c.network.ensemble == "gaussian" ? "gaussian-unit" : c.network.ensemble);
        EXPECT_EQ(to_string(config.model.weights), c.network.weights);
        EXPECT_EQ(config.model.layers, c.layers);
        EXPECT_EQ(config.model.activation, Activation::piecewise);
        EXPECT_EQ(spec.snr_db.has_value(), c.noise.has_value());
        if (c.noise) {
            EXPECT_EQ(spec.snr_db->least_db, c.noise->least_db);
            EXPECT_EQ(spec.snr_db->most_db, c.noise->most_db);
        }
    }
}

TEST(FieldCases, AModelForARangeIsJudgedAtEveryRatioInIt) {
    const std::vector<FieldCase> cases = field_cases(field_plan(false), {});
    const FieldCase* range = case_named(cases, "tied-rademacher-n500-K16-10-40dB");
    ASSERT_TRUE(range);
    ASSERT_EQ(range->judged.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(range->judged[i]->least_db, 10.0 * static_cast<double>(i + 1));
    const FieldCase* none = case_named(cases, "tied-rademacher-n500-K16-no-noise");
    ASSERT_EQ(none->judged.size(), 1u);
    EXPECT_FALSE(none->judged[0]);
}

TEST(FieldCases, EveryProblemOfANetworkHasReferencesAtItsDepths) {
    for (const bool quick : {false, true}) {
        const std::vector<FieldReference> references = field_references(field_plan(quick), {});
        for (const FieldCase& c : field_cases(field_plan(quick), {}))
            for (const FieldNoise& noise : c.judged)
                EXPECT_TRUE(std::any_of(references.begin(), references.end(),
                                        [&](const FieldReference& r) {
                                            return r.ensemble == c.network.ensemble && r.n == c.n &&
                                                   noise_words(r.noise) == noise_words(noise) &&
                                                   std::find(r.iterations.begin(),
                                                             r.iterations.end(),
                                                             c.layers) != r.iterations.end();
                                        }))
                    << c.name << " at " << noise_words(noise);
    }
}

TEST(FieldCases, AnotherNoiseChangesNothingElse) {
    const std::vector<std::string> settings{"problem.m=3", "problem.snr_db=20", "model.layers=2"};
    EXPECT_EQ(with_noise(settings, std::nullopt),
              (std::vector<std::string>{"problem.m=3", "model.layers=2"}));
    EXPECT_EQ(
        with_noise(settings, SnrRange{10, 40}),
        (std::vector<std::string>{"problem.m=3", "model.layers=2", "problem.snr_db=[10, 40]"}));
}

TEST(FieldCases, SettingsThatTheBenchmarkVariesAreRefused) {
    for (const char* setting : {"model.layers=3", "model.weights=float", "problem.snr_db=20",
                                "problem.n=10", "problem={m=3}"})
        EXPECT_THROW(require_field_settings(std::vector<std::string>{setting}), Error) << setting;
    EXPECT_NO_THROW(require_field_settings(
        std::vector<std::string>{"train.batch=10", "problem.test=10", "seed=3"}));
}

TEST(FieldCases, PublishedFiguresAreOfProblemsThatTheBenchmarkHas) {
    const std::vector<FieldCase> cases = field_cases(field_plan(false), {});
    for (const PublishedFigure& figure : published_figures()) {
        EXPECT_LT(figure.source, published_sources().size());
        EXPECT_LT(figure.energy_nmse_db, -15);
        EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const FieldCase& c) {
            return c.n == figure.n && c.layers == figure.layers &&
                   noise_words(c.noise) == noise_words(figure.noise);
        })) << figure.method;
    }
}

TEST(FieldCases, AFileKeepsWhatItWasGiven) {
    const TestFolder folder;
    FieldRow row;
    row.method = "tied";
    row.ensemble = "rademacher";
    row.n = 500;
    row.layers = 16;
    row.snr_db = 20;
    row.energy_nmse_db = {-23.5, 0.25, 3};
    row.nmse_db = {-22, 0.5, 3};
    row.median_nmse_db = {-24, 0.125, 3};
    row.bits = 130664;
    row.time = {42.5, 8.25, 1000, 2};
    row.signals = 1000;
    FieldRow bound = row;
    bound.kind = FieldRow::Kind::bound;
    bound.layers = 0;
    bound.snr_db.reset();
    save_field_case(folder / "case.json", {"settings", {row, bound}, "tune 3", 1.5});
    const FieldCaseFile file = load_field_case(folder / "case.json");
    EXPECT_EQ(file.configuration, "settings");
    EXPECT_EQ(file.stages, "tune 3");
    EXPECT_EQ(file.seconds, 1.5);
    ASSERT_EQ(file.rows.size(), 2u);
    EXPECT_EQ(file.rows[0].energy_nmse_db.mean, -23.5);
    EXPECT_EQ(file.rows[0].energy_nmse_db.deviation, 0.25);
    EXPECT_EQ(file.rows[0].energy_nmse_db.count, 3u);
    EXPECT_EQ(file.rows[0].bits, 130664u);
    EXPECT_EQ(file.rows[0].time.batch_us, 8.25);
    EXPECT_EQ(file.rows[0].snr_db, 20);
    EXPECT_EQ(file.rows[1].kind, FieldRow::Kind::bound);
    EXPECT_FALSE(file.rows[1].snr_db);
    EXPECT_EQ(file.rows[1].bits, 0u);
}

}  // namespace
}  // namespace pibinn::study
