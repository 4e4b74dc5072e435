"""Arrays on their way in: whatever speaks the buffer protocol or DLPack, copied only if need be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import InputError, UsageError

Array = NDArray[Any]
_KEPT = (np.dtype("float32"), np.dtype("float64"), np.dtype("complex64"), np.dtype("complex128"))


def as_array(values: Any, name: str) -> Array:
    """NumPy's view of an array of anyone's, of numbers that the library reads.

    float32, float64, complex64 and complex128 stay as they are; integers and other floats become
    float64.
    """
    if not isinstance(values, np.ndarray):
        if hasattr(values, "toarray") and hasattr(values, "nnz"):
            raise UsageError(f"{name} is a sparse matrix, and rows of numbers are expected",
                             f"call {name}.toarray()")
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            values = np.from_dlpack(values)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise InputError(f"{name} is no array of numbers ({error})",
                         "give rows of equal length") from error
    if array.dtype in _KEPT and array.dtype.isnative:
        return array if array.flags.aligned else array.copy()
    if array.dtype.kind not in "biufcO":
        raise UsageError(f"{name} holds {array.dtype}, not numbers",
                         "give float32, float64, complex64 or complex128")
    wide = np.complex128 if array.dtype.kind == "c" else np.float64
    try:
        return array.astype(wide)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} holds values that are not numbers ({error}): argument must be "
                         "a string or a number", "give an array of numbers") from error


def as_rows(values: Any, name: str) -> Array:
    """Rows without gaps between them."""
    array = as_array(values, name)
    if array.ndim != 2:
        raise UsageError(f"expected a 2-D array of one row per signal, got {array.ndim}-D "
                         f"({name} has shape {array.shape})",
                         "Reshape your data: array.reshape(1, -1) makes one row")
    return np.ascontiguousarray(array)


def as_float32(values: Any, name: str) -> NDArray[np.float32]:
    """Rows of float32; numbers beyond it become infinite, which the library refuses by name."""
    array = as_rows(values, name)
    if array.dtype.kind == "c":
        raise InputError(f"{name} is complex", "give real numbers")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=np.float32)


def split_complex(rows: Array, vectors: int = 1) -> NDArray[np.float32]:
    """Complex rows as the library holds them: real parts of a vector, then its imaginary parts."""
    parts = rows.reshape(len(rows), vectors, -1).astype(np.complex64)
    split = np.concatenate([parts.real, parts.imag], axis=2)
    return np.ascontiguousarray(split.reshape(len(rows), -1))


def join_complex(rows: NDArray[np.float32], vectors: int = 1) -> NDArray[np.complex64]:
    """The inverse of ``split_complex``."""
    parts = rows.reshape(len(rows), vectors, 2, -1)
    joined = parts[:, :, 0] + 1j * parts[:, :, 1]
    return joined.reshape(len(rows), -1).astype(np.complex64)


def decibels(snr_db: Any) -> tuple[float, float] | None:
    """One ratio, or the least and the most."""
    if snr_db is None:
        return None
    try:
        pair: Any = (snr_db, snr_db) if np.ndim(snr_db) == 0 else tuple(snr_db)
        least, most = (float(ratio) for ratio in pair)
    except (TypeError, ValueError) as error:
        raise UsageError(f"snr_db is {snr_db!r}", "give one number, or (least, most)") from error
    if not (np.isfinite(least) and np.isfinite(most) and least <= most):
        raise UsageError(f"snr_db is {snr_db!r}", "give finite numbers, the least first")
    return least, most


def whole(value: Any, name: str, least: int = 0) -> int:
    """A whole number that is not too small."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) \
            or value < least or value >= 2**63:
        raise UsageError(f"{name} is {value!r}", f"give a whole number of at least {least}")
    return int(value)


def only(words: Any, known: Iterable[str], name: str) -> dict[str, Any]:
    """A dict of known words; a word more is most likely a slip."""
    if not isinstance(words, dict):
        raise UsageError(f"{name} is {words!r}", f"give a dict of {', '.join(sorted(known))}")
    unknown = sorted(set(map(str, words)) - set(known))
    if unknown:
        raise UsageError(f"{name} has no '{unknown[0]}'", f"it has {', '.join(sorted(known))}")
    return words


def seed_of(random_state: Any) -> int:
    """The seed that a ``random_state`` of scikit-learn's means."""
    if random_state is None or hasattr(random_state, "randint"):
        from sklearn.utils import check_random_state
        return int(check_random_state(random_state).randint(2**31 - 1))
    return whole(random_state, "random_state")
