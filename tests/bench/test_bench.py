"""pibinn-bench runs what it names and tells what it measured. No test judges a speed."""

import math
import re

import numpy as np
import pytest

from programs import BENCH, PROGRAM, bench, model, needs_bench, run, succeed

pytestmark = needs_bench

QUICK = ["--seconds", 0, "--size", "8x16x3"]
PEERS = {"openblas", "eigen", "float-fused"}


@pytest.fixture(scope="module")
def latency():
    return bench("latency", *QUICK)


def check_entry(e):
    """What must hold in every entry, whatever the machine does."""
    assert e["ours_us"] > 0
    if e["peer"] is None:
        assert e["peer_us"] is e["ratio"] is e["ratio_range"] is e["error"] is None
        return
    least, most = e["ratio_range"]
    assert 0 < least <= e["ratio"] <= most
    # The ratio is the median over rounds; the quotient of the medians lies within the same range.
    assert least * (1 - 1e-9) <= e["peer_us"] / e["ours_us"] <= most * (1 + 1e-9)
    if e["name"] == "latency":
        for whose in ("ours", "peer"):
            # A round's median is one of its calls, so the tail cannot lie below the median.
            assert e[f"{whose}_us"] <= e[f"{whose}_max_us"]
            assert e[f"{whose}_p99_us"] <= e[f"{whose}_max_us"]


def test_latency_tells_one_entry_per_peer(latency):
    assert latency["machine"] and "OpenBLAS" in latency["blas"]
    assert [(e["update"], e["peer"]) for e in latency["results"]] == [
        ("plain", "openblas"), ("plain", "eigen"), ("plain", "float-fused"),
        ("accelerated", "ours, plain")]
    for e in latency["results"]:
        assert (e["name"], e["model"], e["weights"]) == ("latency", "random", "one-bit")
        assert (e["structure"], e["batch"], e["threads"]) == ("dense", 1, 1)
        assert (e["m"], e["n"], e["layers"]) == (8, 16, 3)
        assert e["density"] == pytest.approx(0.1, abs=0.03)
        check_entry(e)


def test_one_measurement_of_ours_meets_all_peers_of_a_matchup(latency):
    plain = [e for e in latency["results"] if e["update"] == "plain"]
    assert len(plain) == 3
    assert len({e["ours_us"] for e in plain}) == 1
    assert all(e["error"] < 1e-5 for e in plain)


def test_throughput_runs_on_one_thread_and_on_all():
    results = bench("throughput", *QUICK, "--threads", 2)["results"]
    assert {e["threads"] for e in results} == {1, 2}
    alone = [e for e in results if e["peer"] == "ours, 1 thread"]
    assert [e["threads"] for e in alone] == [2]
    assert alone[0]["error"] == 0
    for e in results:
        assert e["batch"] > 1 and "ours_p99_us" not in e
        check_entry(e)


def test_a_density_is_set_and_told():
    results = bench("latency", *QUICK, "--density", 0.4)["results"]
    assert all(e["density"] == pytest.approx(0.4, abs=0.05) for e in results)


def test_kernels_can_be_named_and_run_in_turn():
    named = bench("latency", *QUICK, "--kernel", "tile/SCALAR")["results"]
    assert {e["kernel"] for e in named} == {"tile/SCALAR"}
    every = bench("latency", *QUICK, "--kernel", "all")["results"]
    assert {"SCALAR", "tile/SCALAR"} < {e["kernel"] for e in every}


def test_a_model_file_meets_solvers_too(tmp_path):
    file = model(tmp_path / "model.safetensors")
    results = bench("throughput", "--seconds", 0, "--threads", 1, "--model", file)["results"]
    assert {e["model"] for e in results} == {"trained"}
    assert {e["update"] for e in results} == {"accelerated"}
    assert {e["peer"] for e in results} >= PEERS
    assert all(e["error"] < 1e-3 for e in results if e["peer"] in PEERS)
    solvers = [e for e in results if "ours_nmse_db" in e]
    assert [e["peer"].split(",")[0] for e in solvers] == ["fista", "omp"]
    assert all(math.isfinite(e["peer_nmse_db"]) for e in solvers)
    assert len({e["ours_nmse_db"] for e in solvers}) == 1
    for e in results:
        check_entry(e)


