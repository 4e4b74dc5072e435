"""Starts the program under mpirun, with more ranks than this machine may have cores."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("PIBINN", ROOT / "build" / "pibinn"))
MODULE = PROGRAM.parent / "libpibinn_mpi.so"
MPIRUN = shutil.which("mpirun")
TIMEOUT = 60

needs_mpi = pytest.mark.skipif(
    not MODULE.exists() or not MPIRUN,
    reason=f"skipped: no {MODULE.name if not MODULE.exists() else 'mpirun'}; 'make build-mpi' builds it")

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# Several tests at a time must not be bound to the same core, and hosts are only this one.
OPTIONS = ["--oversubscribe", "--bind-to", "none"]
ERROR = re.compile(r"^pibinn: error: .*$", re.MULTILINE)
# Beside these there are only words on how far a long work is.
COMPLAINT = re.compile(r"^pibinn: (error|warning): ", re.MULTILINE)


def sets(*settings):
    return [word for setting in settings for word in ("--set", setting)]


SMALL = sets("problem.m=20", "problem.n=40", "problem.train=1100", "problem.test=150",
             "model.layers=4", "train.batch=530", "train.stage.pretrain.epochs=3",
             "train.stage.joint.epochs=3", "train.stage.stage2.epochs=2", "model.weights=one-bit")
# Seconds of training, with a checkpoint after every epoch.
LONG = [*SMALL, *sets("problem.train=4000", "train.batch=500", "train.stage.pretrain.epochs=150",
                      "train.stage.joint.epochs=150", "train.checkpoint_seconds=0")]


def command(ranks, *arguments, program=PROGRAM):
    return [MPIRUN, *OPTIONS, "-n", str(ranks), str(program), *map(str, arguments)]


def apart(first, other, *arguments, before=()):
    """One rank in the folder `first`, another in `other`, where the words `before` start it."""
    words = [str(PROGRAM), *map(str, arguments)]
    return [MPIRUN, *OPTIONS, "-n", "1", "-wdir", str(first), *words,
            ":", "-n", "1", "-wdir", str(other), *before, *words]


def run(words, cwd, **options):
    options.setdefault("timeout", TIMEOUT)
    options.setdefault("env", ENVIRONMENT)
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, **options)


def alone(*arguments, cwd):
    result = run([str(PROGRAM), *map(str, arguments)], cwd)
    assert result.returncode == 0, result.stderr
    return result.stdout


def together(ranks, *arguments, cwd, **options):
    """What rank 0 said of work that succeeded."""
    result = run(command(ranks, *arguments), cwd, **options)
    assert result.returncode == 0, result.stderr
    assert not COMPLAINT.search(result.stderr), result.stderr
    return result.stdout


def refused(result, *words, code=2):
    """One line of ours, whatever mpirun adds to it."""
    lines = ERROR.findall(result.stderr)
    assert len(lines) == 1, result.stderr
    assert result.returncode == code, (result.returncode, result.stderr)
    assert all(word in lines[0] for word in words), lines[0]


def files(folder):
    return sorted(p.relative_to(folder).as_posix() for p in Path(folder).rglob("*") if p.is_file())


def same_files(one, other, *names):
    """Both folders have the same files, and those of these names have the same bytes."""
    assert files(one) == files(other)
    compared = [f for f in files(one) if Path(f).name in names]
    assert compared
    assert [f for f in compared if (one / f).read_bytes() != (other / f).read_bytes()] == []


def start(ranks, *arguments, cwd):
    return subprocess.Popen(command(ranks, *arguments), cwd=cwd, env=ENVIRONMENT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def process_of(launcher, rank):
    """The process of a rank, by its parent and its environment; None before it runs."""
    for entry in Path("/proc").iterdir():
        try:
            if not entry.name.isdigit():
                continue
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            names = (entry / "environ").read_bytes().split(b"\0")
        except (OSError, ValueError, IndexError):
            continue
        if parent == launcher.pid and f"OMPI_COMM_WORLD_RANK={rank}".encode() in names:
            return int(entry.name)
    return None


def wait_for(launcher, when, seconds=30, nap=0.01):
    end = time.monotonic() + seconds
    while not when():
        assert time.monotonic() < end and launcher.poll() is None, launcher.communicate()
        time.sleep(nap)


def kill_rank(launcher, rank, when):
    """Kills a rank once `when()` holds; how the job ended, and how long that took."""
    wait_for(launcher, when)
    os.kill(process_of(launcher, rank), signal.SIGKILL)
    begin = time.monotonic()
    out, error = launcher.communicate(timeout=TIMEOUT)
    return subprocess.CompletedProcess([], launcher.returncode, out, error), time.monotonic() - begin
