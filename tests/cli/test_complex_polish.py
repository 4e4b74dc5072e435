"""Polish of complex signals, whose support is made of groups: trained, stored, recovered with, judged."""

import json

import numpy as np
import pytest
from safetensors import safe_open

from conftest import load, refuse, sets, succeed

SPECTRA = sets("problem.kind=fourier", "problem.m=24", "problem.n=64", "problem.nonzeros=3",
               "problem.noise_std=0", "problem.train=400", "problem.test=100", "model.layers=5",
               "model.weights=tied", "model.activation=piecewise", "train.stage.tune.epochs=30")


def trained(folder, *settings, name="run"):
    succeed("train", *SPECTRA, *sets(*settings), "--out", name, "--quiet", cwd=folder)
    return json.loads((folder / name / "summary.json").read_text())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A training without noise, and what was measured of signals that it never saw."""
    folder = tmp_path_factory.mktemp("polish")
    trained(folder)
    succeed("sample", *SPECTRA, "--seed", "1", "--out", "data", "--quiet", cwd=folder)
    return folder


def test_it_is_chosen_where_it_gains_and_stored(run):
    summary = json.loads((run / "run" / "summary.json").read_text())
    assert summary["model"]["polish"] == 6 and summary["model"]["groups"] == "complex"
    with safe_open(run / "run" / "model.safetensors", "numpy") as f:
        network = json.loads(f.metadata()["pibinn.network"])
        assert f.metadata()["pibinn.format"] == "3"
        assert network["polish"] == 6 and network["groups"] == "complex"
        assert f.get_tensor("cut").shape == (1,) and 0 <= f.get_tensor("cut")[0] < 1
    alone = trained(run, "model.polish=0", name="alone")
    assert "polish" not in alone["model"]
    assert alone["test_energy_nmse_db"] > summary["test_energy_nmse_db"] + 1


def test_what_is_recovered_is_complex_least_squares_on_the_support(run):
    succeed("recover", "run/model.safetensors", "--in", "data/y_test.npy", "--out", "x.npy", cwd=run)
    a, y, x = (load(run / f) for f in ("data/A.npy", "data/y_test.npy", "x.npy"))
    assert x.dtype == np.complex64
    converged = 0
    for measured, found in zip(y.astype(complex), x):
        places = np.flatnonzero(found)
        if len(places) > 4:  # six steps are enough for as many distinct singular values
            continue
        best = np.linalg.lstsq(a[:, places], measured, rcond=None)[0]
        assert np.abs(found[places] - best).max() < 1e-4 * np.abs(best).max()
        converged += 1
    assert converged > 50


def test_vectors_that_share_a_support_are_polished_on_it(tmp_path):
    settings = ["problem.kind=access", "problem.users=48", "problem.pilots=24", "problem.antennas=2",
                "problem.snr_db=40", "problem.train=200", "problem.test=50", "model.layers=4",
                "model.weights=tied", "model.activation=piecewise", "model.polish=5",
                "train.stage.tune.epochs=5"]
    succeed("train", *sets(*settings), "--out", "run", "--quiet", cwd=tmp_path)
    succeed("sample", *sets(*settings), "--seed", "1", "--out", "data", "--quiet", cwd=tmp_path)
    succeed("recover", "run/model.safetensors", "--in", "data/y_test.npy", "--out", "x.npy",
            cwd=tmp_path)
    x = load(tmp_path / "x.npy").reshape(-1, 2, 48)
    assert np.array_equal(x[:, 0] != 0, x[:, 1] != 0) and 0 < np.mean(x != 0) < 0.5
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["model"]["polish"] == 5 and summary["model"]["groups"] == "rows"


def test_calibration_speaks_of_the_polished_model(run):
    succeed("sample", *SPECTRA, "--seed", "9", "--out", "held", "--quiet", cwd=run)
    text = succeed("certify", "run/model.safetensors", "--calibrate", "held/x_test.npy", "--measurements",
                   "held/y_test.npy", "--coverage", "0.9", "--confidence", "0.99", cwd=run)
    assert "polish included" in " ".join(text.split())


def test_certificates_still_refuse_groups(run):
    said = refuse("certify", "run/model.safetensors", "--support", "1,2", cwd=run)
    assert "groups or neighbours" in said


def test_wiener_has_no_support(tmp_path):
    line = refuse("train", *SPECTRA, *sets("model.activation=wiener", "model.polish=3"), "--out", "run",
                  cwd=tmp_path)
    assert "keeps every entry" in line and "set model.polish = 0" in line
