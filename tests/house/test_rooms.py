"""Includes follow the direction of flow, and the checker that says so can say no."""

import pytest

from rooms import violations
from tree import ROOT

SOUND = {
    "include/pibinn/error.hpp": "// room: core\n#pragma once\n#include <string>\n",
    "include/pibinn/npy.hpp": '// room: data\n#pragma once\n#include "pibinn/error.hpp"\n',
    "src/core/file.hpp": '#pragma once\n#include "pibinn/error.hpp"\n',
    "src/data/npy.cpp": '#include "pibinn/npy.hpp"\n#include <zlib.h>\n#include "core/file.hpp"\n',
    "src/solvers/omp.hpp": "#pragma once\n",
    "src/cli/console.hpp": "#pragma once\n",
    "python/src/arrays.hpp": '#pragma once\n#include "core/file.hpp"\n',
    "python/src/arrays.cpp": '#include "arrays.hpp"\n#include "solvers/omp.hpp"\n',
}


def planted(tmp_path, changes):
    for name, text in {**SOUND, **changes}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return violations(tmp_path)


def test_every_include_of_the_repository_points_left():
    assert violations(ROOT) == []


def test_a_sound_tree_passes(tmp_path):
    assert planted(tmp_path, {}) == []


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("src/core/a.cpp", '#include "pibinn/npy.hpp"\n', "core must not include 'pibinn/npy.hpp'"),
        ("src/core/a.cpp", "#include <pibinn/npy.hpp>\n", "core must not include 'pibinn/npy.hpp'"),
        ("src/core/a.cpp", '#  include "solvers/omp.hpp"\n', "of solvers"),
        ("src/data/a.cpp", '#include "solvers/omp.hpp"\n', "data must not include"),
        ("include/pibinn/a.hpp", '// room: core\n#include "pibinn/npy.hpp"\n', "of data"),
        ("include/pibinn/a.hpp", '// room: data\n#include "core/file.hpp"\n', "private"),
        ("include/pibinn/a.hpp", "#pragma once\n", "first line"),
        ("include/pibinn/a.hpp", "", "first line"),
        ("include/pibinn/a.hpp", "// room: attic\n", "first line"),
        ("src/data/a.cpp", '#include "npy_format.hpp"\n', "unknown include 'npy_format.hpp'"),
        ("src/data/a.cpp", '#include "pibinn/nothing.hpp"\n', "unknown include"),
        ("src/data/a.cpp", '#include "data/nothing.hpp"\n', "unknown include"),
        ("src/attic/a.cpp", "int x;\n", "no room is called 'attic'"),
        ("python/src/a.cpp", '#include "cli/console.hpp"\n', "python must not include"),
        ("python/src/a.cpp", '#include "b.hpp"\n', "unknown include 'b.hpp'"),
    ],
)
def test_a_planted_violation_is_found(tmp_path, name, text, complaint):
    found = planted(tmp_path, {name: text})
    assert len(found) == 1, found
    assert found[0].startswith(name) and complaint in found[0]
