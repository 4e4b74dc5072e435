"""Tries what a machine does to a program, and prints how it ended.

Usage: PIBINN=build/pibinn python tests/faults [--quick] [--seed N] [--only NAME]...
Each fault has an expected end. The exit status is 1 if any try ended otherwise.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import disks
import kills
import paths
import together
from bench import Bench

ROOT = Path(__file__).resolve().parents[2]
GROUPS = {"kills": kills, "disks": disks, "paths": paths, "together": together}
QUICK = 0.05  # of the tries


def table(rows):
    lines = ["| fault | tries | expected end | failures |", "|---|---:|---|---:|"]
    for row in rows:
        failures = f"skipped: {row.skipped}" if row.skipped else len(row.failures)
        lines.append(f"| {row.fault} | {row.tries} | {row.expected} | {failures} |")
    failures = sum(len(row.failures) for row in rows)
    lines.append(f"| all | {sum(row.tries for row in rows)} | | {failures} |")
    return "\n".join(lines), failures


def main():
    parser = argparse.ArgumentParser(prog="tests/faults", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few tries of each")
    parser.add_argument("--seed", type=int, default=1, help="of the times and signals (1)")
    parser.add_argument("--only", action="append", choices=GROUPS, help="one group; again for more")
    arguments = parser.parse_args()
    program = Path(os.environ.get("PIBINN", ROOT / "build" / "pibinn"))
    begin = time.monotonic()
    bench = Bench(program, QUICK if arguments.quick else 1, arguments.seed)
    try:
        for name in arguments.only or GROUPS:
            GROUPS[name].FAULTS(bench)
    finally:
        bench.close()
    text, failures = table(bench.rows)
    print(text)
    print(f"\n{time.monotonic() - begin:.0f} s, seed {arguments.seed}")
    for row in bench.rows:
        for what in row.failures:
            print(f"faults: {row.fault}: {what}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
