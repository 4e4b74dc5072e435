"""How a job ends when a rank, a host or a disk does not do its part."""

import contextlib
import fcntl
import os
import random
import shutil
import signal
import subprocess
import time

import pytest

from launch import (ENVIRONMENT, LONG, MODULE, MPIRUN, OPTIONS, PROGRAM, SMALL, TIMEOUT, alone, apart,
                    command, files, kill_rank, needs_mpi, process_of, refused, run, same_files, sets, start,
                    wait_for)

pytestmark = needs_mpi

# From the kill of a rank to the end of the job.
SOON = 15


def read(path):
    return path.read_bytes() if path.exists() else b""


@pytest.mark.parametrize("rank", [0, 2])
def test_a_killed_rank_ends_a_training_and_the_checkpoint_is_whole(rank, tmp_path):
    checkpoint = tmp_path / "run" / "checkpoint.safetensors"
    job = start(3, "train", *LONG, "--out", "run", cwd=tmp_path)
    ended, seconds = kill_rank(job, rank, checkpoint.exists)
    assert ended.returncode != 0 and seconds < SOON
    assert f"process rank {rank}" in ended.stderr  # mpirun's own line
    if rank != 0:
        assert ended.stderr.count("pibinn: ") == 1
        assert "told to stop while other ranks have not answered" in ended.stderr
    assert not (tmp_path / "run" / "model.safetensors").exists()
    result = run([str(PROGRAM), "train", *LONG, "--out", "run", "--resume", "--quiet"], tmp_path)
    assert result.returncode == 0, result.stderr


# The moments of a training, as shares of the time that it takes, each in another eighth of it.
DRAW = random.Random(2026)
MOMENTS = [(i + DRAW.random()) / 8 for i in range(8)]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """A short training with many checkpoints over three ranks, and its seconds."""
    folder = tmp_path_factory.mktemp("sweep")
    words = ["train", *SMALL, *sets("train.stage.pretrain.epochs=25", "train.stage.joint.epochs=25",
                                    "train.checkpoint_seconds=0"), "--out"]
    begin = time.monotonic()
    assert run(command(3, *words, "run"), folder).returncode == 0
    return words, folder / "run", time.monotonic() - begin


@pytest.mark.parametrize("number", range(len(MOMENTS)))
def test_a_rank_killed_at_any_moment_leaves_what_the_next_start_goes_on_from(number, sweep,
                                                                             tmp_path):
    words, whole, lasts = sweep
    job = start(3, *words, "run", cwd=tmp_path)
    time.sleep(MOMENTS[number] * lasts)
    killed = kill_if_there(job, number % 3)
    begin = time.monotonic()
    _, error = job.communicate(timeout=TIMEOUT)
    assert time.monotonic() - begin < SOON
    check_end(tmp_path / "run", words, whole, number % 3 if killed else None, job.returncode, error)


@pytest.mark.parametrize("rank, file", [(0, "model.safetensors"), (1, "model.safetensors"),
                                        (0, "summary.json"), (2, "report.html")])
def test_a_rank_killed_while_rank_0_writes_the_results(rank, file, sweep, tmp_path):
    words, whole, _ = sweep
    job = start(3, *words, "run", cwd=tmp_path)
    folder = tmp_path / "run"
    wait_for(job, lambda: list(folder.glob(f"{file}*")), nap=0)
    killed = kill_if_there(job, rank)
    _, error = job.communicate(timeout=SOON)
    check_end(folder, words, whole, rank if killed else None, job.returncode, error)


def kill_if_there(job, rank):
    """Kills a rank as soon as it runs; False where the job has ended."""
    while job.poll() is None:
        process = process_of(job, rank)
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
                return True
        time.sleep(0.005)
    return False


def check_end(folder, words, whole, rank, code, error):
    """How a job ended of which a rank was killed; the same command gives the same results then."""
    if rank is None or code == 0:  # it was done
        assert code == 0, error
        same_files(whole, folder, "model.safetensors", "history.csv")
        return
    # A rank that was not connected yet has no number in mpirun's words.
    assert f"process rank {rank}" in error or "1 process returned" in error, error
    assert error.count("pibinn: ") <= (rank != 0), error
    # Files are whole or not there.
    model = folder / "model.safetensors"
    if model.exists():
        assert model.read_bytes() == (whole / model.name).read_bytes()
    result = run(command(2, *words, "run", "--resume", "--quiet"), folder.parent)
    assert result.returncode == 0, result.stderr
    same_files(whole, folder, "model.safetensors", "history.csv")


