"""What can be added by one file and one line: every line has its file, every file its line."""

import re

import pytest

from tree import ROOT

# The list of each kind of thing, and where its files stand. A verb's word may have a hyphen where
# its file has an underscore.
LISTS = {
    "weight kind": ("include/pibinn/network_spec.hpp", "PIBINN_WEIGHT_KINDS", "src/model/weights/{}.cpp"),
    "activation": ("include/pibinn/activation.hpp", "PIBINN_ACTIVATIONS",
                   "src/algebra/activations/{}-inl.hpp"),
    "basis": ("include/pibinn/basis.hpp", "PIBINN_BASES", "src/problem/bases/{}.cpp"),
    "formula": ("include/pibinn/operator_formula.hpp", "PIBINN_FORMULAS", "src/problem/formulas/{}.cpp"),
    "array format": ("src/data/array_format.hpp", "PIBINN_ARRAY_FORMATS", "src/data/formats/{}.cpp"),
    "verb": ("src/cli/verbs.hpp", "PIBINN_VERBS", "src/cli/{}.cpp"),
}
# What stands in a folder beside the files of the list.
SHARED = {"weight_rules.cpp"}
EXPECTED = {
    "weight kind": ["float", "one_bit", "one_bit_layer", "one_bit_channel", "ternary", "tied"],
    "activation": ["soft", "hard", "relu", "piecewise", "wiener"],
    "basis": ["identity", "dct", "dct2", "fourier", "matrix"],
    "formula": ["hadamard", "dct", "fourier", "dft", "convolution"],
    "array format": ["npy", "npz", "mat", "csv"],
    "verb": ["demo", "config", "sample", "init", "train", "compare", "study",
             "reproduce", "field", "eval", "recover",
             "recover_image", "solve", "certify", "inspect", "export"],
}


def registered(thing):
    header, macro, _ = LISTS[thing]
    text = (ROOT / header).read_text(encoding="utf-8")
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*)", text)[1]
    entries = re.findall(r"X\(([^)]*)\)", body)
    # C++ has a word for float already: its enumerator has another name.
    words = [re.split(r",\s*", entry) for entry in entries]
    return [w[1].strip('"').replace("-", "_") if len(w) > 1 else w[0] for w in words]


@pytest.mark.parametrize("thing", LISTS)
def test_the_list_is_known(thing):
    assert registered(thing) == EXPECTED[thing]


@pytest.mark.parametrize("thing", LISTS)
def test_every_line_has_a_file(thing):
    pattern = LISTS[thing][2]
    assert [n for n in registered(thing) if not (ROOT / pattern.format(n)).is_file()] == []


@pytest.mark.parametrize("thing", [t for t in LISTS if t != "verb"])
def test_every_file_has_a_line(thing):
    pattern = ROOT / LISTS[thing][2]
    files = sorted(p.name for p in pattern.parent.glob(pattern.name.format("*")))
    lines = sorted(pattern.name.format(n) for n in registered(thing))
    assert [f for f in files if f not in SHARED] == lines


@pytest.mark.parametrize("thing", LISTS)
def test_the_page_on_extending_names_the_list_and_the_folder(thing):
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    header, macro, pattern = LISTS[thing]
    assert f"`{macro}` in `{header}`" in page
    assert pattern.format("NAME") in page
