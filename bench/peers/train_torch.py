"""The training step in PyTorch as people write it: autograd, straight-through sign, Adam, eager.

Reads the arrays that `pibinn-bench train --cases DIR` wrote, checks its gradient against ours and
prints JSON: one entry per density, batch and number of threads.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np
import torch

RATE = 1e-7  # as in `pibinn-bench train`: all of the work, and the density stays


class Sign(torch.autograd.Function):
    """Forward the sign, backward straight through."""

    @staticmethod
    def forward(ctx, latent):
        return torch.where(latent < 0, -1.0, 1.0)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Network(torch.nn.Module):
    def __init__(self, arrays, density):
        super().__init__()
        a = arrays["operator"]
        self.register_buffer("a", a.T.contiguous())  # m x n
        latent = arrays["latent"].reshape(-1, *a.shape).transpose(1, 2).contiguous()
        self.latent = torch.nn.ParameterList(torch.nn.Parameter(w.clone()) for w in latent)
        self.theta = torch.nn.Parameter(arrays[f"theta-{density}"].flatten().clone())
        self.log_scale = torch.nn.Parameter(arrays["scale"].flatten().log())

    def forward(self, y):
        scale = self.log_scale.exp()
        x = torch.zeros(y.shape[0], self.a.shape[1])
        for latent, theta in zip(self.latent, self.theta):
            weights = scale * Sign.apply(latent)
            z = x - (x @ self.a.T - y) @ weights
            x = torch.sign(z) * torch.relu(z.abs() - theta)
        return x


def loss_of(network, x, y):
    return ((network(y) - x) ** 2).sum() / len(x)


def gradient_error(arrays, density):
    """Of the weights' gradient against ours, in the worst layer.

    Ours is the gradient by effective weights, so theirs is divided by the scale.
    """
    network = Network(arrays, density)
    loss_of(network, arrays["x"], arrays["y"]).backward()
    ours = arrays[f"gradient-{density}"]
    scale = float(arrays["scale"])
    worst = 0.0
    for latent, expected in zip(network.latent, ours):
        got = latent.grad.T.flatten() / scale
        worst = max(worst, float((got - expected).norm() / expected.norm()))
    return worst


def epoch_seconds(arrays, density, batch, seconds):
    network = Network(arrays, density)
    optimiser = torch.optim.Adam(network.parameters(), lr=RATE)
    x, y = arrays["x"], arrays["y"]

    def epoch():
        order = torch.randperm(len(x))
        for at in range(0, len(x), batch):
            rows = order[at:at + batch]
            optimiser.zero_grad()
            loss_of(network, x[rows], y[rows]).backward()
            optimiser.step()
            with torch.no_grad():
                network.theta.clamp_(min=0)

    epoch()
    times = []
    start = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        epoch()
        times.append(time.perf_counter() - before)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--batches", type=int, nargs="+", default=[250, 4000])
    parser.add_argument("--seconds", type=float, default=1)
    arguments = parser.parse_args()
    arrays = {p.stem: torch.from_numpy(np.load(p)) for p in arguments.cases.glob("*.npy")}
    densities = sorted(int(name.split("-")[1]) for name in arrays if name.startswith("theta-"))
    results = []
    for density in densities:
        error = gradient_error(arrays, density)
        for batch in arguments.batches:
            for threads in arguments.threads:
                torch.set_num_threads(threads)
                taken = epoch_seconds(arrays, density, batch, arguments.seconds)
                results.append({"name": "train", "density": density / 100, "batch": batch,
                                "threads": threads, "peer_us": 1e6 * taken, "error": error,
                                "peer": f"torch {torch.__version__.split('+')[0]}"})
    print(json.dumps({"results": results}))


if __name__ == "__main__":
    main()
