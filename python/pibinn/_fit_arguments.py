"""Arguments of fit and predict, as the library takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import items, number, only, places, whole
from ._arrays import Array, as_array, as_numpy
from ._errors import UsageError


def signal_class(guarantee: Any) -> dict[str, Any]:
    """The class of signals of a guarantee, with numbers for numbers."""
    words = only(guarantee, ("supports", "size", "norm", "noise"), "guarantee")
    made: dict[str, Any] = {key: number(words[key], key) for key in ("norm", "noise")
                            if key in words}
    if "size" in words:
        made["size"] = whole(words["size"], "size", 1)
    if "supports" in words:
        made["supports"] = [places(support, "a support")
                            for support in items(words["supports"], "supports")]
    return made


def row_weights(sample_weight: Any, count: int) -> Array:
    if sample_weight is None:
        return np.ones(count)
    weights = as_array(sample_weight, "sample_weight")
    if weights.shape != (count,) or weights.dtype.kind == "c":
        raise UsageError(f"sample_weight has shape {weights.shape}",
                         f"give one real number per row: {count}")
    return weights


def plain(values: Any, name: str) -> Any:
    """Arrays of others as NumPy's; what scikit-learn knows itself stays: frames with the names of
    their columns, sparse matrices, lists."""
    if hasattr(values, "columns") or hasattr(values, "__dataframe__") or values is None \
            or not (hasattr(values, "__dlpack__") or hasattr(values, "__array__")):
        return values
    return as_numpy(values, name)
