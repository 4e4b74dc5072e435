"""Trainings that cannot be: refused in one line, with what was there before left as it was."""

import json
import struct

import numpy as np
import pytest

from conftest import SHORT, TINY, contents, refuse, run, sets, succeed, train, tree


def refused(cwd, *options, epochs=SHORT, **more):
    return refuse("train", *TINY, *epochs, *options, "--out", "run", cwd=cwd, **more)


@pytest.mark.parametrize("settings, words", [
    (["train.stage.joint.epochs=0"], ["'train.stage.joint.epochs'", "0 is out of range", "from 1"]),
    (["train.stage.joint.epochs=1.5"], ["whole number"]),
    (["train.stage.joint.learning_rate=-1"], ["-1 is out of range", "above 0"]),
    (["train.stage.joint.learning_rate=0"], ["0 is out of range"]),
    (["train.stage.joint.learning_rate=inf"], ["inf is out of range"]),
    (["train.stage.joint.learning_rate=nan"], ["nan is out of range"]),
    (["train.stage.joint.clip=-1"], ["-1 is out of range"]),
    (["train.stage.joint.scale=-1"], ["-1 is out of range"]),
    (["train.stage.joint.scalar_rate=0"], ["0 is out of range"]),
    (["train.stage.joint.alpha=1.5"], ["alpha 1.5 is not in [0, 1)", "0.95"]),
    (["train.stage.joint.alpha=1"], ["alpha 1 is not in [0, 1)"]),
    (["train.stage.joint.momentum=1"], ["1 is out of range"]),
    (["train.stage.joint.average=1"], ["1 is out of range"]),
    (["train.validation=0.6"], ["0.6 is out of range"]),
    (["train.validation=0.001"], ["0.001 of a training set of 200 is no signal"]),
    (["train.validation=0.5", "train.batch=150"], ["a batch of 150 from a training set of 100"]),
    (["train.stage.joint.trains=[]"], ["trains nothing"]),
    (["train.stage.joint.trains=weights"], ["expected a list"]),
    (['train.stage.joint.trains=["weight"]'], ["did you mean 'weights'?"]),
    (["train.stage.joint.schedule=cosin"], ["unknown schedule 'cosin'", "did you mean 'cosine'?"]),
    (["train.stage.joint.projection=lasy"], ["did you mean 'lazy'?"]),
    (["train.stage.joint.epoch=3"], ["train.stage.joint.epoch'", "did you mean 'epochs'?"]),
    (["train.stage.joind.epochs=3"], ["there is no stage 'joind'", "did you mean 'joint'?"]),
    (["train.stage.joint=3"], ["a stage, not a value"]),
    (["train.stage=3"], ["expected stages"]),
    (["train.stage=[]"], ["no stages"]),
    (["train.stage=[1]"], ["expected tables"]),
    (['train.stage=[{name="a,b"}]'], ["'a,b' is not the name of a stage"]),
    (['train.stage=[{name="joint"}, {name="joint"}]'], ["a second stage 'joint'"]),
    (['train.stage=[{name="joint", epoch=3}]'], ["did you mean 'epochs'?"]),
    (['train.stage=[{name="joint"}, {name="pretrain"}]'],
     ["'pretrain' trains float weights after a stage that quantised", "float stages"]),
    (['train.stage=[{name="pretrain"}]'], ["last stage 'pretrain'", "end with a stage"]),
    (["train.stage.pretrain.projection=lazy", "train.stage.joint.projection=none"], ["'joint'"]),
    (["train.stage.joint.projection=l1", "model.weights=ternary"], ["needs the two levels"]),
    (['train.stage.joint.trains=["scale"]', "model.weights=ternary"], ["no global scale"]),
    (["train.stage.pretrain.projection=lazy", "model.weights=float"], []),
    (["train.batch=0"], ["0 is out of range"]),
    (["train.batch=201"], ["a batch of 201 from a training set of 200", "train.batch"]),
    (["train.stage.joint.batch=300"], ["a batch of 300 from a training set of 200"]),
    (["train.recipe=papper"], ["unknown recipe 'papper'", "did you mean 'paper'?"]),
    (["train.loss=squard"], ["did you mean 'squared'?"]),
    (["train.augment=sign"], ["did you mean 'signs'?"]),
    (["train.theta=-1"], ["-1 is out of range"]),
    (["train.seeds=0"], ["0 is out of range"]),
    (["train.checkpoint_seconds=-1"], ["-1 is out of range"]),
    (["train.recipie=paper"], ["unknown key 'train.recipie'", "did you mean 'recipe'?"]),
    (["train=3"], ["section"]),
    (["problem.kind=arrays", "problem.path=missing"], ["missing/A.npy"]),
])
def test_settings_that_make_no_sense(settings, words, tmp_path):
    line = refused(tmp_path, *sets(*settings))
    for word in words:
        assert word in line


