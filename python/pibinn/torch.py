"""The network as a ``torch.nn.Module``, to fine-tune it or to put it into a larger one.

It loads from and saves to the model file, and gives the same outputs as ``Model.recover``. It is
written from the formulas of docs/architecture.md alone, which makes it an independent check of the
library's own passes.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._errors import UsageError
from ._sites import Sites, entry_shrink
from .model import Model

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:  # pragma: no cover
    raise ImportError("pibinn.torch needs PyTorch; install torch") from error

__all__ = ["UnrolledNet"]

_TINY = 1e-300  # instead of a division by zero


def _tensor(array: Any, dtype: Any) -> Tensor:
    # By lists: arrays of NumPy 2 cannot pass to a PyTorch that was built for NumPy 1.
    array = np.asarray(array)
    return torch.tensor(array.reshape(-1).tolist(), dtype=dtype).reshape(array.shape)


def _array(tensor: Tensor) -> Any:
    return np.asarray(tensor.detach().cpu().reshape(-1).tolist(), np.float32)


class _Level(torch.autograd.Function):  # type: ignore[misc]
    """Latent weights to -1, 0, 1 (or -1, 1), gradients straight through."""

    @staticmethod
    def forward(ctx: Any, latent: Tensor, ternary: bool) -> Tensor:
        if ternary:
            return latent.round().clamp(-1, 1)
        return torch.where(latent >= 0, torch.ones_like(latent), -torch.ones_like(latent))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return gradient, None


class UnrolledNet(nn.Module):  # type: ignore[misc]
    """An unrolled network of pibinn in PyTorch.

    Parameters
    ----------
    model : Model
        The network to start from: ``net.model_`` of an estimator, or ``Model.load(path)``.
    dtype : torch.dtype, default=torch.float32

    The forward pass takes rows of measurements and gives rows of signals, real or complex. Weights
    that are stored as bits are trained straight through: ``latent`` is quantised in every forward
    pass, and ``scales`` are learned beside it. ``theta``, ``gain``, ``step``, ``beta``, ``omega``,
    ``local`` and ``prior`` are parameters where the network has them. Gradients pass polish by, as
    if it were not there.

    Examples
    --------
    >>> import pibinn, torch
    >>> from pibinn.torch import UnrolledNet
    >>> A = pibinn.Operator.random(20, 40, "rademacher")
    >>> net = UnrolledNet(pibinn.Model.untrained(A, n_layers=5, weights="one-bit"))
    >>> net(torch.ones(3, 20)).shape
    torch.Size([3, 40])
    >>> sorted(name for name, _ in net.named_parameters())
    ['beta', 'latent', 'omega', 'scales', 'step', 'theta']
    >>> net.to_model()
    Model(20 -> 40, 5 layers, one-bit, soft, dense)
    """

    def __init__(self, model: Model, dtype: Any = torch.float32) -> None:
        super().__init__()
        if model.spec["architecture"] != "unrolled":
            raise UsageError("a fully connected network is not unrolled",
                             "give a model of the architecture 'unrolled'")
        self._model = model
        self.spec = model.spec
        self._domain = model._core.domain
        state = model._core.op.structure.state()
        self._repeat = int(state["repeat"])
        self._parts = _Parts(state)
        self.sites = Sites(model._core.sites, self.spec)
        self.register_buffer("links", _tensor(model._core.op.values, dtype))
        self.names = [name for name in model.parameters if name != "cut"]
        for name in self.names:
            self.register_parameter(name, nn.Parameter(_tensor(model.parameters[name], dtype)))
        self._cut = float(model.parameters["cut"][0]) if "cut" in model.parameters else 0.0
        if self.spec["weights"] != "tied":
            self._take_weights(model, dtype)
        if not self._domain["plain"]:
            n = model._core.op.cols
            zero = model._core.to_signals(np.zeros((1, n), np.float32))
            unit = model._core.to_signals(np.eye(n, dtype=np.float32)) - zero
            self.register_buffer("synthesis", _tensor(unit, dtype))
            self.register_buffer("offset", _tensor(zero[0], dtype))

    @classmethod
    def load(cls, path: str | os.PathLike[str], dtype: Any = torch.float32) -> UnrolledNet:
        """The network of a model file."""
        return cls(Model.load(path), dtype)

    def to_model(self) -> Model:
        """The network with its present numbers as a model of pibinn."""
        numbers = {name: _array(getattr(self, name)) for name in self.names}
        weights = [_array(w) for w in self.effective_weights()]
        return Model(self._model._core.with_numbers(numbers, weights))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file."""
        self.to_model().save(path)

    def _take_weights(self, model: Model, dtype: Any) -> None:
        kind, layers = self.spec["weights"], self.spec["layers"]
        links = np.stack([model._core.layer_links(k) for k in range(1, layers + 1)])
        shared = model._core.op.structure.shared_links
        if shared < links.shape[1]:
            for name, values in zip(("_source", "_sign"), self._parts.complex_pairs()):
                self.register_buffer(name, values, persistent=False)
        stored = links[:, :shared]
        if kind == "float":
            self.latent = nn.Parameter(_tensor(stored, dtype))
            return
        runs = self._parts.runs(kind, layers)[:, :shared]
        scales = np.zeros(runs.max() + 1)
        np.maximum.at(scales, runs.reshape(-1), np.abs(stored).reshape(-1))
        self.register_buffer("_runs", torch.tensor(runs.reshape(-1).tolist()).reshape(runs.shape),
                             persistent=False)
        self.latent = nn.Parameter(_tensor(stored / np.maximum(scales[runs], 1e-30), dtype))
        self.scales = nn.Parameter(_tensor(scales, dtype))

    def effective_weights(self) -> list[Tensor]:
        """The links of W_1 .. W_K as they are used; none where they are the operator's."""
        kind = self.spec["weights"]
        if kind == "tied":
            return []
        stored = self.latent
        if kind != "float":
            stored = self.scales[self._runs] * _Level.apply(stored, kind == "ternary")
        if hasattr(self, "_source"):
            stored = torch.cat([stored, stored[:, self._source] * self._sign.to(stored)], dim=1)
        return list(stored)

    def forward(self, measurements: Tensor) -> Tensor:
        """Signals of every row of measurements, in the unit of the training signals."""
        y = self._split(measurements)
        x = self.coefficients(y)[-1]
        if not self._domain["plain"]:
            x = x @ self.synthesis + self.offset
        return self._joined(x) if self._domain["complex"] else x

    def _split(self, rows: Tensor) -> Tensor:
        expected, wants_complex = self._model.n_measurements, self._model.complex_measurements
        if rows.ndim != 2 or rows.shape[1] != expected:
            raise UsageError(f"measurements have shape {tuple(rows.shape)}",
                             f"give rows of {expected} measurements")
        if rows.is_complex() and not wants_complex:
            raise UsageError("measurements are complex, and those of this model are real",
                             "give real numbers")
        if not wants_complex:
            return rows.to(self.links.dtype)
        parts = rows.reshape(len(rows), self._domain["vectors"], -1)
        imaginary = parts.imag if rows.is_complex() else torch.zeros_like(parts)
        split = torch.cat([parts.real, imaginary], dim=2)
        return split.reshape(len(rows), -1).to(self.links.dtype)

    def _joined(self, rows: Tensor) -> Tensor:
        parts = rows.reshape(len(rows), self._domain["vectors"], 2, -1)
        return torch.complex(parts[:, :, 0], parts[:, :, 1]).reshape(len(rows), -1)

    def coefficients(self, y: Tensor) -> list[Tensor]:
        """x_1 .. x_K of rows that hold the parts of complex numbers one after the other."""
        rows = len(y)
        together = self.sites.rows  # repetitions whose entries share their fate
        folded = y.reshape(rows * self._repeat // together, together, -1)
        weights = self.effective_weights()
        found = [self._run_part(part, folded[:, :, part.rows], weights)
                 for part in self._parts.parts]
        layers = [torch.cat(blocks, dim=2) for blocks in zip(*found)]
        return [layer.reshape(rows, -1) for layer in layers]

    def _run_part(self, part: _Part, y: Tensor, weights: list[Tensor]) -> list[Tensor]:
        spec = self.spec
        a = part.matrix(self.links)
        if spec["centre"]:
            a, y = a - a.mean(dim=0), y - y.mean(dim=2, keepdim=True)
        x = before = y.new_zeros(y.shape[0], y.shape[1], part.n)
        r = torch.zeros_like(y)
        slopes = y.new_zeros(y.shape[0], 1, 1)
        out = []
        for k in range(spec["layers"]):
            w = part.matrix(weights[k]) if weights else a
            v = x + self.beta[k] * (x - before) if spec["momentum"] else x
            kept = self.omega[k] * slopes / (y.shape[1] * y.shape[2]) * r if spec["onsager"] else 0
            r = v @ a.T - y + kept
            tau = (r.abs().mean(dim=(1, 2), keepdim=True) if spec["threshold"] == "residual"
                   else torch.ones_like(slopes))
            z = spec["delta"] * v - (self.step[k] if spec["step"] else 1) * (r @ w)
            before = x
            x, slopes = self._shrink(k, z, tau, part)
            out.append(x)
        if spec["polish"] > 0:
            with torch.no_grad():
                polished = _polish(spec["polish"], self._cut, a, y, out[-1], self.sites.halves)
                change = polished - out[-1]
            out[-1] = out[-1] + change
        return out

    def _shrink(self, k: int, z: Tensor, tau: Tensor, part: _Part) -> tuple[Tensor, Tensor]:
        def of_layer(name: str) -> Tensor | None:
            values = getattr(self, name, None)
            return None if values is None else values.reshape(self.spec["layers"], -1)[k]

        theta, gain = of_layer("theta"), of_layer("gain")
        if self.sites.apart:
            return entry_shrink(self.spec["activation"], z, tau, theta, gain)
        prior = getattr(self, "prior", None)
        if prior is not None:
            prior = prior[part.cols.start // self.sites.halves:part.cols.stop // self.sites.halves]
        return self.sites.shrink(z, tau, theta, gain, of_layer("local"), prior)


def _polish(steps: int, cut: float, a: Tensor, y: Tensor, x: Tensor, halves: int) -> Tensor:
    """Conjugate gradients for ||y - A_S x_S||^2 on the support S of every row.

    The rows of a group, which are the second dimension, and both halves of a row share S: it holds
    the sites whose magnitude is beyond ``cut`` times the largest.

    In float64 whatever the module has: they square the conditioning of A_S, so that in float32 the
    module and the library, which add up in different orders, would part by twice as much.
    """
    parts = x.double().reshape(x.shape[0], x.shape[1], halves, -1)
    sites = torch.linalg.vector_norm(parts, dim=(1, 2), keepdim=True)
    support = (sites > cut * sites.amax(dim=3, keepdim=True)).expand(parts.shape).reshape(x.shape)
    size = support.sum(dim=2, keepdim=True)
    usable = (size > 0) & (size <= a.shape[0])
    a, y, mask = a.double(), y.double(), support.double()
    found = x.double() * mask
    r = y - found @ a.T
    s = p = mask * (r @ a)
    gamma = (s * s).sum(dim=2, keepdim=True)
    enough = 1e-14 * gamma
    columns = mask @ (a * a).sum(dim=0).reshape(-1, 1)
    going = usable
    for _ in range(steps):
        going = going & (gamma > enough) & (gamma > 1e-13 * columns * (r * r).sum(2, keepdim=True))
        q = p @ a.T
        step = torch.where(going, gamma / (q * q).sum(dim=2, keepdim=True).clamp_min(_TINY),
                           torch.zeros_like(gamma))
        found, r = found + step * p, r - step * q
        s = mask * (r @ a)
        following = (s * s).sum(dim=2, keepdim=True)
        p = torch.where(going, s + following / gamma.clamp_min(_TINY) * p, p)
        gamma = torch.where(going, following, gamma)
    return torch.where(usable, found.to(x), x)


class _Part(nn.Module):  # type: ignore[misc]
    """One diagonal block, or the whole mask: where its links stand in its matrix."""

    def __init__(self, rows: slice, cols: slice, first: int, places: Any) -> None:
        super().__init__()
        self.rows, self.cols, self.first = rows, cols, first
        self.m, self.n = rows.stop - rows.start, cols.stop - cols.start
        # Of a mask: flat place of every link; None where all are there.
        self.register_buffer("_places", places, persistent=False)

    def matrix(self, links: Tensor) -> Tensor:
        if self._places is None:
            block = links[self.first:self.first + self.m * self.n]
            return block.reshape(self.n, self.m).T
        flat = links.new_zeros(self.m * self.n)
        return flat.index_put((self._places,), links).reshape(self.m, self.n)


class _Parts(nn.Module):  # type: ignore[misc]
    """The blocks of one repetition of a structure."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__()
        self.parts = nn.ModuleList()
        self._imaginary = bool(state.get("imaginary", True))  # of a complex structure
        if state["kind"] == "mask":
            offsets = np.asarray(state["offsets"], np.int64)
            columns = np.repeat(np.arange(state["cols"]), np.diff(offsets))
            flat = np.asarray(state["row_indices"], np.int64) * state["cols"] + columns
            self.parts.append(_Part(slice(0, state["rows"]), slice(0, state["cols"]), 0,
                                    torch.tensor(flat.tolist())))
            self._columns = columns
            self._owner = np.zeros(len(columns), int)
            return
        row = col = first = 0
        for m, n in state["blocks"]:
            self.parts.append(_Part(slice(row, row + m), slice(col, col + n), first, None))
            row, col, first = row + m, col + n, first + m * n
        self._columns = np.concatenate([np.repeat(np.arange(p.cols.start, p.cols.stop), p.m)
                                        for p in self.parts])
        self._owner = np.repeat(np.arange(len(self.parts)), [p.m * p.n for p in self.parts])

    def runs(self, kind: str, layers: int) -> Any:
        """Which scale each link of each layer has, by number."""
        if kind == "one-bit":
            return np.zeros((layers, len(self._owner)), int)
        own = self._columns if kind == "one-bit-channel" else self._owner
        return own + np.arange(layers)[:, None] * (own.max() + 1)

    def complex_pairs(self) -> tuple[Tensor, Tensor]:
        """Where the second half of the links of a complex structure comes from, and its sign."""
        half = len(self._columns) // 2
        first, columns = np.arange(half), self._columns[:half]
        _, begins, counts = np.unique(columns, return_index=True, return_counts=True)
        # Imaginary parts follow the real parts of their column.
        each = (counts // 2 if self._imaginary else np.zeros_like(counts))[columns]
        imaginary = first - begins[columns] >= counts[columns] - each
        twin = np.where(imaginary, first - each, first + each)
        source, sign = np.empty(half, int), np.empty(half)
        source[twin] = first
        sign[twin] = np.where(imaginary, -1.0, 1.0)
        return torch.tensor(source.tolist()), torch.tensor(sign.tolist())
