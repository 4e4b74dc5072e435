"""Recovery in PyTorch, twice: as people write it, and at its best.

At its best means one signal as a vector (addmv) or rows of a batch (addmm), additions folded into
the two products of a layer, inference mode, and the fastest of eager and traced code, of both
layouts of the weights and of several rows at a time. With --compile also torch.compile.
"""

import warnings

import torch

from cases import LATENCY_ROWS, fastest_batch, fastest, main, microseconds


class AsWritten(torch.nn.Module):
    """The formulas, on batches of rows."""

    def __init__(self, case):
        super().__init__()
        self.case = case
        self.a = torch.from_numpy(case.operator_t).T.contiguous()
        self.weights = [torch.from_numpy(w).T.contiguous() for w in case.weights_t]
        self.theta, self.beta, self.omega = (
            torch.from_numpy(v) for v in (case.theta, case.beta, case.omega))

    def forward(self, y):
        x = before = torch.zeros(y.shape[0], self.a.shape[1])
        r = torch.zeros_like(y)
        for k, weights in enumerate(self.weights):
            v, theta = x, self.theta[k]
            if self.case.plain:
                r = v @ self.a.T - y
            else:
                v = x + self.beta[k] * (x - before)
                alive = (x != 0).sum(1, keepdim=True) / self.case.m
                r = v @ self.a.T - y + self.omega[k] * alive * r
            if self.case.residual_threshold:
                theta = theta * r.abs().mean(1, keepdim=True)
            z = v - r @ weights
            before, x = x, torch.sign(z) * torch.relu(z.abs() - theta)
        return x


class Best(torch.nn.Module):
    """One vector, or rows; `straight` is the layout with each output's weights side by side."""

    def __init__(self, case, vector, straight):
        super().__init__()
        self.m, self.plain, self.vector = case.m, case.plain, vector
        self.residual_threshold = case.residual_threshold
        a = torch.from_numpy(case.operator_t).T  # m x n
        self.a = a.contiguous() if straight else a.T.contiguous().T
        self.weights = [w if straight else w.T.contiguous().T
                        for w in map(torch.from_numpy, case.weights_t)]
        self.theta, self.beta, self.omega = (
            list(map(float, v)) for v in (case.theta, case.beta, case.omega))

    def product(self, add, matrix, v, alpha, beta):
        """beta add + alpha (matrix v), for v a vector or rows."""
        if self.vector:
            return torch.addmv(add, matrix, v, alpha=alpha, beta=beta)
        return torch.addmm(add, v, matrix.T, alpha=alpha, beta=beta)

    def forward(self, y):
        # x_0 = 0, so the first layer needs no A x.
        r = -y
        x = before = torch.zeros(y.shape[:-1] + (self.a.shape[1],))
        for k, weights in enumerate(self.weights):
            v = x
            if k > 0:
                if self.plain:
                    r = self.product(y, self.a, v, 1, -1)
                else:
                    v = torch.add(x, x - before, alpha=self.beta[k])
                    alive = (x != 0).sum(-1, keepdim=True) * (self.omega[k] / self.m)
                    r = torch.addcmul(self.product(y, self.a, v, 1, -1), alive, r)
            z = self.product(v, weights, r, -1, 1)
            before = x
            if self.residual_threshold:
                tau = r.abs().mean(-1, keepdim=True) * self.theta[k]
                x = z - torch.minimum(torch.maximum(z, -tau), tau)
            else:
                x = torch.nn.functional.softshrink(z, self.theta[k])
        return x


def candidates(case, sample, vector, compile_too):
    """Ways to run the best network on tensors like `sample`."""
    found = {}
    for straight in (True, False):
        network = Best(case, vector, straight).eval()
        name = "straight" if straight else "transposed"
        found[f"eager, {name}"] = network
        found[f"traced, {name}"] = torch.jit.optimize_for_inference(
            torch.jit.freeze(torch.jit.trace(network, sample, check_trace=False)))
    if compile_too:
        found["compiled"] = torch.compile(Best(case, vector, True).eval(), dynamic=False)
    return found


def torch_entries(case, threads, arguments):
    seconds = arguments.seconds
    torch.set_num_threads(threads)
    y = torch.from_numpy(case.y)
    version = f"torch {torch.__version__.split('+')[0]}"
    entries = []
    with torch.inference_mode():
        written = AsWritten(case)
        if threads == 1:
            rows = [y[i].clone() for i in range(min(LATENCY_ROWS, len(y)))]
            single = [row.unsqueeze(0) for row in rows]
            times = microseconds(lambda i: written(single[i % len(single)]), seconds, threads)
            x = torch.cat([written(row) for row in single]).numpy()
            entries.append(case.entry("latency", f"{version}, as written", 1, 1, times, x))
            ways = candidates(case, rows[0], True, arguments.compile)
            calls = {name: lambda i, call=call: call(rows[i % len(rows)])
                     for name, call in ways.items()}
            name, times = fastest(calls, seconds, threads)
            x = torch.stack([ways[name](row) for row in rows]).numpy()
            best = case.entry("latency", f"{version}, best", 1, 1, times, x)
            entries.append({**best, "how": name})
        _, times = fastest_batch(case, {"": lambda: written(y)}, seconds, threads)
        entries.append(case.entry("throughput", f"{version}, as written", len(y), threads, times,
                                  written(y).numpy()))
        calls = {}
        for rows in sorted({max(r for r in range(1, most + 1) if len(y) % r == 0)
                            for most in (256, 512, len(y))}):
            parts = [part.contiguous() for part in y.split(rows)]
            for name, call in candidates(case, parts[0], False, arguments.compile).items():
                calls[f"{name}, {rows} rows"] = (
                    lambda call=call, parts=parts: call(parts[0]) if len(parts) == 1 else
                    torch.cat([call(part) for part in parts]))
        name, times = fastest_batch(case, calls, seconds, threads)
        x = calls[name]().numpy()
        best = case.entry("throughput", f"{version}, best", len(y), threads, times, x)
        entries.append({**best, "how": name})
    return entries


if __name__ == "__main__":
    # Tracing is deprecated, and the fastest.
    warnings.filterwarnings("ignore", category=FutureWarning)
    main(torch_entries, __doc__)
