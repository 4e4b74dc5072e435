"""Recovering: streams of raw rows, and every kernel by its name."""

import json
import os
import re
import subprocess
import threading
import time

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from conftest import PROGRAM, load, refuse, sets, succeed, tree

MODEL = "model.safetensors"


def pipe(data, *options, cwd, code=0):
    """Sends bytes through `recover` and returns what came out and what was said."""
    result = subprocess.run([str(PROGRAM), "recover", MODEL, *map(str, options)], input=data,
                            capture_output=True, cwd=cwd, timeout=120)
    assert result.returncode == code, result.stderr
    return result.stdout, result.stderr.decode()


def rows_of(data, n=10):
    return np.frombuffer(data, "<f4").reshape(-1, n)


@pytest.fixture
def expected(work):
    succeed("recover", MODEL, "--in", "y.npy", "--out", "expected.npy", cwd=work)
    return load(work / "expected.npy")


def kernels():
    return re.search(r"kernels: (.*)", succeed("--version"))[1].split(", ")


def test_version_lists_instruction_sets_and_their_ways():
    names = kernels()
    assert "/" not in names[0] and f"tile/{names[0]}" in names
    assert all(name.split("/")[-1] in names for name in names)


@pytest.mark.parametrize("weights", ["one-bit-channel", "ternary"])
def test_every_kernel_of_an_instruction_set_gives_the_same_bytes(weights, data, tmp_path):
    model = tmp_path / MODEL
    succeed("init", *sets(f"model.weights={weights}", "model.layers=4"), "--out", model)
    found = {}
    for kernel in kernels():
        succeed("recover", model, "--in", data / "y_test.npy", "--out", tmp_path / "found.npy",
                "--kernel", kernel, "--quiet")
        found[kernel] = load(tmp_path / "found.npy")
    first = next(iter(found.values()))
    for name, x in found.items():
        np.testing.assert_array_equal(x, found[name.split("/")[-1]])
        np.testing.assert_allclose(x, first, atol=1e-5 * np.abs(first).max())


def test_a_float_network_runs_on_instruction_sets_alone(work):
    succeed("init", *sets("problem.m=6", "problem.n=10", "model.layers=3", "model.weights=float"),
            "--out", "float.safetensors", cwd=work)
    best = kernels()[0]
    text = succeed("recover", "float.safetensors", "--in", "y.npy", "--out", "found.npy", "--kernel",
                   best, "--json", "-", cwd=work)
    assert json.loads(text)["kernel"] == best
    (work / "found.npy").unlink()
    line = refuse("recover", "float.safetensors", "--in", "y.npy", "--out", "found.npy", "--kernel",
                  f"tile/{best}", cwd=work)
    assert f"no kernel 'tile/{best}'" in line and best in line.split("; ")[-1]


@pytest.mark.parametrize("kernel", ["tile/AVX9", "vectr/SCALAR", "RVV", ""])
def test_a_kernel_that_is_not_here_is_refused(kernel, work):
    line = refuse("recover", MODEL, "--in", "y.npy", "--out", "found.npy", "--kernel", kernel, cwd=work)
    assert f"no kernel '{kernel}'" in line and ("did you mean" in line or "choose one" in line)


def test_a_stream_gives_the_bytes_of_a_file(work, expected):
    y = load(work / "y.npy").astype("<f4")
    out, said = pipe(y.tobytes(), "--in", "-", "--out", "-", cwd=work)
    np.testing.assert_array_equal(rows_of(out), expected)
    assert "5 signals of 10 entries" in said
    assert pipe(y.tobytes(), "--in", "-", "--out", "-", "--quiet", cwd=work) == (out, "")

    # A file on one side.
    out, _ = pipe(b"", "--in", "y.npy", "--out", "-", "--json", "r.json", cwd=work)
    np.testing.assert_array_equal(rows_of(out), expected)
    assert json.loads((work / "r.json").read_text())["signals"] == 5
    out, said = pipe(y.tobytes(), "--in", "-", "--out", "found.npy", cwd=work)
    assert b"5 signals" in out and said == ""
    assert (work / "found.npy").read_bytes() == (work / "expected.npy").read_bytes()


