"""Operators beyond plain random numbers: drawn, recognised, stored and refused."""

import json
import shutil

import numpy as np
import pytest

from conftest import SHORT, load, refuse, run, sets, succeed

DRAW = np.random.default_rng(9)
ENSEMBLES = ["gaussian", "rademacher", "hadamard", "bernoulli", "binary-sparse", "dct", "fourier"]
MODEL = "m.safetensors"


def sample(folder, *settings):
    shutil.rmtree(folder / "s", ignore_errors=True)
    succeed("sample", *sets("problem.train=20", "problem.test=5", *settings), "--out", "s",
            cwd=folder)
    return load(folder / "s" / "A.npy"), load(folder / "s" / "x_train.npy"), \
        load(folder / "s" / "y_train.npy")


def bits_of(folder, *settings):
    return json.loads(succeed("init", *sets(*settings), "--out", MODEL, "--json", "-",
                              cwd=folder))["bits"]["operator"]


def toeplitz(n, taps):
    a = np.zeros((n, n), "f4")
    for k, tap in enumerate(taps, -(len(taps) // 2)):
        a += tap * np.eye(n, k=-k, dtype="f4")
    return a


@pytest.mark.parametrize("operator", ENSEMBLES)
@pytest.mark.parametrize("size", [("30", "60"), ("1", "1"), ("100", "250")])
def test_every_operator_is_drawn_with_columns_of_norm_one_and_measures(operator, size, tmp_path):
    m, n = size
    a, x, y = sample(tmp_path, f"problem.operator={operator}", f"problem.m={m}", f"problem.n={n}",
                     "problem.density=0.3")
    assert a.shape == (int(m), int(n))
    np.testing.assert_allclose(y, x.astype("f8") @ a.T.astype("f8"), atol=1e-5)
    if size != ("1", "1"):
        assert np.sqrt(np.mean(np.sum(a.astype("f8") ** 2, axis=0))) == pytest.approx(1, abs=0.05)


def test_entries_are_what_their_names_say(tmp_path):
    size = ["problem.m=40", "problem.n=80"]
    a, _, _ = sample(tmp_path, "problem.operator=hadamard", *size)
    assert set(np.abs(a).ravel()) == {np.float32(40 ** -0.5)}
    # Rows of Sylvester's matrix are orthogonal but for the columns cut off; all are different.
    assert len({tuple(row) for row in a}) == 40
    a, _, _ = sample(tmp_path, "problem.operator=bernoulli", *size)
    assert len(set(a.ravel())) == 2 and 0 in a
    a, _, _ = sample(tmp_path, "problem.operator=binary-sparse", "problem.ones_per_column=3", *size)
    assert (np.count_nonzero(a, axis=0) == 3).all() and np.count_nonzero(a, axis=1).all()
    for operator in ("dct", "fourier"):
        a, _, _ = sample(tmp_path, f"problem.operator={operator}", *size)
        np.testing.assert_allclose(a @ a.T, 2 * np.eye(40), atol=1e-5)


@pytest.mark.parametrize("operator, bits", [
    ("gaussian", 4000000), ("rademacher", 125032), ("bernoulli", 125032), ("hadamard", 1044),
    ("dct", 532), ("fourier", 532), ("binary-sparse", 44048)])
def test_bits_of_an_operator_of_250_x_500(operator, bits, tmp_path):
    size = ["problem.m=250", "problem.n=500", "model.layers=1", "model.weights=tied"]
    assert bits_of(tmp_path, f"problem.operator={operator}", *size) == bits
    # The file holds little more: its header, and a few numbers per layer.
    assert (tmp_path / MODEL).stat().st_size < bits / 8 + 2000


@pytest.mark.parametrize("operator", ["hadamard", "dct", "fourier", "bernoulli", "binary-sparse"])
def test_a_network_trains_and_recovers_on_them(operator, tmp_path):
    options = sets(f"problem.operator={operator}", "problem.m=20", "problem.n=40",
                   "problem.train=60", "problem.test=10", "model.layers=2", "train.batch=20")
    summary = json.loads(succeed("train", *options, *SHORT, "--out", "run", "--json", "-",
                                 cwd=tmp_path))
    assert summary["model"]["structure"] == ("mask" if operator == "binary-sparse" else "dense")
    succeed("sample", *options, "--out", "s", cwd=tmp_path)
    succeed("recover", "run/model.safetensors", "--in", "s/y_test.npy", "--out", "x.npy",
            cwd=tmp_path)
    assert load(tmp_path / "x.npy").shape == (10, 40)
    succeed("export", "run/model.safetensors", "--to", "npz", "--out", "m.npz", cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "m.npz")["A"], load(tmp_path / "s" / "A.npy"))


TIED = ["model.weights=tied", "model.activation=piecewise", "model.layers=6",
        "train.stage.tune.epochs=20"]


@pytest.mark.parametrize("operator", ENSEMBLES)
def test_a_tied_network_is_far_ahead_of_zero_on_all_of_them(operator, tmp_path):
    """Columns of zeros and ones have a mean in common, at which training diverged."""
    size = ["problem.m=40", "problem.n=64", "problem.train=1000", "problem.test=200"]
    options = sets(f"problem.operator={operator}", *size, *TIED)
    summary = json.loads(succeed("train", *options, "--out", "run", "--json", "-", cwd=tmp_path))
    assert summary["test_energy_nmse_db"] < -15
    centred = operator in ("bernoulli", "binary-sparse")
    assert summary["model"].get("centre", False) == centred
    assert ("centred residuals" in succeed("inspect", "run/model.safetensors",
                                           cwd=tmp_path)) == centred
    succeed("export", "run/model.safetensors", "--to", "npz", "--out", "m.npz", cwd=tmp_path)
    assert ("centre" in np.load(tmp_path / "m.npz").files) == centred


def test_a_matrix_of_zeros_and_ones_is_centred_unless_it_is_not_to_be(tmp_path):
    rng = np.random.default_rng(3)
    np.save(tmp_path / "A.npy", (rng.random((40, 64)) < 0.5).astype("float32"))
    x = np.where(rng.random((400, 64)) < 0.05, rng.standard_normal((400, 64)), 0)
    np.save(tmp_path / "x.npy", x.astype("float32"))
    options = sets("problem.kind=arrays", "problem.operator=A.npy", "problem.x=x.npy", *TIED)
    summary = json.loads(succeed("train", *options, "--out", "run", "--json", "-", cwd=tmp_path))
    assert summary["model"]["centre"] is True
    assert summary["bits"]["operator"] == 40 * 64 + 32
    assert summary["test_energy_nmse_db"] < -10
    other = run("train", *options, *sets("model.centre=false"), "--out", "other", cwd=tmp_path)
    assert other.returncode == 1 and "training diverged" in other.stderr
    assert 'set train.start = "ista"' in other.stderr


def test_what_does_not_know_centred_residuals_refuses_them(tmp_path):
    options = sets("problem.operator=bernoulli", "problem.m=20", "problem.n=40",
                   "model.activation=soft", "model.update=plain", "model.centre=true")
    succeed("init", *options, "--out", MODEL, cwd=tmp_path)
    assert "no bounds for centred residuals" in refuse("certify", MODEL, "--size", "2",
                                                       cwd=tmp_path)
    for settings, what in (
            (["model.architecture=fcn", "model.update=plain"],
             "a fully connected network has no residual to centre; leave model.centre off with"),
            (["problem.kind=fourier"],
             "the rows of a complex operator hold real and imaginary parts, which have no mean in "
             "common; leave model.centre off")):
        line = refuse("init", *sets(*settings, "model.centre=true"), "--out", "f.safetensors",
                      cwd=tmp_path)
        assert what in line


@pytest.mark.parametrize("settings, message", [
    (["problem.operator=hadamar"],
     "--set problem.operator=hadamar: 'problem.operator': unknown operator 'hadamar'; "
     "did you mean 'hadamard'? a file ends in .npy, .npz, .mat or .csv"),
    (["problem.operator=dct", "problem.structure=mask"],
     "--set problem.operator=dct: 'problem.operator': a dct operator cannot be drawn on a mask; "
     "use gaussian, gaussian-unit, rademacher or binary-sparse, or another structure"),
    (["problem.operator=bernoulli", "problem.structure=mask"],
     "--set problem.operator=bernoulli: 'problem.operator': a bernoulli operator cannot be drawn "
     "on a mask; use gaussian, gaussian-unit, rademacher or binary-sparse, or another structure"),
    (["problem.operator=binary-sparse", "problem.structure=repeated"],
     "--set problem.operator=binary-sparse: 'problem.operator': a binary-sparse operator is a mask "
     "of its ones, and the structure is 'repeated'; set problem.structure = \"mask\", or remove it"),
    (["problem.operator=binary-sparse", "problem.mask_density=0.1"],
     "--set problem.mask_density=0.1: 'problem.mask_density': a binary-sparse operator says how "
     "many ones a column has; remove mask_density, or set problem.ones_per_column instead"),
    (["problem.ones_per_column=4"],
     "--set problem.ones_per_column=4: 'problem.ones_per_column': the operator is not "
     "binary-sparse; set problem.operator = \"binary-sparse\", or remove it"),
    (["problem.operator=binary-sparse", "problem.ones_per_column=51"],
     "51 ones per column, but a column has 50 rows; set problem.ones_per_column to at most 50"),
    (["problem.operator=binary-sparse", "problem.ones_per_column=2", "problem.n=20"],
     "2 ones in each of 20 columns leave rows of 50 empty; raise problem.ones_per_column, or take "
     "fewer measurements"),
    (["problem.operator=dct", "problem.m=101"],
     "a dct operator of 100 columns has at most 100 rows, not 101; take fewer measurements: each "
     "row of the transform is there once"),
    (["problem.operator=hadamard", "problem.m=129"],
     "a hadamard operator of 100 columns has at most 128 rows, not 129; take fewer measurements: "
     "each row of the transform is there once"),
])
def test_what_does_not_go_together_is_refused(settings, message, tmp_path):
    assert refuse("sample", *sets(*settings), "--out", "s", cwd=tmp_path) == \
        f"pibinn: error: {message}"


def inspected(folder, a):
    np.save(folder / "mine.npy", a)
    return (json.loads(succeed("inspect", "mine.npy", "--structure", "--json", "-", cwd=folder)),
            succeed("inspect", "mine.npy", "--structure", cwd=folder))


def test_a_convolution_is_found_and_stored_by_its_taps(tmp_path):
    a = toeplitz(256, DRAW.standard_normal(17))
    result, text = inspected(tmp_path, a)
    assert "  entries: 17 taps, constant along the diagonals: 608 bits\n" in text
    assert result["smallest"]["structure"] == "mask"
    assert {fit["operator_stored_as"] for fit in result["structures"]} == \
        {"17 taps, constant along the diagonals"}
    assert all(fit["bits"]["operator"] == 608 for fit in result["structures"])
    for structure in ("dense", "mask"):
        settings = ["problem.operator=mine.npy", f"problem.structure={structure}", "model.layers=2"]
        assert bits_of(tmp_path, *settings) == 608
        found = json.loads(succeed("inspect", MODEL, "--json", "-", cwd=tmp_path))
        assert found["operator_stored_as"] == "17 taps, constant along the diagonals"
        succeed("export", MODEL, "--to", "npz", "--out", "m.npz", cwd=tmp_path)
        np.testing.assert_array_equal(np.load(tmp_path / "m.npz")["A"], a)


@pytest.mark.parametrize("matrix, entries, bits", [
    (lambda: np.where(DRAW.random((6, 9)) < 0.5, 0.5, -0.5), "signs, one bit per entry", 86),
    (lambda: np.eye(6) + np.triu(DRAW.random((6, 6)) < 0.5, 1) * 1.0,
     "zeros and ones, one bit per entry", 68),
    (lambda: DRAW.standard_normal((6, 9)), "numbers, 32 bits per entry", 1728)])
def test_entries_are_recognised(matrix, entries, bits, tmp_path):
    result, text = inspected(tmp_path, matrix())
    dense = result["structures"][0]
    assert dense["operator_stored_as"] == entries and dense["bits"]["operator"] == bits
    np.save(tmp_path / "mine.npy", matrix())
    assert bits_of(tmp_path, "problem.operator=mine.npy", "model.layers=2") == bits


def test_entries_that_are_nearly_signs_are_pointed_out(tmp_path):
    a = np.where(DRAW.random((10, 20)) < 0.5, 0.5, -0.5)
    a[3, 7] = 0.625
    warning = ("the operator is nearly +-0.5: 1 of its 200 entries is not, such as 0.625 in row 3, "
               "column 7; round them, and one bit per entry stores it instead of 32")
    _, text = inspected(tmp_path, a)
    assert warning in text
    x = (DRAW.random((60, 20)) < 0.2) * DRAW.standard_normal((60, 20))
    x[:, 0] = 1
    np.save(tmp_path / "x.npy", x)
    settings = sets("problem.kind=arrays", "problem.operator=mine.npy", "problem.x=x.npy",
                    "model.layers=2", "train.batch=20")
    result = run("train", *settings, *SHORT, "--out", "run", cwd=tmp_path)
    assert result.returncode == 0 and warning in result.stdout
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert summary["warnings"][0] == warning
    result = run("init", *settings[:6], "--out", "i.safetensors", cwd=tmp_path)
    assert result.returncode == 0 and result.stderr == f"pibinn: warning: {warning}\n"
