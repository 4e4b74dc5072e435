"""A trained network as a reconstruction model of deepinv."""

from __future__ import annotations

import math
import os
from typing import Any

from ._arguments import items, whole
from ._errors import UsageError
from .model import Model
from .torch import UnrolledNet

try:
    from deepinv.models import Reconstructor
except ImportError as error:  # pragma: no cover
    raise ImportError("pibinn.deepinv needs deepinv; pip install pibinn[deepinv]") from error

__all__ = ["UnrolledReconstructor"]


class UnrolledReconstructor(Reconstructor):  # type: ignore[misc]
    """Reconstructs x from y as ``deepinv.models.Reconstructor`` does: ``model(y, physics)``.

    ``y`` is a tensor of any shape with one measurement per leading entry, which is flattened.
    ``shape`` is the shape of a signal, such as (1, 8, 8) of a patch. The network knows its own
    operator, so that ``physics`` is not asked. It is trainable as any module.

    Examples
    --------
    >>> import deepinv, pibinn, torch
    >>> from pibinn.deepinv import UnrolledReconstructor
    >>> physics = deepinv.physics.CompressedSensing(m=32, img_size=(1, 8, 8))
    >>> columns = physics(torch.eye(64).reshape(64, 1, 8, 8)).reshape(64, 32)
    >>> model = pibinn.Model.untrained(columns.T.contiguous(), n_layers=5, weights="tied")
    >>> reconstruct = UnrolledReconstructor(model, shape=(1, 8, 8))
    >>> reconstruct(physics(torch.zeros(3, 1, 8, 8)), physics).shape
    torch.Size([3, 1, 8, 8])
    """

    def __init__(self, model: Model | str | os.PathLike[str], shape: tuple[int, ...] | None = None,
                 device: Any = "cpu") -> None:
        super().__init__(device=device)
        own = model if isinstance(model, Model) else Model.load(model)
        self.shape = _shape_of(shape, own.n_entries)
        self.network = UnrolledNet(own).to(device)

    def forward(self, y: Any, physics: Any = None, **keywords: Any) -> Any:
        if y.ndim == 0:
            raise UsageError("y is a single number", "give one measurement per leading entry")
        rows = y.reshape(len(y), -1)
        return self.network(rows).reshape(len(y), *self.shape)


def _shape_of(shape: Any, entries: int) -> tuple[int, ...]:
    if shape is None:
        return (entries,)
    sizes = tuple(whole(size, "a size of shape", 1) for size in items(shape, "shape"))
    if math.prod(sizes) != entries:
        raise UsageError(f"shape is {sizes}", f"give a shape of {entries} entries, as a signal has")
    return sizes
