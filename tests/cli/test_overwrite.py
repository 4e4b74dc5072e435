"""No verb writes over a file that it reads."""

import numpy as np
import pytest

from conftest import contents, refuse, sets, succeed
from test_verbs import VERBS
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


MODEL = "model.safetensors"
GRID = """[problem]
kind = "arrays"
operator = "A.npy"
x = "x.npy"

[grid]
model.layers = [1, 2]
"""

JSON = [
    ["inspect", MODEL, "--json", MODEL],
    ["inspect", MODEL, "--json", "./link.safetensors"],
    ["inspect", "link.safetensors", "--json", MODEL],
    ["inspect", MODEL, "--json", "hard.safetensors"],
    ["inspect", "A.npy", "--structure", "--json", "A.npy"],
    ["inspect", MODEL, "--picture", "new.svg", "--json", "new.svg"],
    ["recover", MODEL, "--in", "y.npy", "--out", "x1.npy", "--json", "y.npy"],
    ["recover", MODEL, "--in", "y.npz:y", "--out", "x1.npy", "--json", "y.npz"],
    ["recover", MODEL, "--in", "y.npy", "--out", "new.npy", "--json", "new.npy"],
    ["recover", MODEL, "--in", "y.npy", "--out", "new.npy", "--json", "dangling.npy"],
    ["recover", MODEL, "--in", "y.npy", "--out", "new.npz:x", "--json", "./new.npz"],
    ["eval", MODEL, "--signals", "x.npy", "--json", "x.npy"],
    ["eval", MODEL, "--signals", "x.npy", "--measurements", "y.npy", "--json", "y.npy"],
    ["solve", "--solver", "omp", "--operator", "A.npy", "--in", "y.npy", "--out", "x1.npy",
     "--json", "A.npy"],
    ["certify", MODEL, "--support", "1,5", "--json", MODEL],
    ["certify", MODEL, "--support", "1,5", "--attach", "--json", MODEL],
    ["certify", MODEL, "--support", "1,5", "--out", "c", "--json", "c"],
    ["export", MODEL, "--to", "npz", "--out", "m.npz", "--json", "m.npz"],
    ["train", "c.toml", "--out", "r", "--json", "c.toml"],
    ["train", "--out", "r.json", "--json", "r.json"],
    ["train", "--out", "folder", "--json", "folder/model.safetensors"],
    ["train", "--out", "folder", "--json", "folder/summary.json"],
    ["train", *sets("problem.kind=arrays", "problem.operator=A.npy", "problem.x=x.npy"), "--out",
     "r", "--json", "x.npy"],
    ["train", *sets("problem.kind=images", "problem.path=folder"), "--out", "r", "--json",
     "folder/a.png"],
    ["compare", "c.toml", "--out", "r", "--json", "c.toml"],
    ["compare", "--out", "folder", "--json", "folder/compare.json"],
    ["demo", "--out", "folder", "--json", "folder/report.html"],
    ["demo", *sets("problem.operator=A.npy"), "--out", "folder", "--json", "A.npy"],
    ["sample", "--out", "folder", "--json", "folder/A.npy"],
    ["init", "--out", "new.safetensors", "--json", "new.safetensors"],
    ["certify", MODEL, "--calibrate", "x.npy", "--json", "x.npy"],
    ["certify", MODEL, "--calibrate", "x.npy", "--measurements", "y.npy", "--json", "y.npy"],
    ["recover-image", MODEL, "folder/a.png", "--out", "b.png", "--json", "folder/a.png"],
    ["study", "grid.toml", "--out", "s", "--json", "grid.toml"],
    ["study", "grid.toml", "--out", "s", "--json", "x.npy"],
    ["study", "grid.toml", "--out", "s", "--json", "A.npy"],
    ["study", "grid.toml", "--out", "folder", "--json", "folder/study.json"],
    ["study", "grid.toml", *sets("problem.x=y.npy"), "--out", "s", "--json", "y.npy"],
    ["field", "--quick", "--out", "folder", "--json", "folder/field.json"],
    ["field", "--quick", "--out", "folder", "--json", "folder/references/a.json"],
    ["reproduce", "table1", "--images", "folder", "--out", "p", "--json", "folder/a.png"],
    ["reproduce", "table1", "--eeg", "folder", "--out", "p", "--json", "folder/a.png"],
    ["reproduce", "table1", "--out", "folder", "--json", "folder/reproduction.json"],
    ["reproduce", "field", "--out", "folder", "--json", "folder/field/field.json"],
]


