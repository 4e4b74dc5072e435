"""The files of the repository, as the tests of this folder see them."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CXX_SUFFIXES = {".cpp", ".hpp", ".c", ".h"}


def listed_files(root=ROOT):
    """Tracked files and new ones that git does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        # An unpacked archive has no git: everything counts but what a build leaves.
        return sorted(walked_files(root))
    paths = (root / os.fsdecode(name) for name in listing.split(b"\0") if name)
    return sorted(path for path in paths if path.is_file())


def walked_files(root):
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [
            s for s in subfolders
            if s not in {".git", ".venv", ".cache", ".pytest_cache", "__pycache__", "build"}
            and not s.startswith("build-")
        ]
        yield from (Path(folder) / name for name in names)


def cxx_files():
    return [path for path in listed_files() if path.suffix in CXX_SUFFIXES]


def public_headers():
    return sorted((ROOT / "include" / "pibinn").glob("*.h*"))
