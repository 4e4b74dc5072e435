#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/options.hpp"
#include "core/folder.hpp"
#include "core/names.hpp"
#include "core/path.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "study/operator_source.hpp"
#include "study/problem_source.hpp"
#include "study/real_source.hpp"

namespace pibinn::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::array kArrays{"A", "x_train", "y_train", "x_test", "y_test", "c_train", "c_test"};

/// The folder of the arrays and the format of their files.
struct Target {
    fs::path folder;
    std::string suffix;

    std::string file(const std::string& name) const { return (folder / (name + suffix)).string(); }
    void write(const std::string& name, Batch rows, const RowLayout& layout) const {
        write_rows(file(name), std::move(rows), layout);
    }
    /// The matrix as a configuration reads it.
    void write(const std::string& name, const Operator& op, const SignalDomain& domain) const {
        if (has_complex_matrix(op.structure(), domain))
            write_array(file(name), interleaved_matrix(op), Numbers::complex);
        else
            write_array(file(name), operator_matrix(op));
    }
};

std::string parse_format(const std::string& word) {
    std::vector<std::string_view> names;
    for (const std::string_view suffix : written_array_suffixes()) {
        names.push_back(suffix.substr(1));
        if (names.back() == word) return std::string(suffix);
    }
    fail_usage(fmt::format("unknown format '{}'", word), hint_for_unknown(word, names));
}

/// Neither what the configuration reads nor what another sample wrote is overwritten.
void require_own_files(const Target& target, const std::vector<std::string>& inputs) {
    for (const char* name : kArrays) require_other_file(target.file(name), inputs);
    for (const char* name : kArrays)
        if (path_exists(target.file(name)))
            fail_usage(
                fmt::format("'{}' already holds {}{}", target.folder.string(), name, target.suffix),
                "choose another --out, or remove the arrays that are there");
}

/// Signals in their own unit, and the coefficients that the network sees in files of their own.
void write_set(const Target& target, const std::string& name, const Problem& problem,
               const DataSet& set, ThreadPool& pool) {
    const RowLayout rows = problem.domain.signal_rows();
    target.write("y_" + name, set.y, problem.domain.measurement_rows());
    if (problem.domain.plain()) return target.write("x_" + name, set.x, rows);
    target.write("x_" + name, problem.domain.to_signals(set.x, pool), rows);
    target.write("c_" + name, set.x, rows);
}

}  // namespace

void run_sample(const Arguments& arguments) {
    CommandLine line(
        "sample",
        "Writes the problem of a configuration as A.npy, x_train.npy, y_train.npy, "
        "x_test.npy and y_test.npy, or in another --format. A 'repeated' operator is written as "
        "its block. Where signals "
        "have a basis or are normalised, x is in their own unit, as 'eval' and 'recover' have it, "
        "and c_train.npy and c_test.npy are the coefficients c of y = A c; signals of "
        "normalize = \"patch\" are written without their own mean. Complex arrays are complex64, "
        "or two columns per number in .csv, which is read back with problem.complex = true.",
        "pibinn sample --set problem.density=0.1 --seed 3 --out data");
    ConfigOptions configuration;
    configuration.add_to(line);
    std::string folder, format = "npy";
    line.required("--out", folder, "folder for the arrays; made if missing", "DIR");
    line.optional("--format", format, "format of the files (npy)", "npy|npz|mat|csv");
    if (!line.parse(arguments)) return;
    Console console(line.output());
    const Config config = configuration.load();

    const Target target{folder, parse_format(format)};
    require_own_files(target, config.problem.files());
    ThreadPool pool(line.threads());
    const Problem problem = make_problem(config, pool);
    make_folder(folder);
    target.write("A", problem.op, problem.domain);
    write_set(target, "train", problem, problem.train, pool);
    write_set(target, "test", problem, problem.test, pool);

    const Structure& s = problem.op.structure();
    const RowLayout x_rows = problem.domain.signal_rows();
    const RowLayout y_rows = problem.domain.measurement_rows();
    const std::size_t n = x_rows.entries(s.cols()), m = y_rows.entries(s.rows());
    console.note(short_notes(problem));
    console.say(fmt::format(
        "{}: A{} ({}), {} training and {} test pairs of {}{} -> {}{}{}\n", folder, target.suffix,
        to_string(s.kind()), problem.train.x.rows(), problem.test.x.rows(), n,
        x_rows.complex ? " complex" : "", m, y_rows.complex ? " complex" : "",
        problem.domain.plain() ? ""
                               : fmt::format("; c_*{} are their coefficients", target.suffix)));
    console.result({{"out", folder},
                    {"m", m},
                    {"n", n},
                    {"complex", x_rows.complex},
                    {"complex_measurements", y_rows.complex},
                    {"vectors", x_rows.vectors},
                    {"structure", to_string(s.kind())},
                    {"repeat", s.repeat()},
                    {"links", s.links()},
                    {"train", problem.train.x.rows()},
                    {"test", problem.test.x.rows()},
                    {"noise_std", problem.noise_std},
                    {"basis", to_string(problem.domain.basis.kind())},
                    {"seed", config.seed}});
}

}  // namespace pibinn::cli
