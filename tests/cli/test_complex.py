"""Complex arrays in every format, in and out of every verb, against numpy in float64."""

import json
import struct
import subprocess

import numpy as np
import pytest
import scipy.io

from complex_cases import MODEL, M, N, PLAIN, ROWS, reference, signals, work  # noqa: F401
from conftest import PROGRAM, load, refuse, run, sets, succeed


def as_csv(path, array):
    np.savetxt(path, array.view(float) if np.iscomplexobj(array) else array, delimiter=",", fmt="%.17g")


def read_any(path):
    """A recovered array as complex numbers."""
    if path.suffix == ".csv":
        return np.loadtxt(path, delimiter=",", ndmin=2).view(complex)
    if path.suffix == ".mat":
        return scipy.io.loadmat(path)["out"]
    content = load(path)
    return content["out"] if path.suffix == ".npz" else content


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".mat", ".csv"])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_every_format_is_read_and_written(suffix, dtype, work):
    y = load(work / "y.npy").astype(dtype)
    name = work / f"in{suffix}"
    if suffix == ".npy":
        np.save(name, np.asfortranarray(y))
    elif suffix == ".npz":
        np.savez_compressed(name, other=[1.0], y=y)
    elif suffix == ".mat":
        scipy.io.savemat(name, {"other": [1.0], "y": y}, do_compression=True)
    else:
        as_csv(name, y.astype(complex))
    place = f"in{suffix}:y" if suffix in (".npz", ".mat") else f"in{suffix}"
    flag = ["--complex"] if suffix == ".csv" else []
    said = succeed("recover", MODEL, "--in", place, "--out", f"out{suffix}", *flag, cwd=work)
    assert f"{ROWS} signals of {N} complex entries" in said
    found = read_any(work / f"out{suffix}")
    if suffix != ".csv":
        assert found.dtype == np.complex64
    expected = reference(work, load(work / "y.npy"))
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_streams_are_interleaved(work):
    y = load(work / "y.npy").astype("<c8")
    command = [str(PROGRAM), "recover", MODEL, "--in", "-", "--out", "-", "--complex"]
    result = subprocess.run(command, input=y.tobytes(), capture_output=True, cwd=work, timeout=60)
    assert result.returncode == 0, result.stderr
    found = np.frombuffer(result.stdout, "<c8").reshape(-1, N)
    np.testing.assert_allclose(found, reference(work, load(work / "y.npy")), atol=2e-6)
    # A stream may end in a file, and a file in a stream.
    result = subprocess.run(command[:-2] + ["x.mat", "--complex"], input=y.tobytes(),
                            capture_output=True, cwd=work, timeout=60)
    assert result.returncode == 0, result.stderr
    np.testing.assert_array_equal(scipy.io.loadmat(work / "x.mat")["x"], found)
    result = subprocess.run([*command[:3], "--in", "y.npy", "--out", "-"], capture_output=True,
                            cwd=work, timeout=60)
    assert result.stdout == found.tobytes()


@pytest.mark.parametrize("cut, words", [
    (4, ["truncated: 4 bytes after row 3", "6 complex values of two float32, 48 bytes each"]),
    (44, ["truncated: 44 bytes after row 3"])])
def test_an_odd_stream_is_refused(cut, words, work):
    y = load(work / "y.npy").astype("<c8").tobytes()[:3 * 48 + cut]
    result = subprocess.run([str(PROGRAM), "recover", MODEL, "--in", "-", "--out", "o.npy",
                             "--complex"], input=y, capture_output=True, cwd=work, timeout=60)
    line = result.stderr.decode()
    assert result.returncode == 2 and line.count("\n") == 1, line
    assert all(word in line for word in words), line
    assert not (work / "o.npy").exists()


def test_a_stream_with_a_nan_names_its_part(work):
    y = load(work / "y.npy").astype("<c8")
    y[2, 4] = complex(1, np.nan)
    result = subprocess.run([str(PROGRAM), "recover", MODEL, "--in", "-", "--out", "o.npy",
                             "--complex"], input=y.tobytes(), capture_output=True, cwd=work, timeout=60)
    assert b"nan at row 2, column 4, imaginary part" in result.stderr


