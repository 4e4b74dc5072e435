"""The JSON that scripts rely on: its keys, and that nothing else gets in its way."""

import json
import shutil

import numpy as np
import pytest

from conftest import load, succeed

MODEL_KEYS = ["layers", "weights", "activation", "update", "structure", "delta", "links"]
BIT_KEYS = ["weights", "thresholds", "momentum", "scales", "operator", "paper", "total"]


def verbs(small, out):
    model = small / "model.safetensors"
    return {
        "eval": ["eval", model, "--signals", small / "x_test.npy"],
        "inspect": ["inspect", model],
        "recover": ["recover", model, "--in", small / "y_test.npy", "--out", out / "x.npy"],
        "solve": ["solve", "--solver", "omp", "--operator", small / "A.npy", "--in",
                  small / "y_test.npy", "--out", out / "x.npy"],
        "export": ["export", model, "--to", "npz", "--out", out / "m.npz"],
        "sample": ["sample", "--out", out / "data"],
        "init": ["init", "--set", "problem.m=4", "--out", out / "m.safetensors"],
    }


@pytest.mark.parametrize("verb", ["eval", "inspect", "recover", "solve", "export", "sample",
                                  "init"])
def test_a_dash_leaves_only_json_on_standard_output(verb, small, tmp_path):
    arguments = verbs(small, tmp_path)[verb]
    on_screen = json.loads(succeed(*arguments, "--json", "-"))
    if verb == "sample":  # it never writes over what it wrote
        shutil.rmtree(tmp_path / "data")
    text = succeed(*arguments, "--json", tmp_path / "r.json")
    assert text and not text.startswith("{")
    in_file = json.loads((tmp_path / "r.json").read_text())
    for timing in ("microseconds_per_signal", "latency_microseconds"):
        assert (on_screen.pop(timing, 0) > 0) == (in_file.pop(timing, 0) > 0)
    assert in_file == on_screen


def test_eval_has_the_keys_of_its_contract(small):
    result = json.loads(succeed("eval", small / "model.safetensors", "--signals",
                                small / "x_test.npy", "--json", "-"))
    assert list(result) == ["nmse_db", "energy_nmse_db", "median_nmse_db", "exact_share", "support_f1", "signals",
                            "skipped_zero_signals", "microseconds_per_signal",
                            "latency_microseconds", "batch", "threads"]
    assert result["signals"] == 5 and result["skipped_zero_signals"] == 0
    assert result["batch"] == 5 and result["threads"] >= 1
    assert result["latency_microseconds"] > 0 and result["microseconds_per_signal"] > 0


def test_threads_are_those_that_were_asked_for(small, tmp_path):
    for threads in (1, 2):
        evaluated = json.loads(succeed("eval", small / "model.safetensors", "--signals",
                                       small / "x_test.npy", "--threads", threads, "--json", "-"))
        recovered = json.loads(succeed("recover", small / "model.safetensors", "--in",
                                       small / "y_test.npy", "--out", tmp_path / "x.npy",
                                       "--threads", threads, "--json", "-"))
        assert evaluated["threads"] == recovered["threads"] == threads


def test_zero_signals_are_skipped_and_counted(work):
    x = load(work / "x.npy")
    np.save(work / "more.npy", np.vstack([np.zeros((2, 10)), x]))

    def evaluate(name):
        return json.loads(succeed("eval", work / "model.safetensors", "--signals", work / name,
                                  "--json", "-"))

    assert evaluate("more.npy")["skipped_zero_signals"] == 2
    assert evaluate("more.npy")["signals"] == 7
    assert evaluate("more.npy")["nmse_db"] == pytest.approx(evaluate("x.npy")["nmse_db"], abs=1e-4)


def test_inspect_tells_model_and_bits(small):
    result = json.loads(succeed("inspect", small / "model.safetensors", "--json", "-"))
    assert list(result["model"]) == MODEL_KEYS and list(result["bits"]) == BIT_KEYS
    assert result["model"] == {"layers": 3, "weights": "one-bit", "activation": "soft",
                               "update": "accelerated", "structure": "dense", "delta": 1.0,
                               "links": 180}
    assert result["bits"]["momentum"] == 2 * 3 * 32
    assert (result["m"], result["n"]) == (6, 10)
    assert len(result["theta"]) == 3 and result["scale"] > 0


@pytest.mark.parametrize("kind, bits, scales", [("float", 32, 0), ("one-bit", 1, 1),
                                                ("one-bit-layer", 1, 3), ("one-bit-channel", 1, 30),
                                                ("ternary", 2, 3), ("tied", 0, 0)])
def test_every_kind_of_weights_is_counted(kind, bits, scales, tmp_path):
    text = succeed("init", "--set", "problem.m=6", "--set", "problem.n=10", "--set",
                   "model.layers=3", "--set", f"model.weights={kind}", "--out",
                   tmp_path / "m.safetensors", "--json", "-")
    result = json.loads(text)
    assert result["model"]["weights"] == kind
    # A step per layer counts as a scale.
    assert result["bits"]["weights"] == 180 * bits and result["bits"]["scales"] == 32 * (scales + 3)
