#include "pibinn/recipe.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "algebra/activate.hpp"
#include "core/names.hpp"
#include "model/weights/weight_rules.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr NameTable<Schedule, 3> kSchedules{
    {{Schedule::constant, "constant"}, {Schedule::step, "step"}, {Schedule::cosine, "cosine"}}};
constexpr NameTable<Projection, 3> kProjections{
    {{Projection::none, "none"}, {Projection::lazy, "lazy"}, {Projection::l1, "l1"}}};
constexpr NameTable<Augment, 9> kAugments{{{Augment::none, "none"},
                                           {Augment::signs, "signs"},
                                           {Augment::roll, "roll"},
                                           {Augment::noise, "noise"},
                                           {Augment::shift, "shift"},
                                           {Augment::flip, "flip"},
                                           {Augment::mix, "mix"},
                                           {Augment::negate, "negate"},
                                           {Augment::fresh, "fresh"}}};
constexpr NameTable<LossKind, 6> kLosses{{{LossKind::squared, "squared"},
                                          {LossKind::norm, "norm"},
                                          {LossKind::nmse, "nmse"},
                                          {LossKind::energy, "energy"},
                                          {LossKind::log, "log"},
                                          {LossKind::log_norm, "log-norm"}}};
constexpr NameTable<Start, 2> kStartNames{{{Start::ista, "ista"}, {Start::amp, "amp"}}};

// lambda_0 of the paper's stage 1.
constexpr double kPaperScale = 0.02;

Stage pretrain(std::size_t epochs) {
    Stage stage;
    stage.name = "pretrain";
    stage.epochs = epochs;
    return stage;
}

/// The paper gives rates and schedules but not how many epochs. 100 of float reach its 5-layer
/// figure; for one bit 300 in all, most of them for stage 2, where lambda has to travel from 0.02
/// to about 0.1 at a rate of 1e-3.
Recipe paper_recipe(const NetworkSpec& spec) {
    Recipe recipe;
    recipe.name = "paper";
    recipe.stages = {pretrain(!rules_of(spec.weights).quantised() ? 100 : 80)};
    recipe.stages[0].trains_weights = !spec.tied();
    if (!rules_of(spec.weights).quantised()) return recipe;

    Stage stage1;
    stage1.name = "stage1";
    stage1.epochs = 40;
    stage1.schedule = Schedule::step;
    stage1.projection = Projection::lazy;
    Stage stage2;
    stage2.name = "stage2";
    stage2.epochs = 180;
    stage2.projection = Projection::lazy;
    stage2.trains_weights = false;
    if (rules_of(spec.weights).has_global_scale()) {
        stage1.scale = kPaperScale;
        stage2.trains_scale = true;
    }
    recipe.stages.push_back(stage1);
    recipe.stages.push_back(stage2);
    return recipe;
}

/// Signs, thresholds and scale together. What is best differs with depth (docs/results.md): five
/// layers want few flips and fast scalars, deeper networks must be let to reorder their signs. Of
/// these a fifth flips to and fro until the end, so the stage ends with the mean of its weights.
Stage joint_stage(const NetworkSpec& spec) {
    const bool plain = spec.update.is_plain();
    const bool deep = spec.layers > 15;
    Stage joint;
    joint.name = "joint";
    joint.projection = Projection::lazy;
    joint.schedule = Schedule::cosine;
    joint.momentum = 0.99;
    if (spec.layers <= 7) {
        joint.epochs = 400;
        // Soft thresholds with steps: five layers end 3 dB lower than at 3e-5 on drawn problems, 1
        // to 9 dB on arrays of few signals, where that left them worse than zero.
        joint.learning_rate = spec.update.step && !spec.has_gains() ? 3e-4 : 3e-5;
        joint.scalar_rate = 40;
        joint.average = 0.99;
        joint.scale = plain ? 0.15 : 0.12;
    } else {
        joint.epochs = !plain ? 300 : deep ? 600 : 400;
        joint.learning_rate = plain ? 2e-4 : 3e-4;
        joint.scalar_rate = 5;
        joint.average = plain ? 0.997 : 0.99;
        joint.clip = 0.3;
        joint.scale = plain ? (deep ? 0.14 : 0.145) : (deep ? 0.07 : 0.09);
    }
    joint.trains_scale = rules_of(spec.weights).has_global_scale();
    if (!joint.trains_scale) joint.scale = 0;
    return joint;
}

