"""Problems to train on and to be judged by, as the program makes them.

Each function returns a ``Dataset``. Keywords are the keys of the section ``[problem]`` of a
configuration (docs/configuration.md), all of which have defaults.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._arguments import path_of, shown, whole
from ._arrays import Array
from ._errors import UsageError
from .operator import Operator

__all__ = ["Dataset", "access", "beamspace", "fourier", "images", "recordings", "synthetic"]


@dataclass(frozen=True)
class Dataset:
    """Signals and their measurements, one pair per row, to train on and to test with."""

    operator: Operator  #: measures coefficients, which are the signals unless there is a basis
    signals: Array
    measurements: Array
    test_signals: Array
    test_measurements: Array
    about: dict[str, Any] = field(repr=False)  #: basis, noise and what else is known
    problem: Any = field(repr=False)  #: for ``UnrolledRecovery.fit_dataset``

    def __repr__(self) -> str:
        return (f"Dataset({self.operator!r}, {len(self.signals)} signals to train, "
                f"{len(self.test_signals)} to test)")


def _setting(key: str, value: Any) -> str:
    try:
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, (tuple, np.ndarray)):
            value = np.asarray(value).tolist()
        return f"{key}={json.dumps(value)}"
    except Exception as error:
        raise UsageError(f"{key.split('.')[-1]} is {shown(value)}",
                         "give a number, a word or a list") from error


def settings_of(section: str, keys: dict[str, Any]) -> list[str]:
    """Keywords as settings of a configuration; None leaves a default."""
    return [_setting(f"{section}.{key}", value) for key, value in keys.items()
            if value is not None]


def _one_vector(operator: Operator, about: dict[str, Any]) -> Operator:
    """The operator that measures one vector of a row, where the library repeats it for others."""
    parts = 2 if about["complex"] and not operator.is_complex else 1
    if operator.repeat == 1 or operator.repeat != about["vectors"] * parts:
        return operator
    m, n = (size // operator.repeat for size in operator.shape)
    return Operator(operator.to_dense()[:m, :n])


def dataset_of(problem: _core.Problem) -> Dataset:
    """What a problem of the library holds, as arrays."""
    about = problem.traits
    return Dataset(_one_vector(Operator(problem.op), about), problem.signals,
                   problem.measurements, problem.test_signals, problem.test_measurements, about,
                   problem)


def load(kind: str, *, seed: int = 1, **keys: Any) -> Dataset:
    """A problem of any kind that the program knows."""
    settings = settings_of("problem", {"kind": kind, **keys})
    return dataset_of(_core.Problem.load(settings, "", whole(seed, "seed")))


def synthetic(*, seed: int = 1, **keys: Any) -> Dataset:
    """Sparse signals of N(0, 1) entries, by default 50 measurements of 100 entries.

    Keywords: ``m``, ``n``, ``density``, ``support``, ``train``, ``test``, ``noise_std``,
    ``snr_db``, ``structure``, ``repeat``, ``operator`` and others.

    Examples
    --------
    >>> import pibinn
    >>> pibinn.datasets.synthetic(operator="rademacher", train=200, test=50, snr_db=20)
    Dataset(Operator(50 x 100, dense, 5000 links), 200 signals to train, 50 to test)
    """
    return load("synthetic", seed=seed, **keys)


def beamspace(*, seed: int = 1, **keys: Any) -> Dataset:
    """Channels of a millimetre-wave antenna array behind a lens, complex.

    Keywords: ``antennas``, ``measurements``, ``paths``, ``users``, ``snr_db`` and others.

    Examples
    --------
    >>> import pibinn
    >>> data = pibinn.datasets.beamspace(antennas=32, measurements=16, train=50, test=10)
    >>> data.measurements.shape, data.signals.shape, data.signals.dtype
    ((50, 16), (50, 32), dtype('complex64'))
    """
    return load("beamspace", seed=seed, **keys)


def access(*, seed: int = 1, **keys: Any) -> Dataset:
    """Grant-free access: who of many users sends, and by which channel. Complex.

    Keywords: ``users``, ``pilots``, ``activity``, ``antennas``, ``snr_db`` and others.

    Examples
    --------
    >>> import pibinn
    >>> data = pibinn.datasets.access(users=48, pilots=16, antennas=2, train=50, test=10)
    >>> data.about["vectors"], data.measurements.shape, data.signals.shape
    (2, (50, 32), (50, 96))
    """
    return load("access", seed=seed, **keys)


def fourier(*, seed: int = 1, **keys: Any) -> Dataset:
    """Sparse complex spectra through random rows of a discrete Fourier transform.

    Keywords: ``m``, ``n``, ``density``, ``nonzeros``, ``snr_db`` and others.

    Examples
    --------
    >>> import pibinn
    >>> data = pibinn.datasets.fourier(m=16, n=32, train=50, test=10)
    >>> data.operator
    Operator(16 x 32, complex dense, 1024 links)
    """
    return load("fourier", seed=seed, **keys)


def images(path: str | os.PathLike[str], *, seed: int = 1, **keys: Any) -> Dataset:
    """Square patches of the pictures in a folder.

    Keywords: ``patch``, ``patches``, ``ratio``, ``operator``, ``noise_std``, ``normalize``,
    ``basis`` and others.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, pibinn
    >>> from matplotlib.image import imsave
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for i in range(4):
    ...     waves = np.sin(np.arange(32) / (3 + i))
    ...     imsave(folder / f"{i}.png", np.outer(waves, waves), cmap="gray")
    >>> data = pibinn.datasets.images(folder, patch=4, patches=20)
    >>> data.signals.shape, data.about["basis"]
    ((60, 16), 'dct2')
    """
    return load("images", seed=seed, path=path_of(path), **keys)


def recordings(path: str | os.PathLike[str] | None = None, *, seed: int = 1,
               **keys: Any) -> Dataset:
    """Segments of recorded signals such as EEG: a folder, or ``x="segments.npy"``.

    Keywords: ``x``, ``ids``, ``artefact``, ``ratio``, ``operator``, ``basis``, ``snr_db`` and
    others.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, pibinn
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "segments.npy"
    >>> np.save(file, np.random.default_rng(1).standard_normal((40, 32)).cumsum(axis=1))
    >>> data = pibinn.datasets.recordings(x=file, ratio=0.5)
    >>> data.operator.shape
    (16, 32)
    """
    where = None if path is None else path_of(path)
    return load("signals", seed=seed, path=where, **keys)
