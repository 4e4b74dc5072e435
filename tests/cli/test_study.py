"""Every combination of a grid."""

import csv
import json

import pytest

from conftest import contents, refuse, succeed, tree

GRID = """[problem]
m = 12
n = 20
density = 0.1
train = 200
test = 50

[train]
recipe = "paper"
batch = 50

[train.stage.pretrain]
epochs = 3

[train.stage.stage1]
epochs = 3

[train.stage.stage2]
epochs = 2

[grid]
model.layers = [2, 3]
model.weights = ["one-bit", "float"]
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "grid.toml").write_text(GRID)
    text = succeed("study", "grid.toml", "--seeds", "2", "--out", "s", "--json", "-", cwd=folder)
    return folder, json.loads(text)


def test_every_combination_has_a_row_and_its_trainings(study):
    folder, result = study
    assert result["keys"] == ["model.layers", "model.weights"] and result["seeds"] == 2
    assert [tuple(r["values"].values()) for r in result["rows"]] == [
        ("2", "one-bit"), ("2", "float"), ("3", "one-bit"), ("3", "float")]
    assert json.loads((folder / "s" / "results.json").read_text()) == result
    for row in result["rows"]:
        for seed in (1, 2):
            assert tree(folder / "s" / row["folder"] / f"seed-{seed}") == [
                "cell.json", "history.csv", "model.safetensors"]
    with open(folder / "s" / "results.csv", newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["model.weights"] for line in lines] == ["one-bit", "float"] * 2
    assert float(lines[1]["test_nmse_db"]) == pytest.approx(
        result["rows"][1]["test_nmse_db"]["mean"], rel=1e-6)
    page = (folder / "s" / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page and "pibinn study grid.toml --seeds 2 --out DIR" in page


def test_a_cell_is_the_training_that_train_makes(study, tmp_path):
    folder, result = study
    (folder / "alone.toml").write_text(GRID[:GRID.index("[grid]")])
    succeed("train", folder / "alone.toml", "--set", "model.layers=3", "--set",
            "model.weights=one-bit", "--seed", "2", "--out", tmp_path / "run")
    cell = folder / "s" / result["rows"][2]["folder"] / "seed-2"
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == \
        (cell / "model.safetensors").read_bytes()


def test_the_same_command_trains_nothing_again_and_a_longer_list_only_what_is_new(study):
    folder, result = study
    before = contents(folder / "s")
    assert json.loads(succeed("study", "grid.toml", "--seeds", "2", "--out", "s", "--json", "-",
                              cwd=folder)) == result
    assert contents(folder / "s") == before
    (folder / "grid.toml").write_text(GRID.replace("[2, 3]", "[2, 3, 4]"))
    longer = json.loads(succeed("study", "grid.toml", "--seeds", "2", "--out", "s", "--json", "-",
                                cwd=folder))
    (folder / "grid.toml").write_text(GRID)
    assert longer["rows"][:4] == result["rows"] and len(longer["rows"]) == 6
    after = contents(folder / "s")
    assert all(after[name] == content for name, content in before.items() if "seed-" in name)


def test_a_training_that_diverges_is_told_and_does_not_stop_the_others(tmp_path):
    (tmp_path / "grid.toml").write_text(GRID.replace(
        "[grid]", "[grid]\ntrain.stage.pretrain.learning_rate = [1e-3, 1e30]").replace("2, 3", "2"))
    rows = json.loads(succeed("study", "grid.toml", "--out", "s", "--json", "-", cwd=tmp_path))["rows"]
    assert [bool(row["note"]) for row in rows] == [False, False, True, True]
    assert "1 of 1 seeds failed: training diverged" in rows[3]["note"]
    assert rows[3]["test_nmse_db"] is None and rows[0]["test_nmse_db"]["mean"] < 0


@pytest.mark.parametrize("grid, what", [
    ("model.layer = [2]", "grid.toml:22: unknown key 'model.layer'; did you mean 'model.layers'?"),
    ("model.layers = 2", "'grid.model.layers': expected a list of values"),
    ("model.layers = [2, 0]", "0 is out of range"),
    ("model.weights = [\"two-bit\"]", "unknown weights 'two-bit'"),
    ("", "no section [grid]"),
])
def test_a_wrong_grid_is_refused_before_anything_is_made(grid, what, tmp_path):
    (tmp_path / "grid.toml").write_text(GRID[:GRID.index("[grid]")] + "[grid]\n" + grid + "\n")
    assert what in refuse("study", "grid.toml", "--out", "s", cwd=tmp_path)


def test_a_device_that_is_not_there_is_refused_before_anything_is_made(tmp_path):
    (tmp_path / "grid.toml").write_text("[grid]\nmodel.layers = [2, 3]\n")
    for words in (("study", "grid.toml"), ("reproduce", "bits")):
        assert "unknown device 'gpu'" in refuse(*words, "--device", "gpu", "--out", "s", cwd=tmp_path)
        assert tree(tmp_path) == ["grid.toml"]


def test_a_million_cells_are_counted_and_asked_about(tmp_path):
    many = list(range(1, 101))
    (tmp_path / "grid.toml").write_text(
        f"[grid]\nmodel.layers = {many}\nproblem.m = {many}\nproblem.n = {many}\n")
    line = refuse("study", "grid.toml", "--out", "s", cwd=tmp_path)
    assert "1,000,000 trainings" in line and "--yes" in line


def test_another_configuration_and_other_folders_are_refused(study, tmp_path):
    folder, _ = study
    assert "of another configuration" in refuse(
        "study", "grid.toml", "--set", "problem.m=13", "--seeds", "2", "--out", "s", cwd=folder)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "compare.json").write_text("{}")
    (tmp_path / "grid.toml").write_text(GRID)
    assert "of no study" in refuse("study", "grid.toml", "--out", "run", cwd=tmp_path)


@pytest.mark.parametrize("name", ["study.json", "cell.json"])
def test_a_study_file_that_nests_deep_is_refused(study, tmp_path, name):
    """A parser that calls itself for every level would end the process."""
    _, result = study
    deep = "[" * 100_000 + "]" * 100_000
    if name == "study.json":
        file = tmp_path / "s" / "study.json"
    else:
        file = tmp_path / "s" / result["rows"][0]["folder"] / "seed-1" / "cell.json"
    (tmp_path / "grid.toml").write_text(GRID)
    file.parent.mkdir(parents=True)
    file.write_text(f'{{"kind":{deep},"version":"1"}}')
    line = refuse("study", "grid.toml", "--seeds", "2", "--out", "s", cwd=tmp_path)
    assert "levels deep" in line and file.name in line


def test_a_folder_of_results_without_its_study_is_refused(tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "results.md").write_text("# Somebody else's\n")
    (tmp_path / "grid.toml").write_text(GRID)
    assert "results.md" in refuse("study", "grid.toml", "--out", "s", cwd=tmp_path)
    assert (tmp_path / "s" / "results.md").read_text() == "# Somebody else's\n"
