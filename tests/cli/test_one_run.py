"""A folder holds one run at a time, and a run that was killed does not block the next."""

import signal
import subprocess
import time

import pytest

from conftest import PROGRAM, SHORT, TINY, contents, history, run, sets, succeed, tree

SLOW = [*TINY, *sets("problem.train=4000", "train.stage.pretrain.epochs=40",
                     "train.stage.joint.epochs=50", "train.stage.stage2.epochs=30",
                     "train.checkpoint_seconds=0")]
ONE = ["--weights", "one-bit", "--architecture", "unrolled"]


def under_way(verb, *options, cwd):
    """A run that has written its first checkpoint."""
    program = subprocess.Popen([str(PROGRAM), verb, *SLOW, *options, "--out", "run"], cwd=cwd,
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not list(cwd.rglob("history.csv")) and program.poll() is None:
        time.sleep(0.001)
    assert program.poll() is None
    return program


def in_use(*arguments, folder, cwd):
    result = run(*arguments, "--out", folder, cwd=cwd)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"'{folder}' is in use by another run; wait until" in result.stderr
    assert "choose another --out" in result.stderr


def test_a_second_training_is_refused_and_the_first_is_not_disturbed(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = under_way("train", cwd=tmp_path / "a")
    in_use("train", *SLOW, "--resume", folder="run", cwd=tmp_path / "a")
    in_use("train", *TINY, "--seed", 7, "--resume", folder="run", cwd=tmp_path / "a")
    in_use("demo", *TINY, folder="run", cwd=tmp_path / "a")
    _, errors = first.communicate(timeout=120)
    assert first.returncode == 0, errors
    succeed("train", *SLOW, "--out", "run", cwd=tmp_path / "b")
    for name in ("model.safetensors", "history.csv"):
        assert (tmp_path / "a" / "run" / name).read_bytes() == \
            (tmp_path / "b" / "run" / name).read_bytes()


def test_a_comparison_keeps_its_folder_and_those_of_its_schemes(tmp_path):
    first = under_way("compare", *ONE, cwd=tmp_path)
    scheme = next(tmp_path.rglob("history.csv")).parent.relative_to(tmp_path).as_posix()
    in_use("compare", *SLOW, *ONE, "--resume", folder="run", cwd=tmp_path)
    in_use("train", *SLOW, "--resume", folder=scheme, cwd=tmp_path)
    first.kill()
    first.communicate(timeout=60)


@pytest.mark.parametrize("attempt", range(3))
def test_of_two_trainings_that_start_together_one_goes_on(attempt, tmp_path):
    seeds = (1, 2)
    both = [subprocess.Popen([str(PROGRAM), "train", *TINY, *SHORT, "--seed", str(seed), "--out",
                              "run"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True) for seed in seeds]
    errors = [program.communicate(timeout=120)[1] for program in both]
    codes = [program.returncode for program in both]
    assert sorted(codes) == [0, 2], errors
    lost = errors[codes.index(2)]
    assert "is in use by another run" in lost or "already holds a run" in lost
    won = seeds[codes.index(0)]
    succeed("train", *TINY, *SHORT, "--seed", won, "--out", "alone", cwd=tmp_path)
    for name in ("model.safetensors", "history.csv"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    assert f'"seed": {won}' in (tmp_path / "run" / "summary.json").read_text()
    assert not [name for name in tree(tmp_path) if ".tmp-" in name]


GRID = """[problem]
m = 12
n = 20
train = 4000

[model]
layers = 3

[train.stage.pretrain]
epochs = 400

[grid]
model.weights = ["one-bit", "float"]
"""
STUDIES = [["study", "grid.toml"], ["field", "--quick"], ["reproduce", "delta-soft", "--quick"]]


@pytest.mark.parametrize("words", STUDIES)
def test_a_study_keeps_its_folder(words, tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    first = subprocess.Popen([str(PROGRAM), *words, "--out", "run"], cwd=tmp_path, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not list(tmp_path.glob("run/**/*.json")) and first.poll() is None:
        time.sleep(0.001)
    assert first.poll() is None
    in_use(*words, folder="run", cwd=tmp_path)
    first.kill()
    first.communicate(timeout=60)


def test_a_killed_run_leaves_no_lock(tmp_path):
    program = under_way("train", cwd=tmp_path)
    program.send_signal(signal.SIGKILL)
    program.communicate(timeout=60)
    before = len(history(tmp_path / "run"))
    assert set(contents(tmp_path / "run")) - {"checkpoint.safetensors", "history.csv"} == {
        name for name in contents(tmp_path / "run") if ".tmp-" in name}
    succeed("train", *SLOW, "--resume", "--out", "run", cwd=tmp_path)
    assert len(history(tmp_path / "run")) > before
