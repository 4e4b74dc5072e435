"""No code that is compiled for one machine reaches the installed library and program."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tree import ROOT

PROGRAM = Path(os.environ.get("PIBINN", ROOT / "build" / "pibinn"))
BUILD = PROGRAM.parent
# Flags that let a compiler use what other machines lack.
MACHINE_FLAGS = ("-march=", "-mcpu=", "-mtune=", "-mavx", "-mfma", "-msse4")


def machine_objects():
    """Objects of the build tree whose compiler was told of a machine, by path within it."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    return {re.search(r" -o (\S+)", c["command"])[1] for c in commands
            if any(flag in c["command"] for flag in MACHINE_FLAGS)}


def linked_into(target):
    """Every file that the build rules of a target depend on, directly or not."""
    command = ["ninja", "-C", str(BUILD), "-t", "inputs", target]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return set(listing.splitlines())


needs_ninja = pytest.mark.skipif(
    not (BUILD / "build.ninja").exists() or not shutil.which("ninja"),
    reason="skipped: the build tree is not one of ninja's")


@needs_ninja
def test_the_program_contains_no_object_of_one_machine():
    inputs = linked_into(PROGRAM.name)
    assert any("pibinn_program.dir/" in name and name.endswith(".o") for name in inputs)
    assert any(name.endswith("src/infer/kernels/tile_kernel.cpp.o") for name in inputs)
    assert sorted(inputs & machine_objects()) == []


@needs_ninja
def test_only_the_benchmark_is_compiled_for_one_machine():
    machine = machine_objects()
    assert sorted(name for name in machine if not name.startswith("bench/")) == []
    if (BUILD / "bench").is_dir():
        # The check can say no: the benchmark does contain such objects.
        assert machine and machine <= linked_into("pibinn-bench")