@pytest.mark.parametrize("weights", ["one-bit", "tied", "float"])
@pytest.mark.parametrize("groups", ["complex", "none"])
def test_measurements_that_would_overflow_are_refused_by_their_own_column(weights, groups, work):
    settings = [s for s in PLAIN if "weights" not in s and "groups" not in s]
    succeed("init", *sets(*settings, f"model.weights={weights}", f"model.groups={groups}"), "--out",
            "w.safetensors", cwd=work)
    for value, place in ((1e38, "row 2, column 4 (counted"), (1e38j, "row 2, column 4, imaginary part")):
        y = load(work / "y.npy").astype("<c8")
        y[2, 4] = value
        np.save(work / "large.npy", y)
        for options in (["--out", "o.npy"], ["--layers", "all", "--out", "o.npz"]):
            line = refuse("recover", "w.safetensors", "--in", "large.npy", *options, cwd=work)
            assert "y has 1e+38 at " + place in line and "over 1e+30" in line
        result = subprocess.run([str(PROGRAM), "recover", "w.safetensors", "--in", "-", "--out", "-",
                                 "--complex"], input=y.tobytes(), capture_output=True, cwd=work, timeout=60)
        assert result.returncode == 2 and place in result.stderr.decode()
        assert np.isfinite(np.frombuffer(result.stdout, "<f4")).all() and len(result.stdout) == 2 * 8 * N
    assert not list(work.glob("o.np*"))


def test_numbers_of_the_other_kind_are_refused(work):
    np.save(work / "real.npy", load(work / "y.npy").real)
    np.save(work / "wide.npy", np.ones((3, M + 1), complex))
    np.save(work / "wide_real.npy", np.ones((3, 2 * M)))
    as_csv(work / "y.csv", load(work / "y.npy"))
    as_csv(work / "odd.csv", np.ones((3, 7)))
    recover = ["recover", MODEL, "--out", "o.npy", "--in"]
    line = refuse(*recover, "real.npy", cwd=work)
    assert f"expected {M} complex measurements per row, got {M} real ones" in line
    assert "astype('complex64')" in line
    line = refuse(*recover, "wide_real.npy", cwd=work)
    assert f"expected {M} complex measurements per row, got {2 * M} real ones" in line
    line = refuse(*recover, "wide.npy", cwd=work)
    assert f"expected {M} complex measurements per row, got {M + 1}" in line
    line = refuse(*recover, "y.csv", cwd=work)
    assert f"got {2 * M} real ones" in line and "add --complex" in line
    assert "7 columns" in refuse(*recover, "odd.csv", "--complex", cwd=work)
    assert "--complex is for .csv files and streams" in refuse(*recover, "y.npy", "--complex", cwd=work)
    line = refuse("recover", MODEL, "--in", "-", "--out", "o.npy", cwd=work, stdin=subprocess.DEVNULL)
    assert f"the model takes {M} complex measurements" in line and "add --complex" in line
    line = refuse("eval", MODEL, "--signals", "real.npy", cwd=work)
    assert f"expected {N} complex signal entries per row" in line


def test_a_real_model_refuses_complex_numbers(work):
    succeed("init", *sets("problem.m=6", "problem.n=10"), "--out", "real.safetensors", cwd=work)
    recover = ["recover", "real.safetensors", "--out", "o.npy", "--in"]
    line = refuse(*recover, "y.npy", cwd=work)
    assert "expected 6 real measurements per row, got 6 complex ones ('y.npy' is 40 x 6)" in line
    assert "array.real" in line
    as_csv(work / "y.csv", load(work / "y.npy"))
    assert "remove --complex" in refuse(*recover, "y.csv", "--complex", cwd=work)
    line = refuse(*recover, "-", "--complex", cwd=work, stdin=subprocess.DEVNULL)
    assert "takes no complex measurements" in line and "remove --complex" in line
    line = refuse("eval", "real.safetensors", "--signals", "x.npy", cwd=work)
    assert "got 10 complex ones" in line


def test_eval_and_all_layers_are_complex(work):
    y = load(work / "y.npy")
    result = json.loads(succeed("eval", MODEL, "--signals", "x.npy", "--measurements", "y.npy",
                                "--json", "-", cwd=work))
    x, found = load(work / "x.npy"), reference(work, y)
    energy = np.sum(np.abs(x) ** 2, 1)
    there = energy > 0
    ratio = (np.sum(np.abs(found - x) ** 2, 1)[there] / energy[there]).mean()
    assert result["nmse_db"] == pytest.approx(10 * np.log10(ratio), abs=1e-3)
    # Without measurements the model's own operator makes the same.
    own = json.loads(succeed("eval", MODEL, "--signals", "x.npy", "--json", "-", cwd=work))
    assert own["nmse_db"] == pytest.approx(result["nmse_db"], abs=1e-3)
    as_csv(work / "x.csv", x)
    text = json.loads(succeed("eval", MODEL, "--signals", "x.csv", "--complex", "--json", "-", cwd=work))
    assert text["nmse_db"] == pytest.approx(result["nmse_db"], abs=1e-3)
    succeed("recover", MODEL, "--in", "y.npy", "--out", "layers.npz", "--layers", "all", cwd=work)
    layers = load(work / "layers.npz")
    assert layers["x4"].dtype == np.complex64 and layers["x1"].shape == (ROWS, N)
    np.testing.assert_allclose(layers["x4"], found, atol=2e-6)


