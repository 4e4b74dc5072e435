"""Ranks recover their parts of one file into one file, with the bytes of one process."""

import json
import shutil
import time

import numpy as np
import pytest

from launch import (ENVIRONMENT, MPIRUN, OPTIONS, PROGRAM, alone, apart, command, files, needs_mpi,
                    refused, run, sets, together)

pytestmark = needs_mpi

PROBLEM = sets("problem.m=20", "problem.n=40", "model.layers=4")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model, measurements, and what one process recovers from them."""
    folder = tmp_path_factory.mktemp("recovery")
    alone("init", *PROBLEM, "--out", "m.safetensors", cwd=folder)
    rows = np.random.default_rng(1).normal(size=(5003, 20))
    np.save(folder / "y.npy", rows.astype("f4"))
    np.save(folder / "columns.npy", np.asfortranarray(rows))
    np.save(folder / "two.npy", rows[:2])
    for name in ("y", "columns", "two"):
        alone("recover", "m.safetensors", "--in", f"{name}.npy", "--out", f"x-{name}.npy", cwd=folder)
    return folder


@pytest.mark.parametrize("name, ranks", [("y", 2), ("y", 3), ("y", 7), ("columns", 3), ("two", 3)])
def test_any_number_of_ranks_recovers_the_same_bytes(place, tmp_path, name, ranks):
    said = together(ranks, "recover", place / "m.safetensors", "--in", place / f"{name}.npy", "--out",
                    "x.npy", "--json", "r.json", cwd=tmp_path)
    assert (tmp_path / "x.npy").read_bytes() == (place / f"x-{name}.npy").read_bytes()
    assert files(tmp_path) == ["r.json", "x.npy"]
    assert json.loads((tmp_path / "r.json").read_text())["ranks"] == ranks
    assert f"{ranks} ranks" in said


def test_complex_signals(tmp_path):
    words = [*sets("problem.kind=fourier", "problem.m=16", "problem.n=32", "problem.train=50",
                   "problem.test=101", "model.layers=3")]
    alone("sample", *words, "--out", "data", cwd=tmp_path)
    alone("init", *words, "--out", "m.safetensors", cwd=tmp_path)
    recover = ["recover", "m.safetensors", "--in", "data/y_test.npy", "--out"]
    alone(*recover, "one.npy", cwd=tmp_path)
    together(3, *recover, "many.npy", cwd=tmp_path)
    assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "many.npy").read_bytes()


def test_a_check_counts_the_signals_of_all_ranks(tmp_path):
    alone("sample", *PROBLEM, *sets("problem.test=900"), "--out", "data", cwd=tmp_path)
    alone("init", *PROBLEM, "--out", "m.safetensors", cwd=tmp_path)
    alone("certify", "m.safetensors", "--calibrate", "data/x_test.npy", "--attach", cwd=tmp_path)
    rows = np.load(tmp_path / "data" / "y_test.npy")
    rows[::7] *= 50
    np.save(tmp_path / "y.npy", rows)
    recover = ["recover", "m.safetensors", "--in", "y.npy", "--out", "x.npy", "--check", "--quiet",
               "--json"]
    alone(*recover, "one.json", cwd=tmp_path)
    together(3, *recover, "many.json", cwd=tmp_path)
    one, many = (json.loads((tmp_path / n).read_text())["check"] for n in ("one.json", "many.json"))
    assert one == many and one["outside"] > 0


def test_a_file_may_be_larger_than_the_memory_of_a_rank(place, tmp_path):
    megabytes = 400
    rows = megabytes * 1000000 // (20 * 4)
    with open(tmp_path / "y.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f4", "fortran_order": False, "shape": (rows, 20)})
        file.truncate(file.tell() + rows * 80)  # zeros that take no disk
    # Of private memory, in kilobytes: what it starts with, and a chunk or two.
    limited = f'ulimit -d 250000; exec "$0" "$@"'
    words = [MPIRUN, *OPTIONS, "-n", "2", "bash", "-c", limited, str(PROGRAM), "recover",
             str(place / "m.safetensors"), "--in", "y.npy", "--out", "x.npy", "--threads", "1"]
    result = run(words, tmp_path, env=ENVIRONMENT)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "x.npy").stat().st_size > rows * 160


@pytest.mark.parametrize("shared, said", [
    ("nothing", "cannot open 'y.npy'"), ("measurements", "cannot open 'x.npy.tmp-")])
@pytest.mark.parametrize("blind", [0, 1])
def test_a_rank_that_does_not_see_a_file_ends_the_job(place, tmp_path, shared, said, blind):
    # Relative paths from another folder are what a host has that does not share this one.
    (tmp_path / "other").mkdir()
    shutil.copy(place / "y.npy", tmp_path)
    places = [tmp_path, tmp_path]
    places[blind] = tmp_path / "other"
    source = "y.npy" if shared == "nothing" else tmp_path / "y.npy"
    words = ["recover", place / "m.safetensors", "--in", source, "--out", "x.npy"]
    named = "cannot open" if blind == 0 and shared == "nothing" else "rank 1 on "
    begin = time.monotonic()
    refused(run(apart(*places, *words), tmp_path), named, said,
            "every host needs the same folder")
    assert time.monotonic() - begin < 15
    assert files(tmp_path) == ["y.npy"]


@pytest.mark.parametrize("limited", [0, 1])
def test_a_full_disk_ends_the_job_and_leaves_nothing(place, tmp_path, limited):
    # A limit on the size of files is what a full disk is, without leave to mount one.
    shutil.copy(place / "y.npy", tmp_path)
    words = [str(PROGRAM), "recover", str(place / "m.safetensors"), "--in", "y.npy", "--out",
             "x.npy"]
    full = ["bash", "-c", 'ulimit -f 8; exec "$0" "$@"', *words]
    both = [words, words]
    both[limited] = full
    result = run([MPIRUN, *OPTIONS, "-n", "1", *both[0], ":", "-n", "1", *both[1]], tmp_path)
    refused(result, "cannot write", "x.npy", *(["rank 1 on "] if limited else []))
    assert files(tmp_path) == ["y.npy"]


@pytest.mark.parametrize("words, said", [
    (["--in", "y.csv", "--out", "x.npy"], "y.csv"),
    (["--in", "y.npy", "--out", "x.mat"], "x.mat"),
    (["--in", "-", "--out", "x.npy"], "'-'"),
    (["--in", "y.npy", "--out", "x.npz", "--layers", "all"], "--layers all"),
    (["--in", "nothing.npy", "--out", "x.npy"], "nothing.npy"),
    (["--in", "nan.npy", "--out", "x.npy"], "row 4000, column 3"),
])
def test_what_ranks_cannot_do_is_refused_in_one_line(place, tmp_path, words, said):
    rows = np.load(place / "y.npy")
    np.save(tmp_path / "y.npy", rows)
    rows[4000, 3] = np.nan
    np.save(tmp_path / "nan.npy", rows)
    before = files(tmp_path)
    refused(run(command(3, "recover", place / "m.safetensors", *words), tmp_path), said)
    assert files(tmp_path) == before
