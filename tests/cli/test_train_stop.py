"""A training that is killed or told to stop goes on later as if nothing had happened."""

import fcntl
import random
import re
import shlex
import signal
import subprocess
import time

import pytest

from conftest import PROGRAM, PROGRESS_LINE, TINY, contents, history, run, sets, succeed, tree

EPOCHS = 120
# Seconds of training, with a checkpoint after every epoch.
LONG = ["train", *TINY, *sets(
    "problem.train=8000", "model.layers=5", "train.stage.pretrain.epochs=40",
    "train.stage.joint.epochs=50", "train.stage.stage2.epochs=30", "train.checkpoint_seconds=0")]
KEPT = ("model.safetensors", "history.csv")


def start(*arguments, cwd):
    return subprocess.Popen([str(PROGRAM), *map(str, arguments)], cwd=cwd, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def kept(folder):
    return {name: content for name, content in contents(folder).items() if name.endswith(KEPT)}


def temporaries(folder):
    return [name for name in tree(folder) if ".tmp-" in name]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What an undisturbed run keeps, and how long it took."""
    folder = tmp_path_factory.mktemp("undisturbed")
    begin = time.monotonic()
    succeed(*LONG, "--out", "run", cwd=folder)
    assert len(history(folder / "run")) == EPOCHS
    return kept(folder / "run"), time.monotonic() - begin


def test_killed_ten_times_a_training_ends_in_the_same_bytes(undisturbed, tmp_path):
    expected, seconds = undisturbed
    rng = random.Random(20240501)
    killed = 0
    reached = []
    for _ in range(10):
        program = start(*LONG, "--resume", "--out", "run", cwd=tmp_path)
        time.sleep(rng.uniform(0.02, 0.12) * seconds)
        program.kill()
        program.communicate(timeout=60)
        killed += program.returncode == -signal.SIGKILL
        if (tmp_path / "run" / "history.csv").exists():
            reached.append(len(history(tmp_path / "run")))
    # Otherwise nothing was tested: a few kills must have come in the midst of it.
    assert killed >= 5 and len(set(reached)) >= 3 and reached == sorted(reached)
    succeed(*LONG, "--resume", "--out", "run", cwd=tmp_path)
    assert kept(tmp_path / "run") == expected
    assert temporaries(tmp_path) == []


def stopped(cwd, *arguments, how=signal.SIGINT):
    """The line that a training says when it is told to stop after some epochs."""
    program = start(*arguments, cwd=cwd)
    try:
        while not list(cwd.rglob("history.csv")) and program.poll() is None:
            time.sleep(0.001)
        program.send_signal(how)
        text, line = program.communicate(timeout=60)
    finally:
        program.kill()
    assert (program.returncode, text) == (1, "")
    assert line.startswith("pibinn: error: stopped after ") and line.count("\n") == 1
    assert "checkpoint saved in 'run'" in line
    assert temporaries(cwd) == []
    assert list(cwd.rglob("checkpoint.safetensors"))
    assert not (cwd / "run" / "model.safetensors").exists()
    return line


def go_on(line, cwd):
    """Runs the command that the line tells."""
    _, mark, command = line.partition("go on with: pibinn ")
    assert mark
    succeed(*shlex.split(command), cwd=cwd)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_told_to_stop_a_training_says_how_to_go_on(how, undisturbed, tmp_path):
    line = stopped(tmp_path, *LONG, "--out", "run", how=how)
    done, total = map(int, re.search(r"after (\d+) of (\d+) epochs", line).groups())
    assert total == EPOCHS and done == len(history(tmp_path / "run")) < EPOCHS
    go_on(line, tmp_path)
    assert kept(tmp_path / "run") == undisturbed[0]
    assert temporaries(tmp_path) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_told_twice_a_training_leaves_nothing_half_written(how, tmp_path):
    """The second ends it at once, except that a terminal that closes may hang up twice."""
    program = start(*LONG, "--out", "run", cwd=tmp_path)
    while not list(tmp_path.rglob("history.csv")) and program.poll() is None:
        time.sleep(0.001)
    program.send_signal(how)
    time.sleep(0.002)
    program.send_signal(how)
    _, line = program.communicate(timeout=60)
    saved = program.returncode == 1 and line.startswith("pibinn: error: stopped after ")
    assert saved or (program.returncode == -how and how != signal.SIGHUP), line
    assert temporaries(tmp_path) == []


def test_seeds_that_were_stopped_go_on(tmp_path):
    seeds = [*LONG, *sets("train.seeds=3", "problem.train=1000")]
    succeed(*seeds, "--out", "whole", cwd=tmp_path)
    (tmp_path / "b").mkdir()
    line = stopped(tmp_path / "b", *seeds, "--out", "run")
    assert f"of {3 * EPOCHS} epochs" in line
    go_on(line, tmp_path / "b")
    expected = kept(tmp_path / "whole")
    assert len(expected) == 7 and kept(tmp_path / "b" / "run") == expected


def test_a_demo_that_was_stopped_goes_on_as_a_training(tmp_path):
    demo = ["demo", *TINY, *sets("problem.train=8000", "train.stage.tune.epochs=60",
                                 "train.checkpoint_seconds=0")]
    (tmp_path / "a").mkdir()
    line = stopped(tmp_path / "a", *demo, "--out", "run")
    go_on(line, tmp_path / "a")
    succeed(*demo, "--out", tmp_path / "undisturbed")
    assert kept(tmp_path / "a" / "run") == kept(tmp_path / "undisturbed")


def test_odd_words_survive_the_command_that_goes_on(tmp_path):
    config = tmp_path / "it's a $HOME.toml"
    config.write_text("[train]\ncheckpoint_seconds = 0\n")
    line = stopped(tmp_path, LONG[0], config.name, *LONG[1:], "--set", "problem.support=[1, 4]",
                   "--seed", 3, "--out", "run")
    script = line.partition("go on with: ")[2]
    result = subprocess.run(["sh", "-c", f'pibinn() {{ "{PROGRAM}" "$@"; }}; {script}'],
                            cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0 and PROGRESS_LINE.sub("", result.stderr) == ""
    assert (tmp_path / "run" / "model.safetensors").exists()


def test_a_finished_training_resumes_to_itself(tmp_path):
    short = ["train", *TINY, *sets("model.weights=float", "train.stage.pretrain.epochs=2")]
    succeed(*short, "--resume", "--out", "run", cwd=tmp_path)  # nothing there: starts
    first = contents(tmp_path / "run")
    succeed(*short, "--resume", "--out", "run", cwd=tmp_path)
    again = contents(tmp_path / "run")
    assert {n: again[n] for n in KEPT} == {n: first[n] for n in KEPT}
    # How often it is kept is no part of what is trained.
    succeed(*short, "--resume", "--set", "train.checkpoint_seconds=9", "--out", "run", cwd=tmp_path)


def test_a_checkpoint_is_written_only_so_often(tmp_path):
    """Killed well before its first checkpoint is due, a training has written none."""
    program = start(*LONG, "--set", "train.checkpoint_seconds=600", "--out", "run", cwd=tmp_path)
    while not (tmp_path / "run").exists() and program.poll() is None:
        time.sleep(0.001)
    time.sleep(0.3)
    program.kill()
    program.communicate(timeout=60)
    assert program.returncode == -signal.SIGKILL
    assert tree(tmp_path / "run") == []


def test_leftovers_of_a_kill_go_with_the_next_start(tmp_path):
    (tmp_path / "run").mkdir()
    digits = "0123456789abcdef"
    for name in ("checkpoint.safetensors", "history.csv"):
        (tmp_path / "run" / f"{name}.tmp-{digits}").write_text("half")
    # Neither another file of that kind of name, nor one that a living process holds.
    (tmp_path / "run" / "mine.tmp-1").write_text("mine")
    held = tmp_path / "run" / f"model.safetensors.tmp-{digits}"
    held.write_text("half")
    with open(held, "rb") as owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
        assert resumes(tmp_path)
        assert temporaries(tmp_path) == ["run/mine.tmp-1", f"run/{held.name}"]
    assert resumes(tmp_path)
    assert temporaries(tmp_path) == ["run/mine.tmp-1"]


def resumes(folder):
    result = run("train", *TINY, *sets("model.weights=float", "train.stage.pretrain.epochs=2"),
                 "--resume", "--out", "run", cwd=folder)
    return result.returncode == 0
