"""Pictures with matplotlib, an optional extra: ``pip install pibinn[plots]``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import shown
from ._arrays import as_array
from ._errors import UsageError

__all__ = ["plot_history", "plot_layers", "plot_signal"]


def _axes(ax: Any) -> Any:
    if ax is not None:
        if not hasattr(ax, "plot"):
            raise UsageError(f"ax is {shown(ax)}", "give axes of matplotlib, or None for new ones")
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib; pip install pibinn[plots]") from error
    return plt.subplots(figsize=(7, 3.2), layout="constrained")[1]


def _of_training(estimator: Any, attribute: str, key: str) -> dict[str, Any]:
    """What a training left; a model that was loaded has none of it."""
    found = getattr(estimator, attribute, None)
    if not isinstance(found, dict) or key not in found:
        raise UsageError(f"{shown(estimator)} holds no numbers of a training",
                         "give an UnrolledRecovery that was fitted, not loaded")
    return found


def plot_history(estimator: Any, ax: Any = None) -> Any:
    """The test error of every epoch, with the stages of the recipe; returns the axes.

    Examples
    --------
    >>> import pibinn
    >>> data = pibinn.datasets.synthetic(m=10, n=20, train=100, test=20)
    >>> net = pibinn.UnrolledRecovery(data.operator, n_layers=2, max_epochs=2).fit_dataset(data)
    >>> pibinn.plots.plot_history(net).get_xlabel()
    'epoch'
    """
    history = _of_training(estimator, "history_", "test_nmse_db")
    ax = _axes(ax)
    epoch, error = np.asarray(history["epoch"]), np.asarray(history["test_nmse_db"], float)
    stages = list(dict.fromkeys(history["stage"]))
    for stage in stages:
        of_stage = np.asarray(history["stage"]) == stage
        ax.plot(epoch[of_stage], error[of_stage], label=stage)
    ax.set(xlabel="epoch", ylabel="test nmse [dB]")
    if len(stages) > 1:
        ax.legend(frameon=False)
    ax.grid(alpha=0.3)
    return ax


def plot_layers(estimator: Any, ax: Any = None) -> Any:
    """The error after every layer, of training and of test signals; returns the axes.

    Examples
    --------
    >>> import pibinn
    >>> data = pibinn.datasets.synthetic(m=10, n=20, train=100, test=20)
    >>> net = pibinn.UnrolledRecovery(data.operator, n_layers=3, max_epochs=1).fit_dataset(data)
    >>> [line.get_label() for line in pibinn.plots.plot_layers(net).lines]
    ['train', 'test']
    """
    errors = _of_training(estimator, "nmse_db_per_layer_", "train")
    ax = _axes(ax)
    for name, marker in (("train", "o"), ("test", "s")):
        values = errors[name]
        ax.plot(np.arange(1, len(values) + 1), values, marker=marker, ms=4, label=name)
    ax.set(xlabel="layer", ylabel="nmse [dB]")
    ax.legend(frameon=False)
    ax.grid(alpha=0.3)
    return ax


def plot_signal(truth: Any, found: Any, ax: Any = None) -> Any:
    """A signal and what was recovered; of complex ones the magnitudes. Returns the axes.

    Examples
    --------
    >>> import numpy as np, pibinn
    >>> pibinn.plots.plot_signal(np.eye(8)[2], 0.9 * np.eye(8)[2]).get_xlabel()
    'entry'
    """
    x, xhat = as_array(truth, "truth"), as_array(found, "found")
    if x.ndim != 1 or x.shape != xhat.shape:
        raise UsageError(f"truth has shape {x.shape}, found {xhat.shape}", "give two vectors")
    ax = _axes(ax)
    if x.dtype.kind == "c" or xhat.dtype.kind == "c":
        x, xhat = np.abs(x), np.abs(xhat)
    places = np.arange(len(x))
    ax.vlines(places, 0, x, color="0.7", lw=3, label="signal")
    shown = xhat != 0
    ax.plot(places[shown], xhat[shown], "o", ms=4, mfc="none", color="C3", label="recovered")
    ax.axhline(0, color="0.5", lw=0.5)
    ax.set(xlabel="entry", ylabel="value")
    ax.legend(frameon=False)
    return ax
