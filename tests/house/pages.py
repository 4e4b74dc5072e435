"""The pages of the repository, as the tests of this folder read them."""

import re

from tree import ROOT

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md",
                *(ROOT / "docs").rglob("*.md")])
# [text](target) and ![text](target); a target may be followed by a title.
LINK = re.compile(r"\]\(([^()\s]+)(?: \"[^\"]*\")?\)")


def prose(text):
    """Numbered lines outside of code: fenced, or indented after an empty line."""
    fence, indented, before = None, False, ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r" {0,3}(```+|~~~+)", line)
        if fence:
            if mark and mark[1].startswith(fence):
                fence = None
            continue
        if mark:
            fence = mark[1]
            continue
        if line.strip():
            indented = line.startswith("    ") and (indented or not before.strip())
        before = line
        if not indented:
            yield number, line


def links(text):
    """Targets of the links of a page; what stands in backquotes is no link."""
    for number, line in prose(text):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            yield number, target


def anchors(text):
    """What GitHub lets a link name of a page: its headings in lower case, hyphens for blanks."""
    found = set()
    for _, line in prose(text):
        heading = re.match(r"#{1,6} +(.*?)[ #]*$", line)
        if heading:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            count = sum(1 for a in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", a))
            found.add(f"{slug}-{count}" if slug in found else slug)
    return found


def broken_links(page, text):
    """'LINE: TARGET' of every relative link that leads nowhere."""
    broken = []
    for number, target in links(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        there = file == page or file.exists()
        if there and anchor:
            content = text if file == page else file.read_text(encoding="utf-8")
            there = anchor in anchors(content)
        if not there:
            broken.append(f"{number}: {target}")
    return broken


def long_lines(text, most):
    """'LINE: LENGTH' of every line of prose over `most`; targets of links do not count."""
    return [f"{number}: {len(line)}" for number, line in prose(text)
            if len(LINK.sub("]()", line)) > most and not line.startswith("|")]
