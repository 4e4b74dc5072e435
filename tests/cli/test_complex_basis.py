"""Complex signals that are sparse in a basis."""

import json

import numpy as np
import pytest

from complex_cases import MODEL, M, N, ROWS, reference, signals
from conftest import load, refuse, run, sets, succeed

TIED = ["problem.kind=arrays", "problem.path=.", "model.update=plain", "model.weights=tied",
        "model.layers=4"]
SHORT = ["problem.kind=arrays", "problem.path=.", "model.layers=3"]


def dct(n):
    k, i = np.mgrid[0:n, 0:n]
    table = np.sqrt(2 / n) * np.cos(np.pi * (2 * i + 1) * k / (2 * n))
    table[0] /= np.sqrt(2)
    return table.T


@pytest.fixture(params=[("fourier", True), ("fourier", False), ("dct", True), ("dct", False),
                        ("psi.npy", True)], ids=str)
def work(request, tmp_path):
    """An operator, complex or not, and complex signals that are sparse in a basis."""
    name, complex_a = request.param
    rng = np.random.default_rng(7)
    a = (rng.normal(size=(M, N)) + 1j * rng.normal(size=(M, N))) / np.sqrt(2 * M)
    a = a if complex_a else a.real
    np.save(tmp_path / "psi.npy", np.linalg.qr(rng.normal(size=(N, N)))[0])
    psi = {"fourier": np.fft.ifft(np.eye(N), axis=0, norm="ortho"), "dct": dct(N),
           "psi.npy": load(tmp_path / "psi.npy")}[name]
    x = signals(rng) @ psi.T
    np.save(tmp_path / "A.npy", a)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x @ a.T)
    np.save(tmp_path / "table.npy", psi)
    (tmp_path / "basis").write_text(name)
    return tmp_path


def basis(work):
    return f"problem.basis={(work / 'basis').read_text()}"


def configured(*arguments, cwd):
    """A real operator on complex signals gives a note."""
    result = run(*arguments, cwd=cwd)
    assert result.returncode == 0, result.stderr
    assert "alike" in result.stderr if np.isrealobj(load(cwd / "A.npy")) else not result.stderr
    return result.stdout


def nmse_db(found, x):
    some = np.any(x, axis=1)  # of a zero signal there is none
    found, x = found[some], x[some]
    return 10 * np.log10(np.mean(np.sum(np.abs(found - x) ** 2, 1) / np.sum(np.abs(x) ** 2, 1)))


def test_recover_gives_signals_where_the_network_finds_coefficients(work):
    a, psi, y = load(work / "A.npy"), load(work / "table.npy"), load(work / "y.npy")
    configured("init", *sets(*TIED, basis(work)), "--theta", "0.05", "--out", MODEL, cwd=work)
    succeed("export", MODEL, "--to", "npz", "--out", "parts.npz", cwd=work)
    parts = load(work / "parts.npz")
    assert np.iscomplexobj(parts["basis"]) == np.iscomplexobj(psi)
    np.testing.assert_allclose(parts["basis"], psi, atol=1e-6)
    np.testing.assert_allclose(parts["A"], a @ psi, atol=1e-5)
    succeed("recover", MODEL, "--in", "y.npy", "--out", "o.npy", cwd=work)
    expected = reference(work, y) @ psi.T
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(load(work / "o.npy"), expected, atol=3e-6)


def test_it_is_trained_scored_and_sampled_as_signals(work):
    a, psi, x = load(work / "A.npy"), load(work / "table.npy"), load(work / "x.npy")
    summary = json.loads(configured("train", *sets(*SHORT, "model.weights=one-bit", basis(work)),
                                    "--out", "run", "--json", "-", cwd=work))
    assert summary["model"]["complex"] and summary["model"]["groups"] == "complex"
    succeed("recover", "run/model.safetensors", "--in", "y.npy", "--out", "r.npy", cwd=work)
    found = load(work / "r.npy")
    assert nmse_db(found[32:], x[32:]) == pytest.approx(summary["test_nmse_db"], abs=0.01)
    scores = json.loads(succeed("eval", "run/model.safetensors", "--signals", "x.npy",
                                "--measurements", "y.npy", "--json", "-", cwd=work))
    assert nmse_db(found, x) == pytest.approx(scores["nmse_db"], abs=0.01)
    (work / "y.npy").unlink()
    configured("sample", *sets(*SHORT[:2], basis(work)), "--out", "s", cwd=work)
    np.testing.assert_allclose(load(work / "s/A.npy"), a @ psi, atol=1e-5)
    np.testing.assert_allclose(load(work / "s/x_train.npy"), x[:32], atol=1e-5)
    np.testing.assert_allclose(load(work / "s/c_train.npy"), x[:32] @ psi.conj(), atol=1e-5)
    np.testing.assert_allclose(load(work / "s/y_train.npy"), x[:32] @ a.T, atol=1e-5)


def test_several_vectors_of_a_row_are_in_one_basis(work):
    a, x = load(work / "A.npy"), load(work / "x.npy")
    np.save(work / "x.npy", np.hstack([x, 2 * x]))
    np.save(work / "y.npy", np.hstack([x @ a.T, 2 * x @ a.T]))
    summary = json.loads(configured(
        "train", *sets(*SHORT, "problem.vectors=2", "model.weights=tied", basis(work)), "--out", "run",
        "--json", "-", cwd=work))
    succeed("recover", "run/model.safetensors", "--in", "y.npy", "--out", "r.npy", cwd=work)
    found, whole = load(work / "r.npy"), load(work / "x.npy")
    assert found.shape == (ROWS, 2 * N)
    assert nmse_db(found[32:], whole[32:]) == pytest.approx(summary["test_nmse_db"], abs=0.01)


@pytest.mark.parametrize("settings", [
    ["problem.kind=signals", "problem.x=x.npy"],
    ["problem.kind=images", "problem.path=."],
    ["problem.kind=arrays", "problem.operator=A.npy", "problem.x=x.npy"]])
def test_real_signals_have_no_complex_basis(settings, tmp_path):
    rng = np.random.default_rng(1)
    np.save(tmp_path / "A.npy", rng.normal(size=(M, N)))
    np.save(tmp_path / "x.npy", rng.normal(size=(ROWS, N)))
    line = refuse("init", *sets(*settings, "problem.basis=fourier"), "--out", "o.safetensors",
                  cwd=tmp_path)
    assert "basis 'fourier' is of complex signals" in line and "real" in line
