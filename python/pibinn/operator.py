"""The sensing operator A of y = A x + noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import Operator as _CoreOperator
from ._arguments import items, number, places, truth_of, whole, word
from ._arrays import Array, as_array, join_complex, split_complex
from ._errors import InputError, UsageError
from ._matrices import block_of, columns, matrix_of, real_and_imaginary
from ._pickles import check_state

_STATE = 1  # of pickles


class Operator:
    """A sensing operator with its structure, m measurements of n entries.

    Parameters
    ----------
    matrix : array, scipy.sparse matrix, LinearOperator or Operator
        A NumPy array, or anything with the buffer protocol or DLPack, real or complex. A sparse
        matrix becomes an operator of the structure ``mask``. A ``scipy.sparse.linalg``
        LinearOperator, or one of ``pylops``, is turned into a matrix, with a warning where that is
        large.

    Examples
    --------
    >>> import numpy as np, pibinn
    >>> A = pibinn.Operator(np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]))
    >>> A
    Operator(2 x 3, dense, 6 links)
    >>> A @ np.ones(3)
    array([3., 2.], dtype=float32)
    >>> pibinn.Operator.repeated(np.eye(2, 3), 4).shape
    (8, 12)
    """

    def __init__(self, matrix: Any) -> None:
        self._core: _CoreOperator
        if isinstance(matrix, Operator):
            self._core = matrix._core
        elif isinstance(matrix, _core.Operator):
            self._core = matrix
        elif hasattr(matrix, "tocsc") and hasattr(matrix, "nnz"):
            self._core = self._of_sparse(matrix)
        elif hasattr(matrix, "matvec") and hasattr(matrix, "shape"):
            self._core = self._of_dense(matrix_of(matrix))
        else:
            self._core = self._of_dense(block_of(matrix, "the operator"))

    @staticmethod
    def _of_dense(array: Array) -> _CoreOperator:
        if array.dtype.kind == "c":
            return _core.Operator.from_complex(array)
        return _core.Operator.from_dense(array)

    @staticmethod
    def _of_sparse(matrix: Any) -> _CoreOperator:
        csc = matrix.tocsc().copy()
        csc.sum_duplicates()
        if not np.isfinite(csc.data).all():
            raise InputError("the operator holds NaN or infinite values", "replace them")
        if csc.dtype.kind == "c":
            csc.eliminate_zeros()
        m, n = csc.shape
        offsets = np.ascontiguousarray(csc.indptr, dtype=np.uint32)
        rows = np.ascontiguousarray(csc.indices, dtype=np.uint32)
        if csc.dtype.kind == "c":
            pattern = _core.Structure.mask(m, n, offsets, rows)
            return _core.Operator.from_complex_links(pattern, *real_and_imaginary(csc.data))
        return _core.Operator.from_sparse(
            m, n, offsets, rows, np.ascontiguousarray(csc.data, dtype=np.float64))

    @classmethod
    def repeated(cls, block: Any, times: int) -> Operator:
        """The same block ``times`` times on the diagonal; its weights are shared.

        Examples
        --------
        >>> import numpy as np, pibinn
        >>> pibinn.Operator.repeated(np.eye(2, 3), 4)
        Operator(8 x 12, repeated, 6 links)
        """
        array = block_of(block, "the block")
        times = whole(times, "times", 1)
        if array.dtype.kind == "c":
            return cls(_core.Operator.from_complex(array, times))
        structure = _core.Structure.repeated(array.shape[0], array.shape[1], times)
        return cls(_core.Operator.from_values(structure, columns(array)))

    @classmethod
    def blocks(cls, blocks: Sequence[Any]) -> Operator:
        """Different blocks on the diagonal, real or complex.

        Examples
        --------
        >>> import numpy as np, pibinn
        >>> pibinn.Operator.blocks([np.ones((2, 3)), np.ones((1, 4))])
        Operator(3 x 7, blocks, 10 links)
        """
        arrays = [block_of(block, f"block {i}") for i, block in enumerate(items(blocks, "blocks"))]
        if not arrays:
            raise UsageError("no blocks are given", "give at least one")
        structure = _core.Structure.blocks([a.shape for a in arrays])
        if any(a.dtype.kind == "c" for a in arrays):
            links = np.concatenate([a.T.ravel() for a in arrays])
            return cls(_core.Operator.from_complex_links(structure, *real_and_imaginary(links)))
        dtype = np.result_type(*arrays)
        values = np.concatenate([columns(a).astype(dtype, copy=False) for a in arrays])
        return cls(_core.Operator.from_values(structure, values))

    @classmethod
    def random(cls, m: int, n: int, ensemble: str = "gaussian", *, repeat: int = 1,
               seed: int = 1) -> Operator:
        """Drawn from an ensemble.

        ``"gaussian"``, ``"gaussian-unit"``, ``"rademacher"``, ``"bernoulli"``, or rows of a
        transform: ``"hadamard"``, ``"dct"``, ``"fourier"``.

        Examples
        --------
        >>> import pibinn
        >>> pibinn.Operator.random(20, 40, "rademacher").is_sign
        True
        """
        m, n, repeat = whole(m, "m", 1), whole(n, "n", 1), whole(repeat, "repeat", 1)
        structure = (_core.Structure.dense(m, n) if repeat == 1
                     else _core.Structure.repeated(m, n, repeat))
        return cls(_core.Operator.random(structure, word(ensemble, "ensemble"),
                                         whole(seed, "seed")))

    @classmethod
    def formula(cls, kind: str, n: int, rows: Sequence[int], *, scale: float = 1.0,
                flipped: Sequence[bool] = ()) -> Operator:
        """Some rows of a transform of n entries: ``"hadamard"``, ``"dct"`` or ``"fourier"``.

        Rows have norm 1 times ``scale``; those of ``"hadamard"`` have entries +-1 times ``scale``.
        ``flipped`` names the columns that change their sign. ``"dft"`` gives complex rows of the
        discrete Fourier transform. A model file stores the rows, not the matrix.

        Examples
        --------
        >>> import pibinn
        >>> pibinn.Operator.formula("dct", 100, rows=[0, 3, 7]).formula_kind
        'dct'
        """
        n = whole(n, "n", 1)
        wanted = places(rows, "rows")
        if len(set(wanted)) != len(wanted) or sorted(wanted) != wanted:
            raise UsageError("rows of a formula are not ascending", "sort them, each once")
        if kind == "dft":
            structure = _core.Structure.complex(len(wanted), n)
            wanted += [n + row for row in wanted]
        else:
            structure = _core.Structure.dense(max(len(wanted), 1), n)
        flags = [truth_of(flag, "an entry of flipped") for flag in items(flipped, "flipped")]
        if flags and len(flags) != n:
            raise UsageError(f"flipped has {len(flags)} entries", f"give one per column: {n}")
        part = {"rows": wanted, "flipped": flags, "scale": number(scale, "scale"), "taps": [],
                "first": 0}
        return cls(_core.Operator.from_formula(structure, word(kind, "kind"), [part]))

    @classmethod
    def convolution(cls, taps: Sequence[float], n: int, m: int | None = None,
                    first: int = 0) -> Operator:
        """A(i, j) = taps[i - j - first]: the convolution of n entries, cut to m.

        Examples
        --------
        >>> import numpy as np, pibinn
        >>> pibinn.Operator.convolution([1, 2, 1], 4) @ np.array([0, 1, 0, 0])
        array([0., 1., 2., 1., 0., 0.], dtype=float32)
        """
        values = as_array(taps, "taps")
        if values.ndim != 1 or values.size == 0 or values.dtype.kind == "c":
            raise UsageError(f"taps have shape {values.shape}", "give a list of real numbers")
        n = whole(n, "n", 1)
        m = n + len(values) - 1 if m is None else whole(m, "m", 1)
        return cls(_core.Operator.convolution(m, n, values.astype(float).tolist(),
                                              whole(first, "first", -2**62, 2**62)))

    @property
    def is_complex(self) -> bool:
        """Whether entries and measurements are complex numbers."""
        return self._core.structure.is_complex

    @property
    def shape(self) -> tuple[int, int]:
        """Measurements and entries; a complex number counts once."""
        parts = 2 if self.is_complex else 1
        return self._core.rows // parts, self._core.cols // parts

    @property
    def dtype(self) -> np.dtype[Any]:
        """What ``A @ x`` has."""
        return np.dtype("complex64" if self.is_complex else "float32")

    @property
    def structure(self) -> str:
        """``"dense"``, ``"repeated"``, ``"blocks"`` or ``"mask"``."""
        return self._core.structure.kind

    @property
    def repeat(self) -> int:
        """How often the block of a ``repeated`` operator stands on its diagonal; otherwise 1."""
        return self._core.structure.repeat

    @property
    def links(self) -> int:
        """Entries that are stored; those of one block where it is repeated."""
        return self._core.structure.shared_links

    @property
    def is_sign(self) -> bool:
        """Whether all entries share one magnitude, so that one bit stores each."""
        return self._core.is_sign

    @property
    def formula_kind(self) -> str | None:
        """What the entries follow from, where that is shorter than the entries."""
        found = self._core.formula
        return None if found is None else str(found["kind"])

    def _product(self, x: Any, name: str, entries: int, adjoint: bool) -> Array:
        array = as_array(x, name)
        vector = array.ndim == 1
        rows = array.reshape(1, -1) if vector else array
        if rows.ndim != 2 or rows.shape[1] != entries:
            raise UsageError(f"{name} has shape {array.shape}",
                             f"give {entries} numbers, or rows of as many")
        complex_rows = self.is_complex or rows.dtype.kind == "c"
        work = self._core.adjoint if adjoint else self._core.apply
        if not complex_rows:
            result: Array = work(np.ascontiguousarray(rows, dtype=np.float32))
        elif self.is_complex:
            result = join_complex(work(split_complex(rows, self.repeat)), self.repeat)
        else:
            parts = [np.ascontiguousarray(p, dtype=np.float32) for p in (rows.real, rows.imag)]
            result = (work(parts[0]) + 1j * work(parts[1])).astype(np.complex64)
        return result[0] if vector else result

    def apply(self, x: Any) -> Array:
        """A x of a vector, or of every row."""
        return self._product(x, "x", self.shape[1], adjoint=False)

    def adjoint(self, y: Any) -> Array:
        """A^H y of a vector, or of every row."""
        return self._product(y, "y", self.shape[0], adjoint=True)

    def __matmul__(self, x: Any) -> Array:
        array = as_array(x, "x")
        return self.apply(array.T).T if array.ndim == 2 else self.apply(array)

    def to_dense(self) -> Array:
        """The whole matrix, zeros and repetitions included."""
        full: Array = self._core.to_dense()
        if not self.is_complex:
            return full
        repeat = self.repeat
        m, n = self.shape[0] // repeat, self.shape[1] // repeat
        block = full[:m, :n] + 1j * full[m:2 * m, :n]
        return np.kron(np.eye(repeat), block).astype(np.complex64)

    def squared_norm(self) -> float:
        """The largest eigenvalue of A^H A."""
        return self._core.squared_norm()

    def as_linear_operator(self) -> Any:
        """The operator as a ``scipy.sparse.linalg.LinearOperator``."""
        from scipy.sparse.linalg import LinearOperator
        return LinearOperator(self.shape, dtype=self.dtype,
                              matvec=lambda x: self.apply(np.ravel(x)),
                              rmatvec=lambda y: self.adjoint(np.ravel(y)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.to_dense(), dtype=dtype)

    def __repr__(self) -> str:
        m, n = self.shape
        kind = ("complex " if self.is_complex else "") + self.structure
        return f"Operator({m} x {n}, {kind}, {self.links} links)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Operator):
            return NotImplemented
        mine, theirs = self._state(), other._state()
        return (_same(mine["structure"], theirs["structure"])
                and np.array_equal(mine["values"], theirs["values"]))

    __hash__ = None  # type: ignore[assignment]

    def _state(self) -> dict[str, Any]:
        core = self._core
        return {"state": _STATE, "version": _core.__version__,
                "structure": core.structure.state(), "formula": core.formula,
                "values": core.precise_values if core.precise else core.values}

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_state, (self._state(),)

    def __copy__(self) -> Operator:
        return self  # it never changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Operator:
        return self


def _same(mine: Any, theirs: Any) -> bool:
    if not isinstance(mine, dict):
        return np.array_equal(mine, theirs)
    return isinstance(theirs, dict) and mine.keys() == theirs.keys() and all(
        _same(mine[key], theirs[key]) for key in mine)


def _structure_of(s: dict[str, Any]) -> Any:
    make = _core.Structure
    if "pattern" in s:
        return make.complex_mask(_structure_of(s["pattern"]), s["imaginary"])
    if s["complex"]:
        return make.complex(s["rows"] // s["repeat"] // 2, s["cols"] // s["repeat"] // 2,
                            s["repeat"])
    if s["kind"] == "mask":
        return make.mask(s["rows"], s["cols"], s["offsets"], s["row_indices"])
    if s["kind"] == "repeated":
        return make.repeated(s["rows"] // s["repeat"], s["cols"] // s["repeat"], s["repeat"])
    if s["kind"] == "blocks":
        return make.blocks(s["blocks"])
    return make.dense(s["rows"], s["cols"])


def _from_state(state: Any) -> Operator:
    check_state(state, _STATE, "operator", "keep the matrix, A.to_dense(), or a model file of "
                "model.save(), which stays readable")
    try:
        return _of_checked_state(state)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"a pickled operator is damaged ({error})", "make the operator again"
                         ) from error


def _of_checked_state(state: dict[str, Any]) -> Operator:
    structure = _structure_of(state["structure"])
    formula = state["formula"]
    if formula is not None and formula["kind"] != "convolution":
        return Operator(_core.Operator.from_formula(structure, formula["kind"], formula["parts"]))
    return Operator(_core.Operator.from_values(structure, state["values"]))


def as_operator(value: Any) -> Operator:
    """An operator of whatever ``Operator`` takes."""
    return value if isinstance(value, Operator) else Operator(value)


def find_structure(matrix: Any) -> dict[str, Any]:
    """Every structure that holds the non-zero entries of a matrix, the dense one first.

    Examples
    --------
    >>> import numpy as np, pibinn
    >>> found = pibinn.find_structure(np.kron(np.eye(3), np.ones((2, 4))))
    >>> [fit["kind"] for fit in found["fits"]]
    ['dense', 'repeated', 'blocks', 'mask']
    """
    array: NDArray[np.float32] = np.ascontiguousarray(block_of(matrix, "the matrix"),
                                                      dtype=np.float32)
    return _core.find_structure(array)
