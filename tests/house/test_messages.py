"""Errors of the library speak of its own fields, and the program knows all of them."""

import re

from tree import ROOT, listed_files

# Rooms whose messages name no flag and no key of the program.
LIBRARY = ["core", "algebra", "problem", "data", "solvers", "spectral", "theory"]

ANY_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
PROGRAM_WORD = re.compile(r"--[a-z]|\b(?:problem|model|train)\.[a-z]")
FIELD = re.compile(r"\b[A-Z]\w+::[a-z]\w*(?: = [\w:]+)?")


def strings_of(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.lstrip().startswith(("#", "//")):
            yield from ANY_STRING.findall(line)


def strings_in(rooms):
    for path in listed_files():
        parts = path.relative_to(ROOT).parts
        if parts[0] == "src" and parts[1] in rooms and path.suffix in {".cpp", ".hpp", ".cu", ".cuh"}:
            for text in strings_of(path):
                yield path.relative_to(ROOT).as_posix(), text


def test_the_library_names_no_flags_and_no_keys():
    assert [(p, t) for p, t in strings_in(LIBRARY) if PROGRAM_WORD.search(t)] == []
    assert PROGRAM_WORD.search("choose another --out") and PROGRAM_WORD.search("set problem.path")


def test_every_field_that_a_message_names_has_a_key():
    known = " ".join(strings_of(ROOT / "src" / "study" / "hint_keys.cpp"))
    named = {(p, f) for p, t in strings_in(LIBRARY) for f in FIELD.findall(t)}
    assert len(named) > 10
    assert {(p, f) for p, f in named if f not in known} == set()
