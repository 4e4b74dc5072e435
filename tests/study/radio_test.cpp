#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/contains.hpp"
#include "pibinn/error.hpp"
#include "study/comparison.hpp"
#include "study/config_document.hpp"
#include "study/problem_source.hpp"
#include "study/radio_words.hpp"

namespace pibinn::study {
namespace {

Config radio_config(std::vector<std::string> settings) {
    for (const char* size : {"problem.train=200", "problem.test=50"}) settings.push_back(size);
    return read_config(ConfigDocument("", settings));
}

Problem problem_of(const std::vector<std::string>& settings) {
    ThreadPool pool(1);
    return make_problem(radio_config(settings), pool);
}

const std::vector<std::string> kSmallBeamspace{"problem.kind=beamspace", "problem.antennas=48",
                                               "problem.measurements=24", "problem.snr_db=15"};
const std::vector<std::string> kSmallAccess{"problem.kind=access", "problem.users=40",
                                            "problem.pilots=16", "problem.activity=0.05",
                                            "problem.antennas=2"};
const std::vector<std::string> kSmallFourier{"problem.kind=fourier", "problem.m=16", "problem.n=32",
                                             "problem.nonzeros=2"};

TEST(Radio, KeysMakeTheProblemTheyName) {
    Problem p = problem_of(
        {"problem.kind=beamspace", "problem.users=3", "problem.paths=2", "problem.gains=code"});
    EXPECT_EQ(p.op.structure(), Structure::repeated(96, 256, 2));
    EXPECT_EQ(p.train.x.rows(), 600u);
    const auto& channels = std::get<BeamspacePrior>(*p.prior);
    EXPECT_EQ(channels.paths, 2u);
    EXPECT_EQ(channels.gains, PathGains::code);
    EXPECT_TRUE(p.op.is_sign());
    EXPECT_EQ(p.snr_db->least_db, 0);
    EXPECT_EQ(p.snr_db->most_db, 20);

    p = problem_of(kSmallAccess);
    EXPECT_EQ(p.op.structure(), Structure::complex(16, 40, 2));
    EXPECT_EQ(std::get<AccessPrior>(*p.prior).activity, 0.05);
    EXPECT_EQ(p.snr_db->most_db, 10);

    EXPECT_EQ(std::get<AccessPrior>(*p.prior).gains, AccessGains::paper);
    std::vector<std::string> flat = kSmallAccess;
    flat.emplace_back("problem.gains=flat");
    EXPECT_EQ(std::get<AccessPrior>(*problem_of(flat).prior).gains, AccessGains::flat);
    EXPECT_PRED2(contains, radio_words(radio_config(flat).problem), "40 users of equal amplitude");

    p = problem_of({"problem.kind=fourier"});
    EXPECT_EQ(p.op.structure(), Structure::complex(64, 256));
    EXPECT_EQ(p.snr_db->most_db, 20);
    p = problem_of({"problem.kind=fourier", "problem.noise_std=0.1", "problem.density=0.2"});
    EXPECT_FALSE(p.snr_db);
    EXPECT_EQ(p.noise_std, 0.1);
    EXPECT_EQ(std::get<SpectrumPrior>(*p.prior).density, 0.2);
    EXPECT_FALSE(problem_of({"problem.kind=beamspace", "problem.operator=gaussian"}).op.is_sign());
}

TEST(Radio, SeedsDrawOperatorsOfTheirOwn) {
    ThreadPool pool(1);
    for (const auto& settings : {kSmallBeamspace, kSmallAccess, kSmallFourier}) {
        Config config = radio_config(settings);
        const Problem first = make_problem(config, pool);
        const Operator frame = problem_without_signals(config, pool).op;
        EXPECT_TRUE(std::ranges::equal(first.op.values(), frame.values()));
        config.seed = 2;
        EXPECT_FALSE(std::ranges::equal(first.op.values(), make_problem(config, pool).op.values()));
    }
}

TEST(Radio, WhatMakesNoSenseIsRefused) {
    const auto refusal = [](const std::vector<std::string>& settings) -> std::string {
        try {
            radio_config(settings);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::usage);
            return std::string(e.message()) + "; " + std::string(e.hint());
        }
        return "nothing was refused";
    };
    const std::string beamspace = "problem.kind=beamspace", access = "problem.kind=access",
                      fourier = "problem.kind=fourier";
    const std::vector<std::pair<std::vector<std::string>, const char*>> cases{
        {{beamspace, "problem.users=0"}, "problem.users"},
        {{beamspace, "problem.antennas=0"}, "problem.antennas"},
        {{beamspace, "problem.paths=0"}, "problem.paths"},
        {{beamspace, "problem.measurements=300"}, "at most 256"},
        {{beamspace, "problem.paths=9", "problem.antennas=8", "problem.measurements=4"},
         "at most 8"},
        {{beamspace, "problem.gains=mine"}, "unknown law of gains 'mine'"},
        {{beamspace, "problem.snr_db=[20, 0]"}, "upside down"},
        {{beamspace, "problem.noise_std=0.1"}, "kind beamspace has no such key"},
        {{beamspace, "problem.m=4"}, "kind beamspace has no such key"},
        {{beamspace, "problem.density=0.1"}, "synthetic or arrays or fourier"},
        {{beamspace, "problem.operator=A.npy"}, "draws its own operator"},
        {{beamspace, "problem.gains=flat"}, "unknown law of gains 'flat'"},
        {{access, "problem.gains=code"}, "unknown law of gains 'code'"},
        {{fourier, "problem.gains=paper"}, "kind fourier has no such key"},
        {{access, "problem.pilots=600"}, "at most 512"},
        {{access, "problem.pilots=0"}, "problem.pilots"},
        {{access, "problem.activity=0"}, "problem.activity"},
        {{access, "problem.activity=1.5"}, "problem.activity"},
        {{access, "problem.paths=3"}, "kind access has no such key"},
        {{access, "problem.operator=gaussian"}, "kind access has no such key"},
        {{fourier, "problem.nonzeros=8", "problem.density=0.1"}, "both given"},
        {{fourier, "problem.nonzeros=300"}, "at most 256"},
        {{fourier, "problem.m=300"}, "at most 256"},
        {{fourier, "problem.structure=blocks"}, "kind fourier has no such key"},
        {{fourier, "problem.snr_db=20", "problem.noise_std=0.1"}, "noise_std is given too"},
        {{"problem.pilots=4"}, "set problem.kind to access"},
        {{"problem.antennas=4"}, "set problem.kind to beamspace or access"},
    };
    for (const auto& [settings, words] : cases)
        EXPECT_PRED2(contains, refusal(settings), words) << ::testing::PrintToString(settings);
}

TEST(Radio, GroupsFollowFromTheSignals) {
    EXPECT_EQ(groups_of(problem_of(kSmallBeamspace)), (Grouping{2, 1}));
    EXPECT_EQ(groups_of(problem_of(kSmallAccess)), (Grouping{2, 2}));
    EXPECT_EQ(groups_of(problem_of(kSmallFourier)), (Grouping{1, 2}));
    EXPECT_EQ(groups_of(problem_of({})), Grouping{});
}

/// The rows of all references, by their method.
std::map<std::string, ComparisonRow> references(const Problem& problem) {
    ThreadPool pool(2);
    Comparison comparison(problem, pool);
    comparison.add_references(5);
    std::map<std::string, ComparisonRow> rows;
    for (const ComparisonRow& row : comparison.rows()) rows[row.method] = row;
    EXPECT_EQ(rows.count("oracle: knows the support"),
              std::holds_alternative<BeamspacePrior>(*problem.prior) ? 0u : 1u);
    EXPECT_FALSE(comparison.own_activity());
    return rows;
}

TEST(Radio, SupportDetectionIsOfferedForChannelsAlone) {
    auto rows = references(problem_of(kSmallBeamspace));
    ASSERT_TRUE(rows.contains("support detection"));
    const ComparisonRow& own = rows["support detection"];
    EXPECT_LT(own.metrics.nmse_db, rows["OMP"].metrics.nmse_db);
    EXPECT_PRED2(contains, own.settings, "around each of 3 paths");
    // Signs of the operator, L and V.
    EXPECT_EQ(own.stored_bits, 24u * 48 + 32 + 64);
    EXPECT_FALSE(own.activity);
    EXPECT_FALSE(references(problem_of(kSmallFourier)).contains("support detection"));
}

TEST(Radio, ActivityIsToldOfAccessAlone) {
    auto rows = references(problem_of(kSmallAccess));
    const double oracle = rows["oracle: knows the support"].metrics.energy_nmse_db;
    EXPECT_LT(oracle, -8);
    for (const char* method : {"OMP", "AMP, Bernoulli-Gaussian", "FISTA, 100 iterations"}) {
        ASSERT_TRUE(rows[method].activity) << method;
        EXPECT_LT(rows[method].activity->missed, 0.2) << method;
        EXPECT_LT(rows[method].activity->false_alarms, 0.2) << method;
        EXPECT_GT(rows[method].metrics.energy_nmse_db, oracle - 0.5) << method;
    }
    EXPECT_FALSE(references(problem_of(kSmallFourier))["OMP"].activity);
}

TEST(Radio, ComplexOmpFindsSparseSpectra) {
    auto rows = references(problem_of(kSmallFourier));
    EXPECT_LT(rows["OMP"].metrics.energy_nmse_db, -20);
    EXPECT_LT(rows["oracle: knows the support"].metrics.energy_nmse_db, -25);
}

TEST(Radio, WordsSayWhatIsMeasured) {
    EXPECT_EQ(radio_words(radio_config(kSmallBeamspace).problem),
              "channels of 48 antennas in beamspace, 3 paths with gains of the paper, 24 "
              "measurements");
    EXPECT_EQ(radio_words(radio_config(kSmallAccess).problem),
              "40 users, 5 % of them active, with 16 QPSK pilots each, 2 antennas");
    EXPECT_EQ(radio_words(radio_config(kSmallFourier).problem),
              "complex spectra of 32 entries, 2 of them non-zero, through 16 rows of the Fourier "
              "transform");
}

}  // namespace
}  // namespace pibinn::study
