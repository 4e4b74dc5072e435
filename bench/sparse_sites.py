"""Models whose activations look at groups and neighbours, on masks of signs.

    .venv/bin/python bench/sparse_sites.py build/pibinn DIR

writes DIR/NAME.safetensors, untrained, for `pibinn-bench latency|throughput --model`.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import scipy.sparse

# Name, rows, columns, links per column, complex, threshold, and what the network is.
CASES = [
    ("complex-32x64", 32, 64, 8, True, 0.9, ["weights=tied", "activation=piecewise"]),
    ("complex-128x256", 128, 256, 16, True, 0.8, ["weights=tied", "activation=piecewise"]),
    ("complex-128x256-near", 128, 256, 16, True, 0.9,
     ["weights=tied", "activation=piecewise", "neighbours=2"]),
    ("complex-128x256-wiener", 128, 256, 16, True, 0.9,
     ["weights=tied", "activation=wiener", "neighbours=2"]),
    ("complex-256x1024-one-bit", 256, 1024, 16, True, 0.6, ["weights=one-bit", "activation=soft"]),
    ("near-32x64", 32, 64, 8, False, 0.8, ["weights=tied", "activation=piecewise", "neighbours=1"]),
    ("near-256x512", 256, 512, 16, False, 0.8,
     ["weights=tied", "activation=piecewise", "neighbours=2"]),
]


def signs(rng, count, is_complex):
    values = rng.choice([-1.0, 1.0], count)
    return values + 1j * rng.choice([-1.0, 1.0], count) if is_complex else values


def operator(rng, m, n, each, is_complex):
    """Every column has as many links, at random rows."""
    rows = np.concatenate([rng.choice(m, each, replace=False) for _ in range(n)])
    values = signs(rng, each * n, is_complex) / np.sqrt(each * (2 if is_complex else 1))
    return scipy.sparse.csc_matrix((values, (rows, np.repeat(np.arange(n), each))), shape=(m, n))


def main(program, folder):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    for name, m, n, each, is_complex, theta, network in CASES:
        scipy.sparse.save_npz(folder / f"{name}.npz", operator(rng, m, n, each, is_complex))
        x = signs(rng, 50 * n, is_complex).reshape(50, n) * (rng.random((50, n)) < 0.04)
        np.save(folder / f"{name}.npy", x)
        settings = ["problem.kind=arrays", "problem.structure=mask", "model.layers=10",
                    f"problem.operator={folder / name}.npz", f"problem.x={folder / name}.npy",
                    *(f"model.{setting}" for setting in network)]
        subprocess.run([program, "init", *(word for s in settings for word in ("--set", s)),
                        "--theta", str(theta), "--out", folder / f"{name}.safetensors"], check=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
