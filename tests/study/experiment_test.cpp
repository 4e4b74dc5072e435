#include "study/experiment.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "study/config.hpp"
#include "study/config_document.hpp"
#include "study/config_train.hpp"

namespace pibinn::study {
namespace {

const std::string kSmall = R"(
title = "T"
protocol = "P"
quantities = ["test_nmse_db"]
judged = "test_nmse_db"
[[row]]
name = "a"
published = { test_nmse_db = -3 }
[[row]]
name = "b"
needs = "gpu"
recipes = ["paper"]
)";

std::string refusal(const std::string& text) {
    try {
        read_experiment("x", text, "x.toml");
    } catch (const Error& error) {
        return error.message();
    }
    return "";
}

TEST(Experiment, AFileHasRowsWithPublishedNumbersAndNeeds) {
    const Experiment e = read_experiment("x", kSmall, "x.toml");
    ASSERT_EQ(e.rows.size(), 2u);
    EXPECT_EQ(e.row("a").published.at("test_nmse_db"), -3);
    EXPECT_EQ(e.row("a").recipes, (std::vector<std::string>{"paper", "default"}));
    EXPECT_EQ(e.row("b").need, Need::gpu);
    EXPECT_THROW(e.row("c"), Error);
}

TEST(Experiment, WhatLeadsNowhereIsRefused) {
    EXPECT_EQ(refusal(kSmall), "");
    EXPECT_EQ(refusal("titel = \"T\"\n" + kSmall), "x.toml:1: unknown key 'titel'");
    EXPECT_NE(refusal(kSmall + "[[row]]\nname = \"a\"\n"), "");
    EXPECT_NE(refusal(kSmall + "[[row]]\nname = \"c\"\nrecipes = [\"best\"]\n"), "");
    EXPECT_NE(refusal(kSmall + "[[row]]\nname = \"c\"\npublished = { nmse = 1 }\n"), "");
    EXPECT_NE(refusal(kSmall + "[[claim]]\ntext = \"t\"\nleft = \"c\"\n"
                               "quantity = \"scale\"\nvalue = 1\n"),
              "");
    EXPECT_NE(refusal(kSmall + "[[claim]]\ntext = \"t\"\nleft = \"a\"\nquantity = \"scale\"\n"),
              "");
    EXPECT_NE(refusal(kSmall + "[[figure]]\nname = \"f\"\n[[figure.series]]\nrows = [\"a\"]\n"),
              "");
}

TEST(Experiment, TheProgramCarriesEveryTableOfThePaperInItsOrder) {
    const std::vector<std::string> expected{
        "table1",     "samples",       "bits",           "layers",     "timing", "scale",
        "large",      "schemes-large", "schemes-images", "overlap",    "real",   "delta-hard",
        "delta-soft", "delta-images",  "depths",         "guarantees", "radio"};
    EXPECT_EQ(experiment_ids(), expected);
    EXPECT_THROW(load_experiment("table2"), Error);
}

TEST(Experiment, WhatIsNotInThePaperIsMadeOnlyWhereItIsNamed) {
    std::vector<std::string> extra;
    for (const std::string& id : experiment_ids())
        if (load_experiment(id).extra) extra.push_back(id);
    EXPECT_EQ(extra, (std::vector<std::string>{"guarantees", "radio"}));
}

TEST(Experiment, ARowCanTakeACarriedConfiguration) {
    const Experiment e = load_experiment("guarantees");
    const std::vector<std::string>& settings = e.row("signs-2").settings;
    for (const char* setting : {"problem.m=256", "problem.operator='rademacher'",
                                "train.recipe='guaranteed'", "train.guarantee.size=2"})
        EXPECT_NE(std::find(settings.begin(), settings.end(), setting), settings.end()) << setting;
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "there is no experiments/configs/nowhere.toml",
                        refusal(kSmall + "[[row]]\nname = \"b\"\nconfig = \"configs/nowhere\"\n"));
}

TEST(Experiment, EveryRowIsAConfigurationByEveryRecipe) {
    for (const std::string& id : experiment_ids()) {
        const Experiment e = load_experiment(id);
        EXPECT_FALSE(e.source.empty()) << id;
        for (const ExperimentRow& row : e.rows) {
            if (!row.of.empty()) continue;
            for (const std::string& recipe : row.recipes) {
                std::vector<std::string> settings = e.settings;
                const auto add = [&](const std::vector<std::string>& more) {
                    settings.insert(settings.end(), more.begin(), more.end());
                };
                add(recipe == kPaper ? e.paper_settings : e.default_settings);
                add(row.settings);
                add(recipe == kPaper ? row.paper_settings : row.default_settings);
                if (row.need == Need::images || row.need == Need::eeg)
                    settings.push_back("problem.path=x");
                const ConfigDocument document("", settings);
                Config config = read_config(document);
                // As `pibinn train` reads it, to which no stage of another network is known.
                EXPECT_EQ(read_train_config(document, config).recipe.name == "paper",
                          recipe == kPaper)
                    << id << " " << row.name;
            }
        }
    }
}

TEST(Experiment, RowsThatShareTrainingsNameRowsThatAreThere) {
    for (const std::string& id : experiment_ids()) {
        const Experiment e = load_experiment(id);
        for (const ExperimentRow& row : e.rows) {
            if (row.of.empty()) continue;
            const std::size_t slash = row.of.find('/');
            ASSERT_NE(slash, std::string::npos) << row.of;
            const Experiment other = load_experiment(row.of.substr(0, slash));
            const ExperimentRow& shared = other.row(row.of.substr(slash + 1));
            EXPECT_TRUE(shared.of.empty()) << id << " " << row.name;
            EXPECT_EQ(shared.need, row.need) << id << " " << row.name;
            for (const std::string& recipe : row.recipes)
                EXPECT_NE(std::find(shared.recipes.begin(), shared.recipes.end(), recipe),
                          shared.recipes.end())
                    << id << " " << row.name << " " << recipe;
        }
    }
}

TEST(Experiment, EveryFigureOfThePaperIsDrawn) {
    std::set<std::string> names;
    for (const std::string& id : experiment_ids())
        for (const ExperimentFigure& figure : load_experiment(id).figures) {
            EXPECT_TRUE(names.insert(figure.name).second) << figure.name;
            EXPECT_FALSE(figure.series.empty()) << figure.name;
        }
    for (const char* name : {"figure-1", "figure-2-train", "figure-2-test", "figure-3", "figure-4",
                             "figure-5-5", "figure-5-10", "figure-st-new"})
        EXPECT_TRUE(names.contains(name)) << name;
}

}  // namespace
}  // namespace pibinn::study
