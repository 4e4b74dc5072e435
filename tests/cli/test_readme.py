"""The README's commands, run as they are written. Its C++ is built and run by tests/install."""

import re
import shlex

from conftest import ROOT, load, sets, succeed

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_five_commands_run_one_after_the_other(tmp_path):
    section = README[README.index("## Five commands"):README.index("## From C++")]
    commands = re.findall(r"^    build/pibinn (.*?)(?:\s+#.*)?$", section, re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        words = shlex.split(command)
        if words[0] == "train":  # as it stands, but not for as long
            words += sets("train.stage.pretrain.epochs=2", "train.stage.joint.epochs=2",
                          "train.stage.stage2.epochs=2")
        succeed(*words, cwd=tmp_path)
    assert load(tmp_path / "x.npy").shape == (1000, 100)
