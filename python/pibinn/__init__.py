"""Physics-Inspired Binary Neural Networks: recover x from y = A x + noise.

>>> import pibinn
>>> data = pibinn.datasets.synthetic(m=20, n=40, operator="rademacher", train=400, test=100)
>>> net = pibinn.UnrolledRecovery(data.operator, n_layers=4, max_epochs=5)
>>> signals = net.fit(data.measurements, data.signals).predict(data.test_measurements)

``UnrolledRecovery`` is the estimator, ``Model`` a trained network, ``Operator`` the physics.
``solvers`` are the references, ``datasets`` problems to try, ``plots`` pictures. ``torch`` and
``deepinv`` are bridges to these packages.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import datasets, solvers
from ._core import __version__, packed_kernels
from ._errors import (Error, FailedError, FileError, InputError, InternalError, OutOfMemoryError,
                      UsageError)
from .certificate import Calibration, Certificate
from .model import Model
from .operator import Operator, find_structure
from .studies import Comparison, compare, default_configuration, reproduce, train

if TYPE_CHECKING:
    from . import plots
    from .estimator import TrainingWarning, UnrolledRecovery

__all__ = [
    "Calibration", "Certificate", "Comparison", "Error", "FailedError", "FileError", "InputError",
    "InternalError", "Model", "Operator", "OutOfMemoryError", "TrainingWarning",
    "UnrolledRecovery", "UsageError", "__version__", "compare", "datasets",
    "default_configuration", "find_structure", "packed_kernels", "plots", "reproduce", "solvers",
    "train",
]

# scikit-learn takes a second to import, and the model alone does not need it.
_LATER = {"UnrolledRecovery": ".estimator", "TrainingWarning": ".estimator"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name], __name__), name)
    if name in ("plots", "torch", "deepinv"):
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'pibinn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, "plots"})
