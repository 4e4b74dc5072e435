"""What the system says of a path is an io error with its reason: no call may throw its own."""

import re

from tree import ROOT, cxx_files

# Those that throw std::filesystem::filesystem_error unless they are given an error code. A status
# that was already asked for throws nothing.
THROWING = re.compile(
    r"\b(?:fs|filesystem)::(?:absolute|canonical|copy\w*|create_\w+|current_path|equivalent|exists|"
    r"file_size|is_\w+|last_write_time|permissions|read_symlink|relative|remove\w*|rename|"
    r"resize_file|space|status|symlink_status|temp_directory_path|weakly_canonical)\s*"
    r"\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")
ITERATOR = re.compile(r"\bdirectory_iterator\s+\w+\(([^;]*?)\)")
TOLD = re.compile(r"\b(?:code|own|status\w*)\b")


def untold(text):
    return [call[0] for pattern in (THROWING, ITERATOR) for call in pattern.finditer(text)
            if not TOLD.search(call[1])]


def test_every_call_on_a_path_takes_an_error_code():
    sources = [p for p in cxx_files() if p.is_relative_to(ROOT / "src")]
    assert len(sources) > 100
    found = {p.relative_to(ROOT).as_posix(): untold(p.read_text(encoding="utf-8")) for p in sources}
    assert {name: calls for name, calls in found.items() if calls} == {}


def test_a_call_without_one_is_found():
    assert untold("if (fs::exists(folder / name)) return;")
    assert untold("std::filesystem::file_size(path(file))")
    assert untold("fs::directory_iterator at(folder), end;")
    assert not untold("fs::exists(folder / name, code)")
    assert not untold("std::filesystem::is_regular_file(status)")
