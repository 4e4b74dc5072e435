"""Arrays in other formats, in a basis, and larger than memory."""

import json
import resource
import struct
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

from conftest import PROGRAM, SHORT, load, own_memory_alone, refuse, run, sets, succeed, tree

MODEL = "model.safetensors"


def mat5(compressed=False, **variables):
    """A MATLAB file of version 5 with matrices of doubles."""
    content = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<HH", 0x0100, 0x4D49)

    def element(kind, data):
        return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)

    for name, values in variables.items():
        values = np.atleast_2d(np.asarray(values, "<f8"))
        matrix = element(14, element(6, struct.pack("<II", 6, 0))
                         + element(5, struct.pack("<ii", *values.shape))
                         + element(1, name.encode()) + element(9, values.tobytes("F")))
        if compressed:
            packed = zlib.compress(matrix)
            matrix = struct.pack("<II", 15, len(packed)) + packed
        content += matrix
    return content


@pytest.mark.parametrize("compressed", [False, True])
def test_mat_and_csv_give_what_npy_gives(compressed, work):
    y = load(work / "y.npy")
    (work / "y.mat").write_bytes(mat5(compressed, other=[1, 2], y=y))
    np.savetxt(work / "y.csv", y, delimiter=",", fmt="%.9g", header="measured")
    succeed("recover", MODEL, "--in", "y.npy", "--out", "a.npy", cwd=work)
    for place in ("y.mat:y", "y.csv"):
        succeed("recover", MODEL, "--in", place, "--out", "b.npy", cwd=work)
        np.testing.assert_array_equal(load(work / "b.npy"), load(work / "a.npy"))
    assert "'other', 'y'" in refuse("recover", MODEL, "--in", "y.mat", "--out", "b.npy", cwd=work)
    (work / "A.mat").write_bytes(mat5(A=load(work / "A.npy")))
    for operator in ("A.mat", "A.npy"):
        succeed("solve", "--solver", "omp", "--operator", operator, "--in", "y.mat:y", "--out",
                f"{operator}.npy", cwd=work)
    np.testing.assert_array_equal(load(work / "A.mat.npy"), load(work / "A.npy.npy"))
    text = succeed("eval", MODEL, "--signals", "x.npy", "--measurements", "y.csv", cwd=work)
    assert "5" in text


def test_a_mat_that_lies_or_is_cut_is_refused(work):
    good = mat5(y=load(work / "y.npy"))
    for what, content in {"empty": b"", "text": b"y = 1", "header only": good[:128],
                          "cut": good[:200], "no numbers": good[:-100],
                          "wide": mat5(y=np.ones((2, 9)))}.items():
        (work / "bad.mat").write_bytes(content)
        line = refuse("recover", MODEL, "--in", "bad.mat", "--out", "o.npy", cwd=work)
        assert "bad.mat" in line, what
    packed = mat5(compressed=True, y=np.random.default_rng(0).random((20, 6)))
    for at in range(140, len(packed), 7):
        (work / "bad.mat").write_bytes(packed[:at] + bytes([packed[at] ^ 0x55]) + packed[at + 1:])
        assert "bad.mat" in refuse("recover", MODEL, "--in", "bad.mat", "--out", "o.npy", cwd=work)
    # The claim of 2^30 rows in a file of a few hundred bytes.
    lying = bytearray(good)
    at = bytes(good).find(struct.pack("<ii", 5, 6))
    lying[at:at + 4] = struct.pack("<i", 2 ** 30)
    (work / "bad.mat").write_bytes(lying)
    assert "bad.mat" in refuse("recover", MODEL, "--in", "bad.mat", "--out", "o.npy", cwd=work)


@pytest.mark.parametrize("text, word", [("1,2\n3", "line 2"), ("a,b\n1,x", "'x'"), ("", "0 rows"),
                                        ("1,2,3,4,5,nan", "nan"), ("1,2,3,4,5", "expected 6")])
def test_a_csv_that_does_not_fit_is_refused(text, word, work):
    (work / "bad.csv").write_text(text)
    assert word in refuse("recover", MODEL, "--in", "bad.csv", "--out", "o.npy", cwd=work)


