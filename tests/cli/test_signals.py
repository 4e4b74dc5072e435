"""Problems of recorded segments, contaminated by artefacts."""

import json
import shutil

import numpy as np
import pytest

from conftest import SHORT, load, refuse, sets, succeed

SIGNALS = sets("problem.kind=signals", "model.layers=3", "train.batch=50")


def waves(rows, seed, n=32):
    rng = np.random.default_rng(seed)
    t = np.arange(n) / n
    return np.sin(2 * np.pi * (rng.uniform(1, 6, (rows, 1)) * t + rng.random((rows, 1))))


@pytest.fixture
def folder(tmp_path):
    """EEGdenoiseNet's layout, small; 200 segments of 40 recordings, in microvolts."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "EEG_all_epochs.npy", (30 * waves(200, 1)).astype("f4"))
    np.save(tmp_path / "EEG_source_ids.npy",
            np.stack([np.zeros(200), np.arange(200) // 5], 1).astype("i2"))
    np.save(tmp_path / "EOG_all_epochs.npy", np.exp(waves(50, 2)))
    np.save(tmp_path / "EMG_all_epochs.npy", rng.standard_normal((50, 32)))
    return tmp_path


def train(folder, *options, out="run"):
    return json.loads(succeed("train", *SIGNALS, *SHORT, *sets(*options), "--out", out, "--json",
                              "-", cwd=folder))


def test_the_summary_and_the_report_tell_the_protocol(folder):
    summary = train(folder, "problem.path=.")
    problem = summary["problem"]
    assert (problem["kind"], problem["m"], problem["n"]) == ("signals", 16, 32)
    assert (problem["train"], problem["test"], problem["basis"]) == (160, 40, "dct")
    for words in ("160 segments of 32 samples", "32 recordings against 8",
                  "artefacts of ./EOG_all_epochs.npy at 20 dB", "normalisation zscore"):
        assert words in problem["protocol"]
    page = (folder / "run" / "report.html").read_text(encoding="utf-8")
    for word in ("contaminated", "clean", "recovered", "32 recordings against 8"):
        assert word in page


def measured(folder, *options):
    shutil.rmtree(folder / "set", ignore_errors=True)
    succeed("sample", *SIGNALS, *sets(*options), "--out", "set", cwd=folder)
    return {name: load(folder / "set" / f"{name}.npy") for name in ("A", "c_train", "y_train")}


def test_targets_are_clean_and_measurements_contaminated_at_the_ratio(folder):
    for snr in (3, 20):
        s = measured(folder, "problem.path=.", "problem.m=32", f"problem.snr_db={snr}")
        disturbed = np.linalg.solve(s["A"].astype("f8"), s["y_train"].T.astype("f8")).T
        x = s["c_train"].astype("f8")
        ratio = np.sum(x ** 2, 1) / np.sum((disturbed - x) ** 2, 1)
        np.testing.assert_allclose(10 * np.log10(ratio), snr, atol=0.1)
    s = measured(folder, "problem.path=.", "problem.m=32", "problem.snr_db=[5, 10]")
    disturbed = np.linalg.solve(s["A"].astype("f8"), s["y_train"].T.astype("f8")).T
    x = s["c_train"].astype("f8")
    ratio = 10 * np.log10(np.sum(x ** 2, 1) / np.sum((disturbed - x) ** 2, 1))
    assert 4.9 < ratio.min() < 6 and 9 < ratio.max() < 10.1
    s = measured(folder, "problem.path=.", "problem.artefact=none", "problem.snr_db=20")
    clean = s["c_train"] @ s["A"].T
    ratio = 10 * np.log10(np.sum(clean ** 2, 1) / np.sum((s["y_train"] - clean) ** 2, 1))
    assert abs(ratio.mean() - 20) < 1
    s = measured(folder, "problem.path=.", "problem.artefact=none")
    np.testing.assert_allclose(s["y_train"], s["c_train"] @ s["A"].T, atol=1e-4)


def test_no_recording_is_on_both_sides(folder):
    ids = np.arange(200) // 5
    # A segment of recording r is r + 1 everywhere but for its own small wave.
    np.save(folder / "EEG_all_epochs.npy", ids[:, None] + 1 + 0.01 * waves(200, 3))
    succeed("sample", *SIGNALS, *sets("problem.path=.", "problem.normalize=none",
                                      "problem.basis=identity"), "--out", "set", cwd=folder)
    sides = [set(np.round(load(folder / "set" / f"x_{s}.npy").mean(1))) for s in ("train", "test")]
    assert len(sides[0]) == 32 and len(sides[1]) == 8 and not sides[0] & sides[1]
    succeed("sample", *SIGNALS, *sets("problem.path=.", "problem.normalize=none",
                                      "problem.basis=identity", "problem.split=row"),
            "--out", "mixed", cwd=folder)
    sides = [set(np.round(load(folder / "mixed" / f"x_{s}.npy").mean(1)))
             for s in ("train", "test")]
    assert sides[0] & sides[1]


def test_a_model_recovers_segments_in_their_own_unit(folder):
    clean = 30 * waves(200, 1).astype("f4")
    np.save(folder / "clean.npy", clean)
    options = ("problem.x=clean.npy", "problem.m=30", "train.stage.pretrain.epochs=100",
               "train.stage.joint.epochs=60", "model.layers=5")
    summary = train(folder, *options)
    assert "no artefact" in summary["problem"]["protocol"]
    np.save(folder / "y.npy", measured(folder, *options[:2])["y_train"][:20])
    succeed("recover", "run/model.safetensors", "--in", "y.npy", "--out", "x.npy", cwd=folder)
    x = load(folder / "x.npy")
    nearest = ((x[:, None] - clean[None]) ** 2).sum(2).min(1) / (x ** 2).sum(1)
    assert np.median(nearest) < 0.2
    result = json.loads(succeed("eval", "run/model.safetensors", "--signals", "clean.npy", "--json",
                                "-", cwd=folder))
    assert abs(result["nmse_db"] - summary["train_nmse_db"]) < 1.5


def test_other_artefacts_and_ids_of_ones_own(folder):
    np.save(folder / "clean.npy", waves(100, 5))
    np.savez(folder / "more.npz", blinks=waves(20, 6), ids=np.arange(100) // 10)
    summary = train(folder, "problem.x=clean.npy", "problem.ids=more.npz:ids",
                    "problem.artefact=more.npz:blinks", "problem.snr_db=10")
    assert "8 recordings against 2" in summary["problem"]["protocol"]
    assert "more.npz:blinks at 10 dB" in summary["problem"]["protocol"]
    emg = train(folder, "problem.path=.", "problem.artefact=emg", out="emg")
    assert "EMG_all_epochs.npy" in emg["problem"]["protocol"]


@pytest.mark.parametrize("change, options, words", [
    ({"EOG_all_epochs": np.ones((5, 31))}, [], ["31 samples", "have 32"]),
    ({"EOG_all_epochs": np.eye(33, 32)}, [], ["silent in row 32"]),
    ({"EEG_all_epochs": np.where(np.eye(32) > 0, np.nan, 1)}, ["problem.split=row"],
     ["row 0, column 0"]),
    ({"EOG_all_epochs": np.full((5, 32), np.inf)}, [], ["EOG_all_epochs.npy", "inf"]),
    ({"EEG_source_ids": np.ones((199, 2))}, [], ["199 rows", "200 segments"]),
    ({"EEG_source_ids": np.ones((200, 2))}, [], ["200 segments of 1 recordings"]),
    ({"EEG_all_epochs": np.ones((200, 32))}, [], ["no deviation"]),
    ({"EEG_all_epochs": np.ones((0, 32))}, ["problem.split=row"], ["0 segments"]),
    ({}, ["problem.train=300"], ["200 segments"]),
    ({}, ["problem.artefact=ecg"], ["artefact 'ecg'", "eog"]),
    ({}, ["problem.artefact=missing.npy"], ["missing.npy"]),
    ({"EEG_source_ids": np.ones(199)}, [], ["ids of 199 rows", "200 segments"]),
    ({}, ["problem.artefact=none", "problem.snr_db=5", "problem.noise_std=1"],
     ["problem.snr_db", "noise_std is given too"]),
    ({}, ["problem.split=image"], ["not split by image", "recording or row"]),
    ({}, ["problem.repeat=2"], ["problem.repeat", "structure"]),
    ({}, ["train.augment=roll"], ["basis is dct", "noise"]),
    ({}, ["problem.artefact=none", "train.augment=noise"], ["neither noise nor artefacts"]),
    ({"EEG_all_epochs": np.zeros((200, 32))}, ["problem.normalize=none"], ["signals", "are zero"]),
    ({}, ["problem.snr_db=[20, 5]"], ["upside down"]),
    ({}, ["problem.snr_db=[20]"], ["a number or two"]),
    ({}, ["problem.snr_db=nan"], ["problem.snr_db"]),
    ({}, ["problem.patch=8"], ["kind signals has no such key", "images"]),
    ({}, ["problem.y=y.npy"], ["kind signals has no such key"]),
    ({}, ["problem.basis=dct2"], ["32 is not a square"]),
])
def test_bad_segments_are_refused(change, options, words, folder):
    for name, values in change.items():
        np.save(folder / f"{name}.npy", values)
    line = refuse("train", *SIGNALS, *SHORT, *sets("problem.path=.", *options), "--out", "run",
                  cwd=folder)
    for word in words:
        assert word in line


def test_missing_files_are_refused(folder):
    (folder / "EOG_all_epochs.npy").unlink()
    line = refuse("train", *SIGNALS, *sets("problem.path=."), "--out", "run", cwd=folder)
    assert "EOG_all_epochs.npy" in line and '"none"' in line
    line = refuse("train", *SIGNALS, *sets("problem.path=nowhere"), "--out", "run", cwd=folder)
    assert "EEG_all_epochs.npy" in line
    line = refuse("train", *SIGNALS, "--out", "run", cwd=folder)
    assert "problem.x" in line
    line = refuse("train", *SIGNALS, *sets("problem.x=EEG_all_epochs.npy", "problem.artefact=eog"),
                  "--out", "run", cwd=folder)
    assert "problem.path" in line
    line = refuse("train", *SIGNALS, *sets("problem.x=EEG_all_epochs.npy",
                                           "problem.split=recording"), "--out", "run", cwd=folder)
    assert "problem.ids" in line