def test_every_verb_with_json_has_a_line():
    said = succeed("--help")
    lines = said[said.index("Verbs:\n"):].split("\n\n")[0].split("\n")[1:]
    verbs = [line.split()[0] for line in lines]
    assert set(VERBS) <= set(verbs)
    # These two read and write no file that a JSON file could be.
    assert set(verbs) - {words[0] for words in JSON} <= {"config", "kernels"}


@pytest.mark.parametrize("arguments", JSON)
def test_a_json_file_that_is_an_input_or_an_output_is_refused(arguments, work):
    (work / "link.safetensors").symlink_to(MODEL)
    (work / "hard.safetensors").hardlink_to(work / MODEL)
    (work / "dangling.npy").symlink_to("new.npy")
    np.savez(work / "y.npz", y=np.load(work / "y.npy"))
    (work / "c.toml").write_text("")
    (work / "grid.toml").write_text(GRID)
    (work / "folder").mkdir()
    (work / "folder" / "a.png").write_bytes(png_bytes(disc_picture(1)))
    before = contents(work)
    line = refuse(*arguments, cwd=work)
    assert "--json '" in line and "would overwrite" in line
    assert line.endswith("choose another file for --json")
    assert contents(work) == before


@pytest.mark.parametrize("name", ["results.csv", "results.md", "report.html"])
def test_a_file_of_results_that_a_study_reads_is_kept(name, work):
    (work / "grid.toml").write_text(GRID)
    (work / "o").mkdir()
    (work / "o" / name).write_bytes((work / "grid.toml").read_bytes())
    line = refuse("study", f"o/{name}", "--out", "o", cwd=work)
    assert f"the output 'o/{name}' would overwrite the input 'o/{name}'" in line


def test_an_array_beside_the_results_of_a_study_is_kept(work):
    (work / "grid.toml").write_text(GRID)
    (work / "o").mkdir()
    np.savetxt(work / "o" / "results.csv", np.load(work / "x.npy"), delimiter=",")
    line = refuse("study", "grid.toml", *sets("problem.x=o/results.csv"), "--out", "o", cwd=work)
    assert "the output 'o/results.csv' would overwrite the input 'o/results.csv'" in line


def test_a_json_file_beside_the_picture_of_a_picture_is_refused(tmp_path):
    (tmp_path / "p.png").write_bytes(png_bytes(disc_picture(1)))
    line = refuse("recover-image", "m", "p.png", "--out", "q.png", "--json", "q-side-by-side.png",
                  cwd=tmp_path)
    assert "--json 'q-side-by-side.png' would overwrite" in line


def test_other_json_files_and_devices_are_taken(work):
    succeed("inspect", MODEL, "--json", "r.json", "--quiet", cwd=work)
    succeed("inspect", MODEL, "--json", "r.json", "--quiet", cwd=work)
    succeed("inspect", MODEL, "--json", "/dev/null", "--quiet", cwd=work)
    succeed("certify", MODEL, "--support", "1,5", "--samples", 5, "--out", "c", "--quiet", cwd=work)
    succeed("certify", MODEL, "--support", "1,5", "--samples", 5, "--out", "c", "--quiet", "--json",
            "c/mine.json", cwd=work)
    assert (work / "c" / "mine.json").read_bytes() == (work / "c" / "certificate.json").read_bytes()


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
