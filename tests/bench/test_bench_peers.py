"""Peers in other processes run the case that pibinn-bench wrote; tables state what they took."""

import sys

import numpy as np
import pytest

from programs import BENCH, ROOT, needs_bench, succeed

sys.path += [str(ROOT / "bench"), str(ROOT / "bench" / "peers")]

import cases  # noqa: E402
import tables  # noqa: E402

pytestmark = needs_bench

QUICK = ["--seconds", 0, "--threads", 1]


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    succeed(BENCH, "throughput", *QUICK, "--size", "8x16x3", "--cases", folder)
    return cases.Case(folder / "recover-random-8x16x3")


def peer(case):
    """The formulas of a plain network."""
    x = np.zeros((len(case.y), case.n), np.float32)
    for weights, theta in zip(case.weights_t, case.theta):
        z = x - (x @ case.operator_t - case.y) @ weights.T
        x = np.sign(z) * np.maximum(np.abs(z) - theta, 0)
    return x


needs_library = pytest.mark.skipif(
    not cases.LIBRARY.exists(), reason="skipped: no shared library; `make build` builds it")


@needs_library
def test_a_batch_on_one_thread_takes_turns_with_ours(case):
    name, times = cases.fastest_batch(case, {"slow": lambda: [peer(case) for _ in range(20)],
                                             "quick": lambda: peer(case)}, 0, 1)
    assert name == "quick"
    entry = case.entry("throughput", "numpy", len(case.y), 1, times, peer(case))
    assert entry["error"] < 1e-5
    assert min(entry["ours_us"], entry["peer_us"], entry["ratio"]) > 0


def test_a_batch_on_several_threads_is_timed_alone(case):
    name, times = cases.fastest_batch(case, {"only": lambda: peer(case)}, 0, 2)
    assert name == "only"
    assert set(times) == {"peer_us"} and times["peer_us"] > 0


@needs_library
def test_ours_refuses_to_be_measured_on_another_network(case, tmp_path):
    succeed(BENCH, "throughput", *QUICK, "--size", "8x16x2", "--cases", tmp_path)
    other = cases.Case(tmp_path / "recover-random-8x16x2")
    other.file = case.file
    with pytest.raises(AssertionError, match="recovers something else"):
        cases.Ours(other)


def goal_lines(ratio):
    entry = {"name": "throughput", "model": "random", "peer": "openblas", "m": 50, "threads": 1,
             "ratio": ratio}
    return [line for line in tables.goals([entry]).splitlines() if "against OpenBLAS" in line]


@pytest.mark.parametrize("ratio, told, holds", [(3.5, "3.50x", "yes"), (2.9, "2.90x", "**no**"),
                                                (2.999, "2.999x", "**no**")])
def test_a_goal_says_whether_it_holds(ratio, told, holds):
    assert goal_lines(ratio) == [f"| batch, 50x100x20, against OpenBLAS | 3x | {told} | {holds} |"]


def measured(**changes):
    entry = {"name": "latency", "model": "random", "m": 50, "n": 100, "layers": 20,
             "update": "plain", "batch": 1, "threads": 1, "density": 0.1, "peer": "openblas",
             "ours_us": 2.0, "ours_p99_us": 3.0, "ours_max_us": 4.0, "peer_us": 16.0, "ratio": 8.0,
             "ratio_range": [7.0, 9.0], "error": 1e-6}
    return {**entry, **changes}


def test_a_report_states_command_date_machine_median_and_range():
    updates = measured(update="accelerated", peer="ours, plain", ratio=0.8,
                       ratio_range=[0.5, 1.0], error=None)
    text = tables.report({"command": "bench/run latency", "date": "2026-01-02",
                          "machine": "a machine", "blas": "a BLAS", "rounds": 3,
                          "results": [measured(), updates]})
    for words in ("bench/run latency, 2026-01-02", "a machine; a BLAS", "Medians of 3 round(s)",
                  "## Recovery, one vector", "16.0: 8.00x (7.00 .. 9.00)", "1.25 (1.00 .. 2.00)"):
        assert words in text, text
    assert "## Training" not in text