def test_a_long_stream_is_a_file_of_as_many_rows(work, expected):
    y = np.tile(load(work / "y.npy"), (40_000, 1)).astype("<f4")
    pipe(y.tobytes(), "--in", "-", "--out", "found.npy", "--threads", 2, cwd=work)
    x = load(work / "found.npy")
    assert x.shape == (200_000, 10) and x.dtype == np.float32
    np.testing.assert_array_equal(x.reshape(-1, 5, 10), np.broadcast_to(expected, (40_000, 5, 10)))


def test_a_row_is_answered_before_the_next_one_is_sent(work, expected):
    program = subprocess.Popen([str(PROGRAM), "recover", MODEL, "--in", "-", "--out", "-", "--quiet"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=work, bufsize=0)
    for row, answer in zip(load(work / "y.npy").astype("<f4"), expected):
        sent = row.tobytes()
        program.stdin.write(sent[:7])  # in two pieces, cut within a number
        program.stdin.write(sent[7:])
        got = b""
        while len(got) < 40:
            piece = program.stdout.read(40 - len(got))
            assert piece
            got += piece
        np.testing.assert_array_equal(np.frombuffer(got, "<f4"), answer)
    program.stdin.close()
    assert program.wait(timeout=60) == 0


@pytest.mark.parametrize("spoil, answered, words", [
    (lambda y: y.tobytes()[:-3], 4, ["truncated: 21 bytes after row 4", "6 float32 values, 24 bytes"]),
    (lambda y: y[:, :5].tobytes(), None, ["truncated: 4 bytes after row 4", "another width"]),
    (lambda y: b"", 0, ["0 rows", "6 float32 values"]),
    (lambda y: b"abc", 0, ["truncated: 3 bytes after row 0"]),
    (lambda y: np.where(np.arange(30).reshape(5, 6) == 20, np.nan, y).astype("<f4").tobytes(),
     3, ["nan at row 3, column 2"]),
    (lambda y: np.where(np.arange(30).reshape(5, 6) == 1, np.inf, y).astype("<f4").tobytes(),
     0, ["inf at row 0, column 1"]),
])
def test_a_bad_stream_is_refused_after_its_good_rows(spoil, answered, words, work, expected):
    stream = spoil(load(work / "y.npy").astype("<f4"))
    before = tree(work)
    out, said = pipe(stream, "--in", "-", "--out", "found.npy", cwd=work, code=2)
    assert out == b"" and tree(work) == before
    assert said.startswith("pibinn: error: ") and said.count("\n") == 1
    for word in words:
        assert word in said
    out, _ = pipe(stream, "--in", "-", "--out", "-", cwd=work, code=2)
    if answered is not None:  # rows of another width are answered as if they were not
        np.testing.assert_array_equal(rows_of(out), expected[:answered])


def test_an_array_file_is_not_taken_for_raw_rows(work):
    _, said = pipe((work / "y.npy").read_bytes(), "--in", "-", "--out", "found.npy", cwd=work, code=2)
    assert "is a .npy file" in said and not (work / "found.npy").exists()


def test_a_reader_that_ends_early_is_an_error_and_no_crash(work):
    y = np.tile(load(work / "y.npy"), (20_000, 1)).astype("<f4").tobytes()
    (work / "y.raw").write_bytes(y)
    with open(work / "y.raw", "rb") as stream:
        program = subprocess.Popen([str(PROGRAM), "recover", MODEL, "--in", "-", "--out", "-"],
                                   stdin=stream, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   cwd=work)
        program.stdout.read(40)
        program.stdout.close()
        said = program.stderr.read().decode()
        assert program.wait(timeout=60) == 2
    assert said == ("pibinn: error: cannot write to standard output: Broken pipe; "
                    "what reads it ended early\n")


@pytest.mark.parametrize("arguments, words", [
    (["--in", "y.npy", "--out", "-", "--json", "-"], ["--json -", "standard output"]),
    (["--in", "-", "--out", "x.npz", "--layers", "all"], ["--layers all", "streams"]),
    (["--in", "y.npy", "--out", "-", "--layers", "all"], ["--layers all", "streams"]),
    (["--in", "-", "--out", "pipe.npy"], ["'pipe.npy' is a pipe", "--out -"]),
])
def test_what_streams_cannot_do_is_refused(arguments, words, work):
    os.mkfifo(work / "pipe.npy")
    line = refuse("recover", MODEL, *arguments, cwd=work, stdin=subprocess.DEVNULL)
    for word in words:
        assert word in line


def test_raw_numbers_neither_come_from_a_terminal_nor_go_to_one(work):
    leader, terminal = os.openpty()
    try:
        line = refuse("recover", MODEL, "--in", "-", "--out", "found.npy", cwd=work, stdin=terminal)
        assert "from the terminal" in line
        result = subprocess.run([str(PROGRAM), "recover", MODEL, "--in", "y.npy", "--out", "-"],
                                stdout=terminal, stderr=subprocess.PIPE, cwd=work, timeout=60)
        assert result.returncode == 2 and b"to the terminal" in result.stderr
    finally:
        os.close(leader)
        os.close(terminal)


@pytest.mark.parametrize("weights", ["one-bit", "float"])
@pytest.mark.parametrize("activation", ["soft", "hard"])
def test_measurements_that_would_overflow_are_refused_by_their_row(weights, activation, work):
    """Finite measurements near the end of float32 gave NaN, infinite values or zeros at exit 0."""
    succeed("init", *sets("problem.m=6", "problem.n=10", f"model.weights={weights}",
                          "model.layers=3", f"model.activation={activation}"), "--out", MODEL,
            cwd=work)
    y = np.ones((40, 6), np.float32)
    y[33] = 3e38
    np.save(work / "y.npy", y)
    for options in (["--out", "r.npy"], ["--layers", "all", "--out", "r.npz"]):
        line = refuse("recover", MODEL, "--in", "y.npy", *options, cwd=work)
        assert "y has 3e+38 at row 33, column 0 (counted from 0), over 1e+30" in line
        assert "overflow" in line
    # A stream has every row before it, however it arrives.
    out, errors = pipe(y.tobytes(), "--in", "-", "--out", "-", cwd=work, code=2)
    assert len(rows_of(out)) == 33 and np.isfinite(rows_of(out)).all()
    assert "y has 3e+38 at row 33" in errors


def test_results_that_overflow_are_never_written(work):
    succeed("init", *sets("problem.m=6", "problem.n=10", "model.weights=float", "model.layers=3"),
            "--out", "float.safetensors", cwd=work)
    tensors = load_file(work / "float.safetensors")
    with safe_open(work / "float.safetensors", "np") as file:
        metadata = file.metadata()
    tensors["weights"] *= np.float32(1e16)
    save_file(tensors, work / "big.safetensors", metadata)
    line = refuse("recover", "big.safetensors", "--in", "y.npy", "--out", "r.npy", cwd=work)
    assert "row 0 is recovered as" in line and "overflows" in line
    refuse("eval", "big.safetensors", "--signals", "x.npy", cwd=work)


def test_pipes_that_do_not_block_carry_every_byte(work, expected):
    """A slow writer and a slow reader: neither end may be taken for an error or for the end."""
    rows = np.tile(load(work / "y.npy"), (2000, 1)).astype("<f4").tobytes()
    into, out = os.pipe(), os.pipe()
    os.set_blocking(into[0], False)
    os.set_blocking(out[1], False)
    program = subprocess.Popen([str(PROGRAM), "recover", MODEL, "--in", "-", "--out", "-"],
                               cwd=work, stdin=into[0], stdout=out[1], stderr=subprocess.PIPE)
    os.close(into[0])
    os.close(out[1])

    def write():
        time.sleep(0.1)  # the program finds nothing to read at first
        with open(into[1], "wb") as file:
            file.write(rows)

    writer = threading.Thread(target=write)
    writer.start()
    time.sleep(0.3)  # and nobody who reads
    with open(out[0], "rb") as file:
        found = file.read()
    writer.join()
    _, errors = program.communicate(timeout=60)
    assert program.returncode == 0, errors
    np.testing.assert_array_equal(rows_of(found), np.tile(expected, (2000, 1)))


@pytest.mark.parametrize("verb", ["eval", "recover"])
def test_rows_are_counted_over_all_chunks(verb, work):
    y = np.ones((270_000, 6), np.float32)
    y[-1] = 3e38
    np.save(work / "y.npy", y)
    np.save(work / "x.npy", np.ones((270_000, 10), np.float32))
    files = {"eval": ["--signals", "x.npy", "--measurements", "y.npy"],
             "recover": ["--in", "y.npy", "--out", "r.npy"]}[verb]
    assert "at row 269999, column 0" in refuse(verb, MODEL, *files, cwd=work)
