"""The walks of docs/guide.md, with files made as it says and commands as they are written."""

import json
import os
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from conftest import PROGRAM, ROOT, load, refuse, run, sets, succeed, tree
from pictures import read_png

GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
# The recipe of the guide is the default; here it is cut short.
QUICK = sets("train.stage.pretrain.epochs=3", "train.stage.joint.epochs=3",
             "train.stage.stage2.epochs=2")
RESULTS = {
    "Your own photos": ["photo-recovered.png", "photo-recovered-side-by-side.png",
                        "photo-wiener.png",
                        "run-photos/report.html"],
    "Your own EEG": ["run-eeg/report.html", "run-eeg/model.npz", "recovered.npy"],
    "Your own matrix": ["run-matrix/model.safetensors", "x_new.npy"],
}


def quick_of(words):
    if words[0] != "train":
        return []
    return sets("train.stage.tune.epochs=3") if "model.weights=tied" in words else QUICK


def section(title):
    return re.split(r"^## ", GUIDE[GUIDE.index(f"## {title}") + 3:], flags=re.MULTILINE)[0]


def joined(text):
    """The text with every command on one line, as the shell reads it."""
    return re.sub(r" \\\n +", " ", text)


def commands_of(text):
    """The commands of the text as lists of words, without the name of the program."""
    found = re.findall(r"^    build/pibinn (.*)$", joined(text), re.MULTILINE)
    return [shlex.split(command) for command in found]


def test_the_walk_of_complex_data_works_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "complex.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, "complex.md", "exec"), {})
    commands = commands_of(text)
    assert [words[0] for words in commands] == ["train", "recover", "eval"]
    for words in commands:
        succeed(*words, *quick_of(words), cwd=tmp_path)
    x, found = load(tmp_path / "x_new.npy"), load(tmp_path / "recovered.npy")
    assert found.dtype == np.complex64 and found.shape == x.shape
    assert np.sum(np.abs(found - x) ** 2) < 0.1 * np.sum(np.abs(x) ** 2)


@pytest.mark.parametrize("title", RESULTS)
def test_a_walk_works_as_written(title, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = section(title)
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, title, "exec"), {})
    commands = commands_of(text)
    assert len(commands) == len(re.findall(r"^    \S*pibinn ", text, re.MULTILINE)) >= 2
    for words in commands:
        succeed(*words, *quick_of(words), cwd=tmp_path)
    for name in RESULTS[title]:
        assert name in tree(tmp_path)
    if title == "Your own photos":
        assert read_png(tmp_path / "photo-recovered.png").shape == (96, 128)
    if title == "Your own EEG":
        test = json.loads(succeed("eval", "run-eeg/model.safetensors", "--signals",
                                  "eeg-data/x_test.npy", "--measurements", "eeg-data/y_test.npy",
                                  "--json", "-", cwd=tmp_path))
        summary = json.loads((tmp_path / "run-eeg" / "summary.json").read_text())
        assert abs(test["nmse_db"] - summary["test_nmse_db"]) < 1e-3
        x, found = load(tmp_path / "eeg-data" / "x_test.npy"), load(tmp_path / "recovered.npy")
        assert found.shape == x.shape and np.sum((found - x) ** 2) < np.sum(x ** 2)
        model, c = load(tmp_path / "run-eeg" / "model.npz"), load(tmp_path / "eeg-data" / "c_test.npy")
        np.testing.assert_allclose(model["deviation"] * c @ model["basis"].T + model["mean"], x,
                                   atol=1e-4)
    if title == "Your own matrix":
        assert load(tmp_path / "x_new.npy").shape == (500, 64)


def test_the_guide_names_every_key_of_real_data():
    listed = json.loads(succeed("config", "--json", "-"))["keys"]
    problem = {entry["key"]: entry["kinds"] for entry in listed if entry["section"] == "problem"}
    real = {key for key, kinds in problem.items()
            if re.search(r"\b(images|signals)\b", kinds) and "synthetic" not in kinds}
    assert len(real) >= 10
    named = set(re.findall(r"^(\w+) = ", section("The keys of real data"), re.MULTILINE))
    assert real - named == set()
    assert named - set(problem) == set()


def test_a_structured_matrix_from_file_to_recovered_signals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = section("Your own structured matrix")
    steps = re.findall(r"```python\n(.*?)```|^    build/pibinn ([^\n]*)$", joined(text),
                       re.DOTALL | re.MULTILINE)
    assert len(steps) == 8
    said = ""
    for program, command in steps:
        if program:
            names = {}  # each piece is a script of its own
            exec(program, names)
        else:
            words = shlex.split(command)
            said += succeed(*words, *(QUICK if words[0] == "train" else []), cwd=tmp_path)
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert len(shown) == 2
    for block in shown:
        assert block in said
    # Column j of what came back is signal entry j of the matrix as it was given.
    assert names["recovered"].shape == (3000, 56)
    x = load(tmp_path / "signals.npy")
    alike = np.sum(names["recovered"] * x, axis=0) / np.sum(x * x, axis=0)
    assert alike.min() > 0.2


def test_certificates_as_the_guide_makes_them(tmp_path):
    quick = sets("train.stage.pretrain.epochs=3", "train.stage.stage1.epochs=3",
                 "train.stage.stage2.epochs=2", "problem.train=500", "problem.test=50")
    commands = commands_of(section("Certify"))
    assert [words[0] for words in commands] == ["train", "certify", "train", *["certify"] * 3,
                                                "inspect"]
    (first, proof), commands = commands[:2], commands[2:]
    assert "guaranteed: For every signal" in succeed(*first, cwd=tmp_path)
    said = succeed(*proof, cwd=tmp_path)
    assert said.startswith("For every signal with nonzeros at entries 12, 31, 58 alone")
    said = ""
    for words in commands:
        said += succeed(*words, *(quick if words[0] == "train" else []), cwd=tmp_path)
    assert "certificate/certificate.html" in tree(tmp_path)
    summary = json.loads((tmp_path / "run-certified" / "summary.json").read_text())
    assert summary["alpha"]["asked"] == 0.9 and summary["alpha"]["reached"] < 0.9 + 1e-5
    assert "warning" not in said and "all delta for these weights" in said
    assert "certificate: no guarantee: Nothing is guaranteed" in said


