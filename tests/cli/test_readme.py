"""The README's promises, run as they are written."""

import re
import shlex

from conftest import ROOT, load, succeed

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_commands_of_the_readme_run_one_after_the_other(tmp_path):
    section = README[README.index("## Verbs"):README.index("```toml")]
    commands = re.findall(r"^    build/pibinn (.*?)(?:\s+#.*)?$", section, re.MULTILINE)
    assert len(commands) >= 7
    for command in commands:
        succeed(*shlex.split(command), cwd=tmp_path)
    assert load(tmp_path / "x.npy").shape == (1000, 100)


def test_the_configuration_of_the_readme_is_the_default(tmp_path):
    (text,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "c.toml").write_text(text, encoding="utf-8")
    for name, arguments in (("a", ["c.toml"]), ("b", [])):
        succeed("init", *arguments, "--out", f"{name}.safetensors", cwd=tmp_path)
        succeed("sample", *arguments, "--out", name, cwd=tmp_path)
    for name in ("{}.safetensors", "{}/A.npy", "{}/x_test.npy", "{}/y_train.npy"):
        assert (tmp_path / name.format("a")).read_bytes() == \
            (tmp_path / name.format("b")).read_bytes()
