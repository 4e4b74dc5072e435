"""Tied networks, learned shrinks and polish from the command line."""

import json

import numpy as np
import pytest

from conftest import TINY, refuse, sets, succeed

TIED = sets("problem.operator=rademacher", "model.weights=tied", "model.activation=piecewise",
            "train.stage.tune.epochs=30")


@pytest.mark.parametrize("settings, said", [
    (["model.activation=piecewise", "model.pieces=0"], "whole number from 1 to 16"),
    (["model.activation=piecewise", "model.pieces=1000"], "whole number from 1 to 16"),
    (["model.weights=tied", "model.architecture=fcn", "model.update=plain"],
     "a fully connected network has no operator to tie its weights to"),
    (["model.activation=piecewise", "model.architecture=fcn", "model.update=plain"],
     "a fully connected network has no learned shrink"),
    (["model.polish=2", "model.architecture=fcn", "model.update=plain"],
     "set model.polish = 0 with architecture 'fcn'"),
    (["model.weights=tied", "model.step=false"], "set model.step = true with weights 'tied'"),
    (["model.weights=tied", 'train.stage.tune.trains=["weights"]'],
     "tied weights are the operator, and nothing to train"),
    (["problem.snr_db=[40, 10]"], "the range is upside down; write the lower number first"),
    (["model.polish=-1"], "whole number from 0 to 1000"),
    (["train.start=solver"], "choose one of ista, amp"),
])
def test_what_makes_no_sense_is_refused(settings, said, tmp_path):
    assert said in refuse("train", *TINY, *sets(*settings), "--out", "run", cwd=tmp_path)


def test_fresh_signals_need_a_prior(tmp_path):
    succeed("sample", *sets("problem.train=50", "problem.test=10"), "--out", "data", cwd=tmp_path)
    line = refuse("train", *sets("problem.kind=arrays", "problem.operator=data/A.npy",
                                 "problem.x=data/x_train.npy", "train.augment=fresh"),
                  "--out", "run", cwd=tmp_path)
    assert "augment 'fresh' draws new signals, and nobody knows how these were drawn" in line


def test_a_tied_network_stores_its_operator_and_a_few_numbers(tmp_path):
    summary = json.loads(succeed("train", *TINY, *TIED, *sets("model.pieces=2"), "--out",
                                 tmp_path / "run", "--json", "-"))
    layers = summary["model"]["layers"]
    assert summary["augment"] == "fresh" and summary["model"]["pieces"] == 2
    assert summary["bits"]["weights"] == 0
    assert summary["bits"]["operator"] == 12 * 20 + 32
    assert summary["bits"]["thresholds"] == 32 * 4 * layers
    assert len(summary["theta"]) == len(summary["gain"]) == 2 * layers
    assert len(summary["step"]) == layers
    assert summary["test_nmse_db"] < -3
    archive = tmp_path / "m.npz"
    succeed("export", tmp_path / "run/model.safetensors", "--to", "npz", "--out", archive)
    arrays = np.load(archive)
    assert "W1" not in arrays and set(np.abs(arrays["A"]).ravel()) == {arrays["A"].max()}
    assert len(arrays["gain"]) == 2 * layers


def test_a_certificate_says_what_the_theory_does_not_cover(tmp_path):
    soft = [*TIED, *sets("model.activation=soft")]
    succeed("train", *TINY, *soft, *sets("model.polish=2"), "--out", tmp_path / "soft")
    text = succeed("certify", tmp_path / "soft/model.safetensors", "--size", "1")
    assert "Not covered" in text and "2 steps of polish after the last layer" in text
    succeed("train", *TINY, *TIED, "--out", tmp_path / "shrink")
    line = refuse("certify", tmp_path / "shrink/model.safetensors", "--size", "1", cwd=tmp_path)
    assert "the theory has no bounds for activation 'piecewise'" in line


def test_the_program_recovers_as_the_formulas_say(tmp_path):
    """The layers of the mathematics, in numpy, from an exported model; without and with polish."""
    for polish in (0, 3):
        run = tmp_path / f"run{polish}"
        succeed("train", *TINY, *TIED, *sets(f"model.polish={polish}"), "--out", run)
        model = run / "model.safetensors"
        succeed("export", model, "--to", "npz", "--out", run / "m.npz")
        m = {name: np.float64(value) for name, value in np.load(run / "m.npz").items()}
        a = m["A"]
        y = np.random.default_rng(1).normal(size=(6, a.shape[0]))
        expected = np.array([recover(m, row, polish) for row in y])
        np.save(run / "y.npy", np.float32(y))
        succeed("recover", model, "--in", run / "y.npy", "--out", run / "x.npy")
        assert np.abs(np.load(run / "x.npy") - expected).max() < 1e-3 * np.abs(expected).max()


def recover(m, y, polish):
    a, layers = m["A"], len(m["step"])
    theta, gain = m["theta"].reshape(layers, -1), m["gain"].reshape(layers, -1)
    x = x_before = np.zeros(a.shape[1])
    r, slope = np.zeros_like(y), 0
    for k in range(layers):
        v = x + m["beta"][k] * (x - x_before)
        r = a @ v - y + m["omega"][k] * slope / len(y) * r
        z = v - m["step"][k] * a.T @ r
        beyond = np.maximum(np.abs(z)[:, None] - theta[k] * np.abs(r).mean(), 0)
        x_before, x = x, np.sign(z) * (beyond @ gain[k])
        slope = ((beyond > 0) @ gain[k]).sum()
    if polish == 0:
        return x
    support = np.abs(x) > m["cut"][0] * np.abs(x).max()
    if not 0 < support.sum() <= len(y):
        return x
    a, found = a[:, support], x[support]
    r = y - a @ found
    s = p = a.T @ r
    for _ in range(polish):
        q = a @ p
        alpha = s @ s / (q @ q)
        found, r = found + alpha * p, r - alpha * q
        s_before, s = s, a.T @ r
        p = s + s @ s / (s_before @ s_before) * p
    x = np.zeros_like(x)
    x[support] = found
    return x
