#include "train/checkpoint.hpp"

#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/file.hpp"
#include "core/path.hpp"
#include "data/json_fields.hpp"
#include "data/safetensors.hpp"
#include "model/spec_json.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

using nlohmann::json;

constexpr std::size_t kRecordNumbers = 5;
// What stands for a count that is missing or no whole number: nothing fits together with it.
constexpr std::size_t kNotWhole = std::numeric_limits<std::size_t>::max();

json stage_json(const Stage& s) {
    return {{"name", s.name},
            {"epochs", s.epochs},
            {"learning_rate", s.learning_rate},
            {"schedule", to_string(s.schedule)},
            {"trains_weights", s.trains_weights},
            {"trains_theta", s.trains_theta},
            {"trains_scale", s.trains_scale},
            {"projection", to_string(s.projection)},
            {"scale", s.scale},
            {"clip", s.clip},
            {"l1_weight", s.l1_weight},
            {"momentum", s.momentum},
            {"average", s.average},
            {"batch", s.batch},
            {"scalar_rate", s.scalar_rate},
            {"scalar_clip", s.scalar_clip},
            {"warmup", s.warmup},
            {"alpha", s.alpha},
            {"alpha_weight", s.alpha_weight},
            {"guarantee", s.guarantee}};
}

json recipe_json(const NetworkSpec& spec, const Recipe& recipe) {
    json stages = json::array();
    for (const Stage& stage : recipe.stages) stages.push_back(stage_json(stage));
    return {{"network", to_json(spec)},
            {"recipe", recipe.name},
            {"stages", stages},
            {"loss", to_string(recipe.loss)},
            {"augment", to_string(recipe.augment)},
            {"batch", recipe.batch},
            {"start", to_string(recipe.start)},
            {"choose_polish", recipe.choose_polish},
            {"theta", recipe.theta},
            {"ramp", recipe.ramp},
            {"validation", recipe.validation},
            {"guarantee",
             {{"supports", recipe.guarantee.supports},
              {"size", recipe.guarantee.size},
              {"norm", recipe.guarantee.norm},
              {"noise", recipe.guarantee.noise}}}};
}

std::size_t whole(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_unsigned() ? found->get<std::size_t>()
                                                                : kNotWhole;
}

/// The first path at which two JSON values differ, with both values.
std::string first_difference(const json& was, const json& is) {
    const json patch = json::diff(was, is);
    // A hash says least: other data mostly come from something else, which is then named.
    const json* change = nullptr;
    for (const json& c : patch)
        if (!change || (*change)["path"] == "/data") change = &c;
    if (!change) return "nothing";
    const std::string path = (*change)["path"];
    const std::string op = (*change)["op"];
    return fmt::format("{} was {}, is now {}", path.substr(1),
                       op == "add" ? "nothing" : was[json::json_pointer(path)].dump(),
                       op == "remove" ? "nothing" : (*change)["value"].dump());
}

constexpr const char* kDamaged = "the checkpoint is damaged: start again without TrainJob::resume";
constexpr double kLargest = std::numeric_limits<double>::max();

/// Numbers that no training writes are input errors that say which and where.
struct Checker {
    std::string file;
    const ParameterLayout& layout;

    [[noreturn]] void fail(const std::string& what, double value) const {
        fail_input(fmt::format("{}: {} is {}", file, what, value), kDamaged);
    }
    /// Finite, and no less than `least`.
    void number(const char* name, double value, double least) const {
        if (!(std::isfinite(value) && value >= least))
            fail(fmt::format("a number of '{}'", name), value);
    }
    void all_of(const char* name, std::span<const float> values, double least) const {
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!(std::isfinite(values[i]) && values[i] >= least)) fail(place(name, i), values[i]);
    }
    /// Thresholds are not negative, a scale is positive.
    void latents(const char* name, std::span<const float> values) const {
        all_of(name, values, -kLargest);
        const auto [theta, thetas] = layout.theta();
        for (std::size_t i = theta; i < theta + thetas; ++i)
            if (values[i] < 0) fail(place(name, i), values[i]);
        const auto [scale, scales] = layout.scale();
        for (std::size_t i = scale; i < scale + scales; ++i)
            if (values[i] <= 0) fail(place(name, i), values[i]);
    }
    std::string place(const char* name, std::size_t i) const {
        for (const ParameterSlice& slice : layout.slices())
            if (i - slice.offset < slice.size)
                return fmt::format("number {} of {} in '{}'", i - slice.offset, slice.name, name);
        return fmt::format("number {} in '{}'", i, name);
    }
};

}  // namespace

std::string recipe_identity(const NetworkSpec& spec, const Recipe& recipe) {
    return recipe_json(spec, recipe).dump();
}

std::string training_identity(const TrainJob& job) {
    json identity = recipe_json(job.spec, job.recipe);
    identity["seed"] = job.seed;
    identity["data"] = data_fingerprint(*job.problem);
    return identity.dump();
}

