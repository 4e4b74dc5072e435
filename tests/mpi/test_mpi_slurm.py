"""The three uses under srun, where this machine is a node of a Slurm that is up."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from launch import ENVIRONMENT, LONG, PROGRAM, SMALL, alone, needs_mpi, run, same_files, sets, wait_for

SRUN = ["srun", "--mpi=pmix", "--kill-on-bad-exit=1", "--overcommit", "-n", "3"]


def why_not():
    """What keeps these tests from running."""
    if not shutil.which("srun"):
        return "no srun"
    try:
        result = subprocess.run([*SRUN, "true"], capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return "no free node of Slurm"
    return result.stderr.strip().splitlines()[-1] if result.returncode else ""


REASON = why_not()
pytestmark = [needs_mpi, pytest.mark.skipif(bool(REASON), reason=f"skipped: {REASON}")]


def srun(*arguments, cwd):
    result = run([*SRUN, str(PROGRAM), *map(str, arguments)], cwd)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_training(tmp_path):
    alone("train", *SMALL, "--out", "one", cwd=tmp_path)
    assert srun("train", *SMALL, "--out", "three", cwd=tmp_path).count("Written: ") == 1
    same_files(tmp_path / "one", tmp_path / "three", "model.safetensors", "history.csv")


def test_a_study(tmp_path):
    words = ["train", *SMALL, *sets("train.seeds=4")]
    alone(*words, "--out", "one", cwd=tmp_path)
    srun(*words, "--out", "three", cwd=tmp_path)
    same_files(tmp_path / "one", tmp_path / "three", "model.safetensors", "history.csv")


def test_a_recovery(tmp_path):
    alone("init", *sets("problem.m=20", "problem.n=40"), "--out", "m.safetensors", cwd=tmp_path)
    np.save(tmp_path / "y.npy", np.random.default_rng(1).normal(size=(5003, 20)))
    words = ["recover", "m.safetensors", "--in", "y.npy", "--out"]
    alone(*words, "one.npy", cwd=tmp_path)
    assert "3 ranks" in srun(*words, "three.npy", cwd=tmp_path)
    assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "three.npy").read_bytes()


def processes(folder):
    """By rank, the processes that work in a folder."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").resolve() == folder:
                names = dict(pair.split("=", 1) for pair in
                             (entry / "environ").read_text().split("\0") if "=" in pair)
                if (entry / "exe").resolve() == PROGRAM.resolve() and "PMIX_RANK" in names:
                    found[int(names["PMIX_RANK"])] = int(entry.name)
        except OSError:
            continue
    return found


def test_a_killed_rank_ends_the_step_and_the_training_goes_on(tmp_path):
    words = ["train", *LONG, "--out", "run", "--resume"]
    job = subprocess.Popen([*SRUN, str(PROGRAM), *words], cwd=tmp_path, env=ENVIRONMENT, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(job, (tmp_path / "run" / "checkpoint.safetensors").exists)
    os.kill(processes(tmp_path)[2], signal.SIGKILL)
    begin = time.monotonic()
    _, error = job.communicate(timeout=60)
    assert job.returncode != 0 and "task 2: Killed" in error
    assert time.monotonic() - begin < 45  # Slurm waits for up to 32 seconds
    assert not (tmp_path / "run" / "model.safetensors").exists()
    srun(*words, cwd=tmp_path)
    alone("train", *LONG, "--out", "whole", cwd=tmp_path)
    same_files(tmp_path / "whole", tmp_path / "run", "model.safetensors", "history.csv")
