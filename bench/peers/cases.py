"""What all peers outside the program share: the cases it wrote, and how times are taken."""

import argparse
import json
import re
import statistics
import time
from pathlib import Path

import numpy as np

LATENCY_ROWS = 64  # signals that single calls go round
SOLVER_SIGNALS = 200


class Case:
    """A network and its signals, as `pibinn bench latency|throughput --cases DIR` writes them."""

    def __init__(self, folder):
        self.model, m, n, layers = re.fullmatch(r"recover-(\w+)-(\d+)x(\d+)x(\d+)", folder.name).groups()
        self.m, self.n, self.layers = int(m), int(n), int(layers)
        arrays = {p.stem: np.load(p) for p in folder.glob("*.npy")}
        self.operator_t = arrays["operator"]  # n x m
        self.weights_t = arrays["weights"].reshape(self.layers, self.n, self.m)
        self.theta, self.beta, self.omega = (arrays[name].ravel() for name in ("theta", "beta", "omega"))
        self.residual_threshold = bool(arrays["settings"].ravel()[0])
        assert arrays["settings"].ravel()[1] == 1, "these peers know no delta"
        self.plain = not (self.residual_threshold or self.beta.any() or self.omega.any())
        self.signals, self.y, self.x = arrays["signals"], arrays["y"], arrays["x"]

    def entry(self, name, peer, batch, threads, us, x):
        """A result that bench/run puts beside ours; x is what the peer recovered of the first rows."""
        ours = self.x[:len(x)]
        return {"name": name, "model": self.model, "m": self.m, "n": self.n, "layers": self.layers,
                "batch": batch, "threads": threads, "peer": peer, "peer_us": us,
                "error": float(np.linalg.norm(x - ours) / np.linalg.norm(ours))}


def nmse_db(truth, estimate):
    ratios = ((truth - estimate).astype(np.float64) ** 2).sum(1) / (truth.astype(np.float64) ** 2).sum(1)
    return float(10 * np.log10(ratios.mean()))


def microseconds(call, seconds, threads):
    """Median time of call(i), i = 0, 1, 2 and so on: of the processor on one thread, by the wall clock on several."""
    clock = time.thread_time_ns if threads == 1 else time.perf_counter_ns
    call(0)
    times = []
    start = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < seconds:
        before = clock()
        call(len(times))
        times.append(clock() - before)
    return statistics.median(times) / 1000


def fastest(candidates, seconds, threads):
    """The best of several ways to call the same thing: (name, microseconds)."""
    times = {name: microseconds(call, seconds, threads) for name, call in candidates.items()}
    return min(times.items(), key=lambda item: item[1])


def main(peer_of, description):
    """Runs peer_of(case, threads, arguments), which gives entries, over all cases; prints JSON."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--compile", action="store_true", help="torch: try torch.compile too")
    arguments = parser.parse_args()
    results = []
    for folder in sorted(arguments.cases.glob("recover-*")):
        case = Case(folder)
        for threads in arguments.threads:
            results += peer_of(case, threads, arguments)
    print(json.dumps({"results": results}))