/// Trained bits with a learned shrink, from AMP: the scale starts where <W_j, A_j> = 1 for the
/// signs of A, and signs flip from the first epochs on. What float training finds is lost with the
/// signs, a mean of the weights gains nothing and a low rate loses decibels ("Tried with noise" in
/// docs/results.md). Five layers are better off as joint_stage has them.
std::vector<Stage> shrink_stages(const NetworkSpec& spec) {
    Stage warm = pretrain(10);
    warm.clip = 0.3;
    warm.scalar_rate = 5;
    Stage joint;
    joint.name = "joint";
    joint.epochs = 280;
    joint.projection = Projection::lazy;
    joint.schedule = Schedule::cosine;
    joint.learning_rate = 1e-3;
    joint.scalar_rate = 5;
    joint.clip = 0.3;
    joint.warmup = 100;
    joint.trains_scale = rules_of(spec.weights).has_global_scale();
    if (joint.trains_scale) joint.scale = std::sqrt(std::numbers::pi / (2 * 50));
    Stage stage2;
    stage2.name = "stage2";
    stage2.epochs = 20;
    stage2.projection = Projection::lazy;
    stage2.schedule = Schedule::cosine;
    stage2.learning_rate = 5e-3;
    stage2.trains_weights = false;
    stage2.trains_scale = joint.trains_scale;
    return {warm, joint, stage2};
}

/// A tied network learns a few numbers per layer and no weights.
Stage tune_stage() {
    Stage tune;
    tune.name = "tune";
    tune.epochs = 300;  // recipe_for takes fewer where noise ends the learning early
    tune.learning_rate = 5e-3;
    tune.schedule = Schedule::cosine;
    tune.trains_weights = false;
    tune.scalar_clip = 20;
    tune.warmup = 100;
    return tune;
}

Recipe default_recipe(const NetworkSpec& spec) {
    Recipe recipe;
    recipe.name = "default";
    recipe.augment = Augment::fresh;
    if (spec.update.residual_threshold && spec.update.onsager && (spec.tied() || spec.has_gains()))
        recipe.start = Start::amp;
    // Errors of networks with a learned shrink fall by many orders of magnitude while they train.
    if (recipe.start == Start::amp) recipe.loss = LossKind::log;
    // Networks that the theory covers stay what a certificate speaks of.
    recipe.choose_polish = spec.polish == 0 && spec.architecture == Architecture::unrolled &&
                           spec.has_support() &&
                           rules_of(spec.activation).bound == ContractionBound::none;
    if (spec.tied()) {
        recipe.stages = {tune_stage()};
        return recipe;
    }
    if (recipe.start == Start::amp && rules_of(spec.weights).quantised() && spec.layers > 7) {
        recipe.stages = shrink_stages(spec);
        for (Stage& stage : recipe.stages) stage.fit_scale = stage.fit_rate = true;
        return recipe;
    }
    Stage warm = pretrain(120);
    warm.clip = 0.3;
    if (!spec.update.is_plain()) warm.scalar_rate = 5;
    if (!rules_of(spec.weights).quantised()) {
        warm.epochs = 600;
        warm.schedule = Schedule::cosine;
        warm.fit_rate = true;
        recipe.stages = {warm};
        return recipe;
    }
    Stage stage2;
    stage2.name = "stage2";
    stage2.epochs = 100;
    stage2.projection = Projection::lazy;
    stage2.trains_weights = false;
    stage2.trains_scale = rules_of(spec.weights).has_global_scale();
    recipe.stages = {warm, joint_stage(spec), stage2};
    for (Stage& stage : recipe.stages) stage.fit_scale = stage.fit_rate = true;
    return recipe;
}

