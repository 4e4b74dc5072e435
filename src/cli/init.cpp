#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "pibinn/error.hpp"
#include "problem/near_sign.hpp"
#include "study/model_json.hpp"
#include "study/problem_source.hpp"
#include "study/real_source.hpp"

namespace pibinn::cli {

void run_init(const Arguments& arguments) {
    CommandLine line("init",
                     "Makes the untrained network of a configuration: every layer set from the "
                     "operator, W = A / ||A||^2, as training starts from it.",
                     "pibinn init --set model.update=plain --set model.layers=10 "
                     "--out model.safetensors");
    ConfigOptions configuration;
    configuration.add_to(line);
    std::string out;
    double theta = 0.1;
    line.required("--out", out, "model file (.safetensors)");
    line.optional("--theta", theta, "threshold of every layer (0.1)", "VALUE");
    if (!line.parse(arguments)) return;
    if (!(theta >= 0 && std::isfinite(theta)))
        fail_usage(fmt::format("--theta {} is not a number from 0 on", theta), "0.1 is usual");
    Console console(line.output());
    require_output(out, {".safetensors"});
    const Config config = configuration.load();

    ThreadPool pool(line.threads());
    const Problem frame = problem_without_signals(config, pool);
    const Model model = study::untrained_model(config, frame, theta);
    model.save(out);

    console.note(short_notes(frame));
    console.warn(near_sign_warning(model.op));
    console.say(fmt::format("{}: {}\n{}", out, model_lines(model), bits_table(model)));
    console.result(
        {{"out", out}, {"model", model_json(model)}, {"bits", bits_json(count_bits(model))}});
}

}  // namespace pibinn::cli
