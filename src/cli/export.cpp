#include <deque>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/options.hpp"
#include "core/names.hpp"
#include "model/model_parameters.hpp"
#include "model/parameters.hpp"
#include "pibinn/complex_rows.hpp"
#include "pibinn/error.hpp"
#include "pibinn/model.hpp"
#include "pibinn/npz.hpp"
#include "study/operator_source.hpp"

namespace pibinn::cli {

namespace {

void require_npz(std::string_view format) {
    enum class Format { npz, c, onnx };
    static constexpr NameTable<Format, 3> names{
        {{Format::npz, "npz"}, {Format::c, "c"}, {Format::onnx, "onnx"}}};
    if (parse_name(names, format, "format") != Format::npz)
        fail_usage(fmt::format("format '{}' is not available in this version", format),
                   "use --to npz");
}

/// The arrays of an archive and the matrices that they view.
struct Exported {
    std::deque<Matrix<float>> matrices;  ///< a deque, since its elements never move
    std::vector<NpzArray> arrays;

    void add(const std::string& name, const Structure& structure, std::span<const float> links) {
        const Operator op(structure, {links.begin(), links.end()});
        const bool complex = structure.has_imaginary();
        matrices.push_back(complex ? interleaved_matrix(op) : operator_matrix(op));
        NpzArray& array = arrays.emplace_back(NpzArray{name, matrices.back().view()});
        if (complex) array.values = complex_view(matrices.back());
    }
    void add(const std::string& name, const std::vector<float>& values) {
        if (!values.empty()) arrays.push_back({name, std::span<const float>(values)});
    }
    void add(const std::string& name, double value) {
        matrices.emplace_back(1, 1);
        matrices.back()(0, 0) = static_cast<float>(value);
        arrays.push_back({name, std::span<const float>(matrices.back().values())});
    }
    /// What turns the coefficients c of one vector into its signal: x = deviation (basis c) + mean.
    void add(const SignalDomain& domain, std::size_t numbers, ThreadPool& pool) {
        if (domain.plain()) return;
        const bool complex = domain.basis.is_complex();
        const std::size_t n = domain.signal_rows().entries(numbers) / domain.vectors;
        Batch unit(n, complex ? 2 * n : n);
        for (std::size_t j = 0; j < n; ++j) unit(j, j) = 1;
        Batch vectors = domain.basis.to_signals(unit, pool);
        if (complex) vectors = interleave_complex(vectors);
        const std::size_t parts = complex ? 2 : 1;
        Matrix<float>& basis = matrices.emplace_back(n, parts * n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t p = 0; p < parts; ++p)
                    basis(i, parts * j + p) = vectors(j, parts * i + p);
        NpzArray& array = arrays.emplace_back(NpzArray{"basis", basis.view()});
        if (complex) array.values = complex_view(basis);
        add("mean", domain.mean);
        add("deviation", domain.deviation);
        if (domain.patch > 0) add("patch", static_cast<double>(domain.patch));
    }
};

}  // namespace

void run_export(const Arguments& arguments) {
    CommandLine line(
        "export",
        "Writes a model as an .npz archive: the operator A and the weights W1 .. WK as "
        "float32 matrices (one block of a 'repeated' structure; none where they are tied to A), "
        "complex64 where operator and signals are complex, "
        "theta, and gain, step, beta, omega and cut where the model has them, and centre where "
        "residuals are taken less their mean. A model of signals "
        "in a basis also has basis (a basis "
        "vector per column), mean, deviation and, of pictures, patch (pixels per side): the "
        "network "
        "gives coefficients c, and a signal is deviation * basis c + mean.",
        "pibinn export model.safetensors --to npz --out model.npz");
    std::string file, format, out;
    line.required("MODEL", file, "model file (.safetensors)");
    line.required("--to", format, "format", "npz");
    line.required("--out", out, "file to write (.npz)");
    if (!line.parse(arguments)) return;
    const Console console(line.output());
    require_npz(format);
    require_output(out, {".npz"});
    require_other_file(out, {file});

    const Model model = Model::load(file);
    const ParameterLayout layout(model.spec, model.op.structure());
    Exported exported;
    if (model.spec.architecture == Architecture::unrolled)
        exported.add("A", model.op.structure(), model.op.values());
    for (std::size_t k = 1; k <= model.weights.size(); ++k)
        exported.add(fmt::format("W{}", k), layout.structure(k), model.weights[k - 1]);
    for_each_scalar(model, [&](const char* name, const std::vector<float>& values) {
        exported.add(name, values);
    });
    if (model.spec.centre) exported.add("centre", 1);
    ThreadPool pool(line.threads());
    exported.add(model.domain, model.op.cols(), pool);
    write_npz(out, exported.arrays);

    nlohmann::ordered_json names = nlohmann::ordered_json::array();
    for (const NpzArray& array : exported.arrays) names.push_back(array.name);
    console.say(fmt::format("{}: {} arrays\n", out, exported.arrays.size()));
    console.result({{"out", out}, {"arrays", names}});
}

}  // namespace pibinn::cli
