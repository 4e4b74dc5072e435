"""Whole default trainings of float64 files: a factor of x or A changes the unit of the model, and nothing else."""

import json

import numpy as np
import pytest

from conftest import run, sets

M, N, SIGNALS = 25, 50, 500  # 400 to train
# Drawn once from all that are promised.
ANY = tuple(10 ** np.random.default_rng(9).uniform((-9, -12), (9, 12)))
DRAWN = [tuple(10 ** u) for u in np.random.default_rng(10).uniform((-9, -12), (9, 12), (4, 2))]
SHRINK = ("model.weights=tied", "model.activation=piecewise")


def problem():
    rng = np.random.default_rng(5)
    a = rng.normal(size=(M, N)) / np.sqrt(M)
    x = rng.normal(size=(SIGNALS, N)) * (rng.random((SIGNALS, N)) < 0.05)
    x[np.all(x == 0, axis=1), 0] = 1
    return a, x, x @ a.T + 0.02 * rng.normal(size=(SIGNALS, M))


def save(folder, form, name, values):
    """Writes an array with all its digits and returns its place."""
    path = folder / f"{name}.{form}"
    if form == "npz":
        np.savez(path, values=values)
    elif form == "csv":
        np.savetxt(path, values, fmt="%.17g", delimiter=",")
    else:
        np.save(path, values)
    return path


def trained(folder, x_unit, a_unit, *settings, form="npy", given=False, noise=None):
    """The losses of all epochs, and the test nmse, of the problem in these units."""
    folder.mkdir()
    a, x, y = problem()
    words = [f"problem.operator={save(folder, form, 'A', a * a_unit)}",
             f"problem.x={save(folder, form, 'x', x * x_unit)}"]
    if given:
        words.append(f"problem.y={save(folder, form, 'y', y * (x_unit * a_unit))}")
    if noise is not None:
        words.append(f"problem.noise_std={noise * (x_unit * a_unit)!r}")
    result = run("train", *sets("problem.kind=arrays", "model.layers=5", *words, *settings),
                 "--out", folder / "run")
    assert result.returncode == 0, result.stderr
    summary = json.loads((folder / "run" / "summary.json").read_text())
    return (folder / "run" / "history.csv").read_text(), summary["test_nmse_db"]


@pytest.mark.parametrize("settings, units, options", [
    ((), [(7.7e8, 1234.5), ANY], {}),
    ((), [(3.3e-9, 7.1e4)], {"given": True, "form": "csv"}),
    (SHRINK, [(3.3e-9, 1), (2.9e7, 0.0173)], {"noise": 0.02, "form": "npz"}),
    (("model.update=plain",), [(3.3e-9, 17.7)], {}),
    (("train.recipe=paper",), [(7.7e8, 3.3e-3)], {}),
], ids=["one-bit", "given", "tied", "plain", "paper"])
def test_a_whole_training_is_the_same_in_any_unit(tmp_path, settings, units, options):
    usual, nmse = trained(tmp_path / "usual", 1, 1, *settings, **options)
    assert nmse < -3
    for number, (x_unit, a_unit) in enumerate(units):
        history, other = trained(tmp_path / str(number), x_unit, a_unit, *settings, **options)
        assert other == pytest.approx(nmse, abs=0.1), (x_unit, a_unit)
        assert history == usual, (x_unit, a_unit)


def complex_training(folder, x_unit, a_unit, *settings):
    folder.mkdir()
    rng = np.random.default_rng(6)

    def drawn(*shape):
        return rng.normal(size=shape) + 1j * rng.normal(size=shape)

    a, x = drawn(12, 20) / np.sqrt(24), drawn(250, 20) * (rng.random((250, 20)) < 0.1)
    x[np.all(x == 0, axis=1), 0] = 1
    result = run("train", *sets(
        "problem.kind=arrays", "model.layers=3", "model.groups=complex", *settings,
        f"problem.operator={save(folder, 'npy', 'A', a * a_unit)}",
        f"problem.x={save(folder, 'npy', 'x', x * x_unit)}"), "--out", folder / "run")
    assert result.returncode == 0, result.stderr
    return (folder / "run" / "history.csv").read_text()


@pytest.mark.parametrize("settings", [(), SHRINK, ("model.activation=hard",)],
                         ids=["one-bit", "tied", "hard"])
def test_a_training_of_complex_arrays_is_the_same_in_any_unit(tmp_path, settings):
    usual = complex_training(tmp_path / "usual", 1, 1, *settings)
    for number, units in enumerate(DRAWN[:2]):
        assert complex_training(tmp_path / str(number), *units, *settings) == usual, units


def guaranteed(folder, x_unit, a_unit):
    """The statement's norm and bound, and the test nmse, of a class whose norm nobody names."""
    folder.mkdir()
    rng = np.random.default_rng(5)
    x = np.zeros((100, 20))
    x[:, [1, 5]] = rng.normal(size=(100, 2))
    a = rng.normal(size=(12, 20)) / np.sqrt(12)
    result = run("train", *sets(
        "problem.kind=arrays", "train.recipe=guaranteed", "train.guarantee.supports=[[1,5]]",
        "model.layers=5", "model.weights=float",
        f"problem.operator={save(folder, 'npy', 'A', a * a_unit)}",
        f"problem.x={save(folder, 'npy', 'x', x * x_unit)}"), "--out", folder / "run")
    assert result.returncode == 0, result.stderr
    summary = json.loads((folder / "run" / "summary.json").read_text())
    guarantee = summary["guarantee"]
    assert guarantee["guaranteed"]
    return guarantee["norm"] / x_unit, guarantee["bound_db"], summary["test_nmse_db"]


def test_a_guarantee_is_the_same_in_any_unit(tmp_path):
    usual = guaranteed(tmp_path / "usual", 1, 1)
    assert usual[2] < -30
    for number, units in enumerate(DRAWN):
        norm, bound, nmse = guaranteed(tmp_path / str(number), *units)
        assert norm == pytest.approx(usual[0], rel=1e-4), units
        assert bound == pytest.approx(usual[1], abs=0.1), units
        assert nmse == pytest.approx(usual[2], abs=0.1), units
