"""What is installed can be used by anyone: each header alone, with nothing but the standard library."""

import os
import re
import shutil
import subprocess

import pytest

from rooms import INCLUDE
from tree import ROOT, public_headers

COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
# Standard C++ headers have neither a folder, a suffix nor capitals: <vector>, <cstdint>. C's own:
STANDARD_HEADER = re.compile(r"[a-z_0-9]+|stddef\.h|stdint\.h")


def header_names():
    return [path.name for path in public_headers()]


def compile_source(source, include=ROOT / "include", language="c++", standard="c++20"):
    command = [COMPILER, f"-std={standard}", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic",
               "-Werror", "-I", str(include), "-x", language, "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True)


def foreign_includes(text):
    return [
        target for bracket, target in INCLUDE.findall(text)
        if not target.startswith("pibinn/")
        and not (bracket == "<" and STANDARD_HEADER.fullmatch(target))
    ]


def test_there_are_public_headers():
    assert {"c_api.h", "error.hpp", "operator.hpp", "version.hpp"} <= set(header_names())


@pytest.mark.parametrize("name", header_names())
def test_a_header_compiles_alone_and_twice(name):
    assert COMPILER, "no C++ compiler found"
    result = compile_source(f'#include "pibinn/{name}"\n' * 2)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", header_names())
def test_a_header_includes_nothing_of_third_parties(name):
    text = (ROOT / "include" / "pibinn" / name).read_text(encoding="utf-8")
    assert foreign_includes(text) == []


def test_the_header_for_c_is_c():
    source = '#include "pibinn/c_api.h"\n' * 2 + "int main(void) { return pibinn_measurements(0); }\n"
    result = compile_source(source, language="c", standard="c99")
    assert result.returncode == 0, result.stderr
    assert compile_source('#include "pibinn/error.hpp"\n', language="c",
                          standard="c99").returncode != 0


def test_a_header_that_leans_on_another_is_found(tmp_path):
    (tmp_path / "pibinn").mkdir()
    (tmp_path / "pibinn" / "leaning.hpp").write_text("#pragma once\nstd::string name();\n")
    assert compile_source('#include "pibinn/leaning.hpp"\n', tmp_path).returncode != 0


@pytest.mark.parametrize("target", ["<fmt/format.h>", "<Eigen/Dense>", "<cblas.h>", '"json.hpp"'])
def test_an_include_of_third_parties_is_found(target):
    assert len(foreign_includes(f"#include <vector>\n#include {target}\n")) == 1
