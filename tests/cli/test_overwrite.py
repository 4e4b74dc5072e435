"""No verb writes over a file that it reads."""

import numpy as np
import pytest

from conftest import refuse, sets, succeed
from pictures import disc_picture, png_bytes


@pytest.mark.parametrize("arguments", [
    ["recover", "model.safetensors", "--in", "y.npy", "--out", "y.npy"],
    ["recover", "model.safetensors", "--in", "y.npy", "--out", "./link.npy"],
    ["recover", "model.safetensors", "--in", "y.npz:y", "--layers", "all", "--out", "y.npz"],
    ["solve", "--solver", "omp", "--operator", "A.npy", "--in", "y.npy", "--out", "A.npy"],
    ["solve", "--solver", "omp", "--operator", "A.npy", "--in", "y.npy", "--out", "y.npy"],
    ["solve", "--solver", "omp", "--operator", "A.npy", "--in", "y.npz:y", "--out", "y.npz:x"],
    ["sample", *sets("problem.kind=arrays", "problem.operator=A.npy", "problem.x=x.npy"), "--out",
     "."],
])
def test_an_output_that_is_an_input_is_refused(arguments, work):
    (work / "link.npy").symlink_to("y.npy")
    np.savez(work / "y.npz", y=np.load(work / "y.npy"))
    assert "would overwrite the input" in refuse(*arguments, cwd=work)


def test_sample_keeps_the_arrays_of_another(tmp_path):
    small = sets("problem.m=4", "problem.n=6", "problem.train=3", "problem.test=2")
    succeed("sample", *small, "--out", "data", cwd=tmp_path)
    line = refuse("sample", *small, "--seed", "2", "--out", "data", cwd=tmp_path)
    assert "'data' already holds A.npy; choose another --out" in line
    # One of the files is enough to refuse, and another format has other files.
    for name in ("A", "x_train", "y_train", "x_test"):
        (tmp_path / "data" / f"{name}.npy").unlink()
    assert "already holds y_test.npy" in refuse("sample", *small, "--out", "data", cwd=tmp_path)
    succeed("sample", *small, "--format", "csv", "--out", "data", cwd=tmp_path)
    assert "already holds A.csv" in refuse("sample", *small, "--format", "csv", "--out", "data",
                                           cwd=tmp_path)


def test_a_picture_and_the_one_beside_it_are_kept(tmp_path):
    (tmp_path / "photos").mkdir()
    for name in ("a", "b", "a-side-by-side"):
        (tmp_path / "photos" / f"{name}.png").write_bytes(png_bytes(disc_picture(len(name))))
    succeed("init", *sets("problem.kind=images", "problem.path=photos", "model.layers=2"),
            "--out", "m.safetensors", cwd=tmp_path)
    for photo in ("a", "a-side-by-side"):
        line = refuse("recover-image", "m.safetensors", f"photos/{photo}.png", "--out",
                      "photos/a.png", cwd=tmp_path)
        assert f"would overwrite the input 'photos/{photo}.png'" in line
