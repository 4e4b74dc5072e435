"""Structures that contradict the operator: refused, with the row or column at fault."""

import numpy as np
import pytest

from conftest import refuse, sets

FULL = np.arange(1, 61, dtype="f4").reshape(6, 10)


def holed(row=None, col=None):
    a = FULL.copy()
    if row is not None:
        a[row] = 0
    if col is not None:
        a[:, col] = 0
    return a


@pytest.mark.parametrize("a, words", [
    (holed(row=4), ["bad.npy", "measurement (row) 4"]),
    (holed(col=7), ["bad.npy", "signal entry (column) 7"]),
])
def test_rows_and_columns_of_zeros_are_named(a, words, tmp_path):
    np.save(tmp_path / "bad.npy", a)
    np.save(tmp_path / "x.npy", np.ones((5, 10)))
    lines = [refuse("inspect", "bad.npy", "--structure", "--out", "s", "--picture", "p.svg",
                    cwd=tmp_path)]
    for kind in (["problem.kind=synthetic"], ["problem.kind=arrays", "problem.x=x.npy"]):
        lines.append(refuse("train", *sets(*kind, "problem.operator=bad.npy",
                                           "problem.structure=mask"), "--out", "run",
                            cwd=tmp_path))
    for line in lines:
        assert all(word in line for word in words), line


@pytest.mark.parametrize("settings, words", [
    (["problem.blocks=[[3, 5], [2, 5]]"], ["row 5", "column 10", "6 x 10"]),
    (["problem.blocks=[[3, 5], [3, 5]]"], ["row 0, column 5", "A.npy"]),
    (["problem.repeat=4"], ["6 x 10", "4 equal blocks"]),
    (["problem.blocks=[[3, 5, 1]]"], ["block 0", "3 sizes"]),
    (["problem.blocks=[]"], ["0 blocks"]),
    (["problem.blocks=[[3, 0]]"], ["0 is out of range"]),
    (["problem.blocks=[3, 5]"], ["list"]),
    (["problem.blocks=[[3, 5], [3, 5]]", "problem.repeat=2"], ["repeat is given too"]),
    (["problem.blocks=[[6, 10]]", "problem.structure=dense"], ["structure is 'dense'"]),
    (["problem.mask_density=0.5"], ["structure is 'blocks'"]),
    (["problem.structure=mask", "problem.mask_density=0.5"], ["non-zero entries"]),
    (['problem.operator=["A.npy", "none.npy"]'], ["none.npy"]),
    (["problem.operator=[]"], ["list of files"]),
    (['problem.operator=["A.npy"]', "problem.structure=dense"], ["blocks of a diagonal"]),
    (['problem.operator=["A.npy"]', "problem.blocks=[[6, 10]]"], ["their own sizes"]),
])
def test_what_contradicts_the_operator_is_refused(settings, words, tmp_path):
    np.save(tmp_path / "A.npy", FULL)
    line = refuse("init", *sets("problem.operator=A.npy", "problem.structure=blocks", *settings),
                  "--out", "m.safetensors", cwd=tmp_path)
    assert all(word in line for word in words), line


@pytest.mark.parametrize("density", ["0", "-0.1", "1.5", "much"])
def test_a_mask_needs_a_share_of_links(density, tmp_path):
    line = refuse("init", *sets("problem.structure=mask", f"problem.mask_density={density}"),
                  "--out", "m.safetensors", cwd=tmp_path)
    assert "mask_density" in line


@pytest.mark.parametrize("options, words", [
    (["A.npy"], ["is an array", "--structure"]),
    (["model.safetensors", "--structure"], ["needs a matrix"]),
    (["model.safetensors", "--layers", "3"], ["--layers belongs to --structure"]),
    (["model.safetensors", "--zero-below", "3"], ["--zero-below belongs"]),
    (["model.safetensors", "--out", "s"], ["--out belongs"]),
    (["model.safetensors", "--picture", "p.pdf"], ["p.pdf", ".svg or .png"]),
    (["A.npy", "--structure", "--layers", "0"], ["--layers 0"]),
    (["A.npy", "--structure", "--zero-below", "-1"], ["--zero-below -1"]),
    (["A.npy", "--structure", "--zero-below", "nan"], ["--zero-below nan"]),
    (["A.npy", "--structure", "--zero-below", "1e9"], ["row", "nothing but zeros"]),
    (["A.npy", "--structure", "--out", "."], ["would overwrite"]),
    (["none.npy", "--structure"], ["none.npy"]),
])
def test_inspections_that_do_not_fit_are_refused(options, words, work):
    line = refuse("inspect", *options, cwd=work)
    assert all(word in line for word in words), line