def test_a_killed_rank_ends_a_study_and_the_same_command_goes_on(tmp_path):
    cell = [*LONG, *sets("train.seeds=4")]
    job = start(3, "train", *cell, "--out", "run", cwd=tmp_path)
    ended, seconds = kill_rank(
        job, 1, lambda: len(list(tmp_path.glob("run/*/checkpoint.safetensors"))) == 3)
    assert ended.returncode != 0 and seconds < SOON
    assert ended.stderr.count("pibinn: ") <= 1
    result = run(command(2, "train", *cell, "--out", "run", "--resume", "--quiet"), tmp_path)
    assert result.returncode == 0, result.stderr
    alone("train", *cell, "--out", "whole", cwd=tmp_path)
    same_files(tmp_path / "whole", tmp_path / "run", "model.safetensors", "history.csv")


def test_a_killed_rank_leaves_no_half_recovery(tmp_path):
    alone("init", *sets("problem.m=20", "problem.n=40"), "--out", "m.safetensors", cwd=tmp_path)
    alone("sample", *sets("problem.m=20", "problem.n=40", "problem.test=300000", "problem.train=10"),
          "--out", "data", cwd=tmp_path)
    words = ["recover", "m.safetensors", "--in", "data/y_test.npy", "--out", "x.npy"]
    job = start(3, *words, cwd=tmp_path)
    ended, seconds = kill_rank(job, 1, lambda: list(tmp_path.glob("x.npy.tmp-*")))
    assert ended.returncode != 0 and seconds < SOON
    assert not (tmp_path / "x.npy").exists()
    for left in tmp_path.glob("x.npy.tmp-*"):  # mpirun may end before its other ranks do
        with open(left, "rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
    assert run(command(2, *words), tmp_path).returncode == 0
    assert [f for f in files(tmp_path) if ".tmp-" in f] == []


def test_a_full_disk_of_rank_0_ends_the_job_in_one_line(tmp_path):
    # A limit on the size of files is what a full disk is, without leave to mount one.
    limited = 'ulimit -f 8; exec "$0" "$@"'
    words = [MPIRUN, *OPTIONS, "-n", "1", "bash", "-c", limited, str(PROGRAM), "train", *SMALL,
             *sets("model.layers=60"), "--out", "run",
             ":", "-n", "2", str(PROGRAM), "train", *SMALL, *sets("model.layers=60"), "--out", "run"]
    begin = time.monotonic()
    refused(run(words, tmp_path), "run/", "File too large")
    assert time.monotonic() - begin < 30
    assert not [f for f in files(tmp_path) if ".tmp-" in f or f.endswith("model.safetensors")]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own with room for 600 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)],
                             capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"skipped: no leave to mount a small disk ({mounted.stderr.strip()})")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full_ends_the_job_in_one_line_and_keeps_old_files(small_disk, tmp_path):
    words = ["train", *SMALL, "--out", "disk/run"]
    assert run(command(3, *words), tmp_path).returncode == 0
    before = {f: (tmp_path / "disk" / f).read_bytes() for f in files(small_disk)}
    (small_disk / "other").write_bytes(bytes(20000))
    larger = [*words[:-2], *sets("model.layers=60"), "--out", "disk/other-run"]
    begin = time.monotonic()
    refused(run(command(3, *larger), tmp_path), "disk/other-run/", "No space left")
    assert time.monotonic() - begin < 30
    assert not [f for f in files(small_disk) if ".tmp-" in f]
    assert {f: (small_disk / f).read_bytes() for f in before} == before


def test_a_full_disk_of_another_rank_is_named_by_rank_0(tmp_path):
    limited = 'ulimit -f 8; exec "$0" "$@"'
    seeds = ["train", *SMALL, *sets("model.layers=60", "train.seeds=4"), "--out", "run"]
    words = [MPIRUN, *OPTIONS, "-n", "1", str(PROGRAM), *seeds,
             ":", "-n", "1", "bash", "-c", limited, str(PROGRAM), *seeds]
    refused(run(words, tmp_path), "rank 1: ", "run/seed-", "File too large")


@pytest.mark.parametrize("words, said", [
    (["train", *SMALL, *sets("train.seeds=3"), "--out", "run"], "run/seed-"),
    (["study", "grid.toml", "--out", "study"], "grid.toml"),
    (["recover", "m.safetensors", "--in", "y.npy", "--out", "x.npy"], "m.safetensors"),
])
def test_a_folder_that_a_rank_does_not_see_ends_the_job_in_one_line(words, said, tmp_path):
    # Relative paths from another folder are what a host has that does not share this one.
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "grid.toml").write_text('[grid]\n"model.layers" = [2, 3]\n')
    alone("init", *sets("problem.m=20", "problem.n=40"), "--out", "m.safetensors", cwd=tmp_path)
    begin = time.monotonic()
    refused(run(apart(tmp_path, tmp_path / "elsewhere", *words), tmp_path), "rank 1", said)
    assert time.monotonic() - begin < SOON
    assert [f for f in files(tmp_path) if ".tmp-" in f] == []


