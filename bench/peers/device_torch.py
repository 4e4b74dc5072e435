"""Recovery in PyTorch on a CUDA device, eager and compiled, with rows in the device's memory.

Beside `pibinn-bench device --cases DIR`, which writes the networks that this reads. Products are of
float32, or of TF32 with --tf32. Usage: device_torch.py DIR [--tf32]
"""

import argparse
import json
from pathlib import Path

import torch

from cases import Case

NUMBERS = 20_000_000  # in y and x at a time; more were no faster
TURNS = 9


class Network(torch.nn.Module):
    def __init__(self, case):
        super().__init__()
        self.case = case
        self.a = torch.from_numpy(case.operator_t).T.contiguous().cuda()
        self.weights = [torch.from_numpy(w).T.contiguous().cuda() for w in case.weights_t]
        self.theta, self.beta, self.omega = (
            list(map(float, v)) for v in (case.theta, case.beta, case.omega))

    def forward(self, y):
        r = -y
        x = before = torch.zeros(len(y), self.a.shape[1], device=y.device)
        for k, weights in enumerate(self.weights):
            v = x
            if k > 0:
                v = torch.add(x, x - before, alpha=self.beta[k])
                alive = (x != 0).sum(1, keepdim=True) * (self.omega[k] / self.case.m)
                r = torch.addcmul(torch.addmm(y, v, self.a.T, beta=-1), alive, r)
            z = torch.addmm(v, r, weights, alpha=-1)
            tau = r.abs().mean(1, keepdim=True) * self.theta[k]
            before, x = x, z - torch.minimum(torch.maximum(z, -tau), tau)
        return x


def microseconds(call, y):
    for _ in range(3):
        call(y)
    times = []
    for _ in range(TURNS):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call(y)
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop) * 1000 / len(y))
    return sorted(times)[TURNS // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--tf32", action="store_true")
    arguments = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = arguments.tf32
    for folder in sorted(arguments.cases.iterdir()):
        case = Case(folder)
        network = Network(case).eval()
        y = torch.from_numpy(case.y).cuda()
        rows = y.repeat(NUMBERS // (case.m + case.n) // len(y) + 1, 1)
        with torch.inference_mode():
            x = network(y).cpu().numpy()
            error = float(abs(x - case.x).max() / abs(case.x).max())
            for name, call in (("eager", network), ("compiled", torch.compile(network))):
                us = microseconds(call, rows)
                print(json.dumps({
                    "name": "device", "m": case.m, "n": case.n, "layers": case.layers,
                    "batch": len(rows), "peer": f"torch {torch.__version__}, {name}",
                    "tf32": arguments.tf32, "peer_us": us, "signals_per_second": 1e6 / us,
                    "error": error, "device": torch.cuda.get_device_name()}))


if __name__ == "__main__":
    main()