def test_inspect_says_complex_and_counts_numbers_once(work):
    said = succeed("inspect", MODEL, cwd=work)
    assert f"on a complex dense operator of {M} x {N}" in said
    assert "operator: complex numbers, 64 bits per entry" in said
    assert f"signals: {N} complex entries from {M} complex measurements" in said
    result = json.loads(succeed("inspect", MODEL, "--json", "-", cwd=work))
    assert result["complex"] and result["structure"]["complex"] and result["vectors"] == 1
    assert result["bits"]["operator"] == 64 * M * N
    assert result["model"]["links"] == 4 * 2 * M * N


def test_qpsk_is_two_bits_per_entry(work):
    rng = np.random.default_rng(1)
    signs = rng.choice([-1, 1], (2, M, N))
    np.save(work / "A.npy", (signs[0] + 1j * signs[1]) / np.sqrt(2 * M))
    (work / "y.npy").unlink()
    succeed("init", *sets(*PLAIN), "--out", "q.safetensors", cwd=work)
    result = json.loads(succeed("inspect", "q.safetensors", "--json", "-", cwd=work))
    assert result["operator_stored_as"] == "complex signs, two bits per entry"
    assert result["bits"]["operator"] == 2 * M * N + 32
    # What is stored is what was given.
    succeed("export", "q.safetensors", "--to", "npz", "--out", "q.npz", cwd=work)
    np.testing.assert_allclose(load(work / "q.npz")["A"], load(work / "A.npy"), rtol=1e-7)


@pytest.mark.parametrize("complex_a", [False, True])
@pytest.mark.parametrize("complex_x", [False, True])
@pytest.mark.parametrize("vectors", [1, 3])
def test_sample_writes_what_a_problem_of_arrays_means(complex_a, complex_x, vectors, tmp_path):
    rng = np.random.default_rng(2)
    a = rng.normal(size=(M, N)) + 1j * complex_a * rng.normal(size=(M, N))
    x = signals(rng, n=vectors * N)
    y = np.concatenate([part @ a.T for part in np.split(x if complex_x else x.real, vectors, 1)], 1)
    np.save(tmp_path / "A.npy", a if complex_a else a.real)
    np.save(tmp_path / "x.npy", x if complex_x else x.real)
    problem = sets("problem.kind=arrays", "problem.path=.", f"problem.vectors={vectors}")
    result = json.loads(subprocess.run(
        [str(PROGRAM), "sample", *problem, "--out", "s", "--json", "-"], capture_output=True,
        cwd=tmp_path, timeout=60, check=True).stdout)
    assert result["complex"] == complex_x and result["vectors"] == vectors
    assert result["complex_measurements"] == (complex_a or complex_x)
    assert result["n"] == vectors * N and result["m"] == vectors * M
    written = load(tmp_path / "s/A.npy")
    assert written.dtype == (np.complex64 if complex_a else np.float32)
    np.testing.assert_allclose(written, a if complex_a else a.real, rtol=1e-6)
    for name, rows in (("train", slice(0, 32)), ("test", slice(32, 40))):
        found = load(tmp_path / f"s/y_{name}.npy")
        assert np.iscomplexobj(found) == (complex_a or complex_x)
        np.testing.assert_allclose(found, y[rows], atol=1e-5)
        np.testing.assert_allclose(load(tmp_path / f"s/x_{name}.npy"),
                                   x[rows] if complex_x else x[rows].real, rtol=1e-6)
    # Text comes back where it is said to be complex.
    if complex_a and complex_x:
        succeed("sample", *problem, "--out", "t", "--format", "csv", cwd=tmp_path)
        succeed("sample", *sets("problem.kind=arrays", "problem.operator=t/A.csv",
                                "problem.x=t/x_train.csv", "problem.complex=true",
                                f"problem.vectors={vectors}"), "--out", "u", cwd=tmp_path)
        np.testing.assert_array_equal(load(tmp_path / "u/x_train.npy"), load(tmp_path / "s/x_train.npy")[:25])
        np.testing.assert_array_equal(load(tmp_path / "u/A.npy"), written)


