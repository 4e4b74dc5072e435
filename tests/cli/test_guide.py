"""The guide's commands and programs, run one after the other as they are written."""

import re
import shlex

import numpy as np
from conftest import ROOT, load, sets, succeed

GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
QUICK = sets("train.stage.pretrain.epochs=3", "train.stage.joint.epochs=3",
             "train.stage.stage2.epochs=2")


def section(title):
    start = GUIDE.index(f"## {title}\n")
    end = GUIDE.find("\n## ", start)
    return GUIDE[start:end if end > 0 else len(GUIDE)]


def test_a_structured_matrix_from_file_to_recovered_signals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = section("Your own structured matrix")
    steps = re.findall(r"```python\n(.*?)```|^    build/pibinn ([^\n]*)$", text,
                       re.DOTALL | re.MULTILINE)
    assert len(steps) == 8
    names, said = {}, ""
    for program, command in steps:
        if program:
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
