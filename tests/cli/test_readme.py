"""The README's promises, run as they are written."""

import re
import shlex

from conftest import ROOT, load, sets, succeed

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
# The default network on the default operator, which the recipe's numbers are for, hardly trained.
QUICK = sets("problem.train=300", "problem.test=20",
             "train.stage.pretrain.epochs=2", "train.stage.joint.epochs=2")


def test_the_commands_of_the_readme_run_one_after_the_other(tmp_path):
    section = README[README.index("## Verbs"):README.index("```toml")]
    commands = re.findall(r"^    build/pibinn (.*?)(?:\s+#.*)?$", section, re.MULTILINE)
    assert len(commands) >= 7
    for command in commands:
        succeed(*shlex.split(command), cwd=tmp_path)
    assert load(tmp_path / "x.npy").shape == (1000, 100)


def test_the_configuration_of_the_readme_is_the_default(tmp_path):
    text = BLOCKS[0]
    (tmp_path / "c.toml").write_text(text, encoding="utf-8")
    for name, arguments in (("a", ["c.toml"]), ("b", [])):
        succeed("init", *arguments, "--out", f"{name}.safetensors", cwd=tmp_path)
        succeed("sample", *arguments, "--out", name, cwd=tmp_path)
    for name in ("{}.safetensors", "{}/A.npy", "{}/x_test.npy", "{}/y_train.npy"):
        assert (tmp_path / name.format("a")).read_bytes() == \
            (tmp_path / name.format("b")).read_bytes()


def test_the_training_of_the_readme_is_the_default(tmp_path):
    """The keys of [train] in the first block, and the two stages of the second one."""
    assert len(BLOCKS) == 2
    listed = BLOCKS[1]
    (tmp_path / "keys.toml").write_text(BLOCKS[0], encoding="utf-8")
    (tmp_path / "stages.toml").write_text(listed, encoding="utf-8")
    last = sets("train.stage.stage2.epochs=2")
    succeed("train", *QUICK, *last, "--out", "default", cwd=tmp_path)
    succeed("train", "keys.toml", *QUICK, *last, "--out", "keys", cwd=tmp_path)
    succeed("train", *QUICK, *sets('train.stage=[{name="pretrain"}, {name="joint"}]'),
            "--out", "two", cwd=tmp_path)
    succeed("train", "stages.toml", *QUICK, "--out", "stages", cwd=tmp_path)
    for ours, theirs in (("keys", "default"), ("stages", "two")):
        for name in ("model.safetensors", "history.csv"):
            assert (tmp_path / ours / name).read_bytes() == (tmp_path / theirs / name).read_bytes()


def test_the_readme_names_every_key_of_the_configuration():
    source = "".join((ROOT / "src" / "cli" / name).read_text(encoding="utf-8")
                     for name in ("config.cpp", "config_train.cpp"))
    keys = set(re.findall(r'ConfigKey\{"(\w+)"', source))
    assert len(keys) > 30
    missing = {key for key in keys if f"{key} = " not in README
               and f"[train.{key}]" not in README}
    assert missing == set()
