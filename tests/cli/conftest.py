"""The program under test, and the small files its tests share."""

import csv
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("PIBINN", ROOT / "build" / "pibinn"))

# A shell that runs the tests in the background ignores Ctrl-C for them, nohup a lost terminal, and programs inherit
# that: those that are told to stop would not hear it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# A sanitizer reserves terabytes of addresses and takes memory of its own.
own_memory_alone = pytest.mark.skipif(
    b"__asan_init" in PROGRAM.read_bytes() or b"__tsan_init" in PROGRAM.read_bytes(),
    reason="skipped: a sanitizer takes memory beside the program's own")


# What work of ten seconds or more says on a standard error that is no terminal.
PROGRESS_LINE = re.compile(r"^pibinn: [a-z -]+  \d+ (%|done)  \S+/s.*\n", re.MULTILINE)


def run(*arguments, cwd=None, **options):
    """Runs the program and returns what it said, without the progress of a slow machine; never checks how it ended."""
    options.setdefault("timeout", 120)
    result = subprocess.run([str(PROGRAM), *map(str, arguments)], cwd=cwd, capture_output=True,
                            text=True, **options)
    result.stderr = PROGRESS_LINE.sub("", result.stderr)
    return result


def succeed(*arguments, **options):
    result = run(*arguments, **options)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def tree(folder):
    return sorted(p.relative_to(folder).as_posix() for p in Path(folder).rglob("*"))


def refuse(*arguments, cwd, code=2, **options):
    """The one line of an error. Whatever goes wrong, no file appears or changes."""
    before = tree(cwd), contents(cwd)
    result = run(*arguments, cwd=cwd, **options)
    assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
    assert result.stdout == ""
    assert result.stderr.startswith("pibinn: error: ") and result.stderr.endswith("\n")
    line = result.stderr[:-1]
    assert "\n" not in line
    what, mark, hint = line.rpartition("; ")
    assert mark and what != "pibinn: error: " and len(hint) > 3, line
    assert (tree(cwd), contents(cwd)) == before
    return line


def sets(*settings):
    """The words of the command line that set keys of a configuration."""
    return [word for setting in settings for word in ("--set", setting)]


# A training of a few milliseconds.
TINY = sets("problem.m=12", "problem.n=20", "problem.density=0.1", "problem.train=200",
            "problem.test=50", "model.layers=3", "train.batch=50")
SHORT = sets("train.stage.pretrain.epochs=3", "train.stage.joint.epochs=4",
             "train.stage.stage2.epochs=2")


def train(folder, *options, epochs=SHORT):
    """Trains the tiny network and returns its summary."""
    text = succeed("train", *TINY, *epochs, *options, "--out", folder, "--json", "-")
    return json.loads(text)


def history(folder):
    """The lines of history.csv, each a dictionary of words."""
    with open(Path(folder) / "history.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def contents(folder):
    """Every file beneath a folder, with its bytes."""
    return {p.relative_to(folder).as_posix(): p.read_bytes()
            for p in Path(folder).rglob("*") if p.is_file()}


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """The default problem, as `pibinn sample` writes it."""
    folder = tmp_path_factory.mktemp("data")
    succeed("sample", "--out", folder)
    return folder


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    """The untrained one-bit plain network of the default problem."""
    path = tmp_path_factory.mktemp("model") / "plain.safetensors"
    succeed("init", "--set", "model.update=plain", "--out", path)
    return path


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A folder with a 6 x 10 model of 3 layers, some measurements and their signals."""
    folder = tmp_path_factory.mktemp("small")
    sizes = ["--set", "problem.m=6", "--set", "problem.n=10", "--set", "problem.train=8",
             "--set", "problem.test=5", "--set", "problem.density=0.2"]
    succeed("sample", *sizes, "--out", folder)
    succeed("init", *sizes, "--set", "model.layers=3", "--out", folder / "model.safetensors")
    return folder


@pytest.fixture
def work(tmp_path, small):
    """The same files in a fresh folder, free to be damaged."""
    for source in small.iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    (tmp_path / "x_test.npy").rename(tmp_path / "x.npy")
    (tmp_path / "y_test.npy").rename(tmp_path / "y.npy")
    return tmp_path


def load(path):
    return np.load(path, allow_pickle=False)
