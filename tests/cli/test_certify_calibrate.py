"""pibinn certify --calibrate: what held-out signals guarantee, what it stores, what it refuses."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from conftest import SHORT, TINY, load, refuse, sets, succeed, tree

MODEL = "run/model.safetensors"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A tiny network, its own signals, and 1500 that it has not seen."""
    folder = tmp_path_factory.mktemp("trained")
    succeed("train", *TINY, *SHORT, "--out", folder / "run", "--quiet")
    succeed("sample", *TINY, *sets("problem.test=1500"), "--out", folder / "data", "--quiet")
    return folder


@pytest.fixture
def folder(trained, tmp_path):
    for name in ("run/model.safetensors", "data/x_test.npy", "data/y_test.npy", "data/x_train.npy"):
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes((trained / name).read_bytes())
    return tmp_path


def calibrate(folder, *options, signals="data/x_test.npy"):
    return json.loads(succeed("certify", MODEL, "--calibrate", signals, *options, "--json", "-",
                              cwd=folder))


def exact_rank(n, coverage, confidence):
    """The least k with P(Binomial(n, coverage) >= k) <= 1 - confidence, in fractions."""
    tail, k = coverage ** n, n
    while tail <= 1 - confidence:
        k -= 1
        tail += math.comb(n, k) * coverage ** k * (1 - coverage) ** (n - k)
    return k + 1


def errors(folder):
    """Of every test signal, by recover."""
    succeed("recover", MODEL, "--in", "data/y_test.npy", "--out", "xhat.npy", cwd=folder)
    return np.linalg.norm(load(folder / "xhat.npy").astype(float) - load(folder / "data/x_test.npy"),
                          axis=1)


def test_the_limit_is_an_error_of_recover_by_its_rank(folder):
    result = calibrate(folder, "--measurements", "data/y_test.npy")
    own = np.sort(errors(folder))
    rank = result["coverages"][1]["error"]["rank"]
    assert [row["coverage"] for row in result["coverages"]] == [0.9, 0.99]
    assert rank == exact_rank(1500, Fraction(99, 100), Fraction(999, 1000))
    assert result["error"] == pytest.approx(own[rank - 1], rel=1e-6)
    assert result["largest_error"] == pytest.approx(own[-1], rel=1e-6)
    x = load(folder / "data/x_test.npy").astype(float)
    relative = np.sort(errors(folder) / np.linalg.norm(x, axis=1))
    assert result["relative_db"] == pytest.approx(20 * np.log10(relative[rank - 1]), abs=1e-4)
    assert result["signals"] == 1500 and result["zero_signals"] == 0
    assert result["source"] == {"signals": "data/x_test.npy", "measurements": "data/y_test.npy"}


def test_the_text_leads_with_the_statement(folder):
    text = succeed("certify", MODEL, "--calibrate", "data/x_test.npy", cwd=folder)
    result = calibrate(folder)
    assert " ".join(text.split()).startswith(result["statement"])
    assert result["statement"].startswith(
        "With probability 0.999 over the choice of these 1,500 signals, at least 99 % of signals "
        f"drawn like them are recovered with an error of at most {result['error']:.4g}.")
    assert "drawn independently" in text and "the model's operator, without noise" in text


def test_options_take_effect(folder):
    base = calibrate(folder)
    assert calibrate(folder, "--coverage", "0.95")["error"] < base["error"]
    wide = calibrate(folder, "--confidence", "0.5")
    assert wide["error"] < base["error"] and len(wide["coverages"]) == 3
    noisy = calibrate(folder, "--noise-std", "0.3")
    assert noisy["median_error"] > base["median_error"]
    assert noisy["source"]["noise"] == "with noise of deviation 0.3"
    assert calibrate(folder, "--noise-std", "0.3", "--seed", "2")["error"] != noisy["error"]
    assert calibrate(folder, "--snr-db", "3")["source"]["noise"] == "with noise at 3 dB"


def test_noise_of_training_is_taken_again(tmp_path):
    succeed("sample", *TINY, *sets("problem.test=700"), "--out", "data", "--quiet", cwd=tmp_path)
    for key, words in (("problem.noise_std=0.25", "of deviation 0.25"), ("problem.snr_db=12", "at 12 dB")):
        succeed("train", *TINY, *SHORT, *sets(key), "--out", "run", "--quiet", cwd=tmp_path)
        assert calibrate(tmp_path)["source"]["noise"] == f"with noise {words} as in training"
        (tmp_path / "run").rename(tmp_path / key)


def test_a_basis_and_a_learned_shrink_are_calibrated_in_the_unit_of_the_signals(tmp_path):
    draw = np.random.default_rng(4)
    k, i = np.mgrid[0:16, 0:16]
    dct = np.sqrt(2 / 16) * np.cos(np.pi * (2 * i + 1) * k / 32)
    dct[0] /= np.sqrt(2)
    x = (draw.random((900, 16)) < 0.1) * draw.standard_normal((900, 16)) @ dct * 50
    np.save(tmp_path / "x.npy", x[:200].astype(np.float32))
    np.save(tmp_path / "held_out.npy", x[200:].astype(np.float32))
    np.save(tmp_path / "A.npy", (draw.standard_normal((12, 16)) / 3).astype(np.float32))
    np.save(tmp_path / "y.npy", (x[200:] @ load(tmp_path / "A.npy").T).astype(np.float32))
    succeed("train", *sets("problem.kind=arrays", "problem.operator=A.npy", "problem.x=x.npy",
                           "problem.basis=dct", "model.layers=3", "model.weights=tied",
                           "model.activation=piecewise", "model.polish=2",
                           "train.stage.tune.epochs=2"), "--out", "run", "--quiet", cwd=tmp_path)
    result = calibrate(tmp_path, "--measurements", "y.npy", signals="held_out.npy")
    succeed("recover", MODEL, "--in", "y.npy", "--out", "xhat.npy", cwd=tmp_path)
    own = np.sort(np.linalg.norm(load(tmp_path / "xhat.npy") - load(tmp_path / "held_out.npy"), axis=1))
    assert result["error"] == pytest.approx(own[result["coverages"][1]["error"]["rank"] - 1], rel=1e-4)
    assert result["zero_signals"] == int(np.count_nonzero(~x[200:].any(axis=1))) > 0
    assert "of those that are not zero" in result["statement"] or result["relative_db"] is None


