#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/options.hpp"
#include "core/folder.hpp"
#include "pibinn/npy.hpp"
#include "study/operator_source.hpp"
#include "study/problem_source.hpp"
#include "study/real_source.hpp"

namespace pibinn::cli {

namespace {

constexpr std::array kFiles{"A.npy",      "x_train.npy", "y_train.npy", "x_test.npy",
                            "y_test.npy", "c_train.npy", "c_test.npy"};

/// Signals as a user has them; what the network sees of them in files of its own.
void write_set(const std::filesystem::path& folder, const std::string& name, const Problem& problem,
               const DataSet& set, ThreadPool& pool) {
    write_npy(folder / ("y_" + name + ".npy"), set.y);
    if (problem.domain.plain()) return write_npy(folder / ("x_" + name + ".npy"), set.x);
    write_npy(folder / ("x_" + name + ".npy"), problem.domain.to_signals(set.x, pool));
    write_npy(folder / ("c_" + name + ".npy"), set.x);
}

}  // namespace

void run_sample(const Arguments& arguments) {
    CommandLine line(
        "sample",
        "Writes the problem of a configuration as A.npy, x_train.npy, y_train.npy, "
        "x_test.npy and y_test.npy. A 'repeated' operator is written as its block. Where "
        "signals "
        "have a basis or are normalised, x is in their own unit, as 'eval' and 'recover' have "
        "it, "
        "and c_train.npy and c_test.npy are the coefficients c of y = A c; signals of "
        "normalize = \"patch\" are written without their own mean.",
        "pibinn sample --set problem.density=0.1 --seed 3 --out data");
    ConfigOptions configuration;
    configuration.add_to(line);
    std::string folder;
    line.required("--out", folder, "folder for the arrays; made if missing", "DIR");
    if (!line.parse(arguments)) return;
    Console console(line.output());
    const Config config = configuration.load();

    const std::filesystem::path out = folder;
    for (const char* name : kFiles)
        require_other_file((out / name).string(), config.problem.files());
    ThreadPool pool(line.threads());
    const Problem problem = make_problem(config, pool);
    make_folder(folder);
    write_npy(out / "A.npy", operator_matrix(problem.op));
    write_set(out, "train", problem, problem.train, pool);
    write_set(out, "test", problem, problem.test, pool);

    const Structure& s = problem.op.structure();
    console.note(short_notes(problem));
    console.say(fmt::format("{}: A.npy ({}), {} training and {} test pairs of {} -> {}{}\n", folder,
                            to_string(s.kind()), problem.train.x.rows(), problem.test.x.rows(),
                            s.cols(), s.rows(),
                            problem.domain.plain() ? "" : "; c_*.npy are their coefficients"));
    console.result({{"out", folder},
                    {"m", s.rows()},
                    {"n", s.cols()},
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
