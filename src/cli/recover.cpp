#include <array>

#include <fmt/format.h>

#include "cli/arrays.hpp"
#include "cli/kernels.hpp"
#include "cli/options.hpp"
#include "cli/stopwatch.hpp"
#include "core/names.hpp"
#include "pibinn/model.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/npz.hpp"

namespace pibinn::cli {

namespace {

bool parse_layers(std::string_view word) {
    static constexpr NameTable<bool, 2> names{{{false, "last"}, {true, "all"}}};
    return parse_name(names, word, "layers");
}

/// x1 .. xK of an archive.
void write_layers(const std::string& file, const std::vector<Batch>& layers) {
    std::vector<NpzArray> arrays;
    for (std::size_t k = 0; k < layers.size(); ++k)
        arrays.push_back({fmt::format("x{}", k + 1), layers[k].view()});
    write_npz(file, arrays);
}

}  // namespace

void run_recover(const Arguments& arguments) {
    CommandLine line("recover",
                     "Recovers signals from measurements with a model. The output is float32, one "
                     "signal a row. With --layers all it is an .npz archive of x1 .. xK, the "
                     "estimate after every layer.",
                     "pibinn recover model.safetensors --in y.npy --out x.npy");
    std::string model_file, in, out, layers = "last", kernel = "auto";
    line.required("MODEL", model_file, "model file (.safetensors)");
    line.required("--in", in, "measurements, one a row (.npy, .npz, .npz:NAME)");
    line.required("--out", out, "recovered signals (.npy; .npz with --layers all)");
    line.optional("--layers", layers, "the estimate of the last layer, or of all", "last|all");
    line.optional("--kernel", kernel, "instruction set; 'pibinn --version' lists them",
                  "auto|NAME");
    if (!line.parse(arguments)) return;
    const Console console(line.speech());
    const bool all = parse_layers(layers);
    const std::string used_kernel = use_kernel(kernel);
    require_output(out, {all ? ".npz" : ".npy"});

    const Model model = load_model(model_file);
    const Batch y = read_rows(in, model.op.rows(), "measurements");
    ThreadPool pool(line.threads());
    Batch x;
    std::vector<Batch> every_layer;
    const double microseconds = microseconds_once(
        y.rows(), [&] { x = recover(model, y, pool, all ? &every_layer : nullptr); });
    if (all)
        write_layers(out, every_layer);
    else
        write_npy(out, x);

    console.say(fmt::format(
        "{}: {} signals of {} entries{}, {:.2f} microseconds each\n", out, x.rows(), x.cols(),
        all ? fmt::format(" after each of {} layers", every_layer.size()) : "", microseconds));
    console.result({{"out", out},
                    {"signals", x.rows()},
                    {"n", x.cols()},
                    {"layers", all ? every_layer.size() : 1},
                    {"kernel", used_kernel},
                    {"microseconds_per_signal", microseconds}});
}

}  // namespace pibinn::cli