def test_calibrations_as_the_guide_makes_them(tmp_path):
    commands = commands_of(section("Calibrate"))
    assert [words[0] for words in commands] == ["train", "sample", "certify", "recover"]
    for words in commands[:-1]:
        said = succeed(*words, *(QUICK if words[0] == "train" else []), cwd=tmp_path)
    assert said.startswith("With probability 0.999 over the choice of these 5,000 signals")
    result = run(*commands[-1], cwd=tmp_path)
    assert result.returncode == 0 and "another kind" not in result.stderr
    assert "x-checked.npy" in tree(tmp_path)


def test_the_lines_of_the_guide_are_read(tmp_path):
    """Every row of the table of structures, as a configuration."""
    rows = re.findall(r"^\| [^|]+ \| (`operator[^|]+|`structure[^|]+) \|$", GUIDE, re.MULTILINE)
    assert len(rows) == 6
    draw = np.random.default_rng(3)
    blocks = [draw.normal(size=(16, 32)), draw.normal(size=(8, 24))]
    np.save(tmp_path / "A1.npy", blocks[0])
    np.save(tmp_path / "A2.npy", blocks[1])
    whole = np.zeros((24, 56))
    whole[:16, :32], whole[16:, 32:] = blocks
    equal = np.kron(np.eye(4), blocks[1])
    for row in rows:
        for choice in row.split("; or "):
            np.save(tmp_path / "A.npy", equal if "repeat = 4" in choice else whole)
            lines = [line for line in re.findall(r"`([^`]+)`", choice) if "=" in line]
            (tmp_path / "c.toml").write_text("[problem]\n" + "\n".join(lines) + "\n")
            succeed("init", "c.toml", *sets("model.layers=2"), "--out", "m.safetensors",
                    cwd=tmp_path)


def test_the_commands_of_the_questions_run(tmp_path):
    np.savetxt(tmp_path / "A.csv", np.random.default_rng(4).normal(size=(8, 16)), delimiter=",")
    commands = commands_of(section("Questions"))
    assert [words[0] for words in commands] == ["train", "train", "train", "sample", "eval"]
    for words in commands:
        succeed(*words, *(QUICK if words[0] == "train" else []), cwd=tmp_path)


def test_the_guide_starts_with_how_the_program_explains_itself(tmp_path):
    """What the first lines say of help, of `config` and of keys that are typed as options."""
    opening = GUIDE[:GUIDE.index("\n## ")]
    assert "build/pibinn help train" in opening and "build/pibinn config" in opening
    assert succeed("help", "train") == succeed("train", "--help")
    assert "layers = 20" in succeed("config")
    assert "--set model.layers=" in refuse("train", "--layers", "10", "--out", "run",
                                             cwd=tmp_path)


def test_the_program_in_c_is_the_one_that_is_compiled():
    (code,) = re.findall(r"```c\n(.*?)```", section("Recover"), re.DOTALL)
    assert code == (ROOT / "tests" / "install" / "recover.c").read_text(encoding="utf-8")


@pytest.fixture
def three(plain, data, tmp_path, monkeypatch):
    """Three measurements and their signals, beside the model that the guide speaks of."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(plain.read_bytes())
    succeed("recover", "model.safetensors", "--in", data / "y_test.npy", "--out", "x.npy")
    return load(data / "y_test.npy")[:3], load("x.npy")[:3]


def python_of(title):
    return re.findall(r"```python\n(.*?)```", section(title), re.DOTALL)


def test_python_recovers_through_a_pipe(three):
    names = {}
    exec(python_of("Recover")[0].replace("build/pibinn", str(PROGRAM)), names)
    with names["program"]:
        np.testing.assert_array_equal([names["recover"](row) for row in three[0]], three[1])


def test_python_recovers_through_the_shared_library(three):
    library = Path(os.environ.get("PIBINN_LIBRARY", ROOT / "build" / "libpibinn.so"))
    if not library.exists():
        pytest.skip("skipped: no shared library; `make build` builds it")
    names = {}
    exec(python_of("Recover")[1].replace("build/libpibinn.so", str(library)), names)
    np.testing.assert_array_equal(names["recover"](three[0]), three[1])
    with pytest.raises(RuntimeError, match="row 0, column 0"):
        names["recover"](three[0] * np.nan)


def test_the_network_in_numpy_is_the_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    succeed("sample", *sets("problem.train=1", "problem.test=20"), "--out", "data", cwd=tmp_path)
    succeed("train", *QUICK, *sets("model.layers=4", "problem.train=500", "problem.test=10"),
            "--out", "run", cwd=tmp_path)
    os.rename("run/model.safetensors", "model.safetensors")
    (export,) = [words for words in commands_of(section("Recover")) if words[0] == "export"]
    succeed(*export, cwd=tmp_path)
    succeed("recover", "model.safetensors", "--in", "data/y_test.npy", "--out", "x.npy",
            cwd=tmp_path)
    names = {}
    exec(python_of("Recover")[2], names)
    assert all(np.all(names["net"][term][1:] != 0) for term in ("beta", "omega"))
    found = [names["recover"](y) for y in load("data/y_test.npy")]
    np.testing.assert_allclose(found, load("x.npy"), atol=1e-5)
