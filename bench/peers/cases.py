"""What all peers in processes of their own share: cases, and how times are taken."""

import argparse
import ctypes
import json
import re
import statistics
import time
from pathlib import Path

import numpy as np

LIBRARY = Path(__file__).resolve().parents[2] / "build" / "libpibinn.so"
SETTLED_S = 0.002
LATENCY_ROWS = 64  # signals that single calls go round
SOLVER_SIGNALS = 200


class Case:
    """A network and its signals, as `pibinn-bench latency|throughput --cases DIR` writes them."""

    def __init__(self, folder):
        name = re.fullmatch(r"recover-(\w+)-(\d+)x(\d+)x(\d+)", folder.name)
        self.model, m, n, layers = name.groups()
        self.m, self.n, self.layers = int(m), int(n), int(layers)
        arrays = {p.stem: np.load(p) for p in folder.glob("*.npy")}
        self.operator_t = arrays["operator"]  # n x m
        self.weights_t = arrays["weights"].reshape(self.layers, self.n, self.m)
        self.theta, self.beta, self.omega = (
            arrays[name].ravel() for name in ("theta", "beta", "omega"))
        self.residual_threshold = bool(arrays["settings"].ravel()[0])
        assert arrays["settings"].ravel()[1] == 1, "these peers know no delta"
        self.plain = not (self.residual_threshold or self.beta.any() or self.omega.any())
        self.signals, self.y, self.x = arrays["signals"], arrays["y"], arrays["x"]
        self.file = folder / "model.safetensors"

    def entry(self, name, peer, batch, threads, times, x):
        """A result that bench/run puts beside ours; x is what the peer recovered of the first rows.

        `times` holds peer_us, and ours_us and ratio where both took turns.
        """
        ours = self.x[:len(x)]
        return {"name": name, "model": self.model, "m": self.m, "n": self.n, "layers": self.layers,
                "batch": batch, "threads": threads, "peer": peer, **times,
                "error": float(np.linalg.norm(x - ours) / np.linalg.norm(ours))}


def nmse_db(truth, estimate):
    truth = truth.astype(np.float64)
    ratios = ((truth - estimate) ** 2).sum(1) / (truth ** 2).sum(1)
    return float(10 * np.log10(ratios.mean()))


def microseconds(call, seconds, threads):
    """Median time of call(i), i = 0, 1, 2 and so on.

    Processor time on one thread, wall clock on several.
    """
    clock = time.thread_time_ns if threads == 1 else time.perf_counter_ns
    call(0)
    times = []
    start = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < seconds:
        before = clock()
        call(len(times))
        times.append(clock() - before)
    return {"peer_us": statistics.median(times) / 1000}


def fastest(candidates, seconds, threads):
    """The best of several ways to call the same thing, and its times."""
    times = {name: microseconds(call, seconds, threads) for name, call in candidates.items()}
    return min(times.items(), key=lambda item: item[1]["peer_us"])


class Ours:
    """A case's batch on one thread by our own library, taking turns with a peer here."""

    def __init__(self, case):
        self.library = ctypes.CDLL(str(LIBRARY))
        self.library.pibinn_last_error.restype = ctypes.c_char_p
        self.model, self.workspace = ctypes.c_void_p(), ctypes.c_void_p()
        self.checked(self.library.pibinn_load(bytes(case.file), ctypes.byref(self.model)))
        self.checked(self.library.pibinn_workspace_new(self.model, ctypes.byref(self.workspace)))
        self.y = np.ascontiguousarray(case.y, np.float32)
        self.x = np.empty((len(self.y), case.n), np.float32)
        self()
        difference = np.linalg.norm(self.x - case.x)
        assert difference <= 1e-4 * np.linalg.norm(case.x), "the library recovers something else"

    def checked(self, status):
        if status != 0:
            raise RuntimeError(self.library.pibinn_last_error().decode())

    def __call__(self):
        self.checked(self.library.pibinn_recover_in(
            self.model, self.workspace, ctypes.c_void_p(self.y.ctypes.data),
            ctypes.c_size_t(len(self.y)), ctypes.c_void_p(self.x.ctypes.data)))


def take_turns(calls, seconds):
    """Processor time of one run of each, in microseconds, round by round.

    Every turn begins with some milliseconds that do not count, as those of `pibinn-bench` do.
    """
    def turn(call):
        start = time.perf_counter()
        call()
        while time.perf_counter() - start < SETTLED_S:
            call()
        before = time.thread_time_ns()
        call()
        return (time.thread_time_ns() - before) / 1000

    for call in calls:
        call()
    rounds = []
    start = time.perf_counter()
    while len(rounds) < 3 or time.perf_counter() - start < seconds:
        rounds.append([turn(call) for call in calls])
    return np.array(rounds)


def fastest_batch(case, candidates, seconds, threads):
    """The best of several ways to recover a case's batch, and its times per signal.

    On one thread it takes turns with ours. Threads of a peer go on spinning after its turn, which
    would slow ours down: with several threads ours is what pibinn-bench measured.
    """
    rows = len(case.y)
    if threads > 1:
        calls = {name: lambda i, call=call: call() for name, call in candidates.items()}
        name, times = fastest(calls, seconds, threads)
        return name, {"peer_us": times["peer_us"] / rows}
    names = list(candidates)
    name = names[int(np.median(take_turns(candidates.values(), seconds), axis=0).argmin())]
    rounds = take_turns([Ours(case), candidates[name]], seconds)
    ours_us, peer_us = np.median(rounds, axis=0) / rows
    return name, {"ours_us": float(ours_us), "peer_us": float(peer_us),
                  "ratio": float(np.median(rounds[:, 1] / rounds[:, 0]))}


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
