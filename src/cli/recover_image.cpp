#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/options.hpp"
#include "core/numbers.hpp"
#include "core/table.hpp"
#include "pibinn/error.hpp"
#include "pibinn/image_metrics.hpp"
#include "pibinn/patches.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/recoverer.hpp"

namespace pibinn::cli {

namespace {

void require_patch_model(const Model& model, const std::string& file) {
    if (model.domain.patch == 0)
        fail_input(fmt::format("the model '{}' does not recover patches of pictures", file),
                   "train one with problem.kind = \"images\"");
    if (model.spec.architecture == Architecture::fcn)
        fail_usage("a fully connected model holds no operator to sense the picture with",
                   "train an unrolled one: model.architecture = \"unrolled\"");
}

struct Pictures {
    Image original, adjoint, recovered;
    std::size_t patches = 0;
};

/// Values clipped to black and white, as a picture shows them.
Image cut(Image image) {
    for (float& v : image.values()) v = std::clamp(v, 0.0F, 1.0F);
    return image;
}

/// Senses a row of patches at a time, which keeps memory small for any picture.
Pictures recover_picture(const Model& model, Image original, std::size_t stride, double noise_std,
                         std::uint64_t seed, Console& console, ThreadPool& pool) {
    const Recoverer recoverer(model);
    const SignalDomain& domain = model.domain;
    const std::size_t side = domain.patch;
    const auto tops = patch_places(original.rows(), side, stride);
    const auto lefts = patch_places(original.cols(), side, stride);
    PatchMosaic adjoint(original.rows(), original.cols(), side);
    PatchMosaic recovered(original.rows(), original.cols(), side);
    Disturbance noise;
    noise.noise_std = noise_std / domain.deviation;
    for (std::size_t t = 0; t < tops.size(); ++t) {
        Batch patches(lefts.size(), side * side);
        for (std::size_t p = 0; p < lefts.size(); ++p)
            for (std::size_t i = 0; i < side; ++i)
                std::copy_n(&original(tops[t] + i, lefts[p]), side, &patches(p, i * side));
        std::vector<double> means;
        Batch x = domain.to_coefficients(patches, pool, &means);
        disturb(noise, x, seed, Purpose::test_disturbance, t * lefts.size(), pool);
        const Batch y = model.op.apply(x, pool);
        const Batch naive = domain.to_signals(model.op.adjoint(y, pool), pool, &means);
        const Batch found = domain.to_signals(recoverer.coefficients(y, pool), pool, &means);
        for (std::size_t p = 0; p < lefts.size(); ++p) {
            adjoint.add(tops[t], lefts[p], naive.row(p));
            recovered.add(tops[t], lefts[p], found.row(p));
        }
        console.progress({"recover-image", t + 1, tops.size(), ""});
    }
    console.clear_progress();
    return {std::move(original), cut(adjoint.image()), cut(recovered.image()),
            tops.size() * lefts.size()};
}

/// "photo-recovered.png" gives "photo-recovered-side-by-side.png".
std::string beside_name(const std::string& out) {
    const std::filesystem::path path = out;
    return (path.parent_path() / (path.stem().string() + "-side-by-side.png")).string();
}

std::string report(const Pictures& pictures) {
    Table table = Table::of({"picture", "PSNR dB", "SSIM"});
    for (const auto& [name, image] : {std::pair{"naive adjoint", &pictures.adjoint},
                                      std::pair{"recovered", &pictures.recovered}})
        table.add({name, fmt::format("{:.2f}", psnr_db(pictures.original, *image)),
                   fmt::format("{:.4f}", ssim(pictures.original, *image))});
    return table_text(table);
}

}  // namespace

void run_recover_image(const Arguments& arguments) {
    CommandLine line("recover-image",
                     "Senses a photo patch by patch with the operator of a model, recovers it and "
                     "writes it as a grey PNG; beside it a PNG of the original, the naive adjoint "
                     "and the recovered picture. Patches overlap and are averaged.",
                     "pibinn recover-image model.safetensors photo.jpg --out photo-recovered.png");
    std::string model_file, photo, out;
    std::optional<std::size_t> stride, seed;
    std::optional<double> noise;
    line.required("MODEL", model_file, "model of patches (.safetensors)");
    line.required("PHOTO", photo, "picture, JPEG or PNG");
    line.required("--out", out, "recovered picture (.png)");
    line.optional("--stride", stride, "pixels from patch to patch; half a patch by default", "N");
    line.optional("--noise", noise, "deviation of noise on the pixels; that of training by default",
                  "VALUE");
    line.optional("--seed", seed, "seed of the noise (1)", "N");
    if (!line.parse(arguments)) return;
    Console console(line.output());
    require_output(out, {".png"});
    const std::string beside = beside_name(out);
    line.require_other_json({beside});
    require_output(beside, {".png"});
    for (const std::string& written : {out, beside})
        require_other_file(written, {model_file, photo});

    const Model model = Model::load(model_file);
    require_patch_model(model, model_file);
    const std::size_t side = model.domain.patch;
    const std::size_t step = stride.value_or(std::max<std::size_t>(1, side / 2));
    if (step < 1 || step > side)
        fail_usage(fmt::format("--stride {} leaves gaps between patches of {} pixels", step, side),
                   fmt::format("give 1 to {}", side));
    const double noise_std = noise.value_or(model.domain.noise_std);
    if (!(noise_std >= 0 && std::isfinite(noise_std)))
        fail_usage(fmt::format("--noise {} is not a number from 0 on", noise_std),
                   "give 0 for no noise");
    Image original = read_image(photo);
    constexpr std::size_t window = 11;  // of SSIM
    const std::size_t least = std::max(side, window);
    if (original.rows() < least || original.cols() < least)
        fail_input(
            fmt::format("'{}' has {} x {} pixels, but {}", photo, original.cols(), original.rows(),
                        side > window
                            ? fmt::format("a patch has {0} x {0}", side)
                            : fmt::format("SSIM looks through a window of {0} x {0}", window)),
            fmt::format("give a picture of at least {0} x {0}", least));
    ThreadPool pool(line.threads());
    const Pictures pictures = recover_picture(model, std::move(original), step, noise_std,
                                              seed.value_or(1), console, pool);
    write_png(out, pictures.recovered);
    write_png(beside,
              side_by_side(std::array{pictures.original, pictures.adjoint, pictures.recovered}));

    console.say(
        fmt::format("{}\n{}: {} x {} pixels, {} patches\n{}: original, adjoint, recovered\n",
                    report(pictures), out, pictures.original.cols(), pictures.original.rows(),
                    grouped(pictures.patches), beside));
    console.result({{"out", out},
                    {"side_by_side", beside},
                    {"width", pictures.original.cols()},
                    {"height", pictures.original.rows()},
                    {"patches", pictures.patches},
                    {"noise_std", noise_std},
                    {"psnr_db", psnr_db(pictures.original, pictures.recovered)},
                    {"ssim", ssim(pictures.original, pictures.recovered)},
                    {"adjoint_psnr_db", psnr_db(pictures.original, pictures.adjoint)},
                    {"adjoint_ssim", ssim(pictures.original, pictures.adjoint)}});
}

}  // namespace pibinn::cli
