"""Studies over ranks leave the folders of one process."""

import pytest

from launch import SMALL, alone, files, needs_mpi, same_files, sets, together

pytestmark = needs_mpi

GRID = """
[problem]
m = 12
n = 24
train = 300
test = 50
[model]
weights = "one-bit"
[train.stage.pretrain]
epochs = 2
[grid]
"model.layers" = [2, 4]
"problem.density" = [0.05, 0.1]
"""
FIELD = ["field", "--quick", "--networks", "tied-rademacher", *sets("train.stage.tune.epochs=2")]


@pytest.mark.parametrize("ranks", [2, 5])
def test_a_grid_is_the_same_from_ranks(ranks, tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    alone("study", "grid.toml", "--seeds", "2", "--out", "one", cwd=tmp_path)
    said = together(ranks, "study", "grid.toml", "--seeds", "2", "--out", "many", cwd=tmp_path)
    same_files(tmp_path / "one", tmp_path / "many", "model.safetensors", "history.csv")
    assert said.count("Written: ") == 1


def test_a_finished_study_is_not_made_again(tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    together(3, "study", "grid.toml", "--out", "study", cwd=tmp_path)
    cells = {f: (tmp_path / "study" / f).stat().st_mtime_ns for f in files(tmp_path / "study")
             if f.endswith("cell.json")}
    assert len(cells) == 4
    together(2, "study", "grid.toml", "--out", "study", cwd=tmp_path)
    assert all((tmp_path / "study" / f).stat().st_mtime_ns == t for f, t in cells.items())


def test_a_training_that_diverges_is_told_in_its_row(tmp_path):
    (tmp_path / "grid.toml").write_text(GRID.replace('"problem.density" = [0.05, 0.1]',
                                                     '"train.stage.pretrain.learning_rate" = [1e-3, 1e9]'))
    said = together(3, "study", "grid.toml", "--out", "study", cwd=tmp_path)
    assert "Written: " in said
    assert "diverged" in (tmp_path / "study" / "results.json").read_text()


def test_a_comparison_is_the_same_from_ranks(tmp_path):
    words = ["compare", *SMALL, "--weights", "one-bit,ternary", "--architecture", "unrolled"]
    alone(*words, "--out", "one", cwd=tmp_path)
    together(3, *words, "--out", "many", cwd=tmp_path)
    same_files(tmp_path / "one", tmp_path / "many", "model.safetensors", "history.csv")


def test_the_benchmark_of_the_field_is_the_same_from_ranks(tmp_path):
    alone(*FIELD, "--out", "one", cwd=tmp_path)
    together(3, *FIELD, "--out", "many", cwd=tmp_path)
    same_files(tmp_path / "one", tmp_path / "many", "model.safetensors", "history.csv")


def test_the_paper_is_the_same_from_ranks(tmp_path):
    words = ["reproduce", "scale", "--quick"]
    alone(*words, "--out", "one", cwd=tmp_path)
    said = together(4, *words, "--out", "many", cwd=tmp_path)
    same_files(tmp_path / "one", tmp_path / "many", "model.safetensors", "history.csv")
    assert said.count("Written: ") == 1
