"""What a call from Python costs: beside the same call from C++, and beside scikit-learn.

One model is trained and saved. Round by round take turns: build/pibinn-bench on the model file
(C++, one thread), UnrolledRecovery.predict, and scikit-learn's OMP and Lasso on the same
measurements. The table has medians over the rounds and their ranges, in microseconds per signal.
Usage: build/python-venv/bin/python bench/python_calls.py [--rounds N] [--seconds S]
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import Lasso, orthogonal_mp

import pibinn

PROGRAM = Path(__file__).resolve().parents[1] / "build" / "pibinn-bench"
BATCH = 2048


def microseconds(call, seconds, signals=1):
    """Per signal: the least of batches of calls, as the benchmark in C++ does."""
    call()
    calls, best, end = 1, float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        taken = time.perf_counter() - start
        best = min(best, taken / calls)
        if taken < seconds / 50:
            calls *= 2
    return 1e6 * best / signals


def in_cpp(bench, model, seconds):
    run = subprocess.run([PROGRAM, bench, "--model", model, "--threads", "1", "--seconds",
                          str(seconds), "--json", "-"], capture_output=True, check=True)
    entries = json.loads(run.stdout)["results"]
    return min(e["ours_us"] for e in entries if e["name"] == bench)


def nmse_db(truth, found):
    return 10 * np.log10(((found - truth) ** 2).sum() / (truth**2).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")

    data = pibinn.datasets.synthetic(operator="rademacher", snr_db=20, test=BATCH)
    net = pibinn.UnrolledRecovery(data.operator, n_layers=20, n_jobs=1).fit_dataset(data)
    y, x = data.test_measurements, data.test_signals
    row, a = y[:1].copy(), data.operator.to_dense().astype(float)
    noise = 0.1 * (data.measurements**2).mean() ** 0.5
    tol = (noise**2) * len(a)
    lasso = Lasso(alpha=0.02 / len(a), fit_intercept=False, max_iter=1000)
    few = y[:100].astype(float)
    all_cores = pibinn.Model.recover

    solved = {"OMP of scikit-learn": lambda: orthogonal_mp(a, few.T, tol=tol).T,
              "Lasso of scikit-learn": lambda: lasso.fit(a, few.T).coef_}
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/model.safetensors"
        net.save(model)
        for _ in range(arguments.rounds):
            s = arguments.seconds
            measured = {
                "one vector: C++": in_cpp("latency", model, s),
                "one vector: predict": microseconds(lambda: net.predict(row), s),
                "one vector: OMP of scikit-learn":
                    microseconds(lambda: orthogonal_mp(a, few[0], tol=tol), s),
                "one vector: Lasso of scikit-learn": microseconds(lambda: lasso.fit(a, few[0]), s),
                f"batch of {BATCH}, 1 thread: C++": in_cpp("throughput", model, s),
                f"batch of {BATCH}, 1 thread: predict":
                    microseconds(lambda: net.predict(y), s, len(y)),
                f"batch of {BATCH}, all cores: recover":
                    microseconds(lambda: all_cores(net.model_, y), s, len(y)),
                **{f"batch of 100: {name}": microseconds(call, s, len(few))
                   for name, call in solved.items()}}
            for name, value in measured.items():
                times.setdefault(name, []).append(value)
    print("| case | us per signal |\n| --- | --- |")
    for name, values in times.items():
        print(f"| {name} | {statistics.median(values):.2f} "
              f"({min(values):.2f} to {max(values):.2f}) |")
    print(f"\nenergy nmse: network {nmse_db(x, net.predict(y)):.2f} dB, "
          + ", ".join(f"{name} {nmse_db(x[:100], call()):.2f} dB" for name, call in solved.items()))
    over = [p - c for p, c in zip(times["one vector: predict"], times["one vector: C++"])]
    print(f"predict over C++: {statistics.median(over):.2f} us "
          f"({min(over):.2f} to {max(over):.2f})")


if __name__ == "__main__":
    main()