def test_a_study_whose_folder_a_rank_does_not_see_ends_in_one_line(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    for folder in (tmp_path, tmp_path / "elsewhere"):
        (folder / "grid.toml").write_text(
            '[problem]\nm = 12\nn = 24\ntrain = 300\ntest = 50\n[grid]\n"model.layers" = [2, 3]\n')
    words = ["study", "grid.toml", "--out", "study"]
    refused(run(apart(tmp_path, tmp_path / "elsewhere", *words), tmp_path), "study/",
            "shared file system")


def test_a_rank_out_of_memory_ends_the_job_in_one_line(tmp_path):
    # Every rank has all signals of a training that mixes them: 320 MB, before anything is computed.
    # OpenBLAS, which ends no wait for its own memory, must not be what finds none.
    words = ["train", *SMALL, *sets("train.augment=mix", "problem.train=2000000"), "--threads", "1",
             "--out", "run"]
    limited = ["bash", "-c", 'ulimit -d 250000; exec "$0" "$@"']
    begin = time.monotonic()
    refused(run(apart(tmp_path, tmp_path, *words, before=limited), tmp_path,
                env={**ENVIRONMENT, "OPENBLAS_NUM_THREADS": "1"}),
            "rank 1 on ", "not enough memory", code=1)
    assert time.monotonic() - begin < SOON
    assert not list(tmp_path.rglob("*.safetensors"))


def test_ranks_that_are_told_to_stop_save_first(tmp_path):
    checkpoint = tmp_path / "run" / "checkpoint.safetensors"
    job = start(3, "train", *LONG, "--out", "run", cwd=tmp_path)
    wait_for(job, checkpoint.exists)
    # All at once, as Slurm does before the time is up: to look one up takes as long as others need
    # to save and leave.
    for process in [process_of(job, rank) for rank in range(3)]:
        os.kill(process, signal.SIGTERM)
    out, error = job.communicate(timeout=60)
    refused(subprocess.CompletedProcess([], job.returncode, out, error), "stopped after",
            "checkpoint saved", "--resume", code=1)
    result = run(command(2, "train", *LONG, "--out", "run", "--resume", "--quiet"), tmp_path)
    assert result.returncode == 0, result.stderr


def test_a_missing_host_ends_the_job_before_it_begins(tmp_path):
    # What ssh does of a host that is not there.
    (tmp_path / "ssh").write_text("#!/bin/sh\necho ssh: cannot resolve the host >&2\nexit 255\n")
    (tmp_path / "ssh").chmod(0o755)
    words = [MPIRUN, "--mca", "plm_rsh_agent", str(tmp_path / "ssh"), "--host",
             "localhost,missing.invalid", "-n", "2", str(PROGRAM), "train", *SMALL, "--out", "run"]
    begin = time.monotonic()
    result = run(words, tmp_path)
    assert result.returncode != 0 and time.monotonic() - begin < 30
    assert "cannot resolve the host" in result.stderr
    assert not (tmp_path / "run").exists()


def copied(folder, change=lambda data: data):
    """The program and its module somewhere else, with other bytes."""
    folder.mkdir()
    for file in (PROGRAM, MODULE):
        (folder / file.name).write_bytes(change(file.read_bytes()))
        (folder / file.name).chmod(0o755)
    return folder / PROGRAM.name


def two_kinds(tmp_path, other, *arguments, env=()):
    words = ["train", *SMALL, "--out", "run", *arguments]
    return run([MPIRUN, *OPTIONS, "-n", "1", str(PROGRAM), *words, ":", "-n", "1",
                *[w for pair in env for w in ("-x", pair)], str(other), *words], tmp_path)


def test_a_rank_of_another_version_is_refused_unless_mixed(tmp_path):
    version = subprocess.run([str(PROGRAM), "--version"], capture_output=True,
                             text=True).stdout.split()[1]
    other = version[:-1] + ("8" if version[-1] != "8" else "7")
    program = copied(tmp_path / "other", lambda data: data.replace(
        version.encode() + b"\0", other.encode() + b"\0"))
    refused(two_kinds(tmp_path, program), "version", "rank 1", other, version, "--mixed")
    assert not (tmp_path / "run").exists()
    result = two_kinds(tmp_path, program, "--mixed", "--quiet")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "run" / "model.safetensors").exists()


