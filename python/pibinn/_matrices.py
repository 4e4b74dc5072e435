"""Matrices of users, as operators are made of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ._arrays import Array, as_array
from ._errors import InputError, UsageError

# A matrix that takes more is made of a LinearOperator only with a warning.
_QUIET_BYTES = 64 * 2**20


def columns(block: Array) -> Array:
    """The entries of a block, column by column: the order of links."""
    return np.ascontiguousarray(block.T).reshape(-1)


def block_of(values: Any, name: str) -> Array:
    array = as_array(values, name)
    if array.ndim != 2 or 0 in array.shape:
        raise UsageError(f"{name} has shape {array.shape}", "give a matrix of m rows and n columns")
    if not np.isfinite(array).all():
        raise InputError(f"{name} holds NaN or infinite values", "replace them")
    return np.ascontiguousarray(array)


def matrix_of(linear: Any) -> Array:
    """A LinearOperator applied to every unit vector."""
    m, n = linear.shape
    dtype = np.dtype(linear.dtype or np.float64)
    dtype = np.dtype(np.complex128 if dtype.kind == "c" else np.float64)
    size = m * n * dtype.itemsize
    if size > _QUIET_BYTES:
        warnings.warn(f"the {m} x {n} operator is turned into a matrix of "
                      f"{size / 2**20:.0f} MiB: networks keep every link", stacklevel=4)
    matrix = np.empty((m, n), dtype)
    for begin in range(0, n, 256):
        unit = np.zeros((n, min(256, n - begin)), dtype)
        unit[np.arange(begin, begin + unit.shape[1]), np.arange(unit.shape[1])] = 1
        matrix[:, begin:begin + unit.shape[1]] = linear @ unit
    return matrix


def real_and_imaginary(values: Array) -> tuple[Array, Array]:
    return (np.ascontiguousarray(values.real, dtype=np.float64),
            np.ascontiguousarray(values.imag, dtype=np.float64))
