"""Arrays on their way in: whatever speaks the buffer protocol or DLPack, copied only if need be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import InputError, UsageError

Array = NDArray[Any]
_KEPT = (np.dtype("float32"), np.dtype("float64"), np.dtype("complex64"), np.dtype("complex128"))


def as_numpy(values: Any, name: str) -> Array:
    """An array of anyone's as NumPy's, whatever it holds.

    Arrays of other packages convert themselves, and refuse by exceptions of any kind: PyTorch's
    RuntimeError where a gradient is wanted, TypeError on another device, BufferError of DLPack.
    """
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise UsageError(f"{name} is a sparse matrix, and rows of numbers are expected",
                         f"call {name}.toarray()")
    has_dlpack = hasattr(values, "__dlpack__")
    try:
        if has_dlpack and not hasattr(values, "__array__"):
            return np.from_dlpack(values)
        return np.asarray(values)
    except MemoryError:
        raise
    except Exception as error:
        # A PyTorch that was built for NumPy 1 cannot make arrays of NumPy 2, yet speaks DLPack.
        try:
            if has_dlpack:
                return np.from_dlpack(values)
        except Exception:
            pass
        raise InputError(f"{name} is no array of numbers ({_first_line(error)})",
                         "give an array in this machine's memory: tensor.detach().cpu() of a tensor"
                         if has_dlpack else "give rows of equal length") from error


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def as_array(values: Any, name: str) -> Array:
    """NumPy's view of an array of anyone's, of numbers that the library reads.

    float32, float64, complex64 and complex128 stay as they are; integers and other floats become
    float64.
    """
    array = as_numpy(values, name)
    if array.dtype in _KEPT and array.dtype.isnative:
        return array if array.flags.aligned else array.copy()
    if array.dtype.kind not in "biufcO":
        raise UsageError(f"{name} holds {array.dtype}, not numbers",
                         "give float32, float64, complex64 or complex128")
    wide = np.complex128 if array.dtype.kind == "c" else np.float64
    try:
        return array.astype(wide)
    except MemoryError:
        raise
    except Exception as error:
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
