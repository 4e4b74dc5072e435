"""Habits of every file: portable, of a size one can read, formatted, of one version."""

import re
import shutil
import subprocess

import pytest

from tree import ROOT, cxx_files, listed_files

MOST_LINES = 400
CODE_SUFFIXES = {".cpp", ".hpp", ".c", ".h", ".cu", ".cuh", ".py", ".cmake"}
CODE_FOLDERS = {"scripts", ".ci"}
# Other versions lay out a few constructs differently; the repository follows one of them.
CLANG_FORMAT_MAJOR = "14"

# A path from the root of someone's machine; a folder of that name inside a path and the path of a URL are none.
ABSOLUTE_PATH = re.compile(rb"(?:(?<![\w.~)}\-])|(?<=-[IL]))/(?:home|root|work|Users)/")


def relative(path):
    return path.relative_to(ROOT).as_posix()


def test_no_file_holds_a_path_of_one_machine():
    assert [relative(p) for p in listed_files() if ABSOLUTE_PATH.search(p.read_bytes())] == []


@pytest.mark.parametrize("folder", ["home", "root", "work", "Users"])
def test_a_path_of_one_machine_is_found(folder):
    path = f"/{folder}/someone".encode()
    for before in (b"", b" ", b"'", b"=", b":", b"-I"):
        assert ABSOLUTE_PATH.search(before + path)
    assert not ABSOLUTE_PATH.search(b"docs" + path)


def test_code_files_stay_readable():
    code = [
        p for p in listed_files()
        if p.suffix in CODE_SUFFIXES or p.name in {"CMakeLists.txt", "Makefile"}
        or p.relative_to(ROOT).parts[0] in CODE_FOLDERS
    ]
    assert ROOT / "CMakeLists.txt" in code
    counts = {relative(p): len(p.read_text(encoding="utf-8").splitlines()) for p in code}
    assert {name: lines for name, lines in counts.items() if lines > MOST_LINES} == {}


def test_cxx_files_are_formatted():
    program = shutil.which("clang-format")
    if not program:
        pytest.skip("skipped: clang-format is not installed; 'make format' installs it")
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    if f"version {CLANG_FORMAT_MAJOR}." not in version:
        pytest.skip(f"skipped: needs clang-format {CLANG_FORMAT_MAJOR}, found: {version.strip()}")
    result = subprocess.run(
        [program, "--dry-run", "-Werror", *map(str, cxx_files())], capture_output=True, text=True)
    files = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", result.stderr, re.MULTILINE)))
    assert result.returncode == 0, "run 'make format' for:\n" + "\n".join(files)


def test_all_files_name_one_version():
    def first(pattern, name):
        return re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)[1]

    built = first(r"^project\(pibinn VERSION (\S+)", "CMakeLists.txt")
    assert first(r"^## \[(\d\S*)\]", "CHANGELOG.md") == built
    assert first(r"^version: (\S+)$", "CITATION.cff") == built
