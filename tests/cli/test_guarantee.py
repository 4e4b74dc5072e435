"""Trainings that end in a guarantee, and those that cannot."""

import json

import numpy as np
import pytest

from conftest import ROOT, load, refuse, sets, succeed

SMALL = sets("train.recipe=guaranteed", "problem.m=40", "problem.n=50", "problem.train=60",
             "problem.test=20", "model.layers=5")


def guaranteed(folder, *settings):
    said = succeed("train", *SMALL, *sets(*settings), "--out", "run", cwd=folder)
    return said, json.loads((folder / "run" / "summary.json").read_text())


def test_one_command_ends_in_guaranteed(tmp_path):
    said = succeed("train", str(ROOT / "experiments" / "configs" / "guaranteed.toml"), "--out", "run",
                   cwd=tmp_path)
    assert "guaranteed: For every signal with nonzeros at entries 12, 31, 58, 77, 95 alone" in said
    text = succeed("certify", "run/model.safetensors", "--attack", "10", "--out", "page",
                   cwd=tmp_path)
    assert text.startswith("For every signal with nonzeros at entries 12, 31")
    assert "Guaranteed              yes" in text and "Largest error found" in text
    page = (tmp_path / "page" / "certificate.html").read_text()
    assert '</h1>\n<p class="lead">For every signal with nonzeros at entries 12, 31' in page
    # It is in the model without being asked for.
    assert "certificate: guaranteed: For every signal" in succeed("inspect", "run/model.safetensors",
                                                                  cwd=tmp_path)


def test_what_recover_computes_is_within_the_bound(tmp_path):
    """float32 and its kernels included."""
    for number, settings in enumerate([["problem.support=[3,11,17]"],
                                       ["train.guarantee.size=1", "model.layers=8"]]):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, summary = guaranteed(folder, *settings)
        guarantee = summary["guarantee"]
        assert guarantee["guaranteed"] is True
        draw = np.random.default_rng(7)
        x = np.zeros((300, 50), "f4")
        for row in x:
            support = [3, 11, 17] if number == 0 else [draw.integers(50)]
            row[support] = draw.standard_normal(len(support))
            row *= guarantee["norm"] / np.linalg.norm(row) * 0.999999
        np.save(folder / "x.npy", x)
        succeed("export", "run/model.safetensors", "--to", "npz", "--out", "model.npz",
                cwd=folder)
        a = np.load(folder / "model.npz")["A"].astype("f8")
        np.save(folder / "y.npy", (x.astype("f8") @ a.T).astype("f4"))
        succeed("recover", "run/model.safetensors", "--in", "y.npy", "--out", "back.npy",
                cwd=folder)
        error = np.linalg.norm(load(folder / "back.npy").astype("f8") - x, axis=1)
        assert error.max() <= guarantee["bound"][-1]


def test_a_class_that_is_not_that_of_the_training_signals_is_told(tmp_path):
    said, summary = guaranteed(tmp_path, "train.guarantee.size=1", "problem.density=0.2")
    assert any("outside of the class" in warning for warning in summary["warnings"])
    assert summary["guarantee"]["size"] == 1


@pytest.mark.parametrize("settings, words", [
    (["train.guarantee.supports=[]"], ["no support"]),
    (["train.guarantee.supports=[[]]"], ["empty support"]),
    (["train.guarantee.supports=[[1,99]]"], ["99 is not below n = 50"]),
    (["train.guarantee.supports=[[1,1]]"], ["named twice"]),
    (["train.guarantee.size=0"], ["0 is out of range"]),
    (["train.guarantee.size=41"], ["more than the 40 entries", "train.guarantee.size that works"]),
    (["train.guarantee.size=12"], ["nothing can be guaranteed", "train.guarantee.size that works"]),
    (["train.guarantee.size=1", "train.guarantee.supports=[[1]]"], ["both supports and a size"]),
    (["train.guarantee.norm=-1"], ["-1 is out of range"]),
    (["train.guarantee.norm=0"], ["0 is out of range"]),
    (["train.guarantee.noise=-0.1"], ["-0.1 is out of range"]),
    (["train.guarantee.noise=nan"], ["nan is out of range"]),
    (["train.guarantee.nois=1"], ["did you mean 'noise'?"]),
    (["train.guarantee=1"], ["expected a class of signals"]),
    (["train.guarantee.size=1", "train.recipe=default"], ["no stage keeps a guarantee"]),
    (["train.guarantee.size=1", "train.guarantee.noise=50"], ["for all supports of 1 entry "]),
    (["model.polish=3"], ["no proof covers polish"]),
    (["problem.structure=mask", "problem.mask_density=0.5"], ["dense, repeated or blocks"]),
    (["model.architecture=fcn", "model.weights=float"], []),
])
def test_what_cannot_be_guaranteed_is_refused(settings, words, tmp_path):
    said = refuse("train", *SMALL, *sets(*settings), "--out", "run", cwd=tmp_path)
    for word in words:
        assert word in said


ACCELERATED = sets("train.recipe=default", "model.update=accelerated", "problem.m=40",
                   "problem.n=50", "problem.train=60", "problem.test=20", "model.layers=5",
                   "problem.support=[3,11,17]", "train.stage.pretrain.epochs=1",
                   "train.stage.joint.epochs=1", "train.stage.stage2.epochs=2",
                   "train.stage.stage2.guarantee=true")


def test_the_largest_size_that_works_is_named(tmp_path):
    """However much too large the size is."""
    settings = sets("train.recipe=guaranteed", "model.layers=10")
    named = [refuse("train", *settings, *sets(f"train.guarantee.size={size}"), "--out", "run",
                    cwd=tmp_path) for size in (3, 50, 200)]
    for said in named:
        assert said.rstrip().endswith("the largest train.guarantee.size that works here is 1")
    assert "more than the 50 entries" in named[2]
    succeed("train", *settings, *sets("train.guarantee.size=1", "problem.train=60"), "--out", "run",
            cwd=tmp_path)


def test_the_residual_is_named_where_it_is_the_cause(tmp_path):
    for settings in ([], ["model.threshold=fixed"], ["model.onsager=false"]):
        said = refuse("train", *ACCELERATED, *sets(*settings), "--out", "run", cwd=tmp_path)
        assert ('set model.threshold = "fixed" and model.onsager = false, or '
                'model.update = "plain"') in said
        assert "inf" not in said
    for settings in (["model.threshold=fixed", "model.onsager=false"], ["model.update=plain"]):
        out = f"run-{len(settings)}"
        succeed("train", *ACCELERATED, *sets(*settings), "--out", out, cwd=tmp_path)
        summary = json.loads((tmp_path / out / "summary.json").read_text())
        assert summary["guarantee"]["guaranteed"] is True


def test_a_later_stage_is_refused_before_the_first_is_trained(tmp_path):
    said = refuse("train", *ACCELERATED, *sets("train.stage.pretrain.epochs=1000000"), "--out",
                  "run", cwd=tmp_path)
    assert "nothing can be guaranteed" in said


def test_an_attack_of_nothing_is_no_attack(tmp_path):
    guaranteed(tmp_path, "problem.support=[3,11,17]")
    result = json.loads(succeed("certify", "run/model.safetensors", "--json", "-", cwd=tmp_path))
    assert "attack" not in result and result["guarantee"] is True
    assert result["rounding"] == "float32"
    refuse("certify", "run/model.safetensors", "--attack", "-1", cwd=tmp_path)
