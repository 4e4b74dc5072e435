"""What an activation does, in PyTorch: entry by entry, or by sites (docs/architecture.md)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_TINY = 1e-30  # a site without energy
# The steps (down, right) of the rings of a grid, one of each pair that are opposite.
_GRID = (((0, 1), (1, 0)), ((1, 1), (1, -1)), ((0, 2), (2, 0)),
         ((1, 2), (1, -2), (2, 1), (2, -1)), ((2, 2), (2, -2)))


def _pieces(size: Tensor, tau: Tensor, theta: Tensor, gain: Tensor | None) -> tuple[Tensor, Tensor]:
    """sum_j a_j max(size - theta_j tau, 0), and its slope."""
    over = size.unsqueeze(-1) - theta * tau.unsqueeze(-1)
    gains = torch.ones_like(theta) if gain is None else gain
    return (over.clamp_min(0) * gains).sum(-1), ((over > 0).to(size) * gains).sum(-1)


def entry_shrink(activation: str, z: Tensor, tau: Tensor, theta: Tensor | None,
                 gain: Tensor | None) -> tuple[Tensor, Tensor]:
    """x of z entry by entry, and the sum of slopes that the Onsager term counts."""
    if activation == "relu":
        x = z.clamp_min(0)
    elif activation == "hard":
        assert theta is not None
        x = torch.where(z.abs() >= theta * tau, z, torch.zeros_like(z))
    else:
        assert theta is not None
        size, slope = _pieces(z.abs(), tau, theta, gain)
        x = torch.sign(z) * size
        if activation == "piecewise":
            return x, slope.sum(dim=(1, 2), keepdim=True)
    return x, (x != 0).to(z).sum(dim=(1, 2), keepdim=True)


class Sites:
    """Which entries an activation sees together; all tensors are (batch, repetition, entry)."""

    def __init__(self, sites: dict[str, Any], spec: dict[str, Any]) -> None:
        self.rows, self.halves = int(sites["rows"]), int(sites["halves"])
        self._rings, self._grid = int(sites["rings"]), int(sites["grid"])
        self._cyclic = bool(sites["cyclic"])
        self._activation = spec["activation"]
        self.apart = (self.rows * self.halves == 1 and self._rings == 0
                      and self._activation != "wiener")

    def _ring(self, energy: Tensor, ring: int) -> Tensor:
        """The sum of `energy` over a ring of every site."""
        total = torch.zeros_like(energy)
        if self._grid:
            side = self._grid
            square, sums = energy.reshape(-1, side, side), total.reshape(-1, side, side)
            for down, right in _GRID[ring - 1]:
                for d, r in ((down, right), (-down, -right)):
                    to = (slice(max(0, -d), side - max(0, d)), slice(max(0, -r), side - max(0, r)))
                    of = (slice(max(0, d), side - max(0, -d)), slice(max(0, r), side - max(0, -r)))
                    moved = torch.zeros_like(square)
                    moved[(slice(None), *to)] = square[(slice(None), *of)]
                    sums = sums + moved
            return sums.reshape(energy.shape)
        count = energy.shape[1]
        if self._cyclic:
            shift = ring % count
            return energy.roll(shift, 1) + energy.roll(-shift, 1)
        if ring >= count:
            return total
        pad = energy.new_zeros(len(energy), ring)
        return torch.cat([energy[:, ring:], pad], 1) + torch.cat([pad, energy[:, :-ring]], 1)

    def shrink(self, z: Tensor, tau: Tensor, theta: Tensor | None, gain: Tensor | None,
               local: Tensor | None, prior: Tensor | None) -> tuple[Tensor, Tensor]:
        """x of z with one gain per site, and the sum of slopes."""
        assert theta is not None
        batch, rows, n = z.shape
        members = rows * self.halves
        parts = z.reshape(batch, rows, self.halves, n // self.halves)
        energy = (parts * parts).sum(dim=(1, 2))
        level = tau.reshape(batch, 1)
        if self._activation == "wiener":
            assert prior is not None and local is not None
            noise = (theta[0] * level) ** 2
            seen = energy / (members * (prior.exp() + noise))
            size = local[1] * seen
            for ring in range(1, self._rings + 1):
                size = size + local[1 + ring] * self._ring(seen, ring)
            expected = prior.exp() * (local[0] + size)
            gains = expected / (expected + noise + _TINY)
            slopes = members * gains
        else:
            size = energy
            for ring in range(1, self._rings + 1):
                assert local is not None
                size = size + local[ring - 1] * self._ring(energy, ring)
            size = size.clamp_min(_TINY)
            u = size.sqrt()
            if self._activation == "hard":
                gains = (u >= theta[0] * level).to(z)
                slopes = members * gains
            else:
                shrunk, slope = _pieces(u, level, theta, gain)
                gains = shrunk / u
                if self._activation == "soft":
                    slope = (gains != 0).to(z)
                slopes = members * gains + energy / size * (slope - gains)
        x = parts * gains.reshape(batch, 1, 1, -1)
        return x.reshape(z.shape), slopes.sum(dim=1).reshape(batch, 1, 1)
