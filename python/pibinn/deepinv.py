"""A trained network as a reconstruction model of deepinv."""

from __future__ import annotations

import os
from typing import Any

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
    """

    def __init__(self, model: Model | str | os.PathLike[str], shape: tuple[int, ...] | None = None,
                 device: Any = "cpu") -> None:
        super().__init__(device=device)
        own = model if isinstance(model, Model) else Model.load(model)
        self.network = UnrolledNet(own).to(device)
        self.shape = (own.n_entries,) if shape is None else tuple(shape)

    def forward(self, y: Any, physics: Any = None, **keywords: Any) -> Any:
        rows = y.reshape(len(y), -1)
        return self.network(rows).reshape(len(y), *self.shape)
