"""Markdown of what bench/run measured, in the sections of docs/performance.md.

One row per case and one column per peer: the peer's time, and how many times ours it is.
"""

SECTIONS = {"latency": "Recovery, one vector", "throughput": "Recovery, batch",
            "train": "Training"}
UNITS = {"latency": "Latency: microseconds for one signal alone, one thread.",
         "throughput": "Batch time: microseconds per signal of a batch.",
         "train": "Milliseconds per epoch of 4000 signals."}
CASE = ("model", "m", "n", "layers", "update", "batch", "threads", "density")


def number(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def network(e):
    return f"{e['m']}x{e['n']}x{e['layers']}" + (", trained" if e["model"] == "trained" else "")


def ratio(e):
    """The median over rounds, with the lowest and the highest where they differ."""
    least, most = e["ratio_range"]
    text = f"{e['ratio']:.2f}x"
    return text if least == most else f"{text} ({least:.2f} .. {most:.2f})"


def table(titles, rows):
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def pivot(name, results):
    """Networks against those who run the same network: time, and how many times ours it is."""
    divisor = 1000 if name == "train" else 1
    peers = list(dict.fromkeys(e["peer"] for e in results))
    tails = ["p99, max"] if name == "latency" else []
    cases = {}
    for e in results:
        cases.setdefault(tuple(e[key] for key in CASE), {})[e["peer"]] = e

    def cells(entries):
        e = next(iter(entries.values()))
        tail = [f"{number(e['ours_p99_us'])}, {number(e['ours_max_us'])}"] if tails else []
        times = [f"{number(entries[p]['peer_us'] / divisor)}: {ratio(entries[p])}"
                 if p in entries else "" for p in peers]
        return [network(e), f"{100 * e['density']:.0f} %", str(e["batch"]), str(e["threads"]),
                number(e["ours_us"] / divisor), *tail, *times]

    worst = max((e["error"] for e in results if e["error"] is not None), default=0)
    titles = ["network", "density", "batch", "threads", "ours", *tails, *peers]
    return (table(titles, [cells(entries) for entries in cases.values()])
            + f"\n\nLargest relative difference between ours and a peer's result: {worst:.0e}.")


def solvers(results):
    """Solvers, which do something else for the same end."""
    titles = ["network", "ours", "our nmse", "solver", "its time", "its nmse", "ratio"]
    return table(titles, [[network(e), number(e["ours_us"]), f"{e['ours_nmse_db']:.1f} dB",
                           e["peer"], number(e["peer_us"]), f"{e['peer_nmse_db']:.1f} dB",
                           ratio(e)] for e in results])


def accelerated(results):
    """Time of the accelerated update over that of the plain one."""
    titles = ["network", "density", "batch", "threads", "accelerated / plain"]

    def cost(e):
        least, most = e["ratio_range"]
        text = f"{1 / e['ratio']:.2f}"
        return text if least == most else f"{text} ({1 / most:.2f} .. {1 / least:.2f})"

    return table(titles, [[network(e), f"{100 * e['density']:.0f} %", str(e["batch"]),
                           str(e["threads"]), cost(e)] for e in results])


def told(got, need):
    """Two digits, or three where two would hide that it was missed."""
    return f"{got:.2f}x" if (got >= need) == (float(f"{got:.2f}") >= need) else f"{got:.3f}x"


def goals(results):
    """What random networks must reach: the worst of the networks that a goal names."""
    def worst(name, peer, **wanted):
        found = [e["ratio"] for e in results
                 if e["name"] == name and e["model"] == "random"
                 and e["peer"].startswith(peer[0]) and e["peer"].endswith(peer[-1])
                 and all(test(e[key]) for key, test in wanted.items())]
        return min(found, default=None)

    openblas, torch = ("openblas",), ("torch", "best")
    small, middle, large = (lambda m: m == 50), (lambda m: m == 256), (lambda m: m >= 256)
    one = {"threads": lambda t: t == 1}
    wanted = [
        ("one vector, 50x100x20, against OpenBLAS", 4, worst("latency", openblas, m=small)),
        ("one vector, 50x100x20, against the best PyTorch", 20, worst("latency", torch, m=small)),
        ("one vector, 256x512x20 and above, against OpenBLAS", 8,
         worst("latency", openblas, m=large)),
        ("batch, 50x100x20, against OpenBLAS", 3, worst("throughput", openblas, m=small, **one)),
        ("batch, 50x100x20, against the best PyTorch", 3.5,
         worst("throughput", torch, m=small, **one)),
        ("batch, 256x512x20, against OpenBLAS", 2.5,
         worst("throughput", openblas, m=middle, **one)),
        ("batch, 50x100x20, 2 threads against 1", 1.8,
         worst("throughput", ("ours, 1 thread",), m=small, threads=lambda t: t == 2)),
        ("batch, 256x512x20, 2 threads against 1", 1.8,
         worst("throughput", ("ours, 1 thread",), m=middle, threads=lambda t: t == 2)),
    ]
    return table(["goal", "must reach", "reached", "holds"],
                 [[what, f"{need}x", told(got, need), "yes" if got >= need else "**no**"]
                  for what, need, got in wanted if got is not None])


def section(name, results):
    """The tables of one bench; empty where it was not run."""
    entries = [e for e in results if e["name"] == name]
    solved = [e for e in entries if "ours_nmse_db" in e]
    updates = [e for e in entries if e["peer"] == "ours, plain"]
    peers = [e for e in entries if e not in solved and e not in updates]
    if not peers:
        return []
    parts = [f"## {SECTIONS[name]}", UNITS[name], pivot(name, peers)]
    if solved:
        parts += ["Solvers on the signals of the trained network, microseconds per signal:",
                  solvers(solved)]
    if updates:
        parts += ["Cost of the accelerated update:", accelerated(updates)]
    return parts


def report(merged):
    results = merged["results"]
    parts = [f"{merged['command']}, {merged['date']}.",
             f"{merged['machine']}; {merged['blas']}.",
             f"Medians of {merged['rounds']} round(s), lowest and highest round in brackets."]
    if any(e["name"] in ("latency", "throughput") for e in results):
        parts += ["## Goals", goals(results)]
    for name in SECTIONS:
        parts += section(name, results)
    return "\n\n".join(parts) + "\n"