# -- written ---------------------------------------------------------------------------------------

def mat5_single(content):
    """Name and numbers of a MATLAB file of one matrix of singles, by the letter of the format."""
    assert content[124:128] == b"\x00\x01IM"

    def element(at):
        kind, length = struct.unpack("<II", content[at:at + 8])
        if kind >> 16:  # up to 4 bytes stand beside a small tag
            return kind & 0xFFFF, content[at + 4:at + 4 + (kind >> 16)], at + 8
        return kind, content[at + 8:at + 8 + length], at + 8 + -(-length // 8) * 8

    kind, matrix, end = element(128)
    assert kind == 14 and end == len(content) and len(matrix) % 8 == 0
    (flags_kind, flags, at), kinds = element(136), []
    assert (flags_kind, flags) == (6, struct.pack("<II", 7, 0))
    for _ in range(3):
        kind, data, at = element(at)
        kinds.append((kind, data))
    (dims_kind, dims), (name_kind, name), (data_kind, data) = kinds
    assert (dims_kind, name_kind, data_kind) == (5, 1, 7) and at == len(content)
    return name.decode(), np.frombuffer(data, "<f4").reshape(struct.unpack("<ii", dims), order="F")


@pytest.mark.parametrize("verb", ["recover", "solve"])
def test_outputs_of_every_format_hold_the_same_numbers(verb, work):
    def write(place):
        arguments = {"recover": [MODEL], "solve": ["--solver", "fista", "--operator", "A.npy"]}
        text = succeed(verb, *arguments[verb], "--in", "y.npy", "--out", place, cwd=work)
        assert place in text

    for place in ("x_hat.npy", "x_hat.npz", "o.npz:signals", "x_hat.mat", "o.mat:signals",
                  "x_hat.csv"):
        write(place)
    expected = load(work / "x_hat.npy")
    np.testing.assert_array_equal(load(work / "x_hat.npz")["x_hat"], expected)
    np.testing.assert_array_equal(load(work / "o.npz")["signals"], expected)
    for file, name in (("x_hat.mat", "x_hat"), ("o.mat", "signals")):
        found, values = mat5_single((work / file).read_bytes())
        assert found == name
        np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(
        np.loadtxt(work / "x_hat.csv", delimiter=",").astype("f4"), expected)
    succeed("eval", MODEL, "--signals", "x_hat.mat", "--measurements", "y.npy", cwd=work)


@pytest.mark.parametrize("out, word", [
    ("x.txt", "does not end in .npy, .npz, .mat, .csv"), ("x.mat:3", "variable named '3'"),
    ("none/x.mat", "none/x.mat"), ("x.csv:name", "does not end in"),
])
def test_an_output_that_no_format_writes_is_refused(out, word, work):
    assert word in refuse("recover", MODEL, "--in", "y.npy", "--out", out, cwd=work)
    assert word in refuse("solve", "--solver", "omp", "--operator", "A.npy", "--in", "y.npy",
                          "--out", out, cwd=work)


def test_a_stream_can_become_a_file_of_any_format(work):
    raw = load(work / "y.npy").astype("<f4").tobytes()
    succeed("recover", MODEL, "--in", "y.npy", "--out", "x.npy", cwd=work)
    for place in ("s.npy", "s.npz", "s.mat", "s.csv"):
        result = subprocess.run([str(PROGRAM), "recover", MODEL, "--in", "-", "--out", place],
                                cwd=work, input=raw, capture_output=True, timeout=60)
        assert result.returncode == 0, result.stderr
        succeed("eval", MODEL, "--signals", place, "--measurements", "y.npy", cwd=work)
    np.testing.assert_allclose(np.loadtxt(work / "s.csv", delimiter=","), load(work / "x.npy"),
                               rtol=1e-5, atol=1e-6)


def test_sample_writes_the_format_asked_for(tmp_path):
    small = sets("problem.m=4", "problem.n=6", "problem.train=3", "problem.test=2")
    for name in ("npy", "npz", "mat", "csv"):
        assert f"A.{name}" in succeed("sample", *small, "--format", name, "--out", name,
                                      cwd=tmp_path)
        assert len(tree(tmp_path / name)) == 5
    a = load(tmp_path / "npy" / "A.npy")
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "csv" / "A.csv", delimiter=",", dtype="f4"),
                                  a)
    np.testing.assert_array_equal(mat5_single((tmp_path / "mat" / "A.mat").read_bytes())[1], a)
    np.testing.assert_array_equal(load(tmp_path / "npz" / "A.npz")["A"], a)
    line = refuse("sample", "--format", "cvs", "--out", "o", cwd=tmp_path)
    assert "unknown format 'cvs'; did you mean 'csv'?" in line


