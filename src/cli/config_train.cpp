#include "cli/config_train.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/names.hpp"

namespace pibinn::cli {

namespace {

using Value = ConfigValue;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

void read_stage(const std::string& prefix, const toml::table& table, Stage& stage) {
    const std::array keys{
        ConfigKey{"name", [&](const Value& v) { set_name(v, stage); }},
        ConfigKey{"epochs", [&](const Value& v) { stage.epochs = v.whole(1, 100000000); }},
        ConfigKey{"learning_rate",
                  [&](const Value& v) {
                      stage.learning_rate = v.number(0, kInfinity, true);
                      stage.fit_rate = false;
                  }},
        ConfigKey{"schedule", [&](const Value& v) { stage.schedule = v.word(parse_schedule); }},
        ConfigKey{"trains", [&](const Value& v) { set_trains(v, stage); }},
        ConfigKey{"projection",
                  [&](const Value& v) { stage.projection = v.word(parse_projection); }},
        ConfigKey{"scale",
                  [&](const Value& v) {
                      stage.scale = v.number(0, kInfinity);
                      stage.fit_scale = false;
                  }},
        ConfigKey{"clip", [&](const Value& v) { stage.clip = v.number(0, kInfinity); }},
        ConfigKey{"l1_weight", [&](const Value& v) { stage.l1_weight = v.number(0, kInfinity); }},
        ConfigKey{"scalar_rate",
                  [&](const Value& v) { stage.scalar_rate = v.number(0, kInfinity, true); }},
        ConfigKey{"alpha", [&](const Value& v) { stage.alpha = v.number(0, kInfinity); }},
        ConfigKey{"alpha_weight",
                  [&](const Value& v) { stage.alpha_weight = v.number(0, kInfinity); }},
        ConfigKey{"momentum", [&](const Value& v) { stage.momentum = v.number(0, 0.9999); }},
        ConfigKey{"average", [&](const Value& v) { stage.average = v.number(0, 0.99999); }},
        ConfigKey{"batch", [&](const Value& v) { stage.batch = v.whole(0); }},
    };
    read_table(prefix, table, keys);
}

/// Whether there is something to draw anew every epoch.
bool has_disturbance(const ProblemConfig& problem) {
    if (problem.kind == ProblemKind::images || problem.kind == ProblemKind::signals)
        return *problem.real.noise_std > 0 || problem.real.artefact != "none";
    return problem.spec.noise_std > 0;
}

/// What a problem allows of the augment a recipe has by default. Signals on a fixed support cannot
/// be shifted, nobody knows what changes given signals keep their nature, and given measurements
/// belong to the signals as they are.
Augment allowed_augment(Augment augment, const ProblemConfig& problem) {
    if (augment == Augment::none) return augment;
    if (problem.kind == ProblemKind::images || problem.kind == ProblemKind::signals)
        return has_disturbance(problem) ? Augment::noise : Augment::none;
    if (problem.kind == ProblemKind::arrays)
        return problem.y_file.empty() && has_disturbance(problem) ? Augment::noise : Augment::none;
    if (augment == Augment::roll && !problem.spec.prior.support.empty()) return Augment::signs;
    return augment;
}

/// Coefficients of real signals are not sparse, so that no threshold holds back a step that is
/// longer than the operator allows: training starts with the scale of the untrained weights,
/// whatever the recipe found best for sparse signals. 8 x 8 patches at 25 % diverge in the first
/// epoch otherwise, at 50 and 75 % their energy nmse ends 0.3 and 0.1 dB higher.
void fit_to_real_signals(Recipe& recipe, const ProblemConfig& problem) {
    if (problem.kind != ProblemKind::images && problem.kind != ProblemKind::signals) return;
    for (Stage& stage : recipe.stages)
        if (stage.fit_scale) stage.scale = 0;
}

void set_augment(const Value& value, const ProblemConfig& problem, Recipe& recipe) {
    recipe.augment = value.word(parse_augment);
    if (recipe.augment != Augment::none && !problem.y_file.empty())
        value.fail(fmt::format("it would measure signals anew, and '{}' gives their measurements",
                               problem.y_file),
                   "use augment \"none\", or leave the measurements out");
    const bool disturbed = has_disturbance(problem);
    if (recipe.augment == Augment::noise && !disturbed)
        value.fail("the problem has neither noise nor artefacts to draw anew",
                   "use augment \"none\", or set problem.noise_std");
    if (recipe.augment == Augment::shift && problem.kind == ProblemKind::images)
        value.fail("a patch shifted around its edges is no patch of a picture",
                   "use augment \"flip\", \"noise\" or \"none\"");
    const bool changes_signals =
        recipe.augment == Augment::roll || recipe.augment == Augment::signs;
    const bool in_basis =
        problem.kind != ProblemKind::synthetic && problem.real.basis != "identity";
    if (changes_signals && in_basis)
        value.fail(fmt::format("shifts and signs of coefficients make no signals: the basis is {}",
                               problem.real.basis),
                   disturbed ? "use augment \"noise\" or \"none\"" : "use augment \"none\"");
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
    for (const WeightKind kind : {WeightKind::real, WeightKind::one_bit}) {
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

}  // namespace

TrainConfig read_train_config(const ConfigDocument& document, Config& whole, bool share) {
    NetworkSpec& spec = whole.model;
    TrainConfig config;
    std::string name = "default";
    const auto skip = [](const Value&) {};
    const auto read = [&](auto&& on_recipe, auto&& on_rest) {
        const std::array keys{
            ConfigKey{"recipe", on_recipe},
            ConfigKey{"seeds", on_rest([&](const Value& v) { config.seeds = v.whole(1, 10000); })},
            ConfigKey{"batch", on_rest([&](const Value& v) {
                          config.recipe.batch = v.whole(1);
                          config.own_batch = true;
                      })},
            ConfigKey{"loss",
                      on_rest([&](const Value& v) { config.recipe.loss = v.word(parse_loss); })},
            ConfigKey{"augment", on_rest([&](const Value& v) {
                          set_augment(v, whole.problem, config.recipe);
                      })},
            ConfigKey{"validation", on_rest([&](const Value& v) {
                          config.recipe.validation = v.number(0, 0.5);
                      })},
            ConfigKey{"theta", on_rest([&](const Value& v) {
                          config.recipe.theta = v.number(0, kInfinity);
                      })},
            ConfigKey{"ramp",
                      on_rest([&](const Value& v) { config.recipe.ramp = v.number(0, 1); })},
            ConfigKey{"checkpoint_seconds", on_rest([&](const Value& v) {
                          config.checkpoint_seconds = v.number(0, kInfinity);
                      })},
            ConfigKey{"stage", skip},
        };
        document.read("train", keys);
    };
    using Setter = std::function<void(const Value&)>;
    read(Setter([&](const Value& v) {
             name = v.text();
             if (name == "paper") spec.update = Update::plain();
             config.recipe =
                 v.word([&](std::string_view word) { return named_recipe(word, spec); });
         }),
         [&](Setter) { return Setter(skip); });
    config.recipe = named_recipe(name, spec);
    config.recipe.augment = allowed_augment(config.recipe.augment, whole.problem);
    fit_to_real_signals(config.recipe, whole.problem);
    read(Setter(skip), [](Setter setter) { return setter; });
    document.read_each("train", "stage", [&](const Value& v) {
        if (v.node().is_array())
            config.recipe.stages = list_stages(v, config.recipe.stages);
        else if (v.node().is_table())
            change_stages(v, config.recipe.stages,
                          share ? stages_elsewhere(name, spec) : std::vector<Stage>{});
        else
            v.fail("expected stages", "write [[train.stage]] and its keys below");
    });
    if (share && spec.weights != WeightKind::one_bit)
        for (Stage& stage : config.recipe.stages) {
            stage.scale = 0;
            stage.trains_scale = false;
        }
    config.recipe.validate(spec);
    return config;
}

}  // namespace pibinn::cli
