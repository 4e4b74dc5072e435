"""Markdown tables of what bench/run measured: a row for each case, a column for each peer, and the goals."""

BENCHES = {"latency": "Recovering one signal, microseconds of a call",
           "throughput": "Recovering a batch, microseconds of each signal",
           "train": "Training, milliseconds of an epoch"}
CASE = ("model", "m", "n", "layers", "update", "batch", "threads", "density")


def number(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def network(e):
    return f"{e['m']}x{e['n']}x{e['layers']}" + (", trained" if e["model"] == "trained" else "")


def cell(e, divisor):
    least, most = e["ratio_range"]
    text = f"{number(e['peer_us'] / divisor)}: {e['ratio']:.2f}x"
    return text if least == most else f"{text} ({least:.2f} .. {most:.2f})"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def pivot(name, results):
    """Networks against those who run the same network: time, and how many times ours it is."""
    divisor = 1000 if name == "train" else 1
    peers = list(dict.fromkeys(e["peer"] for e in results))
    titles = ["network", "density", "batch", "threads", "ours", *(["p99, max"] if name == "latency" else []), *peers]
    lines = [row(titles), row(["---"] * len(titles))]
    cases = {}
    for e in results:
        cases.setdefault(tuple(e[key] for key in CASE), {})[e["peer"]] = e
    for entries in cases.values():
        e = next(iter(entries.values()))
        tail = [f"{number(e['ours_p99_us'])}, {number(e['ours_max_us'])}"] if name == "latency" else []
        lines.append(row([network(e), f"{100 * e['density']:.0f} %", str(e["batch"]), str(e["threads"]),
                          number(e["ours_us"] / divisor), *tail,
                          *(cell(entries[peer], divisor) if peer in entries else "" for peer in peers)]))
    worst = max((e["error"] for e in results if e["error"] is not None), default=0)
    return "\n".join(lines) + f"\n\nLargest relative difference between ours and a peer's result: {worst:.0e}."


def solved(results):
    """Solvers, which do something else for the same end."""
    lines = [row(["network", "ours", "nmse", "solver", "its time", "its nmse", "ratio"]), row(["---"] * 7)]
    lines += [row([network(e), number(e["ours_us"]), f"{e['ours_nmse_db']:.1f} dB", e["peer"], number(e["peer_us"]),
                   f"{e['peer_nmse_db']:.1f} dB", f"{e['ratio']:.2f}x"]) for e in results]
    return "\n".join(lines)


def accelerated(results):
    lines = [row(["bench", "network", "density", "batch", "threads", "accelerated / plain"]), row(["---"] * 6)]
    lines += [row([e["name"], network(e), f"{100 * e['density']:.0f} %", str(e["batch"]), str(e["threads"]),
                   f"{1 / e['ratio']:.2f}"]) for e in results]
    return "\n".join(lines)


def goals(results):
    """What was to be reached on one thread, by random networks: the worst of the networks a goal names."""
    def worst(name, peer, **wanted):
        found = [e["ratio"] for e in results
                 if e["name"] == name and e["model"] == "random" and e["peer"].startswith(peer[0])
                 and e["peer"].endswith(peer[-1]) and all(test(e[key]) for key, test in wanted.items())]
        return min(found, default=None)

    openblas, torch = ("openblas",), ("torch", "best")
    small, middle, large = (lambda m: m == 50), (lambda m: m == 256), (lambda m: m >= 256)
    one = {"threads": lambda t: t == 1}
    list_of_goals = [
        ("one vector, 50x100x20, against OpenBLAS", 4, worst("latency", openblas, m=small)),
        ("one vector, 50x100x20, against the best PyTorch", 20, worst("latency", torch, m=small)),
        ("one vector, 256x512x20 and above, against OpenBLAS", 8, worst("latency", openblas, m=large)),
        ("batch, 50x100x20, against OpenBLAS", 3, worst("throughput", openblas, m=small, **one)),
        ("batch, 50x100x20, against the best PyTorch", 3.5, worst("throughput", torch, m=small, **one)),
        ("batch, 256x512x20, against OpenBLAS", 2.5, worst("throughput", openblas, m=middle, **one)),
        ("batch, 50x100x20, 2 threads against 1", 1.8,
         worst("throughput", ("ours, 1 thread",), m=small, threads=lambda t: t == 2)),
        ("batch, 256x512x20, 2 threads against 1", 1.8,
         worst("throughput", ("ours, 1 thread",), m=middle, threads=lambda t: t == 2)),
    ]
    def told(got, need):
        """Two digits, or three where two would hide that it was missed."""
        return f"{got:.2f}x" if (got >= need) == (float(f"{got:.2f}") >= need) else f"{got:.3f}x"

    lines = [row(["goal", "must reach", "reached", "holds"]), row(["---"] * 4)]
    lines += [row([what, f"{need}x", told(got, need), "yes" if got >= need else "**no**"])
              for what, need, got in list_of_goals if got is not None]
    return "\n".join(lines)


def report(merged):
    results = merged["results"]
    parts = [f"{merged['machine']}; {merged['blas']}; median of {merged['rounds']} round(s), lowest and highest round "
             "in brackets"]
    if any(e["name"] in ("latency", "throughput") for e in results):
        parts += ["### Goals", goals(results)]
    for name, title in BENCHES.items():
        peers = [e for e in results if e["name"] == name and e["peer"] != "ours, plain" and "ours_nmse_db" not in e]
        if peers:
            parts += [f"### {title}", pivot(name, peers)]
    for title, table, chosen in (
            ("Solvers on the same signals, microseconds of each", solved, [e for e in results if "ours_nmse_db" in e]),
            ("Cost of the accelerated update", accelerated, [e for e in results if e["peer"] == "ours, plain"])):
        if chosen:
            parts += [f"### {title}", table(chosen)]
    return "\n\n".join(parts) + "\n"