def test_a_complex_operator_on_real_signals_uses_that_they_are_real(work):
    x = load(work / "x.npy").real
    a = load(work / "A.npy")
    np.save(work / "x.npy", x)
    np.save(work / "y.npy", x @ a.T)
    result = subprocess.run([str(PROGRAM), "init", *sets(*PLAIN[:-1]), "--theta", "0.05", "--out",
                             "r.safetensors"], capture_output=True, text=True, cwd=work, timeout=60)
    assert result.returncode == 0 and "it measures as [Re A; Im A]" in result.stderr, result.stderr
    said = succeed("inspect", "r.safetensors", cwd=work)
    assert f"signals: {N} entries from {M} complex measurements" in said
    succeed("recover", "r.safetensors", "--in", "y.npy", "--out", "r.npy", cwd=work)
    found = load(work / "r.npy")
    assert found.dtype == np.float32
    expected = reference(work, x @ a.T, "r.safetensors", real_signals=True)
    np.testing.assert_allclose(found, expected.real, atol=2e-6)
    np.save(work / "real.npy", np.ones((2, 2 * M)))
    line = refuse("recover", "r.safetensors", "--in", "real.npy", "--out", "o.npy", cwd=work)
    assert f"expected {M} complex measurements per row, got {2 * M} real ones" in line


