"""The walks of docs/guide.md, with files made as it says and commands as they are written."""

import re
import shlex

import pytest

from conftest import ROOT, load, sets, succeed, tree
from pictures import read_png

GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
# The recipe of the guide is the default; here it is cut short.
QUICK = sets("train.stage.pretrain.epochs=3", "train.stage.joint.epochs=3",
             "train.stage.stage2.epochs=2")
RESULTS = {
    "Your own photos": ["photo-recovered.png", "photo-recovered-side-by-side.png",
                        "run-photos/report.html"],
    "Your own EEG": ["run-eeg/report.html", "run-eeg/model.npz"],
    "Your own matrix": ["run-matrix/model.safetensors", "x_new.npy"],
}


def section(title):
    return re.split(r"^## ", GUIDE[GUIDE.index(f"## {title}") + 3:], flags=re.MULTILINE)[0]


@pytest.mark.parametrize("title", RESULTS)
def test_a_walk_works_as_written(title, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = section(title)
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, title, "exec"), {})
    commands = re.findall(r"^    build/pibinn (.*)$", text, re.MULTILINE)
    assert len(commands) >= 2
    for command in commands:
        words = shlex.split(command)
        succeed(*words, *(QUICK if words[0] == "train" else []), cwd=tmp_path)
    for name in RESULTS[title]:
        assert name in tree(tmp_path)
    if title == "Your own photos":
        assert read_png(tmp_path / "photo-recovered.png").shape == (96, 128)
    if title == "Your own matrix":
        assert load(tmp_path / "x_new.npy").shape == (500, 64)


def test_the_guide_names_every_key_of_real_data():
    source = (ROOT / "src" / "cli" / "config_real.cpp").read_text(encoding="utf-8")
    keys = set(re.findall(r'^        \{"(\w+)", \[&\]', source, re.MULTILINE))
    assert len(keys) >= 10
    assert {key for key in keys if not re.search(rf"^{key} = ", GUIDE, re.MULTILINE)} == set()