def test_the_place_in_a_file_is_named(tmp_path):
    (tmp_path / "c.toml").write_text('[[train.stage]]\nname = "joint"\nepochs = 0\n')
    assert "c.toml:3:" in refused(tmp_path, "c.toml", epochs=[])


@pytest.mark.parametrize("device, words", [("cuda", ["no CUDA device", "--device cpu"]),
                                           ("gpu", ["unknown device 'gpu'", "cpu, cuda or cuda-tf32"])])
def test_devices_that_are_not_there(device, words, tmp_path):
    line = refused(tmp_path, "--device", device)
    for word in words:
        assert word in line


@pytest.mark.parametrize("out", ["file", "file/run", "/proc/run", "/dev/null/run"])
def test_folders_that_cannot_be_made(out, tmp_path):
    (tmp_path / "file").write_text("mine")
    refuse("train", *TINY, *SHORT, "--out", out, cwd=tmp_path)
    refuse("demo", *TINY, "--out", out, cwd=tmp_path)


def test_a_json_file_that_cannot_be_written_is_noticed_first(tmp_path):
    refused(tmp_path, "--json", "missing/r.json")


@pytest.mark.parametrize("name, row, words", [("A", 0, ["A.npy", "row 0, column 3"]),
                                              ("x", 7, ["x.npy", "row 7, column 3"]),
                                              ("y", 9, ["y.npy", "row 9, column 3"])])
def test_arrays_with_a_hole(name, row, words, tmp_path):
    rng = np.random.default_rng(0)
    arrays = {"A": rng.normal(size=(4, 6)), "x": rng.normal(size=(300, 6)),
              "y": rng.normal(size=(300, 4))}
    arrays[name][row, 3] = np.nan
    for key, values in arrays.items():
        np.save(tmp_path / f"{key}.npy", values)
    line = refused(tmp_path, *sets("problem.kind=arrays", "problem.path=."))
    for word in words:
        assert word in line


def test_measurements_that_are_not_those_of_the_operator_rule_out_new_ones(tmp_path):
    rng = np.random.default_rng(0)
    for name, shape in (("A", (4, 6)), ("x", (300, 6)), ("y", (300, 4))):
        np.save(tmp_path / f"{name}.npy", rng.normal(size=shape))
    line = refused(tmp_path, *sets("problem.kind=arrays", "problem.path=.", "train.augment=roll"))
    assert "augment 'roll'" in line and "not close to A x" in line and "negate" in line
    assert not (tmp_path / "run").exists()


def test_augments_without_sense_or_effect_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    for name, shape in (("A", (4, 6)), ("x", (300, 6))):
        np.save(tmp_path / f"{name}.npy", rng.normal(size=shape))
    arrays = sets("problem.kind=arrays", "problem.path=.")
    for augment in ("roll", "signs"):
        line = refused(tmp_path, *arrays, *sets("problem.basis=dct", f"train.augment={augment}"))
        assert "basis is dct" in line and line.endswith('use augment "none"')
    assert "neither noise" in refused(tmp_path, *arrays, *sets("train.augment=noise"))
    assert "neither noise" in refused(tmp_path, *sets("train.augment=noise"))
    assert "no blocks" in refused(tmp_path, *arrays, *sets("problem.repeat=2"))


@pytest.mark.parametrize("zeros, words", [(slice(0, 300), "240 training"),
                                          (slice(240, 300), "60 test")])
def test_signals_that_are_all_zero_are_refused_before_training(zeros, words, tmp_path):
    x = np.ones((300, 6))
    x[zeros] = 0
    np.save(tmp_path / "A.npy", np.random.default_rng(0).normal(size=(4, 6)))
    np.save(tmp_path / "x.npy", x)
    arrays = sets("problem.kind=arrays", "problem.path=.")
    long = sets("train.stage.pretrain.epochs=100000000")
    line = refuse("train", *arrays, *long, "--out", "run", cwd=tmp_path, timeout=20)
    assert f"all {words} signals of './x.npy' are zero" in line


@pytest.fixture
def finished(tmp_path):
    """A folder in which `run` holds a finished training."""
    train(tmp_path / "run")
    return tmp_path


def test_a_folder_that_holds_a_run_is_not_touched(finished):
    line = refused(finished)
    assert "'run' already holds a run" in line and "--resume" in line
    refused(finished, "--set", "train.seeds=2")


@pytest.mark.parametrize("name", ["summary.json", "model.safetensors", "history.csv",
                                  "checkpoint.safetensors", "report.html"])