@pytest.mark.parametrize("settings, structure, weights, peers", [
    (["problem.structure=mask", "problem.mask_density=0.5"], "mask", "one-bit",
     {"ours, floating point"}),
    (["problem.structure=repeated", "problem.repeat=2"], "repeated", "one-bit",
     {"ours, floating point"}),
    (["model.activation=hard"], "dense", "one-bit", {"ours, floating point"}),
    (["model.weights=float"], "dense", "float", PEERS),
    (["model.weights=float", "problem.structure=mask"], "mask", "float", {None}),
    (["model.architecture=fcn", "model.update=plain", "model.weights=float"], "dense", "float",
     {None}),
])
@pytest.mark.parametrize("what", ["latency", "throughput"])
def test_every_model_that_recovers_can_be_measured(settings, structure, weights, peers, what,
                                                   tmp_path):
    file = model(tmp_path / "model.safetensors", *settings)
    results = bench(what, "--seconds", 0, "--threads", 1, "--model", file)["results"]
    networks = [e for e in results if "ours_nmse_db" not in e]
    assert {e["peer"] for e in networks} == peers
    assert {(e["structure"], e["weights"]) for e in results} == {(structure, weights)}
    for e in results:
        check_entry(e)
        assert e["error"] is None or e["error"] < 1e-4


def test_a_case_holds_what_others_need_to_run_it(tmp_path):
    bench("latency", *QUICK, "--cases", tmp_path / "cases")
    folder = tmp_path / "cases" / "recover-random-8x16x3"
    arrays = {p.stem: np.load(p) for p in folder.glob("*.npy")}
    a, y, x = arrays["operator"].T, arrays["y"], np.zeros((len(arrays["y"]), 16))
    for weights, theta in zip(arrays["weights"].reshape(3, 16, 8), arrays["theta"].ravel()):
        z = x - (x @ a.T - y) @ weights.T
        x = np.sign(z) * np.maximum(np.abs(z) - theta, 0)
    assert np.linalg.norm(x - arrays["x"]) < 1e-5 * np.linalg.norm(x)


def test_scaling_tells_curves_and_draws_them(tmp_path):
    results = bench("scaling", "--seconds", 0, "--plot", tmp_path / "curves.svg")["results"]
    assert {e["axis"] for e in results} == {"layers", "links", "batch", "blocks", "repetitions"}
    assert max(e["blocks"] for e in results) == 100
    assert all(e["ours_us"] > 0 for e in results)
    assert "</svg>" in (tmp_path / "curves.svg").read_text()


def test_a_table_is_told_to_a_person():
    text = succeed(BENCH, "latency", *QUICK)
    assert "latency, us" in text and "float-fused" in text and "p99" in text and "8x16x3" in text


def test_json_goes_to_a_file_and_quiet_says_nothing(tmp_path):
    file = tmp_path / "bench.json"
    assert succeed(BENCH, "latency", *QUICK, "--quiet", "--json", file) == ""
    assert '"results"' in file.read_text()


@pytest.mark.parametrize("arguments, words", [
    ([], ["WHAT is required"]),
    (["latncy"], ["unknown bench 'latncy'", "did you mean 'latency'"]),
    (["latency", "--model", "none.safetensors"], ["none.safetensors"]),
    (["latency", "--json", "no/such/folder/x.json"], ["no/such/folder"]),
])
def test_a_wrong_call_ends_with_one_line(arguments, words, tmp_path):
    result = run(BENCH, *arguments, cwd=tmp_path)
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith("pibinn-bench: error: ") and result.stderr.count("\n") == 1
    assert all(word in result.stderr for word in words), result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_kernel_is_refused_for_a_model_without_packed_bits(tmp_path):
    file = model(tmp_path / "model.safetensors", "model.weights=float")
    result = run(BENCH, "latency", "--model", file, "--kernel", "SCALAR")
    assert result.returncode == 2
    assert "float weights" in result.stderr and "--kernel" in result.stderr


def test_a_case_that_no_peer_runs_is_not_written(tmp_path):
    file = model(tmp_path / "model.safetensors", "problem.structure=mask")
    result = run(BENCH, "latency", "--seconds", 0, "--model", file, "--cases", tmp_path / "cases")
    assert result.returncode == 2 and "mask" in result.stderr
    assert not (tmp_path / "cases").exists()


def test_the_program_has_no_verb_bench():
    result = run(PROGRAM, "bench")
    assert result.returncode == 2 and "unknown verb 'bench'" in result.stderr
    assert "build/pibinn-bench" in result.stderr
    assert re.search(r"^ +bench\b", succeed(PROGRAM, "--help"), re.MULTILINE) is None
