"""Configurations: what a key does, and what is said of one that is wrong."""

import json

import numpy as np
import pytest

from conftest import load, refuse, succeed, tree


def init(folder, *options, config=None):
    arguments = []
    if config is not None:
        (folder / "c.toml").write_text(config)
        arguments = [folder / "c.toml"]
    text = succeed("init", *arguments, *options, "--out", folder / "m.safetensors", "--json", "-")
    return json.loads(text)


def inspect(path):
    return json.loads(succeed("inspect", path, "--json", "-"))


def test_an_empty_file_is_the_embedded_default(tmp_path):
    assert init(tmp_path, config="")["bits"] == init(tmp_path)["bits"]
    first = (tmp_path / "m.safetensors").read_bytes()
    init(tmp_path, "--seed", 1)
    assert (tmp_path / "m.safetensors").read_bytes() == first


def test_a_file_sets_and_the_command_line_overrides(tmp_path):
    config = """
        seed = 7
        [problem]
        m = 8
        n = 16
        operator = "rademacher"
        [model]
        layers = 4
        weights = "ternary"
        activation = "hard"
        delta = 0.9
        [train]
        recipe = "default"
    """
    result = init(tmp_path, "--set", "model.layers=5", "--set", "model.layers=6", config=config)
    assert result["model"] == {"layers": 6, "weights": "ternary", "activation": "hard",
                               "update": "accelerated", "structure": "dense", "delta": 0.9,
                               "links": 8 * 16 * 6}
    # One bit an entry and one scale: the operator is +-c.
    assert result["bits"]["operator"] == 8 * 16 + 32
    assert inspect(tmp_path / "m.safetensors")["metadata"]["pibinn.seed"] == "7"
    init(tmp_path, "--seed", 9, config=config)
    assert inspect(tmp_path / "m.safetensors")["metadata"]["pibinn.seed"] == "9"


@pytest.mark.parametrize("sets, update, momentum_bits", [
    ([], "accelerated", 2 * 20 * 32),
    (["model.update=plain"], "plain", 0),
    (["model.momentum=false"], "accelerated", 20 * 32),
    (["model.onsager=false", "model.momentum=false"], "accelerated", 0),
    (["model.onsager=false", "model.momentum=false", "model.threshold=fixed"], "plain", 0),
])
def test_parts_of_the_update_can_be_switched(sets, update, momentum_bits, tmp_path):
    result = init(tmp_path, *(word for s in sets for word in ("--set", s)))
    assert result["model"]["update"] == update
    assert result["bits"]["momentum"] == momentum_bits


def test_theta_is_the_threshold_of_every_layer(tmp_path):
    init(tmp_path, "--theta", 0.25, "--set", "model.layers=2")
    assert inspect(tmp_path / "m.safetensors")["theta"] == [0.25, 0.25]


def test_a_fully_connected_network_can_be_made(tmp_path):
    result = init(tmp_path, "--set", "model.architecture=fcn", "--set", "model.update=plain",
                  "--set", "model.layers=3", "--set", "problem.m=4", "--set", "problem.n=8")
    assert result["model"]["links"] == 4 * 8 + 2 * 8 * 8
    assert result["bits"]["operator"] == 0


def test_a_fully_connected_network_is_not_tied_whatever_its_update(tmp_path):
    for update in ("plain", "accelerated"):
        line = refuse("init", "--set", "model.architecture=fcn", "--set", "model.weights=tied", "--set",
                      f"model.update={update}", "--out", "m.safetensors", cwd=tmp_path)
        assert "no operator to tie its weights to" in line


@pytest.mark.parametrize("sets, shape", [
    (["ratio=0.25"], (25, 100)),
    (["m=5", "n=9", "structure=repeated", "repeat=3"], (5, 9)),
    (["m=5", "n=9", "structure=blocks", "repeat=3"], (15, 27)),
])
def test_shapes_of_the_problem(sets, shape, tmp_path):
    options = [word for s in [*sets, "train=7", "test=3"] for word in ("--set", f"problem.{s}")]
    succeed("sample", *options, "--out", tmp_path)
    assert load(tmp_path / "A.npy").shape == shape
    repeat = 3 if "structure=repeated" in sets else 1
    assert load(tmp_path / "x_train.npy").shape == (7, repeat * shape[1])
    assert load(tmp_path / "y_test.npy").shape == (3, repeat * shape[0])


