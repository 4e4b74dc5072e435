#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "cli/arrays.hpp"
#include "cli/operator_source.hpp"
#include "cli/options.hpp"
#include "cli/problem_source.hpp"
#include "cli/real_source.hpp"
#include "pibinn/npy.hpp"

namespace pibinn::cli {

namespace {

constexpr std::array kFiles{"A.npy",      "x_train.npy", "y_train.npy", "x_test.npy",
                            "y_test.npy", "c_train.npy", "c_test.npy"};

}  // namespace

void run_sample(const Arguments& arguments) {
    CommandLine line(
        "sample",
        "Writes the problem of a configuration as A.npy, x_train.npy, y_train.npy, "
        "x_test.npy and y_test.npy. A 'repeated' operator is written as its block; signals "
        "in a basis are written as their coefficients.",
        "pibinn sample --set problem.density=0.1 --seed 3 --out data");
    ConfigOptions configuration;
    configuration.add_to(line);
    std::string folder;
    line.required("--out", folder, "folder for the arrays; made if missing", "DIR");
    if (!line.parse(arguments)) return;
    const Console console(line.speech());
    const Config config = configuration.load();

    const std::filesystem::path out = folder;
    for (const char* name : kFiles)
        require_other_file((out / name).string(), config.problem.files());
    ThreadPool pool(line.threads());
    const Problem problem = make_problem(config, pool);
    make_folder(folder);
    write_npy(out / "A.npy", operator_matrix(problem.op));
    write_npy(out / "x_train.npy", problem.train.x);
    write_npy(out / "y_train.npy", problem.train.y);
    write_npy(out / "x_test.npy", problem.test.x);
    write_npy(out / "y_test.npy", problem.test.y);

    const Structure& s = problem.op.structure();
    console.say(fmt::format("{}{}: A.npy ({}), {} training and {} test pairs of {} -> {}\n",
                            notes_text(problem), folder, to_string(s.kind()),
                            problem.train.x.rows(), problem.test.x.rows(), s.cols(), s.rows()));
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
