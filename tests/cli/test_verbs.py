"""What each verb does when all is well."""

import json
import re

import numpy as np
import pytest

from conftest import load, run, succeed, tree

VERBS = ["demo", "sample", "init", "train", "study", "reproduce", "field", "eval", "recover", "solve", "inspect",
         "export"]


def soft(z, theta):
    return np.sign(z) * np.maximum(np.abs(z) - theta, 0)


def test_version_names_compiler_blas_kernels_and_devices():
    text = succeed("--version")
    assert re.match(r"pibinn \d+\.\d+\.\d+\n", text)
    for word in ("compiler: ", "BLAS: ", "kernels: ", "devices: cpu"):
        assert word in text


def test_help_lists_every_verb():
    text = succeed("--help")
    for verb in VERBS:
        assert re.search(rf"^  {verb} ", text, re.MULTILINE)
    lines = text[text.index("Verbs:\n"):].split("\n\n")[0].split("\n")[1:]
    assert all(re.match(r"  \S+ {2,}\w", line) for line in lines)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_has_an_example_and_the_common_options(verb):
    text = succeed(verb, "--help")
    assert f"Example:\n  pibinn {verb} " in text
    for option in ("--json FILE", "--quiet", "--threads N"):
        assert option in text


def test_sample_writes_the_problem(data):
    a, x, y = (load(data / f"{name}.npy") for name in ("A", "x_test", "y_test"))
    assert a.shape == (50, 100) and x.shape == (1000, 100) and y.shape == (1000, 50)
    assert load(data / "x_train.npy").shape == (4000, 100)
    assert all(v.dtype == np.float32 for v in (a, x, y))
    np.testing.assert_allclose(y, x @ a.T, atol=1e-5)
    assert abs(np.count_nonzero(x) / x.size - 0.05) < 0.003
    assert len(tree(data)) == 5


def test_a_seed_gives_the_same_bytes_and_another_seed_others(data, tmp_path):
    succeed("sample", "--seed", 1, "--threads", 1, "--out", tmp_path / "same")
    succeed("sample", "--seed", 2, "--out", tmp_path / "other")
    for name in tree(data):
        assert (tmp_path / "same" / name).read_bytes() == (data / name).read_bytes()
        assert (tmp_path / "other" / name).read_bytes() != (data / name).read_bytes()


def test_noise_is_added_to_measurements(tmp_path):
    succeed("sample", "--set", "problem.noise_std=0.5", "--out", tmp_path)
    a, x, y = (load(tmp_path / f"{name}.npy") for name in ("A", "x_test", "y_test"))
    assert abs(np.std(y - x @ a.T) - 0.5) < 0.02


def test_recover_runs_the_network(data, plain, tmp_path):
    succeed("recover", plain, "--in", data / "y_test.npy", "--out", tmp_path / "x.npy")
    succeed("export", plain, "--to", "npz", "--out", tmp_path / "m.npz")
    model = load(tmp_path / "m.npz")
    y = load(data / "y_test.npy")
    x = np.zeros((1000, 100))
    for k in range(1, 21):
        x = soft(x - (x @ model["A"].T - y) @ model[f"W{k}"], model["theta"][k - 1])
    found = load(tmp_path / "x.npy")
    assert found.dtype == np.float32 and found.shape == (1000, 100)
    np.testing.assert_allclose(found, x, atol=1e-4)


def test_all_layers_go_to_an_archive_that_ends_with_the_result(small, tmp_path):
    model, y = small / "model.safetensors", small / "y_test.npy"
    succeed("recover", model, "--in", y, "--out", tmp_path / "x.npy")
    succeed("recover", model, "--in", y, "--out", tmp_path / "all.npz", "--layers", "all")
    layers = load(tmp_path / "all.npz")
    assert sorted(layers) == ["x1", "x2", "x3"]
    np.testing.assert_array_equal(layers["x3"], load(tmp_path / "x.npy"))
    assert np.any(layers["x1"] != layers["x3"])


def test_the_number_of_threads_does_not_change_a_byte(data, plain, tmp_path):
    for threads in (1, 3):
        succeed("recover", plain, "--in", data / "y_test.npy", "--out", tmp_path / f"{threads}.npy",
                "--threads", threads)
    assert (tmp_path / "1.npy").read_bytes() == (tmp_path / "3.npy").read_bytes()


def test_every_kernel_can_be_forced_and_agrees(data, plain, tmp_path):
    kernels = re.search(r"kernels: (.*)", succeed("--version"))[1].split(", ")
    results = []
    for kernel in ["auto", *kernels]:
        text = succeed("recover", plain, "--in", data / "y_test.npy", "--out", tmp_path / "x.npy",
                       "--kernel", kernel, "--json", "-", "--quiet")
        assert json.loads(text)["kernel"] == (kernels[0] if kernel == "auto" else kernel)
        results.append(load(tmp_path / "x.npy"))
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], atol=1e-4)


