"""Measures a training of 256 x 512 over ranks of one thread, in turn, and the transport between them.

Usage: python bench/ranks.py [--ranks 1,2] [--rounds 5] [--weights one-bit] [--batch 512]
       [--most-load 0.3] [--processor-time] [--ahead]. Waits until the machine is as idle as asked,
       for at most ten minutes. On a machine that others use too, --ahead (of root) lets the ranks go
       before all other work, so that the clock says something, and --processor-time shows the
       seconds that the busiest rank works in an epoch, waiting included.
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
ARGUMENTS = argparse.Namespace()
EPOCHS = 4
MORE_EPOCHS = 8  # beside those, for what one epoch takes
# Each rank leaves the seconds of its own processor time.
TIMED = 'TIMEFORMAT="%U %S"; { time "$0" "$@"; } 2> "$OUT/time-$OMPI_COMM_WORLD_RANK"'


# Linux weighs sessions against each other before the processes of one.
AHEAD = ["setsid", "--wait", "bash", "-c", 'echo -19 > /proc/self/autogroup; exec "$0" "$@"']


def launch(ranks, *words):
    command = [*(AHEAD if ARGUMENTS.ahead else []), "mpirun", "--oversubscribe", "--bind-to", "none",
               "-n", str(ranks), *words]
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


def settings(weights, batch, epochs):
    stages = ([f"train.stage.tune.epochs={epochs}"] if weights == "tied" else
              [f"train.stage.pretrain.epochs={epochs}", "train.stage.joint.epochs=1",
               "train.stage.stage2.epochs=1"])
    words = [*PROBLEM, f"model.weights={weights}", f"train.batch={batch}", *stages]
    return [w for word in words for w in ("--set", word)]


def train(ranks, weights, batch, epochs):
    """Seconds of all epochs by the clock, and of the processor of each rank, all included."""
    with tempfile.TemporaryDirectory() as folder:
        ENVIRONMENT["OUT"] = folder
        out = Path(folder) / "run"
        launch(ranks, "bash", "-c", TIMED, PROGRAM, "train", *settings(weights, batch, epochs),
               "--threads", "1", "--quiet", "--out", str(out))
        clock = sum(json.loads((out / "summary.json").read_text())["seconds"].values())
        own = [sum(map(float, (Path(folder) / f"time-{r}").read_text().split()[-2:]))
               for r in range(ranks)]
        return clock, own


def seconds(ranks, arguments):
    """Of the epochs alone: no start, no scores."""
    many = train(ranks, arguments.weights, arguments.batch, EPOCHS + MORE_EPOCHS)
    if not arguments.processor_time:
        return many[0] / (EPOCHS + MORE_EPOCHS + 2)
    few = train(ranks, arguments.weights, arguments.batch, EPOCHS)
    return max(b - a for a, b in zip(few[1], many[1])) / MORE_EPOCHS


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--weights", default="one-bit")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--most-load", type=float, default=1, help="busy share of the cores (1)")
    parser.add_argument("--processor-time", action="store_true")
    parser.add_argument("--ahead", action="store_true")
    arguments = parser.parse_args(namespace=ARGUMENTS)
    counts = list(map(int, arguments.ranks.split(",")))
    taken = {ranks: [] for ranks in counts}
    for _ in range(arguments.rounds):
        for ranks in counts:
            wait_for_idle(arguments.most_load)
            taken[ranks].append(seconds(ranks, arguments))
    first = taken[counts[0]]
    print("| ranks | seconds of an epoch, median (range) | speed-up, median (range) of pairs |\n|---|---|---|")
    for ranks, times in taken.items():
        gains = [a / b for a, b in zip(first, times)]
        print(f"| {ranks} | {statistics.median(times):.3f} ({min(times):.3f} to {max(times):.3f}) | "
              f"{statistics.median(gains):.2f} ({min(gains):.2f} to {max(gains):.2f}) |")
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "pingpong")
        subprocess.run(["mpicc", "-O2", "-o", program, str(ROOT / "bench" / "pingpong.c")], check=True)
        print("\n" + launch(2, program))


if __name__ == "__main__":
    main()
