"""The verb bench measures what it says, on the same networks for all; speed itself is no matter of a test."""

import json

import numpy as np
import pytest

from conftest import SHORT, TINY, refuse, sets, succeed

QUICK = ["--seconds", 0, "--size", "8x16x3"]


def bench(*arguments, **options):
    return json.loads(succeed("bench", *arguments, "--json", "-", **options))


@pytest.fixture(scope="module")
def latency():
    return bench("latency", *QUICK)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    succeed("train", *TINY, *SHORT, "--out", folder, "--quiet")
    return folder / "model.safetensors"


def test_latency_tells_one_entry_a_peer(latency):
    assert latency["machine"] and "OpenBLAS" in latency["blas"]
    peers = {(e["update"], e["peer"]): e for e in latency["results"]}
    assert set(peers) == {("plain", "openblas"), ("plain", "eigen"), ("plain", "float-fused"),
                          ("accelerated", "ours, plain")}
    for e in latency["results"]:
        assert (e["name"], e["model"], e["weights"]) == ("latency", "random", "one-bit")
        assert (e["m"], e["n"], e["layers"], e["batch"], e["threads"]) == (8, 16, 3, 1, 1)
        # Over rounds, not of the medians beside it; both are about the same machine.
        assert 0.1 < e["ratio"] / (e["peer_us"] / e["ours_us"]) < 10
        assert 0 < e["ours_us"] <= e["ours_p99_us"] <= e["ours_max_us"]
        assert 0 < e["peer_us"] <= e["peer_p99_us"] <= e["peer_max_us"]
        assert e["density"] == pytest.approx(0.1, abs=0.03)


def test_peers_compute_what_we_compute(latency):
    errors = [e["error"] for e in latency["results"] if e["update"] == "plain"]
    assert len(errors) == 3
    assert all(error < 1e-5 for error in errors)


@pytest.mark.parametrize("size", ["7x9x2", "50x100x4", "70x33x3"])
def test_peers_agree_on_broken_vectors(size):
    results = bench("throughput", "--seconds", 0, "--size", size, "--threads", 1)["results"]
    assert all(e["error"] < 1e-5 for e in results if e["error"] is not None)


def test_throughput_runs_on_one_thread_and_on_all():
    results = bench("throughput", *QUICK, "--threads", 2)["results"]
    assert {e["threads"] for e in results} == {1, 2}
    alone = [e for e in results if e["peer"] == "ours, 1 thread"]
    assert [e["threads"] for e in alone] == [2]
    assert alone[0]["error"] == 0
    assert all(e["batch"] > 1 for e in results)


def test_a_density_is_set_and_told():
    results = bench("latency", *QUICK, "--density", 0.4)["results"]
    assert all(e["density"] == pytest.approx(0.4, abs=0.05) for e in results)


def test_kernels_can_be_named_and_run_in_turn():
    assert {e["kernel"] for e in bench("latency", *QUICK, "--kernel", "tile/SCALAR")["results"]} == {"tile/SCALAR"}
    all_kernels = {e["kernel"] for e in bench("latency", *QUICK, "--kernel", "all")["results"]}
    assert {"SCALAR", "tile/SCALAR"} < all_kernels


def test_a_trained_model_meets_solvers_too(trained):
    results = bench("throughput", "--seconds", 0, "--threads", 1, "--model", trained)["results"]
    assert {e["model"] for e in results} == {"trained"}
    assert {e["update"] for e in results} == {"accelerated"}
    assert all(e["error"] < 1e-3 for e in results if e["peer"] in ("openblas", "eigen", "float-fused"))
    solvers = [e for e in results if e["peer"].split(",")[0] in ("fista", "omp")]
    assert len(solvers) == 2
    # Three layers, hardly trained, are far from what solvers reach with all the time they want.
    assert all(e["peer_nmse_db"] < e["ours_nmse_db"] < 0 for e in solvers)


def test_a_case_holds_what_others_need_to_run_it(tmp_path):
    bench("latency", *QUICK, "--cases", tmp_path / "cases")
    arrays = {p.stem: np.load(p) for p in (tmp_path / "cases" / "recover-random-8x16x3").glob("*.npy")}
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
    text = succeed("bench", "latency", *QUICK)
    assert "float-fused" in text and "p99" in text and "8x16x3" in text


@pytest.mark.parametrize("arguments, words", [
    ([], ["WHAT is required"]),
    (["latncy"], ["unknown bench 'latncy'", "did you mean 'latency'"]),
    (["train", "--seconds", "-1"], ["--seconds -1"]),
    (["train", "--seconds", "nan"], ["--seconds nan"]),
    (["latency", "--size", "8x16"], ["--size '8x16'", "50x100x20"]),
    (["latency", "--size", "8x0x2"], ["--size '8x0x2'"]),
    (["latency", "--size", "8x16x2x"], ["--size '8x16x2x'"]),
    (["latency", "--density", "0"], ["--density 0"]),
    (["latency", "--kernel", "AVX9"], ["no kernel 'AVX9'"]),
    (["latency", "--model", "none.safetensors"], ["none.safetensors"]),
    (["latency", "--model", "none.safetensors", "--large"], ["--model and sizes"]),
    (["latency", "--plot", "x.svg"], ["--plot has no meaning for bench 'latency'"]),
    (["train", "--size", "8x16x2"], ["--size has no meaning"]),
    (["scaling", "--plot", "x.png"], ["x.png"]),
    (["scaling", "--kernel", "all"], ["--kernel all"]),
])
def test_a_wrong_bench_is_refused(arguments, words, tmp_path):
    line = refuse("bench", *arguments, cwd=tmp_path)
    for word in words:
        assert word in line


def test_a_model_that_peers_cannot_run_is_refused(tmp_path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("float")
    succeed("train", *TINY, *sets("model.weights=float", "train.stage.pretrain.epochs=3"), "--out", folder, "--quiet")
    line = refuse("bench", "latency", "--model", folder / "model.safetensors", cwd=tmp_path)
    assert "float weights" in line and "one-bit or ternary" in line
