"""The methods that a network is compared with, against scikit-learn and against what they claim to know."""

import json
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.linear_model import orthogonal_mp

from conftest import SHORT, TINY, load, refuse, sets, succeed, train

TRAIN, TEST = 300, 100


@dataclass
class Noisy:
    """A noisy problem with columns of length 1, as scikit-learn wants them, and what its files are called."""
    folder: object
    a: np.ndarray
    x: np.ndarray
    y: np.ndarray
    noise: float
    sparsity: int

    def error(self, found):
        """nmse of the test signals."""
        x = self.x[TRAIN:]
        return 10 * np.log10(np.mean(np.sum((found - x) ** 2, axis=1) / np.sum(x ** 2, axis=1)))

    def sklearn(self, **stop):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # premature ends at dependent columns, which we have too
            return self.error(orthogonal_mp(self.a, self.y[TRAIN:].T, **stop).T)

    def ours(self, *options):
        text = succeed("solve", "--operator", "A.npy", "--in", "y_test.npy", "--out", "found.npy", "--signals",
                       "x_test.npy", "--json", "-", *options, cwd=self.folder)
        assert json.loads(text)["nmse_db"] == pytest.approx(self.error(load(self.folder / "found.npy")), abs=1e-4)
        return json.loads(text)["nmse_db"]


def matrix(kind, rng):
    if kind == "gaussian":
        return rng.normal(size=(50, 100))
    if kind == "dct":
        k, n = np.arange(256)[:, None], np.arange(256)[None, :]
        return np.cos(np.pi * (n + 0.5) * k / 256)[np.sort(rng.permutation(256)[:64])]
    taps = np.hanning(19)[1:-1] * np.cos(np.arange(17))
    return sum(tap * np.eye(96, k=i - 8) for i, tap in enumerate(taps))


@pytest.fixture(scope="module", params=["gaussian", "dct", "deconvolution"])
def noisy(request, tmp_path_factory):
    """20 dB of the mean power, on signals of very different strength."""
    folder = tmp_path_factory.mktemp(request.param)
    rng = np.random.default_rng(7)
    a = matrix(request.param, rng)
    a = (a / np.linalg.norm(a, axis=0)).astype(np.float32)
    sparsity = 8
    x = np.zeros((TRAIN + TEST, a.shape[1]), np.float32)
    for row in x:
        entries = rng.permutation(a.shape[1])[:sparsity]
        row[entries] = rng.normal(size=sparsity) * 10 ** rng.uniform(-0.7, 0.3)
    y = x @ a.T
    noise = 0.1 * np.sqrt(np.mean(y ** 2))
    y = (y + noise * rng.normal(size=y.shape)).astype(np.float32)
    for name, array in {"A": a, "x": x, "y": y, "x_train": x[:TRAIN], "x_test": x[TRAIN:], "y_test": y[TRAIN:]}.items():
        np.save(folder / f"{name}.npy", array)
    return Noisy(folder, a.astype(float), x.astype(float), y.astype(float), noise, sparsity)


def test_omp_is_scikit_learns_with_the_same_knowledge(noisy):
    for sparsity in (2, noisy.sparsity):
        ours = noisy.ours("--solver", "omp", "--sparsity", sparsity)
        assert ours <= noisy.sklearn(n_nonzero_coefs=sparsity) + 0.1
    ours = noisy.ours("--solver", "omp", "--noise-std", noisy.noise)
    assert ours <= noisy.sklearn(tol=len(noisy.a) * noisy.noise ** 2) + 0.1


def test_omp_of_the_comparison_is_no_worse_than_scikit_learn_told_noise_or_sparsity(noisy):
    told = min(noisy.sklearn(n_nonzero_coefs=noisy.sparsity), noisy.sklearn(tol=len(noisy.a) * noisy.noise ** 2))
    settings = ["problem.kind=arrays", "problem.operator=A.npy", "problem.x=x.npy", "problem.y=y.npy",
                f"problem.train={TRAIN}", f"problem.test={TEST}", "model.layers=2", "train.stage.pretrain.epochs=1",
                "train.stage.joint.epochs=1", "train.stage.stage2.epochs=1"]
    summary = json.loads(succeed("train", *sets(*settings), "--out", "run", "--json", "-", cwd=noisy.folder))
    rows = {row["method"]: row for row in summary["comparison"]}
    assert rows["OMP"]["nmse_db"] <= told + 0.1, rows["OMP"]["settings"]
    assert rows["OMP"]["settings"].startswith("stops at ")
    # The oracle knows the support: a bound for those who have to find it.
    assert rows["oracle: knows the support"]["energy_nmse_db"] < rows["OMP"]["energy_nmse_db"]
    tuned = noisy.ours("--solver", "omp", "--train-signals", "x_train.npy", "--noise-std", noisy.noise)
    assert tuned <= told + 0.1


