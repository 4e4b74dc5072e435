"""The section [train]: every key takes effect, and stages are what was asked for."""

import json

import numpy as np
import pytest

from conftest import SHORT, TINY, history, load, sets, succeed, train

STAGES = """
[train]
batch = 100
[[train.stage]]
name = "warm"
epochs = 2
learning_rate = 0.01
[[train.stage]]
name = "bits"
epochs = 12
learning_rate = 0.002
schedule = "step"
projection = "lazy"
trains = ["weights", "theta", "scale"]
scale = 0.2
[[train.stage]]
name = "last"
epochs = 4
learning_rate = 0.004
schedule = "cosine"
projection = "lazy"
trains = ["theta"]
"""


def rates(folder, stage):
    return [float(line["learning_rate"]) for line in history(folder) if line["stage"] == stage]


def exported(folder):
    succeed("export", folder / "model.safetensors", "--to", "npz", "--out", folder / "m.npz")
    return load(folder / "m.npz")


def test_a_list_of_stages_replaces_those_of_the_recipe(tmp_path):
    (tmp_path / "c.toml").write_text(STAGES)
    summary = train(tmp_path / "run", tmp_path / "c.toml", epochs=[])
    assert list(summary["seconds"]) == ["warm", "bits", "last"]
    assert [line["stage"] for line in history(tmp_path / "run")] == \
        ["warm"] * 2 + ["bits"] * 12 + ["last"] * 4
    assert rates(tmp_path / "run", "warm") == [0.01] * 2
    # Times 0.9 every ten epochs; half a cosine down to 1 %.
    assert rates(tmp_path / "run", "bits") == [0.002] * 10 + [0.0018] * 2
    cosine = rates(tmp_path / "run", "last")
    assert cosine[0] == 0.004 and cosine == sorted(cosine, reverse=True)
    assert cosine[-1] < 0.004 * 0.2


def test_one_number_of_one_stage_can_be_changed(tmp_path):
    (tmp_path / "c.toml").write_text(STAGES)
    train(tmp_path / "run", tmp_path / "c.toml", epochs=sets(
        "train.stage.bits.epochs=3", "train.stage.bits.epochs=1", "train.stage.warm.schedule=step",
        "train.stage.warm.learning_rate=0.5e-2"))
    assert [line["stage"] for line in history(tmp_path / "run")] == \
        ["warm"] * 2 + ["bits"] + ["last"] * 4
    assert rates(tmp_path / "run", "warm") == [0.005] * 2


def test_a_listed_stage_starts_from_that_of_the_recipe(tmp_path):
    summary = train(tmp_path / "run", epochs=sets('train.stage=[{name="joint", epochs=2}]'))
    assert list(summary["seconds"]) == ["joint"]
    # Those of a shallow network, 3e-4 and 0.12, fitted from 50 measurements to 12.
    assert rates(tmp_path / "run", "joint")[0] == pytest.approx(6e-4)
    # Moved by a few steps of 20 * 6e-4.
    assert summary["scale"] == pytest.approx(0.24, rel=0.2) and summary["scale"] != 0.24


def test_numbers_that_were_stated_are_not_fitted_to_the_operator(tmp_path):
    summary = train(tmp_path / "run", epochs=sets(
        'train.stage=[{name="joint", epochs=2, learning_rate=3e-5, scale=0.12}]'))
    assert rates(tmp_path / "run", "joint")[0] == 3e-5
    assert summary["scale"] == pytest.approx(0.12, rel=0.05)


def test_the_recipe_of_the_paper_is_of_the_plain_update(tmp_path):
    epochs = sets(*(f"train.stage.{name}.epochs=2" for name in ("pretrain", "stage1", "stage2")))
    summary = train(tmp_path / "run", *sets("train.recipe=paper", "model.update=accelerated"),
                    epochs=epochs)
    assert summary["recipe"] == "paper" and summary["model"]["update"] == "plain"
    assert list(summary["seconds"]) == ["pretrain", "stage1", "stage2"]
    # Stage 1 sets lambda_0 = 0.02 and keeps it, stage 2 moves it a little.
    assert summary["scale"] == pytest.approx(0.02, rel=0.1) and summary["scale"] != 0.02
    assert summary["bits"]["momentum"] == 0


FLOAT = sets("model.weights=float")