def test_a_rank_of_another_processor_is_refused_unless_mixed(tmp_path):
    # OpenBLAS takes the name of the processor from here.
    kinds = ("Haswell", "Sandybridge", "Nehalem", "Prescott")
    text = subprocess.run([str(PROGRAM), "--version"], capture_output=True, text=True).stdout
    other = next((k for k in kinds if f"({k})".lower() not in text.lower()
                  and f"({k})".lower() in subprocess.run(
                      [str(PROGRAM), "--version"], capture_output=True, text=True,
                      env={**ENVIRONMENT, "OPENBLAS_CORETYPE": k}).stdout.lower()), None)
    if other is None:
        pytest.skip("skipped: this OpenBLAS knows one kind of processor")
    env = [f"OPENBLAS_CORETYPE={other}"]
    refused(two_kinds(tmp_path, PROGRAM, env=env), "arithmetic", "rank 1", other, "--mixed")
    assert not (tmp_path / "run").exists()
    result = two_kinds(tmp_path, PROGRAM, "--mixed", "--quiet", env=env)
    assert result.returncode == 0, result.stderr


def test_a_build_without_mpi_says_so_under_mpirun_and_works_without(tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    program = shutil.copy(PROGRAM, folder)
    words = ["train", *SMALL, "--out", "run"]
    result = run(command(3, *words, program=program), tmp_path)
    refused(result, "this build has no MPI", "build-mpi")
    assert not (tmp_path / "run").exists()
    assert run([program, *words], tmp_path).returncode == 0
    alone("train", *SMALL, "--out", "other", cwd=tmp_path)
    same_files(tmp_path / "run", tmp_path / "other", "model.safetensors", "history.csv")


@pytest.mark.parametrize("words", [["demo", "--out", "d"], ["sample", "--out", "data"],
                                   ["inspect", "m.npy"]])
def test_what_ranks_do_not_share_is_refused_once(tmp_path, words):
    refused(run(command(3, *words), tmp_path), f"{words[0]} is for one process", "3 were started")
    assert files(tmp_path) == []


def test_one_rank_may_do_what_ranks_do_not_share_and_all_may_ask_for_help(tmp_path):
    assert run(command(1, "sample", *SMALL, "--out", "data"), tmp_path).returncode == 0
    assert files(tmp_path / "data")
    for words in (["--version"], ["--help"], ["sample", "--help"]):
        assert run(command(2, *words), tmp_path).returncode == 0


# What the launchers of other MPIs, and of none, say to a process.
@pytest.mark.parametrize("told, said", [
    ({"PMI_RANK": "0", "PMI_SIZE": "3"},
     ["started 3 processes", "MPI joined 1", "load that module"]),
    ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "3"}, ["srun started 3", "srun --mpi=pmix"]),
])
def test_a_launcher_whose_processes_do_not_meet_is_refused(told, said, tmp_path):
    words = [str(PROGRAM), "train", *SMALL, "--out", "run"]
    refused(run(words, tmp_path, env={**ENVIRONMENT, **told}), *said)
    assert files(tmp_path) == []


@pytest.mark.parametrize("told", [
    {"SLURM_NTASKS": "3"},  # the script of a job
    {"SLURM_NTASKS": "3", "SLURM_STEP_NUM_TASKS": "1"},  # a step of one
    {"SLURM_NTASKS": "3", "SLURM_STEP_NUM_TASKS": "3", "SLURM_PTY_PORT": "34889"},  # a shell
])
def test_one_process_of_a_job_of_slurm_works_alone(told, tmp_path):
    env = {**ENVIRONMENT, "SLURM_JOB_ID": "7", "SLURM_PROCID": "0", **told}
    for words in (["train", *SMALL, "--out", "run"], ["sample", *SMALL, "--out", "data"]):
        result = run([str(PROGRAM), *words], tmp_path, env=env)
        assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("words, said", [
    (["train", "--wrong"], "--wrong"),
    (["train", "--set", "model.layers=0", "--out", "run"], "model.layers"),
    (["study", "missing.toml", "--out", "run"], "missing.toml"),
])
def test_bad_use_is_said_once(tmp_path, words, said):
    refused(run(command(4, *words), tmp_path), said)


def test_a_folder_in_use_is_refused_once(tmp_path):
    alone("train", *SMALL, "--out", "run", cwd=tmp_path)
    refused(run(command(4, "train", *SMALL, "--out", "run"), tmp_path), "already holds a run")


def test_nothing_but_the_module_is_linked_with_mpi():
    for file, linked in ((MODULE, True), (PROGRAM, False), (PROGRAM.parent / "libpibinn.so", False)):
        if file.exists():
            text = subprocess.run(["ldd", str(file)], capture_output=True, text=True).stdout
            assert ("libmpi" in text) == linked, file
    assert os.access(MODULE, os.R_OK)
