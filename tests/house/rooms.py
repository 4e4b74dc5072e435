"""The direction of flow between the rooms: who may include whom."""

import re

# Left to right. A room includes from itself and from ranks on its left; rooms that share a rank do
# not know each other.
RANKS = [
    ["core"],
    ["algebra"],
    ["problem"],
    ["data", "solvers"],
    ["model"],
    ["spectral"],
    ["train", "infer", "theory"],
    ["report"],
    ["study"],
    ["cli", "python"],
]
RANK = {room: rank for rank, rooms in enumerate(RANKS) for room in rooms}

# The interface for C is the only .h file.
HEADERS = {".hpp", ".h"}

ROOM_LINE = re.compile(r"// room: (\w+)")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def room_of_public_header(path):
    """The room a public header names in its first line, or None."""
    lines = path.read_text(encoding="utf-8").splitlines()
    match = ROOM_LINE.fullmatch(lines[0]) if lines else None
    return match[1] if match and match[1] in RANK else None


def may_include(room, other):
    return room == other or RANK[other] < RANK[room]


def violations(root):
    """One line for everything under `root` that breaks the order; empty when all is well."""
    found = []
    public = {}
    for header in sorted(p for p in (root / "include").rglob("*") if p.suffix in HEADERS):
        name = header.relative_to(root / "include").as_posix()
        public[name] = room_of_public_header(header)
        if public[name] is None:
            found.append(f"include/{name}: the first line must be '// room: NAME' of a known room")

    def check(path, room, is_public, own=None):
        where = path.relative_to(root).as_posix()
        for bracket, target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            ours = target.startswith("pibinn/")
            if bracket == "<" and not ours or own and (own / target).is_file():
                continue
            if ours and target in public:
                other = public[target]
            elif not ours and (root / "src" / target).is_file() and "/" in target:
                other = target.split("/")[0]
                if is_public:
                    found.append(f"{where}: a public header includes the private '{target}'")
            else:
                found.append(f"{where}: unknown include '{target}'")
                continue
            if other in RANK and not may_include(room, other):
                found.append(f"{where}: {room} must not include '{target}' of {other}")

    for name, room in public.items():
        if room:
            check(root / "include" / name, room, is_public=True)
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in {".cpp", ".hpp", ".cu", ".cuh"}:
            continue
        room = path.relative_to(root / "src").parts[0]
        if room in RANK:
            check(path, room, is_public=False)
        else:
            found.append(f"{path.relative_to(root).as_posix()}: no room is called '{room}'")
    # The bindings of the Python package are a room of their own, beside src/.
    bindings = root / "python" / "src"
    for path in sorted(bindings.glob("*.[ch]pp")):
        check(path, "python", is_public=False, own=bindings)
    return found
