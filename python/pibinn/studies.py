"""What the program's verbs do with configurations and folders."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable
from typing import Any

from . import _core
from ._arguments import items, path_of, shown, threads_of, whole, word
from ._errors import FailedError, UsageError
from ._progress import Listener, ProgressBar
from .datasets import settings_of
from .model import Model

Path = str | os.PathLike[str]


class Comparison:
    """Several networks on one problem: ``rows`` as dicts, ``models`` in the same order."""

    def __init__(self, summary: dict[str, Any], models: list[Model]) -> None:
        self.summary = summary
        self.rows: list[dict[str, Any]] = summary["rows"]
        self.models = models

    def to_frame(self) -> Any:
        """The rows as a pandas.DataFrame."""
        import pandas as pd
        return pd.json_normalize(self.rows)

    def __repr__(self) -> str:
        lines = [f"  {row['scheme']} on {row['structure']}: {row['test_nmse_db']:.2f} dB"
                 for row in self.rows]
        return "\n".join(["Comparison(", *lines, ")"])


def _configuration(configuration: Any) -> tuple[str, list[str]]:
    """A TOML file, or sections as dicts: {"problem": {"m": 20}, "model": {"layers": 5}}."""
    if configuration is None:
        return "", []
    if isinstance(configuration, dict):
        settings = []
        for section, keys in configuration.items():
            if not isinstance(keys, dict):
                raise UsageError(f"the section {shown(section)} is {shown(keys)}",
                                 "give a dict of its keys: {'problem': {'m': 20}}")
            settings += settings_of(section, keys)
        return "", settings
    return path_of(configuration, "configuration"), []


def _words(values: str | Iterable[str] | None, name: str) -> str:
    if values is None:
        return ""
    return word(values, name) if isinstance(values, str) else ",".join(
        word(value, f"an entry of {name}") for value in items(values, name))


def _folder_of(path: Path | None, name: str) -> str:
    return "" if path is None else path_of(path, name)


def _seed(seed: Any) -> int | None:
    return None if seed is None else whole(seed, "seed")


def compare(configuration: Any = None, *, folder: Path, weights: str | Iterable[str] | None = None,
            structures: str | Iterable[str] | None = None,
            architectures: str | Iterable[str] | None = None, seeds: int = 0,
            seed: int | None = None, resume: bool = False, n_jobs: int | None = None,
            verbose: int | bool | Listener = 0) -> Comparison:
    """Trains several networks on one problem, as ``pibinn compare``.

    ``configuration`` is a TOML file, or a dict of sections. ``folder`` gets a run of each network,
    ``compare.csv`` and ``report.html``.

    Examples
    --------
    >>> import pathlib, tempfile, pibinn
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "comparison"
    >>> found = pibinn.compare({"problem": {"m": 10, "n": 20, "train": 100, "test": 50},
    ...                         "model": {"layers": 2}, "train": {"recipe": "paper"}},
    ...                        weights=["one-bit", "ternary"], structures="dense",
    ...                        architectures="unrolled", folder=folder)
    >>> [row["scheme"] for row in found.rows], found.models[0]
    (['one-bit', 'ternary'], Model(10 -> 20, 2 layers, one-bit, soft, dense))
    >>> (folder / "report.html").exists()
    True
    """
    file, settings = _configuration(configuration)
    with ProgressBar(verbose) as bar:
        found = _core.compare(file, settings, _seed(seed), _words(weights, "weights"),
                              _words(structures, "structures"),
                              _words(architectures, "architectures"), whole(seeds, "seeds"),
                              path_of(folder, "folder"), bool(resume), threads_of(n_jobs),
                              bar.listener)
    return Comparison(json.loads(found["summary"]), [Model(m) for m in found["models"]])


def train(configuration: Any = None, *, folder: Path, seed: int | None = None,
          resume: bool = False, device: str = "cpu", n_jobs: int | None = None,
          verbose: int | bool | Listener = 0) -> tuple[list[Model], dict[str, Any]]:
    """Trains every seed of a configuration, as ``pibinn train``: models, and the summary.

    Examples
    --------
    >>> import pathlib, tempfile, pibinn
    >>> models, summary = pibinn.train({"problem": {"m": 10, "n": 20, "train": 100, "test": 50},
    ...                                 "model": {"layers": 2}, "train": {"recipe": "paper"}},
    ...                                folder=pathlib.Path(tempfile.mkdtemp()) / "run")
    >>> models
    [Model(10 -> 20, 2 layers, one-bit, soft, dense)]
    >>> summary["test_nmse_db"] < 0
    True
    """
    file, settings = _configuration(configuration)
    with ProgressBar(verbose) as bar:
        found = _core.train_configuration(file, settings, _seed(seed), path_of(folder, "folder"),
                                          bool(resume), word(device, "device"),
                                          threads_of(n_jobs), bar.listener)
    if not found["finished"]:
        raise FailedError("the training was stopped", "call again with resume=True")
    return [Model(m) for m in found["models"]], json.loads(found["summary"])


def reproduce(*ids: str, folder: Path, seeds: int = 0, quick: bool = False,
              images: Path | None = None, eeg: Path | None = None, n_jobs: int | None = None,
              verbose: int | bool | Listener = 0) -> dict[str, Any]:
    """Makes tables, figures and claims of the paper again, as ``pibinn reproduce``.

    Without ``ids`` all of them; ``quick`` takes a minute. The folder gets ``report.html`` and a
    table per experiment; what is there is not trained again. Returns what ``reproduction.json``
    holds.

    Examples
    --------
    >>> import pathlib, tempfile, pibinn
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "bits"
    >>> found = pibinn.reproduce("bits", folder=folder, quick=True)
    >>> (folder / "report.html").exists()
    True
    """
    with ProgressBar(verbose) as bar:
        found = _core.reproduce([word(one, "an id") for one in ids], whole(seeds, "seeds"),
                                bool(quick), _folder_of(images, "images"), _folder_of(eeg, "eeg"),
                                path_of(folder, "folder"),
                                datetime.date.today().isoformat(), threads_of(n_jobs),
                                bar.listener)
    result: dict[str, Any] = json.loads(found["summary"])
    return result


def default_configuration() -> str:
    """Every key of a configuration with its default and meaning, as TOML.

    Examples
    --------
    >>> import pibinn, tomllib
    >>> tomllib.loads(pibinn.default_configuration())["model"]["layers"]
    20
    """
    return _core.default_configuration()
