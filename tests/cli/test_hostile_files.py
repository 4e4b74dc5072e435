"""Files made to crash their reader or to take memory: one clear line, and no more memory than they warrant."""

import base64
import json
import resource
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

from conftest import PROGRAM, SHORT, TINY, own_memory_alone, refuse, succeed

MODEL = "model.safetensors"
DEEP = 100_000


def with_header(path, change):
    """The bytes of a safetensors file after a change of its metadata."""
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    change(header["__metadata__"])
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + length:]


def limited(megabytes):
    """Runs the program with so much address space at most."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    return {"preexec_fn": limit}


def peak_kilobytes(*arguments, cwd):
    """The most memory that the program and its children had. A process of its own starts it, since a
    child counts what its parent had when it was born, and a worker of the tests may be large."""
    starter = ("import resource, subprocess, sys\n"
               "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    return int(subprocess.run([sys.executable, "-c", starter, str(PROGRAM), *arguments], cwd=cwd,
                              capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("key", ["pibinn.structure", "pibinn.network", "pibinn.domain"])
def test_deep_json_in_a_model_is_refused(key, work):
    text = '{"kind":"blocks","m":5,"n":9,"blocks":' + "[" * 2 * DEEP + "]" * 2 * DEEP + "}"
    (work / "deep.safetensors").write_bytes(
        with_header(work / MODEL, lambda metadata: metadata.update({key: text})))
    for arguments in (["inspect", "deep.safetensors"],
                      ["recover", "deep.safetensors", "--in", "y.npy", "--out", "o.npy"]):
        line = refuse(*arguments, cwd=work)
        assert "200001 levels deep" in line and key in line


def test_a_deep_certificate_belongs_to_no_weights(work):
    (work / "deep.safetensors").write_bytes(with_header(
        work / MODEL, lambda m: m.update({"pibinn.certificate": '{"verdict":' + "[" * DEEP})))
    assert "certificate" in succeed("inspect", "deep.safetensors", cwd=work)


def test_deep_json_in_a_checkpoint_is_refused(tmp_path):
    text = '{"a":' + "[" * DEEP + "]" * DEEP + "}"
    header = json.dumps({"__metadata__": {"pibinn.training": text}}).encode()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "checkpoint.safetensors").write_bytes(
        struct.pack("<Q", len(header)) + header)
    line = refuse("train", *TINY, *SHORT, "--out", "run", "--resume", cwd=tmp_path)
    assert "levels deep" in line and "pibinn.training" in line


@pytest.mark.parametrize("text", [
    "a" + ".a" * DEEP + " = 1\n", "[a" + ".a" * DEEP + "]\n", "a = " + "[" * DEEP + "]" * DEEP,
    "a = " + "{a=" * DEEP + "1" + "}" * DEEP, "[problem]\n'm'" + ".'m'" * DEEP + " = 1",
    "a = [\"\"\"x\"\"\"\", " + "[" * DEEP + "]" * DEEP + "]",
], ids=["dotted key", "dotted table", "arrays", "inline tables", "quoted keys", "behind a string"])
def test_a_deep_configuration_is_refused(text, tmp_path):
    (tmp_path / "c.toml").write_text(text)
    assert "levels deep" in refuse("train", "c.toml", "--out", "run", cwd=tmp_path)


def test_a_deep_setting_is_refused(tmp_path):
    key = "problem" + ".m" * 5000
    assert "levels deep" in refuse("train", "--set", f"{key}=1", "--out", "run", cwd=tmp_path)
    value = "[" * 5000
    assert "levels deep" in refuse("train", "--set", f"problem.m={value}", "--out", "run",
                                   cwd=tmp_path)


@pytest.mark.parametrize("kind", [5, None, ["mask"], {"mask": 1}, True])
def test_a_structure_of_another_type_is_an_input_error(kind, work):
    structure = json.dumps({"kind": kind, "m": 6, "n": 10})
    (work / "bad.safetensors").write_bytes(
        with_header(work / MODEL, lambda m: m.update({"pibinn.structure": structure})))
    line = refuse("inspect", "bad.safetensors", cwd=work)
    assert "'kind' is missing or not a word" in line and "report" not in line


STRUCTURES = {
    "many rows": ({"architecture": "fcn", "update": "plain", "threshold": "fixed",
                   "momentum": False, "onsager": False},
                  {"kind": "dense", "m": 2 ** 31, "n": 1}, "do not fit a file"),
    "many repetitions": ({}, {"kind": "repeated", "m": 2 ** 31, "n": 2 ** 31, "repeat": 2 ** 31},
                         "2147483648 repetitions"),
}


@own_memory_alone
@pytest.mark.parametrize("what", STRUCTURES)
def test_a_small_model_takes_little_memory(what, work):
    network, structure, word = STRUCTURES[what]

    def change(metadata):
        metadata["pibinn.network"] = json.dumps(
            {**json.loads(metadata["pibinn.network"]), **network})
        metadata["pibinn.structure"] = json.dumps(structure)

    (work / "big.safetensors").write_bytes(with_header(work / MODEL, change))
    for arguments in (["inspect", "big.safetensors"],
                      ["recover", "big.safetensors", "--in", "-", "--out", "o.npy"]):
        assert word in refuse(*arguments, cwd=work, input="", **limited(2048))


def test_a_small_compressed_archive_takes_little_memory(work):
    np.savez_compressed(work / "y.npz", y=np.zeros((10_000_000, 6), "u1"))
    assert (work / "y.npz").stat().st_size < 80_000
    line = refuse("recover", MODEL, "--in", "y.npz", "--out", "o.npy", cwd=work)
    assert "10000000 x 6 numbers would take 300.0 MB of memory" in line and "numpy.savez" in line


def test_an_honest_compressed_archive_is_read(work):
    y = np.zeros((400_000, 6), "f4")
    y[::50, 2] = np.random.default_rng(1).random(8_000)
    np.savez_compressed(work / "y.npz", y=y)
    assert (work / "y.npz").stat().st_size < y.nbytes / 50
    succeed("recover", MODEL, "--in", "y.npz", "--out", "o.npy", "--quiet", cwd=work)


def test_a_sparse_archive_of_empty_columns_takes_little_memory(work):
    for shape in ((6, 2 ** 24), (2 ** 14, 2 ** 14)):
        np.savez(work / "A.npz", format=np.array(b"coo"), shape=np.array(shape),
                 data=np.ones(1), row=np.zeros(1, "i4"), col=np.zeros(1, "i4"))
        line = refuse("solve", "--solver", "omp", "--operator", "A.npz", "--in", "y.npy", "--out",
                      "o.npy", cwd=work)
        assert "MB of memory" in line


# A matrix of 2 x 3 in version 7.3 with five bytes changed, at which libhdf5 1.10 ends in a
# segmentation fault.
CRASH = zlib.decompress(base64.b64decode(
    "eNrzdQzxcXRSMNczVvB1DNFNy8xJVaAXYGDy9GUYBQMKOj1c3Hi5pLjAHA4OBhYGASCjgoGBCSL/HwoCeFH5MP0J"
    "UJoRSndA6RVMMHFGsJwEVFwQbD6mupAgV1eQ6v9oAGaPAQuE5hiNshEJPFwdA0B0BJQvAKVPMKGqc0RLjx4U2svI"
    "wA4xixHG14DQTBABZqg6mDMw+RJgrYIK9tC068Bgws1g8h+qkBUoCpJnYoIYyAHNKcw43CMENQWk+J3U7yweBgMo"
    "nxcow8HgCy7P45NzEouLQeLCQMyGFB4p+aVJOangHEVWeAT7+buAcjQsHyowj6bNUTAKRsEoGAXDFXywhzIcoK1Q"
    "KC0ApUWgtIQDAERNTU0="))


def test_a_mat_that_crashes_its_reader_is_an_input_error(work):
    (work / "y.mat").write_bytes(CRASH)
    for place in ("y.mat", "y.mat:A"):
        line = refuse("recover", MODEL, "--in", place, "--out", "o.npy", cwd=work)
        assert "'y.mat'" in line and "report" not in line
    line = refuse("inspect", "y.mat", "--structure", cwd=work)
    assert "'y.mat'" in line


@own_memory_alone
def test_a_sparse_mat_that_claims_gigabytes_takes_little_memory(work):
    def element(kind, data):
        return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)

    most = 2 ** 30
    matrix = element(14, element(6, struct.pack("<II", 5, most))
                     + element(5, struct.pack("<ii", 2 ** 16, 2 ** 16)) + element(1, b"S")
                     + struct.pack("<II", 5, 4 * most - 8) + bytes(64))
    packed = zlib.compress(matrix)
    (work / "A.mat").write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<HH", 256, 0x4D49)
                                 + struct.pack("<II", 15, len(packed)) + packed)
    refuse("inspect", "A.mat", "--structure", cwd=work)
    assert peak_kilobytes("inspect", "A.mat", "--structure", cwd=work) < 200_000