def test_a_file_of_someone_else_is_not_overwritten(name, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).write_text("mine")
    refused(tmp_path)
    refused(tmp_path, "--resume")
    refused(tmp_path, "--resume", "--set", "train.seeds=2")


@pytest.mark.parametrize("options, words", [
    (sets("train.batch=40"), ["batch was 50, is now 40"]),
    (sets("model.layers=4"), ["network/layers was 3, is now 4"]),
    (sets("model.weights=ternary"), ["another training"]),
    (sets("train.stage.joint.learning_rate=0.5"), ["learning_rate was 0.0006, is now 0.5"]),
    (sets("train.stage.joint.epochs=5"), ["epochs was 4, is now 5"]),
    (sets("train.stage.joint.momentum=0.5"), ["momentum was 0.99, is now 0.5"]),
    (sets('train.stage=[{name="pretrain"}, {name="joint"}]'), ["stages/2 was {", "is now nothing"]),
    (sets("train.loss=nmse"), ['loss was "squared", is now "nmse"']),
    (sets("problem.noise_std=0.1"), ["data was "]),
    (["--seed", "2"], ["seed was 1, is now 2"]),
    (sets("train.seeds=2"), ["seeds"]),
])
def test_another_training_is_not_resumed(options, words, finished):
    line = refused(finished, *options, "--resume")
    for word in words:
        assert word in line


def test_seeds_are_not_mixed(tmp_path):
    two = sets("train.seeds=2")
    train(tmp_path / "run", *two)
    assert "seed-1" in refused(tmp_path, *two, "--seed", 2, "--resume")
    assert "seed-1" in refused(tmp_path, "--resume")
    assert "already holds a run" in refused(tmp_path, *two)


def test_a_file_that_is_no_checkpoint(finished):
    checkpoint = finished / "run" / "checkpoint.safetensors"
    checkpoint.write_bytes((finished / "run" / "model.safetensors").read_bytes())
    assert "not a checkpoint" in refused(finished, "--resume")


def with_progress(content, **changes):
    """A checkpoint that claims to stand elsewhere."""
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    progress = json.loads(header["__metadata__"]["pibinn.progress"])
    assert progress == {"stage": 3, "epoch": 0, "steps": 8, "pretrained": True}
    header["__metadata__"]["pibinn.progress"] = json.dumps(progress | changes)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + content[8 + size:]


DAMAGES = {
    "empty": lambda b: b"",
    "half": lambda b: b[:len(b) // 2],
    "one byte short": lambda b: b[:-1],
    "one byte more": lambda b: b + b"\0",
    "header length": lambda b: struct.pack("<Q", 1 << 60) + b[8:],
    "text": lambda b: b"not a checkpoint at all, but long enough to be read as one",
    "stage beyond": lambda b: with_progress(b, stage=9),
    "stage before": lambda b: with_progress(b, stage=1),
    "stage negative": lambda b: with_progress(b, stage=-3),
    "stage is text": lambda b: with_progress(b, stage="three"),
    "epoch beyond": lambda b: with_progress(b, epoch=7),
    "epoch at the end of its stage": lambda b: with_progress(b, stage=2, epoch=2),
    "steps missing": lambda b: with_progress(b, steps=None),
    "no latent": lambda b: b.replace(b'"latent"', b'"lament"', 1),
    "other type": lambda b: b.replace(b'"F64"', b'"I64"', 1),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_checkpoint(what, finished):
    checkpoint = finished / "run" / "checkpoint.safetensors"
    good = checkpoint.read_bytes()
    bad = DAMAGES[what](good)
    assert bad != good
    checkpoint.write_bytes(bad)
    assert "checkpoint.safetensors" in refused(finished, "--resume")


def test_divergence_names_epoch_and_layer(tmp_path):
    result = run("train", *TINY, *sets("model.weights=float", "train.stage.pretrain.epochs=50",
                                       "train.stage.pretrain.learning_rate=100"),
                 "--out", "run", cwd=tmp_path)
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.count("\n") == 1
    for word in ("pibinn: error: training diverged in epoch ", "stage 'pretrain'", "layer",
                 "learning_rate"):
        assert word in result.stderr
    assert tree(tmp_path) == []


def test_a_refused_demo_leaves_nothing(tmp_path):
    refuse("demo", "--set", "train.bach=3", "--out", "demo", cwd=tmp_path)
    refuse("demo", *TINY, "--set", "train.batch=201", "--out", "a/b/demo", cwd=tmp_path)


def test_a_run_beside_other_files_leaves_them(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    succeed("train", *TINY, *SHORT, "--out", tmp_path / "run")
    assert contents(tmp_path / "run")["notes.txt"] == b"mine"