@pytest.mark.parametrize("part, still", [("weights", "theta"), ("theta", "weights")])
def test_a_stage_trains_what_it_lists_and_nothing_else(part, still, tmp_path):
    epochs = sets("train.stage.pretrain.epochs=2", f'train.stage.pretrain.trains=["{part}"]')
    train(tmp_path / "run", *FLOAT, epochs=epochs)
    succeed("init", *TINY, *FLOAT, "--theta", 0.1, "--out", tmp_path / "model.safetensors")
    before, after = exported(tmp_path), exported(tmp_path / "run")
    same = {"theta": np.array_equal(before["theta"], after["theta"]),
            "weights": all(np.array_equal(before[f"W{k}"], after[f"W{k}"]) for k in (1, 2, 3))}
    assert same[still] and not same[part]


def test_the_scale_of_a_stage_is_set_and_only_trained_where_listed(tmp_path):
    def scale(name, *settings):
        return train(tmp_path / name, epochs=sets(
            'train.stage=[{name="joint", epochs=2, scale=0.25}]', *settings))["scale"]

    assert scale("kept", 'train.stage.joint.trains=["weights"]') == 0.25
    trained = scale("trained", 'train.stage.joint.trains=["scale"]')
    assert trained != 0.25 and trained == pytest.approx(0.25, rel=0.1)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The history of two epochs of every stage, one by l1."""
    folder = tmp_path_factory.mktemp("base")
    train(folder / "run", epochs=STANDARD)
    return history(folder / "run")


STANDARD = sets('train.stage=[{name="pretrain", epochs=2}, {name="l1", epochs=2, projection="l1"}, '
                '{name="joint", epochs=2}]', "problem.noise_std=0.05")


@pytest.mark.parametrize("setting, first", [
    ("train.loss=norm", 1), ("train.loss=nmse", 1), ("train.augment=none", 1),
    ("train.augment=signs", 1), ("train.augment=noise", 1), ("train.augment=mix", 1),
    ("train.batch=100", 1),
    ("train.theta=0.3", 1), ("train.stage.pretrain.learning_rate=0.01", 1),
    ("train.stage.pretrain.clip=1e-6", 1), ("train.stage.pretrain.batch=20", 1),
    ("train.stage.pretrain.momentum=0.5", 1), ("train.stage.pretrain.scalar_rate=10", 1),
    ("train.stage.pretrain.average=0.9", 3), ("train.validation=0.2", 1),
    ("train.stage.pretrain.alpha=0.3", 1),
    ("train.stage.l1.l1_weight=20", 4), ("train.stage.l1.projection=none", 4),
    ("train.stage.joint.scale=0.3", 5), ("train.stage.joint.schedule=constant", 6),
])
def test_every_key_takes_effect_from_its_stage_on(setting, first, base, tmp_path):
    train(tmp_path / "run", "--set", setting, epochs=[*STANDARD])
    changed = history(tmp_path / "run")
    differs = [a["loss"] != b["loss"] or a["learning_rate"] != b["learning_rate"]
               for a, b in zip(base, changed, strict=True)]
    assert differs.index(True) == first - 1 and differs[-1]


def test_hard_thresholds_learn_by_a_ramp_only(tmp_path):
    hard = sets("model.activation=hard")
    still = train(tmp_path / "still", *hard, epochs=[*STANDARD])
    moved = train(tmp_path / "moved", *hard, *sets("train.ramp=0.25"), epochs=[*STANDARD])
    assert set(still["theta"]) == {still["theta"][0]}
    assert still["theta"][0] == pytest.approx(0.1)
    assert all(theta != pytest.approx(0.1, abs=1e-6) for theta in moved["theta"])


def test_a_batch_that_was_not_asked_for_fits_the_training_set(tmp_path):
    small = sets("problem.m=12", "problem.n=20", "problem.train=20", "problem.test=5",
                 "model.layers=3")
    succeed("train", *small, *SHORT, "--out", tmp_path / "run")
    succeed("train", *small, *SHORT, *sets("train.batch=20"), "--out", tmp_path / "same")
    assert history(tmp_path / "run") == history(tmp_path / "same")


def test_the_weight_of_the_penalty_on_alpha_takes_effect(tmp_path):
    runs = []
    for weight in ("0", "1"):
        train(tmp_path / weight, epochs=[*STANDARD, *sets("train.stage.pretrain.alpha=0.3",
                                                           f"train.stage.pretrain.alpha_weight={weight}")])
        runs.append(history(tmp_path / weight))
    assert runs[0][0]["loss"] != runs[1][0]["loss"]


def test_a_missed_target_of_alpha_is_told(tmp_path):
    fixed = [*TINY, *sets("problem.support=[2,7,11]", "model.update=plain", "train.recipe=paper",
                          "train.stage.pretrain.epochs=2", "train.stage.stage1.epochs=2",
                          "train.stage.stage2.epochs=1")]

    def trained(name, *options):
        text = succeed("train", *fixed, *sets(*options), "--out", tmp_path / name)
        return text, json.loads((tmp_path / name / "summary.json").read_text())

    text, summary = trained("none")
    assert "alpha" not in summary and "warning" not in text
    # `soft` with so few measurements: mu s alone is too much at any scale.
    text, summary = trained("missed", "train.stage.stage1.alpha=0.5", "train.stage.stage2.alpha=0.5")
    reached = summary["alpha"]["reached"]
    assert summary["alpha"]["asked"] == 0.5 and reached > 0.51
    assert f"warning: alpha is {reached:.4g} on the training supports, over the 0.5 asked for" in text
    assert summary["seeds"][0]["alpha"] == reached
    text, summary = trained("kept", "model.activation=hard", "train.stage.stage1.alpha=0.95",
                            "train.stage.stage2.alpha=0.95")
    assert summary["alpha"]["reached"] <= 0.95 + 1e-5 and "warning" not in text
    seen = json.loads(succeed("certify", tmp_path / "kept" / "model.safetensors", "--support",
                              "2,7,11", "--json", "-"))
    assert seen["alpha"] == pytest.approx(summary["alpha"]["reached"], abs=1e-5)


def test_changed_again_a_key_has_its_old_effect(base, tmp_path):
    train(tmp_path / "run", epochs=[*STANDARD, *sets("train.loss=norm", "train.loss=squared")])
    assert history(tmp_path / "run") == base


def augment_of(folder, *settings):
    """What a run without an augment of its own was augmented by, and the same when it is named."""
    epochs = sets("train.stage.pretrain.epochs=2")
    found = train(folder / "default", *FLOAT, *sets(*settings), epochs=epochs)["augment"]
    train(folder / "named", *FLOAT, *sets(*settings, f"train.augment={found}"), epochs=epochs)
    assert history(folder / "named") == history(folder / "default")
    return found


def test_signals_are_augmented_as_their_problem_allows(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "A.npy", rng.normal(size=(12, 20)))
    np.save(tmp_path / "x.npy", rng.normal(size=(250, 20)))
    arrays = ["problem.kind=arrays", f"problem.path={tmp_path}"]
    noise = "problem.noise_std=0.1"
    assert augment_of(tmp_path / "1", noise) == "fresh"
    assert augment_of(tmp_path / "3", noise, *arrays) == "noise"
    assert augment_of(tmp_path / "4", *arrays) == "none"
    x = rng.normal(size=(250, 20)) * (rng.random((250, 20)) < 0.1)
    (tmp_path / "sparse").mkdir()
    np.save(tmp_path / "sparse" / "A.npy", np.load(tmp_path / "A.npy"))
    np.save(tmp_path / "sparse" / "x.npy", x)
    arrays[1] = f"problem.path={tmp_path / 'sparse'}"
    assert augment_of(tmp_path / "6", *arrays) == "roll"
    np.save(tmp_path / "sparse" / "y.npy", x @ np.load(tmp_path / "A.npy").T)
    assert augment_of(tmp_path / "7", *arrays) == "roll"
    assert augment_of(tmp_path / "5", noise, "train.recipe=paper") == "none"


def test_the_seed_of_the_file_counts(tmp_path):
    (tmp_path / "c.toml").write_text("seed = 4\n[train]\nseeds = 2\n")
    epochs = sets("train.stage.pretrain.epochs=1")
    summary = train(tmp_path / "run", tmp_path / "c.toml", *FLOAT, epochs=epochs)
    assert [seed["seed"] for seed in summary["seeds"]] == [4, 5]
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == summary
