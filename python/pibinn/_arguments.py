"""Arguments that are no arrays: numbers, words, lists, paths.

Whatever Python raises while it converts a value ends as an error of pibinn, with a hint.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._errors import UsageError

_MOST_THREADS = 4096  # more are a slip


def whole(value: Any, name: str, least: int = 0, below: int = 2**63) -> int:
    """A whole number that is not too small, and that the library can hold."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) \
            or value < least:
        raise UsageError(f"{name} is {shown(value)}", f"give a whole number of at least {least}")
    if value >= below:
        raise UsageError(f"{name} is {shown(value)}", f"give a whole number below {below}")
    return int(value)


def truth_of(value: Any, name: str) -> bool:
    """True or False, or 1 or 0."""
    if not isinstance(value, (bool, np.bool_, int, np.integer)) or value not in (0, 1):
        raise UsageError(f"{name} is {shown(value)}", "give True or False")
    return bool(value)


def places(values: Any, name: str) -> list[int]:
    """Entries, rows or columns, by number."""
    return [whole(i, f"an entry of {name}", 0, 2**32) for i in items(values, name)]


def number(value: Any, name: str) -> float:
    """A number, finite or not: which of them make sense is the library's to say."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError("a word is no number")
        return float(value)
    except Exception as error:
        raise UsageError(f"{name} is {shown(value)}", "give a number") from error


def word(value: Any, name: str) -> str:
    """A word of those that the library knows, which it says itself."""
    try:
        if not isinstance(value, str):
            raise TypeError("no word")
        value.encode()
    except Exception as error:
        raise UsageError(f"{name} is {shown(value)}", "give a word") from error
    return value


def items(values: Any, name: str) -> list[Any]:
    """What a list, a tuple or any other iterable holds."""
    try:
        if isinstance(values, (str, bytes)):
            raise TypeError("a word is no list")
        return list(values)
    except MemoryError:
        raise
    except Exception as error:
        raise UsageError(f"{name} is {shown(values)}", "give a list") from error


def path_of(value: Any, name: str = "the path") -> str:
    """The name of a file or a folder."""
    try:
        path = os.fsdecode(value)
        path.encode()
    except Exception as error:
        raise UsageError(f"{name} is {shown(value)}", "give a path, as str or pathlib.Path"
                         ) from error
    if not path or "\0" in path:
        raise UsageError(f"{name} is {shown(value)}", "give the name of a file or a folder")
    return path


def decibels(snr_db: Any) -> tuple[float, float] | None:
    """One ratio, or the least and the most."""
    if snr_db is None:
        return None
    try:
        pair: Any = (snr_db, snr_db) if np.ndim(snr_db) == 0 else tuple(snr_db)
        least, most = (float(ratio) for ratio in pair)
    except Exception as error:
        raise UsageError(f"snr_db is {shown(snr_db)}", "give one number, or (least, most)"
                         ) from error
    if not (np.isfinite(least) and np.isfinite(most) and least <= most):
        raise UsageError(f"snr_db is {shown(snr_db)}", "give finite numbers, the least first")
    return least, most


def only(words: Any, known: Iterable[str], name: str) -> dict[str, Any]:
    """A dict of known words; a word more is most likely a slip."""
    if not isinstance(words, dict):
        raise UsageError(f"{name} is {shown(words)}", f"give a dict of {', '.join(sorted(known))}")
    unknown = sorted(set(map(str, words)) - set(known))
    if unknown:
        raise UsageError(f"{name} has no '{unknown[0]}'", f"it has {', '.join(sorted(known))}")
    return words


def seed_of(random_state: Any) -> int:
    """The seed that a ``random_state`` of scikit-learn's means."""
    if random_state is None or hasattr(random_state, "randint"):
        from sklearn.utils import check_random_state
        return int(check_random_state(random_state).randint(2**31 - 1))
    return whole(random_state, "random_state")


def threads_of(n_jobs: int | None) -> int:
    """Threads of ``n_jobs``: None and -1 are all cores, which the library calls 0."""
    if n_jobs is None or n_jobs == -1:
        return 0
    return whole(n_jobs, "n_jobs", 1, _MOST_THREADS + 1)


def shown(value: Any) -> str:
    """A value in the text of an error: short, and never another error."""
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."
