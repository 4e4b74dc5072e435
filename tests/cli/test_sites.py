"""Networks whose activation looks at groups and neighbours, and the gain of compressible signals."""

import json

import numpy as np
import pytest
from conftest import refuse, succeed
from safetensors import safe_open

QUICK = ["--set", "problem.train=200", "--set", "problem.test=50", "--set", "train.batch=50",
         "--set", "train.stage.tune.epochs=3", "--set", "model.layers=3", "--set", "model.weights=tied"]
SMALL = ["--set", "problem.m=16", "--set", "problem.n=32", "--set", "problem.operator=rademacher",
         "--set", "problem.snr_db=20"]


def train(folder, *settings):
    words = [word for setting in settings for word in ("--set", setting)]
    succeed("train", *SMALL, *QUICK, *words, "--out", "run", "--quiet", cwd=folder)
    return json.loads((folder / "run" / "summary.json").read_text())


@pytest.mark.parametrize("activation", ["soft", "hard", "piecewise", "wiener"])
def test_neighbours_are_trained_stored_and_recovered_with(activation, tmp_path):
    summary = train(tmp_path, f"model.activation={activation}", "model.neighbours=2")
    assert summary["model"]["neighbours"] == 2
    with safe_open(tmp_path / "run" / "model.safetensors", "numpy") as f:
        assert f.metadata()["pibinn.format"] == "3"
        network = json.loads(f.metadata()["pibinn.network"])
        local = f.get_tensor("local")
        assert ("prior" in f.keys()) == (activation == "wiener")
    assert network["neighbours"] == 2
    assert len(local) == 3 * (4 if activation == "wiener" else 2)
    np.save(tmp_path / "x.npy", np.random.default_rng(1).normal(size=(20, 32)).astype("f4"))
    scores = json.loads(succeed("eval", "run/model.safetensors", "--signals", "x.npy", "--json", "-",
                                cwd=tmp_path))
    assert np.isfinite(scores["nmse_db"])


def test_true_means_the_usual_rings_and_entrywise_models_keep_the_older_format(tmp_path):
    assert train(tmp_path, "model.activation=piecewise", "model.neighbours=true")["model"]["neighbours"] == 1
    (tmp_path / "run").rename(tmp_path / "first")
    assert "neighbours" not in train(tmp_path, "model.activation=piecewise")["model"]
    with safe_open(tmp_path / "run" / "model.safetensors", "numpy") as f:
        assert f.metadata()["pibinn.format"] == "2"


def test_resumed_training_gives_the_same_bytes_by_sites(tmp_path):
    settings = [word for s in ("model.activation=wiener", "train.checkpoint_seconds=0")
                for word in ("--set", s)]
    succeed("train", *SMALL, *QUICK, *settings, "--out", "a", "--quiet", cwd=tmp_path)
    succeed("train", *SMALL, *QUICK, *settings, "--out", "b", "--quiet", "--threads", "1", cwd=tmp_path)
    read = lambda name: (tmp_path / name / "model.safetensors").read_bytes()
    assert read("a") == read("b")


@pytest.mark.parametrize("settings, said", [
    (["model.neighbours=16"], "neighbours"),
    (["model.neighbours=5", "problem.n=10", "problem.m=5"], "10 sites"),
    (["model.activation=wiener", "model.polish=3"],
     "activation 'wiener' keeps every entry, which leaves no support to polish; set model.polish = 0"),
    (["model.groups=complex"], "complex groups"),
    (["model.groups=pairs"], "pairs"),
    (["model.neighbours=1", "model.activation=relu", "model.threshold=fixed"], "relu"),
    (["model.activation=wiener", "model.architecture=fcn", "model.weights=float", "model.update=plain"],
     "fully connected"),
])
def test_what_does_not_fit_together_is_refused(settings, said, tmp_path):
    words = [word for setting in ["model.activation=piecewise", *settings] for word in ("--set", setting)]
    assert said in refuse("train", *SMALL, *QUICK, *words, "--out", "run", cwd=tmp_path)


def test_the_theory_does_not_speak_of_sites(tmp_path):
    train(tmp_path, "model.activation=soft", "model.neighbours=1")
    assert "neighbours" in refuse("certify", "run/model.safetensors", "--support", "1,2", cwd=tmp_path)


def test_inspect_names_what_entries_share_and_what_polishes(tmp_path):
    words = [word for setting in ("problem.kind=fourier", "problem.m=16", "problem.n=32", "model.layers=3",
                                  "model.weights=tied", "model.activation=piecewise")
             for word in ("--set", setting)]

    def text(*settings):
        own = [word for setting in settings for word in ("--set", setting)]
        succeed("init", *words, *own, "--out", "m.safetensors", cwd=tmp_path)
        return succeed("inspect", "m.safetensors", cwd=tmp_path)
    assert ", groups complex, 2 rings of neighbours, 6 polish steps\n" in text("model.neighbours=2",
                                                                              "model.polish=6")
    assert ", groups complex, 1 ring of neighbours, 1 polish step\n" in text("model.neighbours=true",
                                                                            "model.polish=1")
    plain = text("model.groups=none")
    assert "groups" not in plain and "neighbours" not in plain and "polish" not in plain
