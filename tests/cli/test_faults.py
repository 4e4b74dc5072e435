"""A small share of 'make faults': full disks and limits."""

import os
import re
import subprocess
import sys

from conftest import PROGRAM, ROOT

FAULTS = [sys.executable, str(ROOT / "tests" / "faults"), "--quick", "--only", "disks"]


def campaign(program):
    return subprocess.run(FAULTS, env={**os.environ, "PIBINN": str(program)}, capture_output=True,
                          text=True, timeout=300)


def test_every_fault_of_a_disk_has_its_expected_end():
    result = campaign(PROGRAM)
    assert result.returncode == 0, result.stderr
    tries, failures = re.search(r"^\| all \| (\d+) \| \| (\d+) \|$", result.stdout,
                                re.MULTILINE).groups()
    assert int(tries) > 5 and failures == "0"


def test_a_program_that_does_not_hold_is_found(tmp_path):
    """One that ends well whatever happens to its disk."""
    careless = tmp_path / "careless"
    careless.write_text(f'#!/bin/sh\n"{PROGRAM}" "$@"\nexit 0\n')
    careless.chmod(0o755)
    result = campaign(careless)
    assert result.returncode == 1
    assert "faults: limit on the size of files: recover: Ended(code=0" in result.stderr