void save_checkpoint(const std::filesystem::path& path, const TrainState& state,
                     const std::string& identity) {
    std::vector<double> history;
    for (const EpochRecord& r : state.history)
        for (double v : {static_cast<double>(r.stage), static_cast<double>(r.epoch), r.rate, r.loss,
                         r.test_nmse_db})
            history.push_back(v);
    const auto floats = [](const char* name, const std::vector<float>& v) {
        return make_tensor<float>(name, TensorType::f32, {v.size()}, v);
    };
    std::vector<Tensor> tensors{
        floats("latent", state.latent),
        floats("first", state.first),
        floats("second", state.second),
        floats("mean", state.mean),
        make_tensor<double>("history", TensorType::f64, {state.history.size(), kRecordNumbers},
                            history),
        make_tensor<double>("seconds", TensorType::f64, {state.seconds.size()}, state.seconds)};
    json progress{{"stage", state.stage}, {"epoch", state.epoch}, {"steps", state.steps}};
    if (!state.best.empty()) {
        tensors.push_back(floats("best", state.best));
        progress["best_error"] = state.best_error;
    }
    progress["pretrained"] = !state.pretrained.empty();
    if (!state.pretrained.empty()) tensors.push_back(floats("pretrained", state.pretrained));
    write_safetensors(path, tensors,
                      {{"pibinn.training", identity}, {"pibinn.progress", progress.dump()}});
}

std::optional<TrainState> load_checkpoint(const std::filesystem::path& path,
                                          const std::string& identity,
                                          const ParameterLayout& layout, const Recipe& recipe) {
    if (!path_exists(path)) return std::nullopt;
    return parse_checkpoint(read_file(path), path.string(), identity, layout, recipe);
}

TrainState parse_checkpoint(const std::string& content, const std::string& name,
                            const std::string& identity, const ParameterLayout& layout,
                            const Recipe& recipe) {
    const SafeTensors file = parse_safetensors(content, name);
    const auto metadata = [&](const char* key) {
        const auto found = file.metadata.find(key);
        if (found == file.metadata.end())
            fail_input(fmt::format("{}: no '{}' in it", name, key),
                       "this is not a checkpoint of pibinn");
        return parse_json_object(found->second, fmt::format("{}: metadata '{}'", name, key));
    };
    const json was = metadata("pibinn.training");
    const json is = json::parse(identity);
    if (was != is)
        fail_usage(
            fmt::format("{}: checkpoint of another training: {}", name, first_difference(was, is)),
            "resume with the same configuration, or choose another TrainJob::folder");

    TrainState state;
    const auto floats = [&](const char* tensor) {
        const auto values = values_of<float>(file.at(tensor, TensorType::f32));
        if (values.size() != layout.size())
            fail_input(fmt::format("{}: '{}' has {} numbers, expected {}", name, tensor,
                                   values.size(), layout.size()),
                       kDamaged);
        return std::vector<float>(values.begin(), values.end());
    };
    state.latent = floats("latent");
    state.first = floats("first");
    state.second = floats("second");
    state.mean = floats("mean");
    const Checker check{name, layout};
    check.latents("latent", state.latent);
    check.all_of("first", state.first, -kLargest);
    check.all_of("second", state.second, 0);
    check.all_of("mean", state.mean, -kLargest);
    const auto seconds = values_of<double>(file.at("seconds", TensorType::f64));
    state.seconds.assign(seconds.begin(), seconds.end());
    for (const double s : state.seconds) check.number("seconds", s, 0);
    const auto history = values_of<double>(file.at("history", TensorType::f64));
    const json progress = metadata("pibinn.progress");
    state.stage = whole(progress, "stage");
    state.epoch = whole(progress, "epoch");
    state.steps = whole(progress, "steps");
    if (progress.contains("best_error") && progress["best_error"].is_number()) {
        state.best = floats("best");
        state.best_error = progress["best_error"].get<double>();
        check.latents("best", state.best);
    }
    // Checkpoints of earlier versions say nothing of it.
    if (progress.value("pretrained", json()) == true) {
        state.pretrained = floats("pretrained");
        check.latents("pretrained", state.pretrained);
    }
    // Which stage each epoch was of follows from the recipe, so the file need not be believed.
    std::size_t stage = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i + kRecordNumbers <= history.size(); i += kRecordNumbers) {
        const std::size_t epoch = state.history.size();
        check.number("history", history[i + 2], 0);
        check.number("history", history[i + 3], 0);
        check.number("history", history[i + 4], -kLargest);
        while (stage < recipe.stages.size() && epoch - first == recipe.stages[stage].epochs)
            first += recipe.stages[stage++].epochs;
        state.history.push_back({stage, epoch + 1, history[i + 2], history[i + 3], history[i + 4]});
    }
    std::size_t done = state.epoch;
    for (std::size_t s = 0; s < std::min(state.stage, recipe.stages.size()); ++s)
        done += recipe.stages[s].epochs;
    const bool inside = state.stage < recipe.stages.size()
                            ? state.epoch < recipe.stages[state.stage].epochs
                            : state.stage == recipe.stages.size() && state.epoch == 0;
    if (!inside || state.steps == kNotWhole || state.seconds.size() != recipe.stages.size() ||
        done != state.history.size())
        fail_input(fmt::format("{}: its numbers do not fit together", name), kDamaged);
    return state;
}

}  // namespace pibinn
