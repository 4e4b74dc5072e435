"""The references that one would use instead of a network: FISTA, OMP, AMP, a linear estimator.

Every function takes an operator, or what ``pibinn.Operator`` takes, and a vector or rows of
measurements, and returns the signals as a vector or rows. With ``return_info`` a dict follows that
tells how much work it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._arguments import items, number, threads_of, whole
from ._arrays import Array, as_array, join_complex, split_complex
from ._errors import InputError, UsageError
from .operator import Operator, as_operator

__all__ = ["amp", "fista", "ista", "linear", "omp"]


class _Rows:
    """Measurements as solvers take them, and the way back."""

    def __init__(self, operator: Any, measurements: Any) -> None:
        self.operator: Operator = as_operator(operator)
        array = as_array(measurements, "measurements")
        self.vector = array.ndim == 1
        rows = array.reshape(1, -1) if self.vector else array
        m, n = self.operator.shape
        if rows.ndim != 2 or rows.shape[1] != m:
            raise UsageError(f"measurements have shape {array.shape}",
                             f"give {m} numbers, or rows of as many")
        if not np.isfinite(rows).all():
            raise InputError("measurements hold NaN or infinite values", "replace them")
        self.complex = self.operator.is_complex or rows.dtype.kind == "c"
        self.core = self.operator._core
        self.rows, self.halves = 1, 1
        self.vectors = 1
        if self.complex and self.operator.is_complex:
            self.halves = 2
            self.vectors = self.operator.repeat
        elif self.complex:
            self._see_both_parts()
        self.y = self.split(rows)

    def _see_both_parts(self) -> None:
        """A real operator measures real and imaginary parts alike."""
        structure, values = self.core.structure, self.core.values
        if self.operator.structure in ("dense", "repeated"):
            # The same block twice, for every vector of a row.
            self.rows, self.vectors = 2, self.operator.repeat
            m, n = (size // self.vectors for size in self.operator.shape)
            twice = _core.Structure.repeated(m, n, 2 * self.vectors)
        else:
            self.halves = 2
            twice = _core.Structure.complex_mask(structure, False)
            values = np.concatenate([values, values])
        self.core = _core.Operator.from_values(twice, np.ascontiguousarray(values))

    def split(self, rows: Array) -> Array:
        if not self.complex:
            with np.errstate(over="ignore"):
                return np.ascontiguousarray(rows, dtype=np.float32)
        return split_complex(rows, self.vectors)

    def joined(self, x: Array) -> Array:
        result: Array = join_complex(x, self.vectors) if self.complex else x
        return result[0] if self.vector else result

    def told(self, found: tuple[Array, dict[str, Any]], return_info: bool) -> Any:
        x, info = found
        return (self.joined(x), info) if return_info else self.joined(x)


def _lasso(method: str) -> Callable[..., Any]:
    def solve(operator: Any, measurements: Any, *, lambda_: float = 0.01, relative: bool = True,
              continuation: float = 0.0, max_iterations: int = 1000, tolerance: float = 1e-6,
              n_jobs: int | None = None, return_info: bool = False) -> Any:
        given = _Rows(operator, measurements)
        return given.told(
            _core.lasso(given.core, given.y, method, number(lambda_, "lambda_"), bool(relative),
                        number(continuation, "continuation"),
                        whole(max_iterations, "max_iterations", 1), number(tolerance, "tolerance"),
                        given.rows, given.halves, threads_of(n_jobs)),
            return_info)

    solve.__name__ = solve.__qualname__ = method
    solve.__doc__ = f"""min 1/2 ||A x - y||^2 + lambda |x|_1 by {method.upper()}.

    Parameters
    ----------
    operator, measurements
        A, and a vector or rows of y.
    lambda_ : float
        A share of max|A^T y| of each signal where ``relative``, otherwise lambda itself.
    continuation : float
        In (0, 1), lambda starts high and shrinks by this factor each iteration.
    max_iterations, tolerance
        A signal is done when a step moves it by less than this share of its norm.

    Examples
    --------
    >>> import numpy as np, pibinn
    >>> A = pibinn.Operator.random(30, 60, "rademacher")
    >>> x = np.zeros(60); x[[3, 40]] = 1, -2
    >>> found = pibinn.solvers.{method}(A, A @ x, lambda_=0.001)
    >>> np.flatnonzero(np.abs(found) > 0.5).tolist()
    [3, 40]
    """
    return solve


ista = _lasso("ista")
fista = _lasso("fista")


def omp(operator: Any, measurements: Any, *, n_nonzero: int = 0, tolerance: float = 1e-5,
        noise_std: float = 0.0, n_jobs: int | None = None, return_info: bool = False) -> Any:
    """Orthogonal matching pursuit: the best column, least squares, and again.

    It stops at ``n_nonzero`` entries, once ||y - A x|| is at most ``tolerance`` ||y||, or once it
    is as long as noise of the deviation ``noise_std``.

    Examples
    --------
    >>> import numpy as np, pibinn
    >>> A = pibinn.Operator.random(30, 60, "rademacher")
    >>> x = np.zeros(60); x[[3, 40]] = 1, -2
    >>> np.flatnonzero(pibinn.solvers.omp(A, A @ x)).tolist()
    [3, 40]
    """
    given = _Rows(operator, measurements)
    return given.told(
        _core.omp(given.core, given.y, whole(n_nonzero, "n_nonzero"),
                  number(tolerance, "tolerance"), number(noise_std, "noise_std"), given.rows,
                  given.halves, threads_of(n_jobs)), return_info)


def amp(operator: Any, measurements: Any, *, alpha: float = 1.4, density: float | None = None,
        variance: float = 1.0, noise_std: float = 0.0, damping: float = 1.0,
        max_iterations: int = 100, tolerance: float = 1e-5, n_jobs: int | None = None,
        return_info: bool = False) -> Any:
    """Approximate message passing, near the best there is for operators like random matrices.

    With ``density`` (and ``variance`` of the entries that are not zero) it knows the law of the
    signals; otherwise it shrinks by soft thresholds of ``alpha`` times the noise.

    Examples
    --------
    >>> import numpy as np, pibinn
    >>> A = pibinn.Operator.random(30, 60, "rademacher")
    >>> x = np.zeros(60); x[[3, 40]] = 1, -2
    >>> found, info = pibinn.solvers.amp(A, A @ x, density=0.05, return_info=True)
    >>> np.flatnonzero(np.abs(found) > 0.5).tolist(), info["signals"]
    ([3, 40], 1)
    """
    given = _Rows(operator, measurements)
    shrink = "soft" if density is None else "bernoulli-gaussian"
    return given.told(
        _core.amp(given.core, given.y, shrink, number(alpha, "alpha"),
                  0.05 if density is None else number(density, "density"),
                  number(variance, "variance"), number(noise_std, "noise_std"),
                  number(damping, "damping"), whole(max_iterations, "max_iterations", 1),
                  number(tolerance, "tolerance"), given.rows, given.halves, threads_of(n_jobs)),
        return_info)


def linear(operator: Any, measurements: Any, *, fit: tuple[Any, Any] | None = None,
           noise_std: float = 0.0, ridge: float = 1e-6, remove_mean: bool = False,
           n_jobs: int | None = None) -> Array:
    """The linear estimate of least mean squared error, xhat = M y.

    ``fit`` is a pair of arrays, measurements and signals, that M is learned from. Without it M is
    the best for white signals and noise of the deviation ``noise_std``.

    Examples
    --------
    >>> import numpy as np, pibinn
    >>> A = np.eye(3)
    >>> pibinn.solvers.linear(A, np.ones(3), noise_std=1.0)
    array([0.5, 0.5, 0.5], dtype=float32)
    """
    given = _Rows(operator, measurements)
    x = y = None
    if fit is not None:
        given_pair = items(fit, "fit")
        if len(given_pair) != 2:
            raise UsageError(f"fit holds {len(given_pair)} arrays", "give (measurements, signals)")
        pairs = [as_array(part, name) for part, name in
                 zip(given_pair, ("measurements of fit", "signals of fit"))]
        if any(part.ndim != 2 for part in pairs):
            raise UsageError("fit holds no rows", "give (measurements, signals), one pair per row")
        y, x = (given.split(part) for part in pairs)
    return given.joined(_core.linear(given.core, given.y, x, y, number(noise_std, "noise_std"),
                                     number(ridge, "ridge"), bool(remove_mean),
                                     threads_of(n_jobs)))