def test_amp_recovers_where_the_entries_of_a_are_like_independent_ones(noisy):
    soft = noisy.ours("--solver", "amp", "--train-signals", "x_train.npy", "--noise-std", noisy.noise)
    law = noisy.ours("--solver", "bg-amp", "--train-signals", "x_train.npy", "--noise-std", noisy.noise)
    assert soft < 0.5 and law < 0.5
    if noisy.folder.name.startswith("deconvolution"):
        return
    density, variance = noisy.sparsity / noisy.a.shape[1], np.mean(noisy.x[noisy.x != 0] ** 2)
    known = noisy.ours("--solver", "bg-amp", "--density", density, "--variance", variance, "--noise-std", noisy.noise)
    assert known == pytest.approx(law, abs=0.5)
    assert noisy.ours("--solver", "amp", "--alpha", 20) > soft + 1


def test_amp_options_take_effect(data, tmp_path):
    def solve(*options):
        return json.loads(succeed("solve", "--operator", data / "A.npy", "--in", data / "y_test.npy", "--out",
                                  tmp_path / "x.npy", "--signals", data / "x_test.npy", "--json", "-", *options))
    few = solve("--solver", "bg-amp", "--density", 0.05, "--iterations", 3)
    assert few["max_iterations"] == 3 and few["converged"] == 0
    known = solve("--solver", "bg-amp", "--density", 0.05)
    assert known["median_nmse_db"] < -60 and known["converged"] > 900
    loose = solve("--solver", "bg-amp", "--density", 0.05, "--tolerance", 0.1)
    assert loose["mean_iterations"] < known["mean_iterations"]
    assert solve("--solver", "bg-amp", "--density", 0.9)["nmse_db"] > known["nmse_db"] + 3
    assert solve("--solver", "bg-amp", "--density", 0.05, "--variance", 1e-6)["nmse_db"] > known["nmse_db"] + 3
    assert solve("--solver", "bg-amp", "--density", 0.05, "--noise-std", 1)["nmse_db"] > known["nmse_db"] + 3


@pytest.mark.parametrize("options, words", [
    (["--solver", "bg-amp"], ["how many entries are non-zero", "--density"]),
    (["--solver", "bg-amp", "--density", "0"], ["--density 0", "above 0"]),
    (["--solver", "bg-amp", "--density", "0.1", "--variance", "-1"], ["--variance -1"]),
    (["--solver", "bg-amp", "--density", "0.1", "--alpha", "1"], ["--alpha has no meaning"]),
    (["--solver", "amp", "--alpha", "-1"], ["--alpha -1"]),
    (["--solver", "amp", "--noise-std", "1"], ["--noise-std has no meaning"]),
    (["--solver", "amp", "--iterations", "0"], ["--iterations 0"]),
    (["--solver", "amp", "--alpha", "1", "--train-signals", "x.npy"], ["--alpha and --train-signals"]),
    (["--solver", "omp", "--sparsity", "1", "--train-signals", "x.npy"], ["--sparsity and --train-signals"]),
    (["--solver", "omp", "--noise-std", "-1"], ["--noise-std -1"]),
    (["--solver", "fista", "--noise-std", "1"], ["--noise-std has no meaning"]),
])
def test_options_that_make_no_sense_are_refused(options, words, work):
    line = refuse("solve", "--operator", "A.npy", "--in", "y.npy", "--out", "out.npy", *options, cwd=work)
    assert all(word in line for word in words), line


def test_the_float_network_that_a_training_started_from_has_a_row(tmp_path):
    def methods(summary):
        return [row["method"] for row in summary["comparison"]]
    one_bit = train(tmp_path / "one-bit")
    rows = {row["method"]: row for row in one_bit["comparison"]}
    assert methods(one_bit)[-2:] == ["float, after pretraining: 3 epochs", "this network"]
    floats = rows["float, after pretraining: 3 epochs"]
    assert floats["stored_bits"] > rows["this network"]["stored_bits"]
    alone = train(tmp_path / "float", "--set", "model.weights=float",
                  *sets("train.stage.pretrain.schedule=constant"), epochs=sets("train.stage.pretrain.epochs=3"))
    assert not any("pretraining" in method for method in methods(alone))
    assert floats["nmse_db"] == pytest.approx(alone["test_nmse_db"], abs=1e-6)


def test_a_resumed_training_has_the_same_float_row(tmp_path):
    folder = tmp_path / "run"
    first = train(folder)
    again = json.loads(succeed("train", *TINY, *SHORT, "--out", folder, "--resume", "--json", "-"))
    rows = [{row["method"]: row["nmse_db"] for row in summary["comparison"]} for summary in (first, again)]
    assert rows[0] == rows[1]


def test_the_report_shows_medians_latencies_and_what_was_chosen(tmp_path):
    summary = train(tmp_path / "run", *sets("problem.noise_std=0.05"))
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    for words in ("median nmse, dB", "energy nmse, dB", "latency, us", "batch time, us per signal", "OMP: stops at ",
                  "AMP, Bernoulli-Gaussian: density ", "The oracle is told the true support"):
        assert words in page, words
    for row in summary["comparison"]:
        assert row["signals"] == 50 and row["median_nmse_db"] <= 1
        assert row.get("bound") or row["latency_microseconds"] > 0
