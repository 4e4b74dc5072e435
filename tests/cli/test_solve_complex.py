"""`pibinn solve` on complex signals: channels in beamspace, vectors that share a support, signals that are real."""

import json

import numpy as np
import pytest

from conftest import load, refuse, run, succeed

N, M, ROWS, PATHS = 48, 32, 40, 2


def channels(rng, rows=ROWS):
    """Channels in beamspace: a few plane waves whose energy leaks into the beams beside theirs."""
    places = np.arange(N)
    x = np.zeros((rows, N), complex)
    for row in x:
        for _ in range(PATHS):
            gain = rng.normal() + 1j * rng.normal()
            row += gain * np.fft.fft(np.exp(2j * np.pi * rng.random() * places)) / N
    return x


def support_detection(a, y, paths, width):
    """As the paper has it, in complex numbers."""
    n = a.shape[1]
    found = np.zeros((len(y), n), complex)
    for own, measured in zip(found, y):
        residual, taken = measured, set()
        for _ in range(paths):
            peak = np.argmax(np.abs(a.conj().T @ residual))
            beams = [(peak - width // 2 + v) % n for v in range(width)]
            residual = residual - a[:, beams] @ np.linalg.lstsq(a[:, beams], residual, rcond=None)[0]
            taken.update(beams)
        beams = sorted(taken)
        own[beams] = np.linalg.lstsq(a[:, beams], measured, rcond=None)[0]
    return found


def nmse_db(x, found):
    return 10 * np.log10(np.mean(np.sum(np.abs(found - x) ** 2, 1) / np.sum(np.abs(x) ** 2, 1)))


@pytest.fixture
def beams(tmp_path):
    rng = np.random.default_rng(11)
    a = np.exp(2j * np.pi * rng.random((M, N))) / np.sqrt(M)
    x = channels(rng)
    for name, array in {"A": a, "x": x, "y": x @ a.T, "train": channels(rng, 60)}.items():
        np.save(tmp_path / f"{name}.npy", array)
    return tmp_path


SOLVE = ["solve", "--operator", "A.npy", "--in", "y.npy", "--out", "o.npy"]
DETECT = [*SOLVE, "--solver", "support-detection"]


@pytest.mark.parametrize("real", [False, True])
def test_support_detection_is_the_papers(real, beams):
    a = load(beams / "A.npy")
    if real:
        a = a.real
        np.save(beams / "A.npy", a)
        np.save(beams / "y.npy", load(beams / "x.npy") @ a.T)
    result = run(*DETECT, "--paths", PATHS, "--width", 5, cwd=beams)
    assert result.returncode == 0, result.stderr
    expected = support_detection(a, load(beams / "y.npy"), PATHS, 5)
    np.testing.assert_allclose(load(beams / "o.npy"), expected, atol=1e-4)


def test_support_detection_chooses_its_width_on_training_signals(beams):
    def nmse(*options):
        text = succeed(*DETECT, "--paths", PATHS, "--signals", "x.npy", "--json", "-", *options, cwd=beams)
        return json.loads(text)["nmse_db"]
    a, train = load(beams / "A.npy"), load(beams / "train.npy")
    best = min((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16),
               key=lambda v: nmse_db(train, support_detection(a, train @ a.T, PATHS, v)))
    assert nmse("--train-signals", "train.npy") == nmse("--width", best)
    assert nmse() == nmse("--width", 8)
    assert nmse("--train-signals", "train.npy") < nmse("--width", 1) - 3


@pytest.mark.parametrize("options, words", [
    ([], ["how many paths", "--paths 3"]),
    (["--paths", "0"], ["0 paths", "at least one"]),
    (["--paths", "4", "--width", "9"], ["4 paths of 9 beams", "at most 8 beams per path"]),
    (["--paths", "40"], ["40 paths of 8 beams", "fewer paths"]),
    (["--paths", "2", "--sparsity", "3"], ["--sparsity has no meaning for solver 'support-detection'"]),
    (["--paths", "2", "--noise-std", "1"], ["--noise-std has no meaning"]),
    (["--paths", "2", "--width", "3", "--train-signals", "train.npy"], ["--width and --train-signals"]),
])
def test_support_detection_refuses_what_it_cannot_do(options, words, beams):
    line = refuse(*DETECT, *options, cwd=beams)
    assert all(word in line for word in words), line


def test_support_detection_is_for_complex_channels_alone(beams):
    for name in ("A", "y"):
        np.save(beams / f"{name}.npy", load(beams / f"{name}.npy").real)
    line = refuse(*DETECT, "--paths", 2, cwd=beams)
    assert "complex channels" in line and "'omp'" in line
    line = refuse(*SOLVE, "--solver", "omp", "--paths", 2, cwd=beams)
    assert "--paths has no meaning for solver 'omp'" in line
    assert "support-detection" in refuse(*SOLVE, "--solver", "best", cwd=beams)


def simultaneous_omp(a, y, entries):
    """Of rows x vectors x measurements: all vectors of a row take the same columns of length 1."""
    found = np.zeros((*y.shape[:2], a.shape[1]), np.result_type(a, y))
    for own, measured in zip(found, y):
        columns, residual = [], measured
        for _ in range(entries):
            columns.append(np.argmax(np.sum(np.abs(residual @ a.conj()) ** 2, axis=0)))
            fit = np.linalg.lstsq(a[:, columns], measured.T, rcond=None)[0].T
            residual = measured - fit @ a[:, columns].T
        own[:, columns] = fit
    return found


@pytest.mark.parametrize("kind", ["real", "complex", "complex signals"])
def test_vectors_of_a_row_share_their_support(kind, tmp_path):
    rng = np.random.default_rng(3)
    m, n, vectors, rows = 10, 24, 4, 30

    def normal(complex_too, *shape):
        return rng.normal(size=shape) + (1j * rng.normal(size=shape) if complex_too else 0)
    a = normal(kind == "complex", m, n)
    a /= np.linalg.norm(a, axis=0)
    x = np.zeros((rows, vectors, n), float if kind == "real" else complex)
    for row in x:
        row[:, rng.choice(n, 3, replace=False)] = normal(kind != "real", vectors, 3)
    y = x @ a.T
    for name, array in {"A": a, "x": x.reshape(rows, -1), "y": y.reshape(rows, -1)}.items():
        np.save(tmp_path / f"{name}.npy", array)
    result = run(*SOLVE, "--solver", "omp", "--sparsity", 3, "--vectors", vectors, "--signals", "x.npy",
                 "--json", "-", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["vectors"] == vectors
    np.testing.assert_allclose(load(tmp_path / "o.npy").reshape(x.shape), simultaneous_omp(a, y, 3), atol=1e-4)


def test_vectors_that_do_not_fit_are_refused(beams):
    line = refuse(*SOLVE, "--solver", "omp", "--vectors", 4, "--structure", "mask", cwd=beams)
    assert "--vectors 4" in line and "leave out --structure" in line
    assert "--vectors 0" in refuse(*SOLVE, "--solver", "omp", "--vectors", 0, cwd=beams)
    line = refuse(*SOLVE, "--solver", "omp", "--vectors", 3, cwd=beams)
    assert f"expected {3 * M} complex measurements per row, got {M}" in line


def test_a_real_operator_of_complex_measurements_is_noted(beams):
    np.save(beams / "A.npy", load(beams / "A.npy").real)
    result = run(*SOLVE, "--solver", "omp", cwd=beams)
    assert result.returncode == 0
    assert result.stderr.startswith("pibinn: note: the operator is real and the signals are complex")


def test_real_signals_behind_a_complex_operator(tmp_path):
    """Half the unknowns: as many entries as are measured twice."""
    rng = np.random.default_rng(2)
    a = rng.normal(size=(6, 10)) + 1j * rng.normal(size=(6, 10))
    x = rng.normal(size=(8, 10))
    np.save(tmp_path / "A.npy", a)
    np.save(tmp_path / "y.npy", x @ a.T)
    np.save(tmp_path / "x.npy", x)
    result = run(*SOLVE, "--solver", "linear", "--real-signals", "--signals", "x.npy", cwd=tmp_path)
    assert result.returncode == 0 and "[Re A; Im A]" in result.stderr
    assert load(tmp_path / "o.npy").dtype == np.float32
    np.testing.assert_allclose(load(tmp_path / "o.npy"), x, atol=1e-4)
    np.save(tmp_path / "A.npy", a.real)
    line = refuse("solve", "--operator", "A.npy", "--in", "y.npy", "--out", "p.npy", "--solver", "omp",
                  "--real-signals", cwd=tmp_path)
    assert "--real-signals" in line and "is real" in line


def test_complex_cells_of_text_are_refused_with_what_to_do(tmp_path):
    np.save(tmp_path / "A.npy", np.eye(2))
    solve = ["solve", "--solver", "omp", "--operator", "A.npy", "--in", "y.csv", "--out", "o.npy"]
    for text in ("1+2j,3-4j\n5+6j,7\n", "(1+2j),(3-4e-1j)\n", "0.5,1\n1,-2i\n", "1e-3+2e-3j;2j\n"):
        (tmp_path / "y.csv").write_text(text)
        line = refuse(*solve, cwd=tmp_path)
        assert "is not a number" in line and "takes two columns" in line, line
    (tmp_path / "y.csv").write_text("phi,j\n1,2\n")
    succeed(*solve, cwd=tmp_path)


def test_long_complex_numbers_keep_their_imaginary_part_in_the_hint(tmp_path):
    np.save(tmp_path / "A.npy", np.eye(2))
    np.save(tmp_path / "y.npy", np.ones((3, 2), np.clongdouble))
    line = refuse("solve", "--solver", "omp", "--operator", "A.npy", "--in", "y.npy", "--out", "o.npy",
                  cwd=tmp_path)
    assert "c32" in line and "array.astype('complex64')" in line and "float32" not in line
