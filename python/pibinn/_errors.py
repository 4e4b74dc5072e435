"""Errors of the library as exceptions of Python, with the same text and hint."""

from __future__ import annotations

import re
from typing import Any, Self

# Messages of the library name fields of its C++ structures; Python has arguments of these names.
_FIELD = re.compile(r"\b[A-Z]\w+::(\w+)")
_RENAMED = {"layers": "n_layers", "folder": "folder", "seed": "random_state"}


def _in_python(text: str) -> str:
    return _FIELD.sub(lambda found: _RENAMED.get(found[1], found[1]), text)


class Error(Exception):
    """Every error that pibinn raises on purpose.

    ``message`` carries the offending values and ``hint`` says what to do next. The text of the
    exception joins both.
    """

    message: str
    hint: str

    def __init__(self, message: str = "", hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.hint)

    @classmethod
    def of_library(cls, message: str, hint: str) -> Self:
        """The exception of an error that the library threw."""
        return cls(_in_python(message), _in_python(hint))


class UsageError(Error, ValueError):
    """Something was asked for that does not exist or does not fit together."""


class InputError(Error, ValueError):
    """The data or the file given is wrong."""


class FileError(Error, OSError):
    """The system refused a file operation."""


class FailedError(Error, RuntimeError):
    """The work itself failed; a training diverged, for example."""


class OutOfMemoryError(Error, MemoryError):
    """What was asked for does not fit into memory."""


class InternalError(Error, RuntimeError):
    """A bug in pibinn."""
