"""Arrays of a user in any unit, few of them, or not what they are said to be."""

import json

import numpy as np
import pytest

from conftest import SHORT, run, sets

SPARSE = 0.1


@pytest.fixture
def arrays(tmp_path):
    """A 12 x 20 operator and 300 sparse signals."""
    rng = np.random.default_rng(1)
    a = rng.normal(size=(12, 20)) / np.sqrt(12)
    x = rng.normal(size=(300, 20)) * (rng.random((300, 20)) < SPARSE)
    np.save(tmp_path / "A.npy", a)
    np.save(tmp_path / "x.npy", x)
    return tmp_path


def trained(folder, name, *settings, epochs=SHORT):
    result = run("train", *sets("problem.kind=arrays", f"problem.path={folder}", "model.layers=3",
                                *settings), *epochs, "--out", folder / name)
    assert result.returncode == 0, result.stderr
    return result.stdout, json.loads((folder / name / "summary.json").read_text())


def test_the_summary_says_why_signals_were_augmented(arrays):
    text, summary = trained(arrays, "run")
    assert summary["augment"] == "roll"
    assert summary["problem"]["exchangeability"].startswith("signals look exchangeable")
    assert "signals look exchangeable" in text
    assert "augment roll, 10 % of the training signals kept for validation" in text
    assert summary["validation"] == 0.1
    assert "exchangeable" in (arrays / "run" / "report.html").read_text(encoding="utf-8")


def test_a_model_recovers_in_the_unit_of_its_signals(arrays):
    epochs = sets("train.stage.pretrain.epochs=40", "train.stage.joint.epochs=40",
                  "train.stage.stage2.epochs=10")
    _, usual = trained(arrays, "usual", epochs=epochs)
    small = np.load(arrays / "x.npy") * 3e-7
    np.save(arrays / "x.npy", small)
    np.save(arrays / "A.npy", np.load(arrays / "A.npy") * 2e4)
    _, summary = trained(arrays, "run", epochs=epochs)
    assert summary["test_nmse_db"] == pytest.approx(usual["test_nmse_db"], abs=0.1)
    np.save(arrays / "y.npy", small[-60:] @ np.load(arrays / "A.npy").T)
    result = run("recover", arrays / "run" / "model.safetensors", "--in", arrays / "y.npy", "--out",
                 arrays / "found.npy")
    assert result.returncode == 0, result.stderr
    error = np.load(arrays / "found.npy") - small[-60:]
    nmse = np.mean(np.sum(error ** 2, 1)[nonzero := np.any(small[-60:], 1)]
                   / np.sum(small[-60:] ** 2, 1)[nonzero])
    assert 10 * np.log10(nmse) == pytest.approx(summary["test_nmse_db"], abs=0.01)


def test_measurements_of_other_signals_are_warned_of(arrays):
    y = np.load(arrays / "x.npy") @ np.load(arrays / "A.npy").T
    np.save(arrays / "y.npy", y)
    text, summary = trained(arrays, "right")
    assert "not close to A x" not in text and summary["augment"] == "roll"
    assert "given measurements, noise at" in (arrays / "right" / "report.html").read_text(encoding="utf-8")
    np.save(arrays / "y.npy", np.roll(y, 1, axis=0))
    text, summary = trained(arrays, "shuffled")
    assert "warning: " in text and "not close to A x" in text and summary["augment"] == "none"
    assert any("not close to A x" in warning for warning in summary["warnings"])


def test_a_network_that_learns_its_signals_by_heart_is_warned_of(arrays):
    np.save(arrays / "x.npy", np.load(arrays / "x.npy")[:60])
    epochs = sets("train.stage.pretrain.epochs=1000", "train.stage.pretrain.learning_rate=0.01")
    text, summary = trained(arrays, "run", "model.weights=float", "train.augment=none",
                            "train.validation=0", "problem.train=12", epochs=epochs)
    assert summary["test_nmse_db"] - summary["train_nmse_db"] > 2
    assert "by heart" in text and any("by heart" in warning for warning in summary["warnings"])


def test_a_result_worse_than_the_zero_estimate_is_warned_of(arrays):
    np.save(arrays / "A.npy", np.load(arrays / "A.npy")[:1])
    _, summary = trained(arrays, "run", "model.update=plain", "problem.train=3",
                         "train.augment=none", "train.validation=0",
                         epochs=sets("train.stage.pretrain.epochs=300", "train.stage.joint.epochs=2",
                                     "train.stage.stage2.epochs=1"))
    worse = [w for w in summary["warnings"] if "worse than the zero estimate" in w]
    assert summary["test_nmse_db"] > 0 and len(worse) == 1


def test_noise_by_its_ratio_is_that_of_the_run(arrays):
    _, summary = trained(arrays, "run", "problem.snr_db=[10, 40]")
    assert summary["problem"]["snr_db"] == [10, 40]
    _, summary = trained(arrays, "one", "problem.snr_db=20")
    assert summary["problem"]["snr_db"] == 20
