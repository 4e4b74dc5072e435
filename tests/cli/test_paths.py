"""What the system says of a path is reported as such, and never as a bug of the program."""

import os
import subprocess

import pytest

from conftest import PROGRAM, TINY, refuse, sets, succeed

TOO_LONG = "n" * 300


def verbs(bad):
    """The verbs that look at a path before they open it."""
    return [
        ["train", *TINY, "--out", bad],
        ["train", *TINY, "--resume", "--out", bad],
        ["train", *TINY, "--out", "r", "--json", bad],
        ["train", *sets("problem.kind=images", f"problem.path={bad}"), "--out", "r"],
        ["train", *sets("problem.kind=signals", f"problem.path={bad}"), "--out", "r"],
        ["train", *sets("problem.kind=arrays", f"problem.path={bad}"), "--out", "r"],
        ["compare", *TINY, "--out", bad],
        ["demo", *TINY, "--out", bad],
        ["sample", *TINY, "--out", bad],
        ["inspect", bad],
        ["init", *TINY, "--out", f"{bad}/m.safetensors"],
    ]


@pytest.mark.parametrize("arguments", verbs(TOO_LONG), ids=lambda words: words[0])
def test_a_name_that_is_too_long(arguments, tmp_path):
    assert "File name too long" in refuse(*arguments, cwd=tmp_path)


@pytest.mark.parametrize("bad", ["loop", "loop/in"])
@pytest.mark.parametrize("case", range(len(verbs(""))))
def test_a_loop_of_links(bad, case, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    line = refuse(*verbs(bad)[case], cwd=tmp_path)
    assert "symbolic links" in line or "is not a folder" in line
    assert "bug" not in line


def as_nobody():
    if os.geteuid() == 0:  # root may do anything
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


@pytest.mark.parametrize("case", range(len(verbs(""))))
def test_a_folder_without_permission(case, tmp_path):
    at = tmp_path
    while at.parent != at and os.geteuid() == 0:  # the folders of pytest are root's alone
        if at.stat().st_mode & 0o5 != 0o5:
            at.chmod(at.stat().st_mode | 0o5)
        at = at.parent
    tmp_path.chmod(0o777)
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked").chmod(0)
    try:
        line = refuse(*verbs("locked/in")[case], cwd=tmp_path, preexec_fn=as_nobody)
    finally:
        (tmp_path / "locked").chmod(0o755)
    assert "Permission denied" in line or "is not a folder" in line
    assert "bug" not in line


def test_a_certificate_goes_to_the_file_behind_a_link_and_keeps_its_mode(work):
    model = work / "model.safetensors"
    plain = model.read_bytes()
    model.chmod(0o600)
    (work / "link.safetensors").symlink_to("model.safetensors")
    succeed("certify", "link.safetensors", "--support", "1,5", "--samples", 5, "--attach", cwd=work)
    assert (work / "link.safetensors").is_symlink()
    assert model.read_bytes() != plain
    assert model.stat().st_mode & 0o777 == 0o600


def test_a_new_file_has_the_mode_that_the_user_asks_for(work):
    succeed("recover", "model.safetensors", "--in", "y.npy", "--out", "x1.npy", cwd=work,
            preexec_fn=lambda: os.umask(0o077))
    assert (work / "x1.npy").stat().st_mode & 0o777 == 0o600


def test_a_model_may_come_through_a_pipe(work):
    model = (work / "model.safetensors").read_bytes()
    text = subprocess.run([str(PROGRAM), "inspect", "/dev/stdin"], input=model, cwd=work,
                          capture_output=True, timeout=60)
    assert text.returncode == 0, text.stderr
    assert b"file: a stream" in text.stdout