def test_support_and_density(tmp_path):
    succeed("sample", "--set", "problem.support=[1, 4]", "--out", tmp_path / "fixed")
    x = load(tmp_path / "fixed" / "x_test.npy")
    assert set(np.nonzero(x)[1]) == {1, 4}
    succeed("sample", "--set", "problem.density=0.5", "--out", tmp_path)
    assert abs(np.mean(load(tmp_path / "x_test.npy") != 0) - 0.5) < 0.02


@pytest.fixture
def arrays(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "A.npy", rng.normal(size=(4, 6)))
    np.save(tmp_path / "x.npy", rng.normal(size=(10, 6)))
    return tmp_path


def test_a_folder_of_arrays_is_split_in_order(arrays):
    x, a = load(arrays / "x.npy"), load(arrays / "A.npy")
    (arrays / "c.toml").write_text('[problem]\nkind = "arrays"\npath = "."\n')
    out = arrays / "out"
    # A relative path starts at the file it stands in, wherever the program runs.
    succeed("sample", arrays / "c.toml", "--out", out)
    np.testing.assert_allclose(load(out / "x_train.npy"), x[:8], rtol=1e-6)
    np.testing.assert_allclose(load(out / "x_test.npy"), x[8:], rtol=1e-6)
    np.testing.assert_allclose(load(out / "y_train.npy"), x[:8] @ a.T, atol=1e-5)
    succeed("sample", arrays / "c.toml", "--set", "problem.train=3", "--set", "problem.test=2",
            "--out", arrays / "few")
    np.testing.assert_allclose(load(arrays / "few" / "x_test.npy"), x[3:5], rtol=1e-6)


def test_given_measurements_are_used(arrays):
    y = np.arange(40.0).reshape(10, 4)
    np.savez(arrays / "y.npz", y=y)
    options = ["kind=arrays", "operator=A.npy", "x=x.npy", "y=y.npz:y"]
    succeed("sample", *(w for o in options for w in ("--set", f"problem.{o}")), "--out", "out",
            cwd=arrays)
    np.testing.assert_array_equal(load(arrays / "out" / "y_test.npy"), y[8:])


def test_an_operator_file_serves_a_synthetic_problem(arrays):
    succeed("sample", "--set", "problem.operator=A.npy", "--out", "out", cwd=arrays)
    np.testing.assert_allclose(load(arrays / "out" / "A.npy"), load(arrays / "A.npy"), rtol=1e-6)
    assert load(arrays / "out" / "x_train.npy").shape == (4000, 6)


