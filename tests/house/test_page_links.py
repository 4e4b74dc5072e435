"""Links between pages lead somewhere, and lines of prose fit a terminal."""

import pytest

from pages import PAGES, anchors, broken_links, long_lines
from tree import ROOT

MOST_CHARACTERS = 100


def name(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_of_a_page_lead_somewhere(page):
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_lines_of_prose_end_at_100_characters(page):
    assert long_lines(page.read_text(encoding="utf-8"), MOST_CHARACTERS) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "b.md").write_text("# One `two`, three!\n")
    text = ("[a](b.md) [b](b.md#one-two-three) [c](#here) [d](https://x.org/y) `[e](no.md)`\n"
            "[f](c.md) [g](b.md#two)\n[h](#there) ![i](i.svg)\n\n## Here\n\n    [j](code.md)\n"
            "```\n[k](code.md)\n```\n")
    assert broken_links(tmp_path / "a.md", text) == ["2: c.md", "2: b.md#two", "3: #there",
                                                     "3: i.svg"]


def test_equal_headings_have_anchors_of_their_own():
    assert anchors("# A b\n## A b\n### A b\n```\n# no\n```\n") == {"a-b", "a-b-1", "a-b-2"}


@pytest.mark.parametrize("line, long", [
    ("x" * 100, False), ("x" * 101, True), ("- " + "x" * 99, True), ("| " + "x" * 200, False),
    ("[x](https://" + "x" * 100 + ")", False), ("[" + "x" * 101 + "](y)", True),
    ("```\n" + "x" * 101 + "\n```", False), ("```\n```\n" + "x" * 101, True),
    ("\n    " + "x" * 101, False), ("- item\n    " + "x" * 101, True),
])
def test_a_long_line_of_prose_is_found(line, long):
    assert (long_lines(line, MOST_CHARACTERS) != []) == long
