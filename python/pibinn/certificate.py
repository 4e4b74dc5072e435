"""What is guaranteed of a model: by theory, or by signals that were held out."""

from __future__ import annotations

import html
import json
from typing import Any


def _table(numbers: dict[str, Any]) -> str:
    rows = "".join(f"<tr><td>{html.escape(str(k))}</td><td>{html.escape(_short(v))}</td></tr>"
                   for k, v in numbers.items() if not isinstance(v, (dict, list)))
    return f"<table>{rows}</table>"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


class Certificate:
    """What the theory guarantees of one model, with every number it used.

    ``statement`` is the guarantee in one sentence, ``verdict`` a word: ``"guaranteed"``,
    ``"on-supports"``, ``"on-data"`` or ``"none"``. ``numbers`` is what ``pibinn certify --json``
    writes; ``str()`` gives the text that the program prints. Notebooks show it as a table.
    """

    def __init__(self, words: dict[str, Any]) -> None:
        self.statement: str = words["statement"]
        self.verdict: str = words["verdict"]
        self.numbers: dict[str, Any] = json.loads(words["json"])
        self._text: str = words["text"]

    @property
    def bounds(self) -> list[float]:
        """How far x_k can be from x, layer by layer; empty where nothing is proven."""
        found = self.numbers.get("bound", self.numbers.get("cvg", []))
        return [float("inf") if b is None else b for b in found]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Certificate({self.verdict}: {self.statement})"

    def _repr_html_(self) -> str:
        return (f"<p><b>{html.escape(self.verdict)}</b>: {html.escape(self.statement)}</p>"
                f"{_table(self.numbers)}")


class Calibration:
    """What held-out signals guarantee of all signals that are drawn as they were.

    It holds for a network of any kind. ``statement`` says it in a sentence or two, ``numbers`` is
    what ``pibinn certify --calibrate --json`` writes.
    """

    def __init__(self, words: dict[str, Any]) -> None:
        self.numbers: dict[str, Any] = json.loads(words["json"])
        self.statement: str = self.numbers.get("statement", "")
        self._text: str = words["text"]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Calibration({self.statement})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.statement)}</p>{_table(self.numbers)}"
