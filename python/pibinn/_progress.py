"""What a long task tells while it runs: a bar of tqdm where that is installed, otherwise lines."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

# task, done, total, detail, note
Listener = Callable[[str, int, int, str, str], None]


class ProgressBar:
    """Shows progress while a ``with`` block runs; ``listener`` is None where nobody looks."""

    def __init__(self, verbose: int | bool | Listener) -> None:
        self._verbose = verbose
        self._bar: Any = None
        self._told = 0.0

    @property
    def listener(self) -> Listener | None:
        if callable(self._verbose):
            return self._verbose
        return self._show if self._verbose else self._warn

    def _warn(self, task: str, done: int, total: int, detail: str, note: str) -> None:
        if note:
            warnings.warn(note, stacklevel=4)

    def _show(self, task: str, done: int, total: int, detail: str, note: str) -> None:
        self._warn(task, done, total, detail, note)
        if note:
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._print(f"{task} {done}/{total} {detail}", done >= total)
            return
        if self._bar is None:
            self._bar = tqdm(total=total or None, desc=task, leave=True)
        self._bar.total = total or None
        self._bar.n = done
        self._bar.set_description(task, refresh=False)
        self._bar.set_postfix_str(detail, refresh=False)
        self._bar.refresh()

    def _print(self, line: str, last: bool) -> None:
        if last or time.monotonic() - self._told > 2:
            self._told = time.monotonic()
            print(line, file=sys.stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()
