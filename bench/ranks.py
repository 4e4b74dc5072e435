"""Measures a training of 256 x 512 over ranks of one thread, in turn, and the transport between them.

Usage: python bench/ranks.py [--ranks 1,2] [--rounds 5] [--weights one-bit] [--batch 512]
       [--most-load 0.3]. Waits until the machine is as idle as asked, for at most ten minutes.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("PIBINN", str(ROOT / "build" / "pibinn"))
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
PROBLEM = ["problem.m=256", "problem.n=512", "problem.test=200", "model.layers=10"]
STAGES = {"tied": ["train.stage.tune.epochs=6"]}
FLOAT_STAGES = ["train.stage.pretrain.epochs=4", "train.stage.joint.epochs=1",
                "train.stage.stage2.epochs=1"]


def launch(ranks, *words):
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *words]
    return subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout


def busy():
    """The share of all cores that was not idle during a second."""
    def read():
        numbers = list(map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:]))
        return numbers[3] + numbers[4], sum(numbers)
    idle, total = read()
    time.sleep(1)
    idle_now, total_now = read()
    return 1 - (idle_now - idle) / max(1, total_now - total)


def wait_for_idle(most):
    end = time.monotonic() + 600
    while busy() > most and time.monotonic() < end:
        pass


def seconds(ranks, weights, batch):
    """Of the epochs alone: no start, no scores."""
    settings = [*PROBLEM, f"model.weights={weights}", f"train.batch={batch}",
                *STAGES.get(weights, FLOAT_STAGES)]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        launch(ranks, PROGRAM, "train", *[w for s in settings for w in ("--set", s)],
               "--threads", "1", "--quiet", "--out", str(out))
        return sum(json.loads((out / "summary.json").read_text())["seconds"].values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--weights", default="one-bit")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--most-load", type=float, default=1, help="busy share of the cores (1)")
    arguments = parser.parse_args()
    counts = list(map(int, arguments.ranks.split(",")))
    taken = {ranks: [] for ranks in counts}
    for _ in range(arguments.rounds):
        for ranks in counts:
            wait_for_idle(arguments.most_load)
            taken[ranks].append(seconds(ranks, arguments.weights, arguments.batch))
    first = taken[counts[0]]
    print("| ranks | seconds, median (range) | speed-up, median (range) of pairs |\n|---|---|---|")
    for ranks, times in taken.items():
        gains = [a / b for a, b in zip(first, times)]
        print(f"| {ranks} | {statistics.median(times):.2f} ({min(times):.2f} to {max(times):.2f}) | "
              f"{statistics.median(gains):.2f} ({min(gains):.2f} to {max(gains):.2f}) |")
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "pingpong")
        subprocess.run(["mpicc", "-O2", "-o", program, str(ROOT / "bench" / "pingpong.c")], check=True)
        print("\n" + launch(2, program))


if __name__ == "__main__":
    main()
