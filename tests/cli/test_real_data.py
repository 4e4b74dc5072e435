"""Real pictures and segments, where $PIBINN_DATA says, or a sibling folder `shared/data` has them."""

import json
import os
from pathlib import Path

import pytest

from conftest import ROOT, sets, succeed

DATA = Path(os.environ.get("PIBINN_DATA", ROOT.parent / "shared" / "data"))


# A float network that is trained for seconds.
FEW = sets("model.weights=float", "model.layers=4", "train.stage.pretrain.epochs=10")


def found(name, sign):
    folder = DATA / name
    if not (folder / sign).exists():
        pytest.skip(f"skipped: no {name} data; set PIBINN_DATA to the folder that holds {name}/")
    return folder


def test_bsds500_gives_the_papers_numbers_of_patches(tmp_path):
    folder = found("bsds500", "images/train")
    options = sets("problem.kind=images", f"problem.path={folder}")
    summary = json.loads(succeed("train", *options, *FEW, "--out", tmp_path / "run", "--json",
                                 "-"))
    problem = summary["problem"]
    assert (problem["train"], problem["test"], problem["m"], problem["n"]) == (6000, 1500, 32, 64)
    assert "of 240 pictures to train on, 1500 of 60 to test" in problem["protocol"]
    assert 0.35 < problem["mean"] < 0.55 and 0.15 < problem["deviation"] < 0.35
    assert summary["test_nmse_db"] < -3
    photo = next((folder / "images" / "train").glob("*.jpg"))
    result = json.loads(succeed("recover-image", tmp_path / "run" / "model.safetensors", photo,
                                "--out", tmp_path / "photo.png", "--json", "-"))
    assert sorted((result["width"], result["height"])) == [321, 481]
    assert result["psnr_db"] > result["adjoint_psnr_db"] + 3


def test_eeg_segments_are_split_by_recording(tmp_path):
    folder = found("eeg", "EEG_all_epochs.npy")
    options = sets("problem.kind=signals", f"problem.path={folder}", "problem.train=400",
                   "problem.test=100")
    summary = json.loads(succeed("train", *options, *FEW, "--out", tmp_path / "run", "--json",
                                 "-", timeout=300))
    problem = summary["problem"]
    assert (problem["train"], problem["test"], problem["n"]) == (400, 100, 512)
    assert "recordings against" in problem["protocol"]
    assert summary["test_nmse_db"] < -1
