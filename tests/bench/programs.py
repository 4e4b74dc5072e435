"""The two programs that these tests run: pibinn-bench, and pibinn for models to measure."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("PIBINN", ROOT / "build" / "pibinn"))
BENCH = PROGRAM.with_name("pibinn-bench")

needs_bench = pytest.mark.skipif(
    not BENCH.exists(), reason="skipped: pibinn-bench is not built (PIBINN_BENCH is off)")


def run(program, *arguments, **options):
    return subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, **options)


def succeed(program, *arguments):
    result = run(program, *arguments)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def bench(*arguments):
    """What pibinn-bench tells a program."""
    return json.loads(succeed(BENCH, *arguments, "--json", "-"))


def model(path, *settings):
    """An untrained model of 12 x 20 and three layers at `path`."""
    sizes = ["problem.m=12", "problem.n=20", "problem.train=8", "problem.test=5", "model.layers=3"]
    words = [word for setting in [*sizes, *settings] for word in ("--set", setting)]
    succeed(PROGRAM, "init", *words, "--out", path)
    return path