# -- sparse ----------------------------------------------------------------------------------------

def save_csr(path, a, **changes):
    """What scipy.sparse.save_npz writes of a csr matrix."""
    rows, cols = np.nonzero(a)
    members = {"format": np.array(b"csr"), "shape": np.array(a.shape), "data": a[rows, cols],
               "indices": cols.astype("i4"),
               "indptr": np.concatenate([[0], np.cumsum((a != 0).sum(1))]).astype("i4")}
    np.savez_compressed(path, **{**members, **changes})


def test_a_sparse_operator_of_scipy_gives_what_the_full_one_gives(tmp_path):
    rng = np.random.default_rng(1)
    a = rng.standard_normal((8, 12)) * (rng.random((8, 12)) < 0.4)
    a[np.arange(8), np.arange(8)] = a[0, 8:] = 1
    np.save(tmp_path / "A.npy", a)
    save_csr(tmp_path / "S.npz", a)
    np.save(tmp_path / "y.npy", rng.standard_normal((5, 12)) @ a.T)
    for structure in ("dense", "mask"):
        for operator in ("A.npy", "S.npz"):
            succeed("solve", "--solver", "fista", "--structure", structure, "--operator", operator,
                    "--in", "y.npy", "--out", f"{structure}-{operator}.npy", cwd=tmp_path)
        np.testing.assert_array_equal(load(tmp_path / f"{structure}-S.npz.npy"),
                                      load(tmp_path / f"{structure}-A.npy.npy"))
    for operator in ("A.npy", "S.npz"):
        succeed("init", *sets(f"problem.operator={operator}", "problem.structure=mask",
                              "model.layers=2"), "--out", f"{operator}.safetensors", cwd=tmp_path)
    assert (tmp_path / "A.npy.safetensors").read_bytes() == \
        (tmp_path / "S.npz.safetensors").read_bytes()
    for changes, word in (({"indices": np.full(5, 99)}, "indices has 5 numbers"),
                          ({"shape": np.array([8, 4])}, "the matrix is 8 x 4"),
                          ({"format": np.array(b"bsr")}, "format 'bsr'"),
                          ({"format": np.array(3)}, "S.npz:format")):
        save_csr(tmp_path / "S.npz", a, **changes)
        for structure in ("dense", "mask"):
            assert word in refuse("solve", "--solver", "omp", "--operator", "S.npz", "--structure",
                                  structure, "--in", "y.npy", "--out", "o.npy", cwd=tmp_path)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "dia"])
def test_a_file_that_scipy_wrote_is_read(layout, tmp_path):
    """scipy 1.17 wrote them: scipy.sparse.save_npz(f, scipy.sparse.csr_matrix(a).asformat(f))."""
    a = np.array([[0, 5, 0, 0], [0, 0, -4, 0], [1, 0, 2, 0.25]])
    np.save(tmp_path / "A.npy", a)
    np.save(tmp_path / "y.npy", np.array([[1, 2, 3], [-1, 0.5, 4]]))
    file = Path(__file__).parent / "scipy" / f"{layout}.npz"
    for structure in ("dense", "mask"):
        for out, operator in (("a.npy", "A.npy"), ("b.npy", file)):
            succeed("solve", "--solver", "omp", "--structure", structure, "--operator", operator,
                    "--in", "y.npy", "--out", out, cwd=tmp_path)
        np.testing.assert_array_equal(load(tmp_path / "b.npy"), load(tmp_path / "a.npy"))


