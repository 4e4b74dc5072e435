"""The augmentation that arrays get by default is near the best that they could be given."""

import json

import numpy as np
import pytest

from conftest import sets, succeed

M, N, SIGNALS = 64, 256, 200
CHOICES = ("none", "signs", "roll", "negate")


def nmse_of(folder, *settings):
    succeed("train", *sets("problem.kind=arrays", "problem.operator=A.npy", "problem.x=x.npy",
                           "model.layers=3", *settings),
            "--out", "run-" + settings[-1].replace("=", "-"), "--json", "r.json", "--quiet",
            cwd=folder)
    return json.loads((folder / "r.json").read_text())["test_nmse_db"]



@pytest.mark.parametrize("given, weights", [
    (False, ["model.weights=one-bit"]), (False, ["model.weights=float"]),
    (True, ["model.weights=tied", "model.activation=piecewise"])], ids=["one-bit", "float", "tied-given"])
def test_the_default_is_within_a_decibel_of_the_best(given, weights, tmp_path):
    rng = np.random.default_rng(3)
    a = rng.normal(size=(M, N)) / np.sqrt(M)
    x = rng.normal(size=(SIGNALS, N)) * (rng.random((SIGNALS, N)) < 0.02)
    x[np.all(x == 0, axis=1), 0] = 1
    for name, values in (("A", a), ("x", x), ("y", x @ a.T + 0.02 * rng.normal(size=(SIGNALS, M)))):
        np.save(tmp_path / f"{name}.npy", values)
    words = [*weights, *(["problem.y=y.npy"] if given else [])]
    found = {choice: nmse_of(tmp_path, *words, f"train.augment={choice}") for choice in CHOICES}
    usual = nmse_of(tmp_path, *words)
    assert usual < min(found.values()) + 1, (usual, found)
