"""Peers outside the program meet the case it wrote; what was measured is told as it is. No peer is needed here."""

import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import succeed

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path += [str(BENCH), str(BENCH / "peers")]

import cases  # noqa: E402
import tables  # noqa: E402


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    succeed("bench", "throughput", "--seconds", 0, "--size", "8x16x3", "--threads", 1, "--cases", folder)
    return cases.Case(folder / "recover-random-8x16x3")


def peer(case):
    """The formulas of a plain network."""
    x = np.zeros((len(case.y), case.n), np.float32)
    for weights, theta in zip(case.weights_t, case.theta):
        z = x - (x @ case.operator_t - case.y) @ weights.T
        x = np.sign(z) * np.maximum(np.abs(z) - theta, 0)
    return x


needs_library = pytest.mark.skipif(not cases.LIBRARY.exists(), reason="skipped: no shared library; `make shared` builds it")


@needs_library
def test_a_batch_on_one_thread_takes_turns_with_ours(case):
    name, times = cases.fastest_batch(case, {"slow": lambda: [peer(case) for _ in range(20)],
                                             "quick": lambda: peer(case)}, 0, 1)
    assert name == "quick"
    entry = case.entry("throughput", "numpy", len(case.y), 1, times, peer(case))
    assert entry["error"] < 1e-5
    assert 0 < entry["ours_us"] < entry["peer_us"]
    assert entry["ratio"] > 1


def test_a_batch_on_several_threads_is_timed_alone(case):
    name, times = cases.fastest_batch(case, {"only": lambda: peer(case)}, 0, 2)
    assert name == "only"
    assert set(times) == {"peer_us"} and times["peer_us"] > 0


@needs_library
def test_ours_refuses_to_be_measured_on_another_network(case, tmp_path):
    succeed("bench", "throughput", "--seconds", 0, "--size", "8x16x2", "--threads", 1, "--cases", tmp_path)
    other = cases.Case(tmp_path / "recover-random-8x16x2")
    other.file = case.file
    with pytest.raises(AssertionError, match="recovers something else"):
        cases.Ours(other)


def goal_lines(ratio):
    entry = {"name": "throughput", "model": "random", "peer": "openblas", "m": 50, "threads": 1, "ratio": ratio}
    return [line for line in tables.goals([entry]).splitlines() if "50x100x20, against OpenBLAS" in line]


@pytest.mark.parametrize("ratio, told, holds", [(3.5, "3.50x", "yes"), (2.9, "2.90x", "**no**"),
                                                (2.999, "2.999x", "**no**")])
def test_a_goal_says_whether_it_holds(ratio, told, holds):
    assert goal_lines(ratio) == [f"| batch, 50x100x20, against OpenBLAS | 3x | {told} | {holds} |"]
