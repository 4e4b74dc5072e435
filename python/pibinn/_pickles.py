"""Pickles are read by the versions that write them so; others are refused by name, with a hint."""

from __future__ import annotations

from typing import Any

from . import _core
from ._errors import InputError


def check_state(state: Any, expected: int, noun: str, hint: str) -> None:
    """Refuses the state of a pickle that another layout was made for.

    ``state["state"]`` counts the layouts of a class, and ``state["version"]`` names who wrote it.
    """
    if isinstance(state, dict) and state.get("state") == expected:
        return
    version = state.get("version", "?") if isinstance(state, dict) else "?"
    raise InputError(f"a pickled {noun} of pibinn {version}, which this one "
                     f"({_core.__version__}) does not read", hint)
