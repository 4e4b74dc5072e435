"""`pibinn config` and docs/configuration.md say what the program really does."""

import json
import re

from conftest import ROOT, refuse, sets, succeed

PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
# The default network on the default operator, which the recipe's numbers are for, hardly trained.
QUICK = sets("problem.train=300", "problem.test=20",
             "train.stage.pretrain.epochs=2", "train.stage.joint.epochs=2")
LAST = sets("train.stage.stage2.epochs=2")


def same_bytes(folder, ours, theirs, names):
    for name in names:
        assert (folder / ours / name).read_bytes() == (folder / theirs / name).read_bytes(), name


def test_the_printed_configuration_is_the_default(tmp_path):
    (tmp_path / "c.toml").write_text(succeed("config"), encoding="utf-8")
    for name, arguments in (("a", ["c.toml"]), ("b", [])):
        succeed("sample", *arguments, "--out", name, cwd=tmp_path)
        succeed("train", *arguments, *QUICK, *LAST, "--out", f"run-{name}", cwd=tmp_path)
    same_bytes(tmp_path, "a", "b", ("A.npy", "x_test.npy", "y_train.npy"))
    same_bytes(tmp_path, "run-a", "run-b", ("model.safetensors", "history.csv"))


def test_every_commented_key_can_be_set_as_it_is_printed(tmp_path):
    """What stands behind a # is a value that its key takes, for the kind of problem it is for."""
    keys = json.loads(succeed("config", "--json", "-"))["keys"]
    without = [key for key in keys if not key["default"]]
    assert len(without) > 15
    for key in without:
        assert key["example"] and key["help"], key
    shown = succeed("config")
    for key in keys:
        value = key["default"] or key["example"]
        assert re.search(rf"^(# )?{key['key']} = {re.escape(value)} ", shown, re.MULTILINE), key


def test_the_page_lists_every_key_with_its_default_and_meaning():
    keys = json.loads(succeed("config", "--json", "-"))["keys"]
    rows = re.findall(r"^\| `([\w.]+)` \| (.*?) \| (.*?) \| (.*) \|$", PAGE, re.MULTILINE)
    listed = {name: (value, kinds, help) for name, value, kinds, help in rows}
    expected = {}
    for key in keys:
        name = f"{key['section']}.{key['key']}" if key["section"] else key["key"]
        value = f"`{key['default']}`" if key["default"] else f"none (`{key['example']}`)"
        expected[name] = (value, key["kinds"].replace(" or ", ", ") or "all", key["help"])
    assert listed == expected, "run scripts/configuration-page to write the tables anew"


def test_the_stages_of_the_page_are_those_of_the_default_recipe(tmp_path):
    """The page lists two stages in full; the recipe has a third."""
    listed = re.search(r"```toml\n(\[\[train.stage\]\].*?)```", PAGE, re.DOTALL)[1]
    (tmp_path / "stages.toml").write_text(listed, encoding="utf-8")
    succeed("train", *QUICK, *sets('train.stage=[{name="pretrain"}, {name="joint"}]'),
            "--out", "two", cwd=tmp_path)
    succeed("train", "stages.toml", *QUICK, "--out", "stages", cwd=tmp_path)
    same_bytes(tmp_path, "stages", "two", ("model.safetensors", "history.csv"))


def test_an_option_that_is_a_key_gets_the_setting_as_a_hint(tmp_path):
    for words, setting in ((["--layers", "10"], "model.layers=10"),
                           (["--epochs=5"], "train.stage.NAME.epochs=5"),
                           (["--batch"], "train.batch=250")):
        assert f"--set {setting}" in refuse("train", *words, "--out", "run", cwd=tmp_path)