/// The network is made for its class of signals; what a few epochs gain beside that is small.
Recipe guaranteed_recipe(const NetworkSpec& spec) {
    Recipe recipe;
    recipe.name = "guaranteed";
    recipe.augment = Augment::fresh;
    Stage stage;
    stage.name = "guarantee";
    stage.epochs = 3;
    stage.learning_rate = 1e-4;
    stage.guarantee = true;
    stage.trains_weights = !spec.tied();
    if (rules_of(spec.weights).quantised()) stage.projection = Projection::lazy;
    stage.trains_scale = rules_of(spec.weights).has_global_scale();
    recipe.stages = {stage};
    return recipe;
}

void validate_stage(const Stage& stage, const NetworkSpec& spec) {
    const auto refuse = [&](const std::string& what, const std::string& hint) {
        fail_usage(fmt::format("stage '{}': {}", stage.name, what), hint);
    };
    if (stage.epochs == 0) refuse("0 epochs", "give at least one epoch, or leave the stage out");
    if (!(stage.learning_rate > 0) || !std::isfinite(stage.learning_rate))
        refuse(fmt::format("learning rate {} is not positive", stage.learning_rate),
               "1e-3 is what the paper uses");
    if (!(stage.clip >= 0))
        refuse(fmt::format("clip {} is negative", stage.clip), "0 switches clipping off");
    if (!(stage.scale >= 0))
        refuse(fmt::format("scale {} is negative", stage.scale), "0 keeps the scale as it is");
    if (!(stage.l1_weight >= 0))
        refuse(fmt::format("l1_weight {} is negative", stage.l1_weight), "1 is the default");
    if (!(stage.scalar_rate > 0))
        refuse(fmt::format("scalar_rate {} is not positive", stage.scalar_rate),
               "1 is the default");
    if (!(stage.momentum >= 0 && stage.momentum < 1))
        refuse(fmt::format("momentum {} is not in [0, 1)", stage.momentum), "0.9 is Adam's usual");
    if (!(stage.average >= 0 && stage.average < 1))
        refuse(fmt::format("average {} is not in [0, 1)", stage.average),
               "0.99 averages over about 100 steps, 0 not at all");
    if (!(stage.alpha >= 0 && stage.alpha < 1))
        refuse(fmt::format("alpha {} is not in [0, 1)", stage.alpha),
               "a target such as 0.95 keeps alpha below 1, 0 does not keep it");
    if (!(stage.alpha_weight >= 0))
        refuse(fmt::format("alpha_weight {} is negative", stage.alpha_weight), "1 is the default");
    if (!(stage.scalar_clip >= 0))
        refuse(fmt::format("scalar_clip {} is negative", stage.scalar_clip),
               "0 switches clipping off");
    if (stage.guarantee && stage.alpha > 0)
        refuse("a guarantee needs no alpha", "remove the key 'alpha'");
    if (stage.guarantee && spec.polish > 0)
        refuse("no proof covers polish", "set NetworkSpec::polish = 0");
    if (stage.trains_weights && spec.tied())
        refuse("tied weights are the operator, and nothing to train",
               "remove \"weights\" from trains");
    if (!stage.trains_weights && !stage.trains_theta && !stage.trains_scale)
        refuse("trains nothing", "list \"weights\", \"theta\" or \"scale\" in trains");
    if (stage.trains_scale && !rules_of(spec.weights).has_global_scale())
        refuse(fmt::format("weights '{}' have no global scale to train", to_string(spec.weights)),
               "remove \"scale\" from trains, or use weights = \"one-bit\"");
    if (stage.scale > 0 && !rules_of(spec.weights).has_global_scale())
        refuse(fmt::format("weights '{}' have no global scale to set", to_string(spec.weights)),
               "remove the key 'scale', or use weights = \"one-bit\"");
    if (stage.projection == Projection::l1 && !rules_of(spec.weights).has_global_scale())
        refuse(fmt::format("projection 'l1' needs the two levels of weights 'one-bit', not '{}'",
                           to_string(spec.weights)),
               "use projection \"lazy\"");
    if (stage.projection != Projection::none && !rules_of(spec.weights).quantised())
        refuse("weights 'float' are never projected", "use projection \"none\"");
    if (stage.trains_scale && stage.projection == Projection::none)
        refuse("a float stage does not use the scale it is to train", "use projection \"lazy\"");
}

}  // namespace

