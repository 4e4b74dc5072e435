"""A complex operator, its signals and a model of them, and the network in float64."""

import numpy as np
import pytest

from conftest import load, sets, succeed

MODEL = "model.safetensors"
M, N, ROWS = 6, 10, 40

# x_k = soft(x - s_k A^H (A x - y)), of magnitudes: short enough to be written again below.
PLAIN = ["problem.kind=arrays", "problem.path=.", "model.update=plain", "model.weights=tied",
         "model.layers=4", "model.groups=complex"]


def signals(rng, rows=ROWS, n=N, real=False):
    x = rng.normal(size=(rows, n)) + 1j * rng.normal(size=(rows, n))
    x[rng.random((rows, n)) > 0.3] = 0
    return x.real if real else x


@pytest.fixture
def work(tmp_path):
    """A complex operator, complex signals and their measurements, and a model of them."""
    rng = np.random.default_rng(5)
    a = (rng.normal(size=(M, N)) + 1j * rng.normal(size=(M, N))) / np.sqrt(2 * M)
    x = signals(rng)
    np.save(tmp_path / "A.npy", a)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x @ a.T)
    succeed("init", *sets(*PLAIN), "--theta", "0.05", "--out", MODEL, cwd=tmp_path)
    return tmp_path


def reference(work, y, model=MODEL, real_signals=False):
    """What the network gives, in float64."""
    succeed("export", model, "--to", "npz", "--out", "own.npz", cwd=work)
    parts = load(work / "own.npz")
    a, step, theta = parts["A"].astype(np.complex128), parts["step"], parts["theta"]
    if real_signals:
        a = a[:len(a) // 2] + 1j * a[len(a) // 2:]
    x = np.zeros((len(y), a.shape[1]), np.complex128)
    for s, t in zip(step.astype(float), theta.astype(float)):
        z = x - s * (x @ a.T - y) @ a.conj()
        if real_signals:
            z = z.real
        size = np.maximum(np.abs(z), 1e-30)
        x = z * np.maximum(1 - t / size, 0)
    (work / "own.npz").unlink()
    return x