# -- in a basis -----------------------------------------------------------------------------------

def dct(n):
    k, i = np.mgrid[0:n, 0:n]
    table = np.sqrt(2 / n) * np.cos(np.pi * (2 * i + 1) * k / (2 * n))
    table[0] /= np.sqrt(2)
    return table


@pytest.fixture
def arrays(tmp_path):
    rng = np.random.default_rng(4)
    c = rng.standard_normal((250, 16)) * (rng.random((250, 16)) < 0.2)
    c[:, 3] += 0.1  # no signal is zero
    np.save(tmp_path / "A.npy", rng.standard_normal((10, 16)))
    np.save(tmp_path / "x.npy", c @ dct(16))
    np.save(tmp_path / "psi.npy", np.linalg.qr(rng.standard_normal((16, 16)))[0])
    return tmp_path


ARRAYS = sets("problem.kind=arrays", "problem.operator=A.npy", "problem.x=x.npy", "model.layers=3",
              "train.batch=50")


@pytest.mark.parametrize("basis", ["identity", "dct", "dct2", "psi.npy"])
def test_a_basis_turns_operator_and_signals_and_recover_turns_back(basis, arrays):
    a, x = load(arrays / "A.npy"), load(arrays / "x.npy")
    d = {"identity": np.eye(16), "dct": dct(16), "dct2": np.kron(dct(4), dct(4)),
         "psi.npy": load(arrays / "psi.npy").T}[basis]
    succeed("sample", *ARRAYS, *sets(f"problem.basis={basis}"), "--out", "set", cwd=arrays)
    np.testing.assert_allclose(load(arrays / "set" / "A.npy"), a @ d.T, atol=1e-5)
    np.testing.assert_allclose(load(arrays / "set" / "x_train.npy"), x[:200], atol=1e-5)
    if basis != "identity":
        np.testing.assert_allclose(load(arrays / "set" / "c_train.npy"), x[:200] @ d.T, atol=1e-5)
    np.testing.assert_allclose(load(arrays / "set" / "y_test.npy"), x[200:] @ a.T, atol=1e-4)
    succeed("train", *ARRAYS, *SHORT, *sets(f"problem.basis={basis}"), "--out", "run", cwd=arrays)
    np.save(arrays / "y.npy", x[200:] @ a.T)
    succeed("recover", "run/model.safetensors", "--in", "y.npy", "--out", "s.npy", cwd=arrays)
    succeed("recover", "run/model.safetensors", "--in", "y.npy", "--out", "s.npz", "--layers",
            "all", cwd=arrays)
    s = load(arrays / "s.npy")
    np.testing.assert_array_equal(load(arrays / "s.npz")["x3"], s)
    summary = json.loads((arrays / "run" / "summary.json").read_text())
    nmse = 10 * np.log10(np.mean(((s - x[200:]) ** 2).sum(1) / (x[200:] ** 2).sum(1)))
    assert abs(nmse - summary["test_nmse_db"]) < 1e-3


@pytest.mark.parametrize("options, words", [
    (["problem.basis=x.npy"], ["x.npy", "250 x 16"]),
    (["problem.basis=A.npy"], ["10 x 16"]),
    (["problem.basis=small.npy"], ["4 entries"]),
    (["problem.basis=dct", "problem.structure=mask"], ["mixes"]),
    (["problem.normalize=zscore"], ["kind arrays has no such key"]),
])
def test_a_basis_that_does_not_fit_is_refused(options, words, arrays):
    np.save(arrays / "small.npy", np.eye(4))
    line = refuse("train", *ARRAYS, *SHORT, *sets(*options), "--out", "run", cwd=arrays)
    for word in words:
        assert word in line


def damaged_domain(path, domain):
    """The model file with other metadata `pibinn.domain`."""
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    header["__metadata__"]["pibinn.domain"] = json.dumps(domain)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + content[8 + length:]


GOOD = {"basis": "dct", "patch": 0, "normalize": "none", "mean": 0.0, "deviation": 1.0,
        "noise_std": 0.0}


