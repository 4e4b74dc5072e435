"""Drivers of CUDA that are missing, too old or without a device: one line that says which, and nothing made."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM, refuse, run

pytestmark = pytest.mark.skipif(not (PROGRAM.parent / "libpibinn_cuda.so").exists(),
                                reason="skipped: built without CUDA")


@pytest.fixture(scope="module")
def drivers(tmp_path_factory):
    """A folder whose libcuda.so.1 the program finds before the system's."""
    folder = tmp_path_factory.mktemp("driver")
    compiler = shutil.which("cc") or shutil.which("gcc")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "libcuda.so.1",
                    Path(__file__).with_name("cuda_driver.c")], check=True)
    return folder


def environment(drivers, fault):
    return {**os.environ, "LD_LIBRARY_PATH": str(drivers), "DRIVER_FAULT": fault}


@pytest.mark.parametrize("fault, words", [
    ("old", "the driver knows CUDA 11.0, and this build needs 13"),
    ("none", "no CUDA-capable device is detected"),
])
def test_a_driver_that_cannot_serve_is_told_by_its_fault(fault, words, drivers, tmp_path):
    line = refuse("train", "--device", "cuda", "--out", "run", cwd=tmp_path, env=environment(drivers, fault))
    assert "no CUDA device" in line and words in line and "--device cpu" in line


def test_no_driver_at_all_is_told(drivers, tmp_path):
    """The runtime takes a library that is none for a driver that is not installed."""
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "libcuda.so.1").write_bytes(b"")
    out = tmp_path / "out"
    out.mkdir()
    line = refuse("train", "--device", "cuda", "--out", "run", cwd=out,
                  env={**os.environ, "LD_LIBRARY_PATH": str(empty)})
    assert "no CUDA device" in line and "no driver is installed" in line


@pytest.mark.parametrize("fault", ["old", "none"])
def test_everything_else_works_beside_such_a_driver(fault, drivers):
    result = run("--version", env=environment(drivers, fault))
    assert result.returncode == 0 and "devices: cpu\n" in result.stdout
