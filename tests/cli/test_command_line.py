"""Mistyped command lines: one line that says what, and what was meant."""

import pytest

from conftest import refuse, succeed


@pytest.mark.parametrize("arguments, words", [
    ([], ["no verb"]),
    (["evl"], ["unknown verb 'evl'", "did you mean 'eval'?"]),
    (["frobnicate"], ["unknown verb", "choose one of"]),
    (["--verbose"], ["unknown option '--verbose'", "pibinn --help"]),
    (["eval"], ["MODEL is required", "see 'pibinn eval --help'"]),
    (["eval", "m", "--signls", "x.npy"],
     ["unknown option '--signls'", "did you mean '--signals'?"]),
    (["eval", "m", "--signals=x.npy", "--frob"], ["unknown option '--frob'", "pibinn eval --help"]),
    (["eval", "m", "--signals"], ["--signals"]),
    (["inspect", "a", "b"], ["unexpected argument 'b'"]),
    (["inspect", "a", "--threads", "many"], ["--threads"]),
    (["inspect", "a", "--threads", "-1"], ["--threads", "-1"]),
    (["inspect", "a", "--threads", "5000"], ["5000"]),
    (["inspect", "a", "--quiet=maybe"], ["quiet"]),
    (["inspect", "a", "--json"], ["--json"]),
    (["solve", "--solver", "ist", "--operator", "a", "--in", "b", "--out", "c.npy"],
     ["unknown solver 'ist'", "did you mean 'ista'?"]),
    (["recover", "m", "--in", "y.npy", "--out", "x.npy", "--kernel", "AVX22"],
     ["no kernel 'AVX22'", "did you mean"]),
    (["recover", "m", "--in", "y.npy", "--out", "x.npy", "--layers", "al"],
     ["did you mean 'all'?"]),
    (["recover", "m", "--in", "y.npy", "--in", "z.npy", "--out", "x.npy"], ["--in"]),
    (["init", "--out", "m.safetensors", "--theta", "-1"], ["--theta -1"]),
    (["init", "--out", "m.safetensors", "--theta", "nan"], ["--theta nan"]),
    (["init", "--out", "m.npz"], [".safetensors"]),
    (["init", "--out", "m.safetensors", "--seed", "-1"], ["--seed", "-1"]),
    (["init", "missing.toml", "--out", "m.safetensors"], ["missing.toml", "No such file"]),
    (["init", "a.toml", "b.toml", "--out", "m.safetensors"], ["unexpected argument"]),
])
def test_a_wrong_command_line_is_refused(arguments, words, tmp_path):
    line = refuse(*arguments, cwd=tmp_path)
    for word in words:
        assert word in line


def test_a_set_value_does_not_swallow_the_file(tmp_path):
    (tmp_path / "c.toml").write_text("[model]\nlayers = 2\n")
    text = succeed("init", "--set", "problem.m=9", "c.toml", "--out", "m.safetensors", cwd=tmp_path)
    assert "2 one-bit layers" in text and "9 x 100" in text