def test_eval_measures_what_numpy_measures(data, plain, tmp_path):
    x = load(data / "x_test.npy")
    succeed("recover", plain, "--in", data / "y_test.npy", "--out", tmp_path / "x.npy")
    error = np.sum((load(tmp_path / "x.npy").astype(float) - x) ** 2, axis=1)
    energy = np.sum(x.astype(float) ** 2, axis=1)
    text = succeed("eval", plain, "--signals", data / "x_test.npy", "--measurements",
                   data / "y_test.npy", "--json", "-")
    result = json.loads(text)
    assert result["nmse_db"] == pytest.approx(10 * np.log10(np.mean(error / energy)), abs=1e-3)
    assert result["energy_nmse_db"] == pytest.approx(
        10 * np.log10(np.sum(error) / np.sum(energy)), abs=1e-3)
    own = json.loads(succeed("eval", plain, "--signals", data / "x_test.npy", "--json", "-"))
    assert own["nmse_db"] == pytest.approx(result["nmse_db"], abs=1e-3)
    text = succeed("eval", plain, "--signals", data / "x_test.npy")
    for words in ("nmse (mean of ratios)", "latency, us", "batch time, us per signal",
                  "batch time: per signal of 1000 signals over "):
        assert words in text


def test_omp_recovers_nearly_every_signal_of_the_default_problem(data, tmp_path):
    succeed("solve", "--solver", "omp", "--operator", data / "A.npy", "--in", data / "y_test.npy",
            "--out", tmp_path / "x.npy")
    x, found = load(data / "x_test.npy"), load(tmp_path / "x.npy")
    error = np.linalg.norm(found - x, axis=1) / np.linalg.norm(x, axis=1)
    exact = np.all((found != 0) == (x != 0), axis=1) & (error < 1e-3)
    assert np.count_nonzero(exact) >= 995


def solve(data, out, *options):
    text = succeed("solve", "--operator", data / "A.npy", "--in", data / "y_test.npy", "--out", out,
                   "--signals", data / "x_test.npy", "--json", "-", *options)
    return json.loads(text)


def test_solvers_and_their_options_take_effect(data, tmp_path):
    out = tmp_path / "x.npy"
    few = solve(data, out, "--solver", "ista", "--iterations", 20, "--tolerance", 0)
    assert few["max_iterations"] == 20 and few["converged"] == 0
    fista = solve(data, out, "--solver", "fista", "--iterations", 200)
    assert fista["nmse_db"] < few["nmse_db"] - 10
    loose = solve(data, out, "--solver", "fista", "--tolerance", 0.1)
    assert loose["mean_iterations"] < fista["mean_iterations"]
    assert solve(data, out, "--solver", "fista", "--lambda", 1e6)["support_f1"] == 0
    assert solve(data, out, "--solver", "fista", "--relative", 1)["support_f1"] == 0
    solve(data, out, "--solver", "omp", "--sparsity", 2)
    assert np.count_nonzero(load(out), axis=1).max() == 2
    prior = solve(data, out, "--solver", "linear")
    np.testing.assert_allclose(load(out) @ load(data / "A.npy").T, load(data / "y_test.npy"),
                               atol=1e-3)
    noisy = solve(data, out, "--solver", "linear", "--noise-std", 1)
    assert noisy["energy_nmse_db"] != pytest.approx(prior["energy_nmse_db"], abs=1e-3)
    fitted = solve(data, out, "--solver", "linear", "--train-signals", data / "x_train.npy")
    assert fitted["energy_nmse_db"] == pytest.approx(-3, abs=0.2)


@pytest.mark.parametrize("structure", ["repeated", "blocks", "mask"])
def test_solve_on_a_structure_is_solve_on_the_whole_matrix(structure, tmp_path):
    rng = np.random.default_rng(1)
    block, u = rng.normal(size=(8, 12)), 3
    whole = np.kron(np.eye(u), block)
    x = np.zeros((5, 36))
    x[np.arange(5), rng.integers(36, size=5)] = 1
    np.save(tmp_path / "A.npy", block if structure == "repeated" else whole)
    np.save(tmp_path / "whole.npy", whole)
    np.save(tmp_path / "y.npy", x @ whole.T)
    options = ["--solver", "fista", "--in", tmp_path / "y.npy", "--lambda", 0.01]
    succeed("solve", *options, "--operator", tmp_path / "A.npy", "--out", tmp_path / "x.npy",
            "--structure", structure, *(["--repeat", u] if structure != "mask" else []))
    succeed("solve", *options, "--operator", tmp_path / "whole.npy", "--out", tmp_path / "w.npy")
    np.testing.assert_allclose(load(tmp_path / "x.npy"), load(tmp_path / "w.npy"), atol=1e-3)
    np.testing.assert_allclose(load(tmp_path / "x.npy"), x, atol=0.05)


def test_inspect_counts_the_bits_both_ways(plain):
    result = json.loads(succeed("inspect", plain, "--json", "-"))
    assert result["bits"] == {"weights": 100000, "thresholds": 640, "momentum": 0, "scales": 32,
                              "operator": 160000, "paper": 100640, "total": 260672}
    text = succeed("inspect", plain)
    assert "100,640" in text and "260,672" in text and "pibinn.recipe: untrained" in text


def test_quiet_says_nothing(small, tmp_path):
    model = small / "model.safetensors"
    assert succeed("inspect", model, "--quiet") == ""
    assert succeed("recover", model, "--in", small / "y_test.npy", "--out", tmp_path / "x.npy",
                   "--quiet") == ""
    assert (tmp_path / "x.npy").exists()
    assert run("inspect", "missing", "--quiet", cwd=tmp_path).stderr != ""
