#include "cli/solve_options.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/arrays.hpp"
#include "pibinn/error.hpp"

namespace pibinn::cli {

void SolveOptions::add_to(CommandLine& line) {
    line.required("--solver", solver, "the method",
                  "ista|fista|omp|amp|bg-amp|linear|support-detection");
    line.required("--operator", operator_file, "A, m x n (.npy, .npz, .mat, .csv, FILE:NAME)");
    line.required("--in", in, "measurements, one per row");
    line.required("--out", out, "recovered signals (.npy, .npz, .mat, .csv, FILE:NAME)");
    line.optional("--structure", structure,
                  "what --operator holds: A; the block of I (x) A; A of "
                  "equal blocks; A with zeros (dense)",
                  "dense|repeated|blocks|mask");
    line.optional("--repeat", repeat, "blocks of 'repeated' and 'blocks'", "U");
    line.optional("--vectors", vectors,
                  "vectors per row that share their support, one after the other (1)", "R");
    line.flag("--real-signals", real_signals,
              "the signals are real, although the operator and its measurements are complex");
    line.optional("--lambda", lambda, "ista, fista: weight of the l1 norm", "VALUE");
    line.optional("--relative", relative, "ista, fista: the same, as a share of max|A^T y| (0.01)",
                  "SHARE");
    line.optional("--iterations", iterations,
                  "ista, fista: at most so many (1000); amp, bg-amp (100)", "N");
    line.optional("--tolerance", tolerance,
                  "ista, fista (1e-6), amp, bg-amp (1e-5): smallest relative step; omp "
                  "(1e-5): relative residual to stop at",
                  "VALUE");
    line.optional("--sparsity", sparsity, "omp: non-zero entries at most, per block (m)", "S");
    line.optional("--noise-std", noise_std,
                  "deviation of the noise (0). omp stops at |y - A x| = VALUE sqrt(m), the same "
                  "for every signal; bg-amp, linear: part of what they know",
                  "VALUE");
    line.optional("--alpha", alpha, "amp: threshold, in units of the residual's deviation (1.4)",
                  "VALUE");
    line.optional("--density", density, "bg-amp: share of non-zero entries", "SHARE");
    line.optional("--variance", variance, "bg-amp: variance of the non-zero entries (1)", "VALUE");
    line.optional("--paths", paths, "support-detection: paths of a channel in beamspace", "L");
    line.optional("--width", width, "support-detection: beams around each path (8)", "V");
    line.optional("--train-signals", train_signals,
                  "signals like those to recover. linear learns from them (without: x ~ N(0, I)); "
                  "omp chooses when to stop, amp its alpha, bg-amp takes density and variance, "
                  "support-detection chooses its width",
                  "FILE");
    line.optional("--signals", signals, "the true signals, to report the error", "FILE");
    line.flag("--complex", complex, kComplexHelp);
}

void SolveOptions::require_fitting(CommandLine& line, SolverKind kind) const {
    const bool lasso = kind == SolverKind::ista || kind == SolverKind::fista;
    const bool omp = kind == SolverKind::omp;
    const bool amp = kind == SolverKind::amp;
    const bool bg = kind == SolverKind::bg_amp;
    const bool linear = kind == SolverKind::linear;
    const bool detection = kind == SolverKind::support_detection;
    const std::vector<std::pair<const char*, bool>> uses{
        {"--lambda", lasso},
        {"--relative", lasso},
        {"--iterations", lasso || amp || bg},
        {"--tolerance", lasso || omp || amp || bg},
        {"--sparsity", omp},
        // Elsewhere noise only makes the measurements to tune by: amp follows the residual.
        {"--noise-std",
         linear || omp || bg || ((amp || detection) && line.given("--train-signals"))},
        {"--alpha", amp},
        {"--density", bg},
        {"--variance", bg},
        {"--paths", detection},
        {"--width", detection},
        {"--train-signals", linear || omp || amp || bg || detection}};
    for (const auto& [flag, used] : uses)
        if (!used && line.given(flag))
            fail_usage(fmt::format("{} has no meaning for solver '{}'", flag, solver),
                       "remove it, or see 'pibinn solve --help'");
    if (lambda && relative)
        fail_usage("--lambda and --relative are both given", "choose one of them");
    for (const char* flag : {"--alpha", "--density", "--variance", "--sparsity", "--width"})
        if (line.given(flag) && line.given("--train-signals"))
            fail_usage(fmt::format("{} and --train-signals are both given", flag),
                       "training signals choose it: leave one of them out");
    if (bg && !density && train_signals.empty())
        fail_usage("solver 'bg-amp' has to know how many entries are non-zero",
                   "give --density 0.05, or --train-signals");
    if (detection && !paths)
        fail_usage("solver 'support-detection' has to know how many paths a channel has",
                   "give --paths 3, for example");
    if (vectors == 0)
        fail_usage("--vectors 0", "give the vectors per row: 1 unless there are more");
    if (vectors > 1 && structure != "dense")
        fail_usage(
            fmt::format("--vectors {} and an operator of structure '{}'", vectors, structure),
            "vectors that share their support have a dense operator: leave out --structure");
    if (!(noise() >= 0))
        fail_usage(fmt::format("--noise-std {} is negative", noise()), "give 0 for no noise");
}

}  // namespace pibinn::cli