@pytest.mark.parametrize("config, place, words", [
    ("[problem]\nm = 3\ndensty = 0.1\n", ":3:", ["problem.densty", "did you mean 'density'?"]),
    ("[problm]\nm = 3\n", ":1:", ["problm", "did you mean 'problem'?"]),
    ("[model]\nlayers = 2.5\n", ":2:", ["model.layers", "whole number"]),
    ("[model]\nlayers = 0\n", ":2:", ["0 is out of range", "from 1 to 10000"]),
    ("[model]\nlayers = -4\n", ":2:", ["-4 is out of range"]),
    ("[problem]\ndensity = 1.5\n", ":2:", ["1.5 is out of range"]),
    ("[problem]\ndensity = 0\n", ":2:", ["0 is out of range", "above 0"]),
    ("[problem]\ndensity = nan\n", ":2:", ["nan is out of range"]),
    ("[problem]\nnoise_std = -1\n", ":2:", ["-1 is out of range"]),
    ("[problem]\nm = '3'\n", ":2:", ["problem.m", "string"]),
    ("[problem]\nsupport = [1, 1]\n", ":2:", ["twice"]),
    ("[problem]\nsupport = 3\n", ":2:", ["list"]),
    ("[problem]\nsupport = [100]\n", "", ["100", "n = 100"]),
    ("[problem]\nm = 3\nratio = 0.5\n", ":3:", ["ratio", "either m or ratio"]),
    ("[problem]\nkind = 'image'\n", ":2:", ["did you mean 'images'?"]),
    ("[problem]\npatch = 8\nkind = 'images'\n", "", ["folder of pictures", "problem.path"]),
    ("[problem]\npatch = 8\n", ":2:", ["kind synthetic has no such key", "images"]),
    ("[problem]\nkind = 'signals'\n", "", ["segments", "problem.x"]),
    ("[problem]\nkind = 'arrays'\n", "", ["operator", "problem.operator"]),
    ("[problem]\nx = 'x.npy'\n", "", ["arrays"]),
    ("[problem]\noperator = 'gausian'\n", ":2:", ["did you mean 'gaussian'?"]),
    ("[problem]\nstructure = 'mask'\nmask_density = 2\n", ":3:", ["mask_density"]),
    ("problem = 3\n", ":1:", ["section"]),
    ("[model]\nweights = 'one-bits'\n", ":2:", ["did you mean 'one-bit'?"]),
    ("[model]\nactivation = 'sofd'\n", ":2:", ["did you mean 'soft'?"]),
    ("[model]\nupdate = 'plai'\n", ":2:", ["did you mean 'plain'?"]),
    ("[model]\nupdate = 'plain'\nmomentum = true\n", ":3:", ["model.momentum", "plain"]),
    ("[model]\nmomentum = 1\n", ":2:", ["true or false"]),
    ("[model]\narchitecture = 'fcn'\n", "", ["plain"]),
    ("[model]\nactivation = 'relu'\n", "", ["relu"]),
    ("[model]\nlayers = \n", ":2", []),
    ("[model]\nlayers = 3\nlayers = 4\n", ":3", ["layers"]),
    ("\x00\xff", ":1", []),
])
def test_a_wrong_file_is_refused_with_the_place(config, place, words, tmp_path):
    (tmp_path / "c.toml").write_text(config, encoding="latin-1")
    line = refuse("sample", "c.toml", "--out", "out", cwd=tmp_path)
    if place:
        assert f"c.toml{place}" in line
    for word in words:
        assert word in line


@pytest.mark.parametrize("setting, words", [
    ("problem.mm=3", ["--set problem.mm=3", "did you mean 'm'?"]),
    ("problem.m=three", ["problem.m", "string"]),
    ("problem.m", ["key=value"]),
    ("=3", ["key=value"]),
    ("seed=-1", ["-1 is out of range"]),
    ("sed=1", ["did you mean 'seed'?"]),
])
def test_a_wrong_setting_is_refused(setting, words, tmp_path):
    line = refuse("init", "--set", setting, "--out", "m.safetensors", cwd=tmp_path)
    for word in words:
        assert word in line


@pytest.mark.parametrize("change, words", [
    (lambda f: np.save(f / "x.npy", np.ones((10, 5))), ["6 signal entries", "got 5"]),
    (lambda f: np.save(f / "x.npy", np.ones((1, 6))), ["at least two"]),
    (lambda f: np.save(f / "y.npy", np.ones((9, 4))), ["9 measurements", "10 signals"]),
    (lambda f: np.save(f / "A.npy", np.zeros((4, 6))), ["is zero"]),
    (lambda f: np.save(f / "A.npy", np.zeros((0, 6))), ["is empty"]),
    (lambda f: (f / "A.npy").unlink(), ["A.npy", "No such file"]),
])
def test_arrays_that_do_not_fit_are_refused(change, words, arrays):
    change(arrays)
    line = refuse("sample", "--set", "problem.kind=arrays", "--set", "problem.path=.", "--out",
                  "out", cwd=arrays)
    for word in words:
        assert word in line


def test_too_many_rows_wanted_of_arrays(arrays):
    line = refuse("sample", "--set", "problem.kind=arrays", "--set", "problem.path=.", "--set",
                  "problem.train=10", "--out", "out", cwd=arrays)
    assert "10 to train and 0 to test" in line
    assert tree(arrays) == ["A.npy", "x.npy"]