std::string_view to_string(Schedule v) { return name_of(kSchedules, v); }
std::string_view to_string(Projection v) { return name_of(kProjections, v); }
std::string_view to_string(Augment v) { return name_of(kAugments, v); }
std::string_view to_string(LossKind v) { return name_of(kLosses, v); }
std::string_view to_string(Start v) { return name_of(kStartNames, v); }
Schedule parse_schedule(std::string_view n) { return parse_name(kSchedules, n, "schedule"); }
Projection parse_projection(std::string_view n) {
    return parse_name(kProjections, n, "projection");
}
Augment parse_augment(std::string_view n) { return parse_name(kAugments, n, "augment"); }
LossKind parse_loss(std::string_view n) { return parse_name(kLosses, n, "loss"); }
Start parse_start(std::string_view n) { return parse_name(kStartNames, n, "start"); }

std::size_t Recipe::epochs() const {
    std::size_t sum = 0;
    for (const Stage& stage : stages) sum += stage.epochs;
    return sum;
}

void Recipe::validate(const NetworkSpec& spec) const {
    if (stages.empty())
        fail_usage("the recipe has no stages", "give at least one in Recipe::stages");
    if (!(theta >= 0)) fail_usage(fmt::format("theta {} is negative", theta), "0.1 is the default");
    if (start == Start::amp && spec.architecture == Architecture::fcn)
        fail_usage("a fully connected network is no unrolled AMP",
                   "set Recipe::start = Start::ista");
    if (!(validation >= 0 && validation <= 0.5))
        fail_usage(fmt::format("Recipe::validation {} is not in [0, 0.5]", validation),
                   "0.1 keeps a tenth of the training set to choose the best epoch by");
    if (!(ramp >= 0 && ramp <= 1))
        fail_usage(fmt::format("Recipe::ramp {} is not in [0, 1]", ramp),
                   "0.25 lets hard thresholds learn, 0 does not");
    if (ramp > 0 && spec.architecture == Architecture::fcn &&
        rules_of(spec.activation).learning == ThresholdLearning::by_ramp)
        fail_usage("a fully connected network has no ramp for its thresholds to learn by",
                   "set Recipe::ramp = 0, or NetworkSpec::architecture = Architecture::unrolled");
    bool projected = false, guaranteed = false;
    for (const Stage& stage : stages) {
        validate_stage(stage, spec);
        if (guaranteed && !stage.guarantee)
            fail_usage(fmt::format("stage '{}' would break the guarantee of the stage before it",
                                   stage.name),
                       "set Stage::guarantee in it too, or put it first");
        guaranteed |= stage.guarantee;
        if (projected && stage.projection == Projection::none)
            fail_usage(
                fmt::format("stage '{}' trains float weights after a stage that quantised them",
                            stage.name),
                "put float stages (projection \"none\") first");
        projected |= stage.projection != Projection::none;
    }
    if (!guaranteed && guarantee != SignalClass{})
        fail_usage("a class of signals is given, and no stage keeps a guarantee for it",
                   "use the recipe \"guaranteed\", or set Stage::guarantee");
    if (rules_of(spec.weights).quantised() && stages.back().projection != Projection::lazy)
        fail_usage(fmt::format("the last stage '{}' does not train '{}' weights as they are stored",
                               stages.back().name, to_string(spec.weights)),
                   "end with a stage of projection \"lazy\"");
}

Recipe named_recipe(std::string_view name, const NetworkSpec& spec) {
    static constexpr std::array<std::string_view, 3> names{"default", "guaranteed", "paper"};
    if (name == "paper") return paper_recipe(spec);
    if (name == "default") return default_recipe(spec);
    if (name == "guaranteed") return guaranteed_recipe(spec);
    fail_usage(fmt::format("unknown recipe '{}'", name), hint_for_unknown(name, names));
}

}  // namespace pibinn