@pytest.mark.parametrize("change", [
    {"basis": "wavelet"}, {"basis": 3}, {"basis": "matrix"}, {"basis": "dct2"}, {"basis": "fourier"},
    {"patch": 4}, {"patch": -1}, {"patch": 2 ** 40}, {"patch": "8"}, {"normalize": None},
    {"mean": "x"}, {"mean": None}, {"deviation": 0}, {"deviation": -1}, {"noise_std": -1},
])
def test_a_model_with_a_hostile_domain_is_refused(change, work):
    (work / "good.safetensors").write_bytes(damaged_domain(work / MODEL, GOOD))
    succeed("recover", "good.safetensors", "--in", "y.npy", "--out", "o.npy", cwd=work)
    (work / "bad.safetensors").write_bytes(damaged_domain(work / MODEL, {**GOOD, **change}))
    refuse("recover", "bad.safetensors", "--in", "y.npy", "--out", "o.npy", cwd=work)
    for text in (3, [1], "dct"):
        (work / "bad.safetensors").write_bytes(damaged_domain(work / MODEL, text))
        refuse("inspect", "bad.safetensors", cwd=work)


# -- larger than memory ---------------------------------------------------------------------------

@own_memory_alone
def test_measurements_larger_than_memory_are_recovered(work):
    """A sparse file of zeros, of more bytes than the program may have."""
    rows, limit = 10_000_000, 400 << 20
    header = np.lib.format.header_data_from_array_1_0(np.zeros((1, 6)))
    with open(work / "big.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (rows, 6)})
        file.truncate(file.tell() + rows * 6 * 8)
    assert (work / "big.npy").stat().st_size > limit

    def little_memory():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    # /dev/null as output: reading, recovering and writing go the same way, without the disk.
    result = run("recover", MODEL, "--in", "big.npy", "--out", "/dev/null", "--threads", "1",
                 "--json", "-", cwd=work, preexec_fn=little_memory, timeout=600)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["signals"] == rows


@own_memory_alone
def test_signals_larger_than_memory_are_judged(work):
    rows, limit = 6_000_000, 400 << 20
    for name in ("x", "y"):
        few = load(work / f"{name}.npy").astype("f8")
        with open(work / f"{name}_big.npy", "wb") as file:
            header = np.lib.format.header_data_from_array_1_0(few)
            np.lib.format.write_array_header_1_0(file, {**header, "shape": (rows, few.shape[1])})
            end = file.tell() + rows * few[0].nbytes
            file.write(few.tobytes())
            file.truncate(end)
    assert (work / "x_big.npy").stat().st_size > limit

    def little_memory():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    def scores(suffix, **options):
        result = run("eval", MODEL, "--signals", f"x{suffix}.npy", "--measurements",
                     f"y{suffix}.npy", "--threads", "1", "--json", "-", cwd=work, **options)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    large, small = scores("_big", preexec_fn=little_memory), scores("")
    assert large["signals"] == rows and large["skipped_zero_signals"] == rows - small["signals"]
    assert large["nmse_db"] == small["nmse_db"] and large["support_f1"] == small["support_f1"]
    assert large["batch"] < rows


def test_chunks_join_without_a_seam_and_a_bad_row_leaves_nothing(work):
    y = np.tile(load(work / "y.npy"), (60_000, 1)).astype("f4")  # more than one chunk
    np.save(work / "many.npy", y)
    succeed("recover", MODEL, "--in", "many.npy", "--out", "x_many.npy", cwd=work)
    succeed("recover", MODEL, "--in", "y.npy", "--out", "x_few.npy", cwd=work)
    few = load(work / "x_few.npy")
    many = load(work / "x_many.npy").reshape(-1, *few.shape)
    np.testing.assert_allclose(many, np.broadcast_to(few, many.shape), rtol=1e-4, atol=1e-5)
    y[-1, 2] = np.nan
    np.save(work / "many.npy", y)
    (work / "x_many.npy").unlink()
    before = tree(work)
    line = refuse("recover", MODEL, "--in", "many.npy", "--out", "x_many.npy", cwd=work)
    assert "row 299999, column 2" in line and tree(work) == before
