"""The numbers of a checkpoint are not believed."""

import json

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from conftest import SHORT, TINY, refuse, sets, succeed

TRAIN = ["train", *TINY, *SHORT, "--out", "run"]
WEIGHTS = 3 * 12 * 20  # of three layers; then theta, step, beta and omega of each, and the scale
LAST = WEIGHTS + 12


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    succeed(*TRAIN, cwd=folder)
    return folder / "run" / "checkpoint.safetensors"


@pytest.fixture
def damage(finished, tmp_path):
    """Changes the checkpoint of a run and resumes it; what is then said."""
    def damaged(change):
        tensors = load_file(finished)
        with safe_open(finished, "np") as file:
            metadata = file.metadata()
        change(tensors, metadata)
        (tmp_path / "run").mkdir()
        save_file(tensors, tmp_path / "run" / "checkpoint.safetensors", metadata)
        line = refuse(*TRAIN, "--resume", cwd=tmp_path)
        assert "the checkpoint is damaged" in line and "run/checkpoint.safetensors" in line
        return line
    return damaged


@pytest.mark.parametrize("name, place, value, words", [
    ("latent", 0, np.nan, "number 0 of weights.1 in 'latent' is nan"),
    ("latent", 250, np.inf, "number 10 of weights.2 in 'latent' is inf"),
    ("latent", LAST, np.nan, "number 0 of scale in 'latent' is nan"),
    ("latent", LAST, -5, "number 0 of scale in 'latent' is -5"),
    ("latent", LAST, 0, "number 0 of scale in 'latent' is 0"),
    ("latent", WEIGHTS + 1, -1, "number 0 of theta.2 in 'latent' is -1"),
    ("first", 3, np.nan, "number 3 of weights.1 in 'first' is nan"),
    ("second", 3, -1, "number 3 of weights.1 in 'second' is -1"),
    ("mean", 3, -np.inf, "number 3 of weights.1 in 'mean' is -inf"),
    ("seconds", 1, -1, "a number of 'seconds' is -1"),
    ("history", (2, 3), np.nan, "a number of 'history' is nan"),
])
def test_a_number_that_no_training_writes_is_named(name, place, value, words, damage):
    def change(tensors, _):
        tensors[name][place] = value
    assert words in damage(change)


@pytest.mark.parametrize("key, value", [
    ("stage", 99), ("stage", -1), ("epoch", 1), ("epoch", 10**30), ("steps", -1), ("steps", 1.5)])
def test_a_counter_out_of_range_is_refused(key, value, damage):
    def change(_, metadata):
        progress = json.loads(metadata["pibinn.progress"])
        progress[key] = value
        metadata["pibinn.progress"] = json.dumps(progress)
    damage(change)


def test_the_same_checkpoint_untouched_is_taken(finished, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "checkpoint.safetensors").write_bytes(finished.read_bytes())
    succeed(*TRAIN, "--resume", cwd=tmp_path)
    refuse(*TRAIN, *sets("problem.m=11"), "--resume", cwd=tmp_path)
