"""scikit-learn's OMP on the signals of a trained model, stopped as early as our nmse allows."""

import numpy as np
import sklearn
from sklearn.linear_model import orthogonal_mp_gram

from cases import SOLVER_SIGNALS, main, microseconds, nmse_db

RESIDUALS = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-5)  # shares of ||y||, as `pibinn-bench` tries them


def omp_entries(case, threads, arguments):
    if case.model != "trained" or threads != 1:
        return []
    y = case.y[:SOLVER_SIGNALS].astype(np.float64)
    truth = case.signals[:SOLVER_SIGNALS]
    ours = nmse_db(truth, case.x[:SOLVER_SIGNALS])
    a = case.operator_t.T.astype(np.float64)
    norms = np.linalg.norm(a, axis=0)
    unit = a / norms
    gram = unit.T @ unit
    energy = (y ** 2).sum(1)

    def solve(i, residual):
        row = y[i % len(y)]
        total = energy[i % len(y)]
        return orthogonal_mp_gram(gram, (unit.T @ row)[:, np.newaxis], tol=residual ** 2 * total,
                                  norms_squared=total[np.newaxis]).ravel() / norms

    for residual in RESIDUALS:
        x = np.stack([solve(i, residual) for i in range(len(y))])
        reached = nmse_db(truth, x)
        if reached <= ours:
            break
    times = microseconds(lambda i: solve(i, residual), max(arguments.seconds, 0.05), threads)
    peer = f"scikit-learn {sklearn.__version__} omp, residual {residual}"
    entry = case.entry("throughput", peer, len(case.y), 1, times, x)
    return [{**entry, "error": None, "ours_nmse_db": ours, "peer_nmse_db": reached}]


if __name__ == "__main__":
    main(omp_entries, __doc__)
