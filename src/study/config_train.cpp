#include "study/config_train.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/infinity.hpp"
#include "core/names.hpp"
#include "model/weights/weight_rules.hpp"
#include "study/config_document.hpp"

namespace pibinn::study {

namespace {

using Value = ConfigValue;

constexpr std::uint64_t kMostEntry = std::numeric_limits<std::uint32_t>::max();

void set_trains(const Value& value, Stage& stage) {
    if (!value.node().is_array())
        value.fail("expected a list",
                   "write trains = [\"weights\", \"theta\", \"scale\"] or a part of it");
    stage.trains_weights = stage.trains_theta = stage.trains_scale = false;
    for (const toml::node& entry : *value.node().as_array()) {
        enum class Part { weights, theta, scale };
        static constexpr NameTable<Part, 3> names{
            {{Part::weights, "weights"}, {Part::theta, "theta"}, {Part::scale, "scale"}}};
        switch (Value(value.key(), entry).word([](std::string_view word) {
            return parse_name(names, word, "part of a network");
        })) {
            case Part::weights:
                stage.trains_weights = true;
                break;
            case Part::theta:
                stage.trains_theta = true;
                break;
            case Part::scale:
                stage.trains_scale = true;
                break;
        }
    }
}

/// Names go into history.csv and onto command lines.
void set_name(const Value& value, Stage& stage) {
    stage.name = value.text();
    const bool plain =
        !stage.name.empty() && std::all_of(stage.name.begin(), stage.name.end(), [](char c) {
            return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                   c == '_' || c == '-';
        });
    if (!plain)
        value.fail(fmt::format("'{}' is not the name of a stage", stage.name),
                   "use letters, digits, - and _");
}

std::vector<ConfigKey> stage_keys(Stage& stage) {
    return {
        {"name", "", "\"joint\"",
         "of the stage; one that the recipe has too starts from the recipe's numbers",
         [&](const Value& v) { set_name(v, stage); }},
        {"epochs", "100", "", "passes over the training set",
         [&](const Value& v) { stage.epochs = v.whole(1, 100000000); }},
        {"learning_rate", "1e-3", "", "of Adam; the recipe's follow the size of the operator",
         [&](const Value& v) {
             stage.learning_rate = v.number(0, kInfinity, true);
             stage.fit_rate = false;
         }},
        {"schedule", "\"constant\"", "",
         "\"constant\", \"step\" (times 0.9 every ten epochs) or \"cosine\" (down to 1 %)",
         [&](const Value& v) { stage.schedule = v.word(parse_schedule); }},
        {"trains", "[\"weights\", \"theta\"]", "", "any of \"weights\", \"theta\", \"scale\"",
         [&](const Value& v) { set_trains(v, stage); }},
        {"projection", "\"none\"", "",
         "\"none\" trains floats, \"lazy\" trains weights as they are stored, \"l1\" pulls "
         "floats towards their levels",
         [&](const Value& v) { stage.projection = v.word(parse_projection); }},
        {"scale", "0.0", "", "the global scale at the start of the stage; 0 keeps what it is",
         [&](const Value& v) {
             stage.scale = v.number(0, kInfinity);
             stage.fit_scale = false;
         }},
        {"clip", "0.0", "", "largest norm of a layer's gradient; 0 does not clip",
         [&](const Value& v) { stage.clip = v.number(0, kInfinity); }},
        {"l1_weight", "1.0", "", "of projection \"l1\": how hard it pulls in the end",
         [&](const Value& v) { stage.l1_weight = v.number(0, kInfinity); }},
        {"scalar_rate", "1.0", "", "rate of everything but the weights, relative to theirs",
         [&](const Value& v) { stage.scalar_rate = v.number(0, kInfinity, true); }},
        {"scalar_clip", "0.0", "",
         "largest norm of the gradient of everything but the weights; 0 does not clip",
         [&](const Value& v) { stage.scalar_clip = v.number(0, kInfinity); }},
        {"warmup", "0", "", "steps over which the rate climbs from 0",
         [&](const Value& v) { stage.warmup = v.whole(0, 1000000000); }},
        {"alpha", "0.0", "",
         "keeps the theory's alpha on the training supports at most this; 0 does not",
         [&](const Value& v) { stage.alpha = v.number(0, kInfinity); }},
        {"alpha_weight", "1.0", "", "of that penalty, against the loss",
         [&](const Value& v) { stage.alpha_weight = v.number(0, kInfinity); }},
        {"guarantee", "false", "",
         "starts from weights made for the class of [train.guarantee] and keeps errors on it "
         "proven",
         [&](const Value& v) { stage.guarantee = v.flag(); }},
        {"momentum", "0.9", "", "Adam's averaging of the weights' gradient",
         [&](const Value& v) { stage.momentum = v.number(0, 0.9999); }},
        {"average", "0.0", "",
         "ends with a running mean of the weights, each step counting 1 - average; 0 with the last",
         [&](const Value& v) { stage.average = v.number(0, 0.99999); }},
        {"batch", "0", "", "of this stage; 0 is that of the recipe",
         [&](const Value& v) { stage.batch = v.whole(0); }},
    };
}

void read_stage(const std::string& prefix, const toml::table& table, Stage& stage) {
    read_table(prefix, table, stage_keys(stage));
}

void set_augment(const Value& value, const ProblemConfig& problem, Recipe& recipe) {
    recipe.augment = value.word([&](std::string_view word) {
        const Augment augment = parse_augment(word);
        try {
            require_augment(augment, traits_of(problem));
        } catch (const Error& error) {
            const std::string where =
                problem.y_file.empty() ? "" : fmt::format(" by '{}'", problem.y_file);
            fail_usage(error.message() + where, error.hint());
        }
        return augment;
    });
}

Stage* find_stage(std::vector<Stage>& stages, std::string_view name) {
    for (Stage& stage : stages)
        if (stage.name == name) return &stage;
    return nullptr;
}

/// [[train.stage]]: the whole list.
std::vector<Stage> list_stages(const Value& value, std::vector<Stage> recipe) {
    std::vector<Stage> stages;
    for (const toml::node& entry : *value.node().as_array()) {
        if (!entry.is_table())
            value.fail("expected tables", "write [[train.stage]] before each stage");
        const toml::table& table = *entry.as_table();
        Stage stage;
        if (const auto name = table["name"].value<std::string>())
            if (const Stage* known = find_stage(recipe, *name)) stage = *known;
        read_stage("train.stage", table, stage);
        if (find_stage(stages, stage.name))
            Value("train.stage", entry)
                .fail(fmt::format("a second stage '{}'", stage.name),
                      "give each stage a name of its own");
        stages.push_back(stage);
    }
    return stages;
}

/// The stages that a recipe has for other kinds of weights than this network's.
std::vector<Stage> stages_elsewhere(std::string_view recipe, NetworkSpec spec) {
    std::vector<Stage> stages;
    for (const WeightKind kind : weight_kinds()) {
        spec.weights = kind;
        for (const Stage& stage : named_recipe(recipe, spec).stages) stages.push_back(stage);
    }
    return stages;
}

/// train.stage.NAME.KEY: one number of one stage. A stage that only stands `elsewhere` is read, so
/// that mistakes in it are found, and left.
void change_stages(const Value& value, std::vector<Stage>& stages, std::vector<Stage> elsewhere) {
    for (const auto& [name, node] : *value.node().as_table()) {
        Stage* stage = find_stage(stages, name.str());
        if (!stage) stage = find_stage(elsewhere, name.str());
        if (!stage) {
            std::vector<std::string_view> names;
            for (const Stage& s : stages) names.push_back(s.name);
            for (const Stage& s : elsewhere)
                if (std::find(names.begin(), names.end(), s.name) == names.end())
                    names.push_back(s.name);
            value.fail(fmt::format("there is no stage '{}'", name.str()),
                       hint_for_unknown(name.str(), names));
        }
        const std::string prefix = fmt::format("train.stage.{}", name.str());
        if (!node.is_table())
            Value(prefix, node)
                .fail("this is a stage, not a value", "write " + prefix + ".KEY = VALUE");
        read_stage(prefix, *node.as_table(), *stage);
    }
}

/// The keys of [train] but for the recipe, which is read first, and the stages.
std::vector<ConfigKey> train_keys(TrainConfig& config, const ProblemConfig& problem) {
    Recipe& recipe = config.recipe;
    return {
        {"seeds", "1", "", "trainings of seed, seed + 1, ..., side by side",
         [&](const Value& v) { config.seeds = v.whole(1, 10000); }},
        {"batch", "", "250",
         "signals per step; by default 250, or an eighth of a training set of fewer than 2000 but "
         "at least 25; shared out over the blocks of \"repeated\"",
         [&](const Value& v) { recipe.batch = v.whole(1); }},
        {"loss", "\"squared\"", "",
         "\"squared\", \"norm\", \"nmse\" (each signal relative to its energy), \"energy\" (a "
         "batch relative to its energy), \"log\" (the logarithm of that) or \"log-norm\" (of "
         "the errors' norms to the power of 1.4); by default \"log\" for learned shrinks and tied "
         "weights, "
         "\"log-norm\" where problem.snr_db is a range",
         [&](const Value& v) { recipe.loss = v.word(parse_loss); }},
        {"augment", "", "\"roll\"",
         "new signals every epoch: \"none\", \"signs\", \"roll\" (signs and shifts), "
         "\"noise\", \"shift\" (in time), \"flip\", \"mix\", \"negate\", \"fresh\" (from the prior "
         "of "
         "a synthetic problem); by default what the problem and its signals allow",
         [&](const Value& v) {
             set_augment(v, problem, recipe);
             config.own_augment = true;
         }},
        {"validation", "0.0", "",
         "share of the training set kept back; each stage ends with the epoch best on it; 0.1 for "
         "20 or more signals of arrays",
         [&](const Value& v) {
             recipe.validation = v.number(0, 0.5);
             config.own_validation = true;
         }},
        {"start", "", "\"amp\"",
         "the solver to start from: \"ista\" or \"amp\"; by default \"amp\" for tied weights and "
         "learned shrinks",
         [&](const Value& v) { recipe.start = v.word(parse_start); }},
        {"theta", "0.1", "", "thresholds at the start of \"ista\"",
         [&](const Value& v) { recipe.theta = v.number(0, kInfinity); }},
        {"ramp", "0.0", "",
         "0.25: hard thresholds learn too, starting as soft ones; at 0 they stay as they are",
         [&](const Value& v) { recipe.ramp = v.number(0, 1); }},
        {"checkpoint_seconds", "2.0", "", "between two checkpoints; 0 writes one after every epoch",
         [&](const Value& v) { config.checkpoint_seconds = v.number(0, kInfinity); }},
        {"stage", "", "", "", [](const Value&) {}},
        {"guarantee", "", "", "", [](const Value&) {}},
    };
}

/// [train.guarantee]: the signals that a stage with `guarantee` is about.
std::vector<ConfigKey> guarantee_keys(SignalClass& signals) {
    return {
        {"supports", "", "[[3, 12, 25]]",
         "lists of entries, from 0 on: every signal that is zero outside one of them; by default "
         "problem.support",
         [&](const Value& v) {
             signals.supports.clear();
             for (const auto& list : v.lists(0, kMostEntry))
                 signals.supports.emplace_back(list.begin(), list.end());
             if (signals.supports.empty())
                 v.fail("no support", "list at least one, such as [[3, 12, 25]]");
         }},
        {"size", "", "2",
         "every signal of up to this many nonzeros (in each block); by default the most that can "
         "be proven",
         [&](const Value& v) { signals.size = v.whole(1, kMostEntry); }},
        {"norm", "", "1.0",
         "the longest signal; by default sqrt(size) + 3 times the usual size of an entry",
         [&](const Value& v) { signals.norm = v.number(0, kInfinity, true); }},
        {"noise", "", "0.1", "the longest noise; by default problem.noise_std times sqrt(m) + 3",
         [&](const Value& v) { signals.noise = v.number(0, kInfinity); }},
    };
}

ConfigKey recipe_key(std::function<void(const Value&)> set) {
    return {"recipe", "\"default\"", "",
            "\"default\" (the best we know), \"guaranteed\" (errors are proven) or \"paper\" (as "
            "published); the last two are of the plain update",
            std::move(set)};
}

}  // namespace

TrainConfig read_train_config(const ConfigDocument& document, Config& whole, bool share) {
    NetworkSpec& spec = whole.model;
    TrainConfig config;
    std::string name = "default";
    // All keys of [train] are read twice, since the other keys change what the recipe says.
    const auto read = [&](ConfigKey first, bool rest) {
        std::vector<ConfigKey> keys = train_keys(config, whole.problem);
        if (!rest)
            for (ConfigKey& key : keys) key.set = [](const Value&) {};
        keys.insert(keys.begin(), std::move(first));
        document.read("train", keys);
    };
    read(recipe_key([&](const Value& v) {
             name = v.text();
             spec = network_for(name, spec);
             config.recipe =
                 v.word([&](std::string_view word) { return named_recipe(word, spec); });
         }),
         false);
    config.recipe = recipe_for(traits_of(whole.problem), spec, name);
    if (whole.own_polish) config.recipe.choose_polish = false;
    read(recipe_key([](const Value&) {}), true);
    document.read_each("train", "guarantee", [&](const Value& v) {
        if (!v.node().is_table())
            v.fail("expected a class of signals",
                   "write [train.guarantee] and its keys below, and guarantee = true in a stage");
        read_table("train.guarantee", *v.node().as_table(),
                   guarantee_keys(config.recipe.guarantee));
    });
    document.read_each("train", "stage", [&](const Value& v) {
        if (v.node().is_array())
            config.recipe.stages = list_stages(v, config.recipe.stages);
        else if (v.node().is_table())
            change_stages(v, config.recipe.stages,
                          share ? stages_elsewhere(name, spec) : std::vector<Stage>{});
        else
            v.fail("expected stages", "write [[train.stage]] and its keys below");
    });
    if (share && !rules_of(spec.weights).has_global_scale())
        for (Stage& stage : config.recipe.stages) {
            stage.scale = 0;
            stage.trains_scale = false;
        }
    config.recipe.validate(spec);
    return config;
}

Recipe fitted_recipe(const TrainConfig& config, const NetworkSpec& spec, const Problem& problem) {
    Recipe recipe = config.recipe;
    const Recipe usual = recipe_for(problem, spec, recipe.name);
    if (!config.own_augment) recipe.augment = usual.augment;
    if (!config.own_validation) recipe.validation = usual.validation;
    return recipe;
}

void visit_train_keys(const std::function<void(std::string_view, const ConfigKey&)>& visit) {
    TrainConfig config;
    const ProblemConfig problem;
    Stage stage;
    visit("train", recipe_key([](const Value&) {}));
    for (const ConfigKey& key : train_keys(config, problem))
        if (key.name != "stage" && key.name != "guarantee") visit("train", key);
    for (const ConfigKey& key : guarantee_keys(config.recipe.guarantee))
        visit("train.guarantee", key);
    for (const ConfigKey& key : stage_keys(stage)) visit("train.stage", key);
}

}  // namespace pibinn::study