@pytest.mark.parametrize("solver, options", [("omp", ["--sparsity", "2"]), ("linear", [])])
def test_solve_takes_and_gives_complex_numbers(solver, options, tmp_path):
    rng = np.random.default_rng(3)
    m, n = 12, 20
    a = rng.normal(size=(m, n)) + 1j * rng.normal(size=(m, n))
    x = np.zeros((15, n), complex)
    for row in x:
        row[rng.permutation(n)[:2]] = rng.normal(size=2) + 1j * rng.normal(size=2)
    np.save(tmp_path / "x.npy", x)
    for name, matrix in (("complex", a), ("real", a.real)):
        np.save(tmp_path / "A.npy", matrix)
        np.save(tmp_path / "y.npy", x @ matrix.T)
        result = run("solve", "--solver", solver, "--operator", "A.npy", "--in", "y.npy", "--out", "o.npy",
                     "--signals", "x.npy", *options, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        assert ("the operator is real" in result.stderr) == (name == "real")
        found = load(tmp_path / "o.npy")
        assert found.dtype == np.complex64 and found.shape == x.shape
        expected = x if solver == "omp" else (x @ matrix.T) @ np.linalg.pinv(matrix).T
        np.testing.assert_allclose(found, expected, atol=1e-4, err_msg=name)
    as_csv(tmp_path / "A.csv", a)
    as_csv(tmp_path / "y.csv", x @ a.T)
    succeed("solve", "--solver", solver, "--operator", "A.csv", "--in", "y.csv", "--out", "o.csv",
            "--complex", *options, cwd=tmp_path)
    expected = x if solver == "omp" else (x @ a.T) @ np.linalg.pinv(a).T
    np.testing.assert_allclose(np.loadtxt(tmp_path / "o.csv", delimiter=",").view(complex), expected,
                               atol=1e-4)
    np.save(tmp_path / "A.npy", a)
    np.save(tmp_path / "y.npy", (x @ a.T).real)
    line = refuse("solve", "--solver", solver, "--operator", "A.npy", "--in", "y.npy", "--out", "p.npy",
                  *options, cwd=tmp_path)
    assert f"expected {m} complex measurements per row, got {m} real ones" in line


def test_training_on_complex_arrays_beats_the_zero_estimate_and_recovers(work):
    summary = json.loads(succeed(
        "train", *sets("problem.kind=arrays", "problem.path=.", "model.layers=3", "model.weights=tied",
                       "model.activation=piecewise"), "--out", "run", "--json", "-", cwd=work))
    assert summary["model"]["complex"] and summary["model"]["groups"] == "complex"
    assert summary["test_nmse_db"] < -0.5
    succeed("recover", "run/model.safetensors", "--in", "y.npy", "--out", "r.npy", cwd=work)
    x, found = load(work / "x.npy"), load(work / "r.npy")
    error = np.sum(np.abs(found - x) ** 2, 1)[32:] / np.sum(np.abs(x) ** 2, 1)[32:]
    assert 10 * np.log10(error.mean()) == pytest.approx(summary["test_nmse_db"], abs=0.01)


@pytest.mark.parametrize("settings, words", [
    (["problem.vectors=3"], ["expected 30 complex", "each of 3 vectors", "problem.vectors"]),
    (["problem.vectors=0"], ["problem.vectors"]),
    (["problem.complex=true"], ["none of the arrays is a .csv file"]),
    (["problem.structure=mask", "problem.vectors=2", "problem.x=twice.npy"],
     ["structure 'mask' and several vectors per row"]),
    (["problem.structure=blocks", "problem.repeat=2"], ["has no link there"]),
    (["problem.structure=blocks", "problem.repeat=4"], ["4 equal blocks do not tile"]),
    (["problem.structure=repeated", "problem.repeat=2"], ["repeated 2 times", "problem.vectors = 2"]),
    (["problem.basis=dct", "problem.structure=mask"], ["a basis mixes"]),
    (["problem.basis=fourier", "problem.x=real-x.npy"], ["'fourier' is of complex signals", "'real-x.npy' are real"]),
    (["problem.basis=psi.npy"], ["signals of 5 entries", "10"]),
    (["problem.y=real.npy"], ["'real.npy' holds real numbers", "an imaginary part of zero will do"]),
    (["problem.x=wide.npy"], ["expected 10 complex signal entries per row, got 11"]),
    (["problem.x=turned.npy"], ["looks transposed"]),
])
def test_what_does_not_go_together_is_refused(settings, words, work):
    (work / "y.npy").rename(work / "measured.npy")
    np.save(work / "real.npy", load(work / "measured.npy").real)
    np.save(work / "real-x.npy", load(work / "x.npy").real)
    np.save(work / "psi.npy", np.eye(5))
    np.save(work / "wide.npy", np.ones((ROWS, N + 1), complex))
    np.save(work / "turned.npy", load(work / "x.npy").T)
    np.save(work / "twice.npy", np.tile(load(work / "x.npy"), (1, 2)))
    line = refuse("init", *sets("problem.kind=arrays", "problem.path=.", *settings), "--out",
                  "o.safetensors", cwd=work)
    assert all(word in line for word in words), line


@pytest.mark.parametrize("settings", [
    ["problem.operator=A.npy"],
    ["problem.kind=signals", "problem.x=segments.npy", "problem.operator=A.npy"],
    ["problem.kind=signals", "problem.x=x.npy"]])
def test_complex_numbers_elsewhere_are_refused_with_a_way_out(settings, work):
    np.save(work / "segments.npy", np.random.default_rng(1).normal(size=(20, N)))
    line = refuse("init", *sets(*settings), "--out", "o.safetensors", cwd=work)
    assert "complex numbers" in line and "arrays" in line


def test_a_mat_of_version_7_3_is_read(work):
    """As MATLAB writes it: a compound of real and imag, and an attribute that names the class."""
    h5py = pytest.importorskip("h5py", reason="skipped: h5py is not installed")
    y = load(work / "y.npy")
    with h5py.File(work / "y.mat", "w", userblock_size=512) as file:
        values = np.empty(y.T.shape, [("real", "<f8"), ("imag", "<f8")])
        values["real"], values["imag"] = y.T.real, y.T.imag
        data = file.create_dataset("y", data=values)
        # Six letters without room for a zero, though the type says that one ends them.
        text = h5py.h5t.C_S1.copy()
        text.set_size(6)
        of_class = h5py.h5a.create(data.id, b"MATLAB_class", text, h5py.h5s.create(h5py.h5s.SCALAR))
        of_class.write(np.array(b"double"), mtype=text)
    with open(work / "y.mat", "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + struct.pack("<HH", 0x0200, 0x4D49))
    succeed("recover", MODEL, "--in", "y.mat", "--out", "o.npy", cwd=work)
    np.testing.assert_allclose(load(work / "o.npy"), reference(work, y), atol=2e-6)


def test_certify_and_calibrate_take_complex_signals(work):
    plain = [setting for setting in PLAIN if "groups" not in setting] + ["model.groups=none"]
    succeed("init", *sets(*plain), "--out", "n.safetensors", cwd=work)
    said = succeed("certify", "n.safetensors", "--signals", "x.npy", cwd=work)
    assert "ertif" in said or "guarantee" in said
    np.save(work / "held.npy", signals(np.random.default_rng(9), 800))
    as_csv(work / "held.csv", load(work / "held.npy"))
    first = json.loads(succeed("certify", MODEL, "--calibrate", "held.npy", "--json", "-", cwd=work))
    again = json.loads(succeed("certify", MODEL, "--calibrate", "held.csv", "--complex", "--json", "-",
                               cwd=work))
    assert first["limits"] == again["limits"] if "limits" in first else first.keys() == again.keys()
    assert "complex" in refuse("certify", MODEL, "--calibrate", "held.csv", cwd=work)