def test_a_folder_and_the_model_keep_it(folder):
    model = folder / MODEL
    before = json.loads(succeed("inspect", model, "--json", "-"))
    assert before["calibration"] is None
    result = calibrate(folder, "--attach", "--out", "out")
    assert tree(folder / "out") == ["calibration.html", "calibration.json", "calibration.txt"]
    assert json.loads((folder / "out/calibration.json").read_text()) == result
    assert (folder / "out/calibration.txt").read_text().startswith("With probability 0.999")
    page = (folder / "out/calibration.html").read_text()
    assert f'<p class="lead">{result["statement"]}</p>' in page
    assert "pibinn certify run/model.safetensors --calibrate data/x_test.npy --attach" in page
    assert f"calibration: {result['statement']}" in succeed("inspect", model)
    assert json.loads(succeed("inspect", model, "--json", "-"))["calibration"] == {
        "matches": True, "statement": result["statement"]}
    # A certificate beside it.
    succeed("certify", model, "--support", "1,5", "--attach", "--quiet")
    text = succeed("inspect", model)
    assert "calibration: With" in text and "certificate: " in text
    data = model.read_bytes()
    model.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert "warning: the attached calibration was made of other weights" in succeed("inspect", model)


@pytest.mark.parametrize("options, words", [
    (["--calibrate", "data/x_train.npy"], ["was trained on", "has not seen"]),
    (["--calibrate", "few.npy"], ["600 signals are too few", "688 are needed", "--coverage"]),
    (["--calibrate", "data/x_test.npy", "--coverage", "0.999"], ["6905 are needed"]),
    (["--calibrate", "data/x_test.npy", "--coverage", "1"], ["--coverage 1 is not between 0 and 1"]),
    (["--calibrate", "data/x_test.npy", "--confidence", "99"], ["--confidence 99", "0.999"]),
    (["--calibrate", "data/x_test.npy", "--confidence", "nan"], ["--confidence"]),
    (["--calibrate", "data/y_test.npy"], ["expected 20 signal entries per row, got 12"]),
    (["--calibrate", "data/x_test.npy", "--measurements", "y_few.npy"],
     ["1500 signals but 600 measurements"]),
    (["--calibrate", "nan.npy"], ["nan"]),
    (["--calibrate", "none.npy"], ["none.npy"]),
    (["--calibrate", "data/x_test.npy", "--noise-std", "-1"], ["--noise-std -1"]),
    (["--calibrate", "data/x_test.npy", "--snr-db", "inf"], ["--snr-db inf"]),
    (["--calibrate", "data/x_test.npy", "--snr-db", "3", "--noise-std", "1"], ["both given"]),
    (["--calibrate", "data/x_test.npy", "--measurements", "data/y_test.npy", "--noise-std", "1"],
     ["measurements that are given"]),
    (["--calibrate", "data/x_test.npy", "--signals", "data/x_test.npy"],
     ["--signals belongs to a certificate"]),
    (["--calibrate", "data/x_test.npy", "--size", "3"], ["--size belongs to a certificate"]),
    (["--calibrate", "data/x_test.npy", "--gram"], ["--gram belongs to a certificate"]),
    (["--calibrate=data/x_test.npy", "--N=3"], ["--N belongs to a certificate"]),
    (["--calibrate", ""], ["''"]),
    (["--support", "1", "--coverage", "0.9"], ["--coverage belongs to --calibrate"]),
    (["--support", "1", "--snr-db=3"], ["--snr-db belongs to --calibrate"]),
])
def test_what_does_not_fit_is_refused(options, words, folder):
    x, y = load(folder / "data/x_test.npy"), load(folder / "data/y_test.npy")
    np.save(folder / "few.npy", x[:600])
    np.save(folder / "y_few.npy", y[:600])
    np.save(folder / "nan.npy", np.where(np.arange(x.size).reshape(x.shape) == 30, np.nan, x))
    line = refuse("certify", MODEL, *options, "--attach", "--out", "out", cwd=folder)
    for word in words:
        assert word in line


def test_measurements_of_ones_own_are_asked_for(tmp_path):
    succeed("sample", *TINY, *sets("problem.test=800", "problem.noise_std=0.1"), "--out", ".", "--quiet", cwd=tmp_path)
    succeed("train", *sets("problem.kind=arrays", "problem.operator=A.npy", "problem.x=x_train.npy",
                           "problem.y=y_train.npy", "model.layers=2", "train.batch=50"), *SHORT,
            "--out", "run", "--quiet", cwd=tmp_path)
    line = refuse("certify", MODEL, "--calibrate", "x_test.npy", cwd=tmp_path)
    assert "noise of their own" in line and "--measurements y.npy" in line
    assert calibrate(tmp_path, "--measurements", "y_test.npy", signals="x_test.npy")["signals"] == 800


def test_help_has_an_example():
    text = succeed("certify", "--help")
    assert "--calibrate x_held_out.npy" in text
    for option in ("--calibrate FILE", "--confidence P", "--coverage P", "--noise-std VALUE",
                   "--snr-db DB"):
        assert option in text
