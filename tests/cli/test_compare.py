"""Weight kinds and structures side by side."""

import csv
import json
import shlex
import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import PROGRAM, PROGRESS_LINE, SHORT, TINY, contents, refuse, sets, succeed, tree

KINDS = ["float", "one-bit", "one-bit-layer", "one-bit-channel", "ternary", "tied"]
REPEATED = sets("problem.structure=repeated", "problem.repeat=3")
TWO = ["--weights", "one-bit,ternary", "--architecture", "unrolled"]


def compare(folder, *options, epochs=SHORT):
    text = succeed("compare", *TINY, *epochs, *options, "--out", folder, "--json", "-")
    return json.loads(text)


def names(result):
    return [(row["scheme"], row["structure"]) for row in result["rows"]]


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """All schemes on a repeated problem: the folder and the result."""
    folder = tmp_path_factory.mktemp("compare") / "all"
    return folder, compare(folder, *REPEATED)


def test_all_kinds_on_both_structures_and_the_fully_connected_networks(everything):
    folder, result = everything
    assert names(result) == [(k, s) for s in ("repeated", "dense") for k in KINDS] + [
        ("fcn-relu", "dense"), ("fcn-soft", "dense")]
    assert json.loads((folder / "compare.json").read_text()) == result
    for row in result["rows"]:
        assert row["gap_db"] == pytest.approx(abs(row["train_nmse_db"] - row["test_nmse_db"]))
        assert row["microseconds_per_signal"] > 0 and row["seconds"] > 0
        files = tree(folder / row["folder"])
        assert files == ["checkpoint.safetensors", "history.csv", "model.safetensors",
                         "report.html", "summary.json"]
        summary = json.loads((folder / row["folder"] / "summary.json").read_text())
        assert summary["test_nmse_db"] == row["test_nmse_db"] and summary["bits"] == row["bits"]
        model = json.loads(succeed("inspect", folder / row["folder"] / "model.safetensors",
                                   "--json", "-"))
        assert model["bits"] == row["bits"] and model["model"]["links"] == row["links"]
    assert any(row["front"] for row in result["rows"])


def test_links_and_bits_follow_the_structure(everything):
    rows = {(r["scheme"], r["structure"]): r for r in everything[1]["rows"]}
    assert rows["one-bit", "repeated"]["links"] == 3 * 12 * 20
    assert rows["one-bit", "dense"]["links"] == 3 * 36 * 60
    assert rows["one-bit", "repeated"]["bits"]["paper"] == 3 * (12 * 20 + 32)
    assert rows["one-bit", "dense"]["bits"]["operator"] == 32 * 36 * 60
    assert rows["ternary", "dense"]["bits"]["weights"] == 2 * 3 * 36 * 60
    # The paper's formula for fully connected layers, and thresholds for soft ones.
    assert rows["fcn-relu", "dense"]["bits"]["total"] == 32 * (36 * 60 + 2 * 60 * 60)
    assert rows["fcn-soft", "dense"]["bits"]["total"] == 32 * (36 * 60 + 2 * 60 * 60 + 3)


def test_sparsity_and_overlap_are_those_of_the_stored_weights(everything, tmp_path):
    folder, result = everything
    for row in result["rows"]:
        ternary = row["scheme"] == "ternary"
        assert (row["sparsity"] > 0) == ternary
        assert (row["overlap"] is not None) == (ternary and row["structure"] == "dense")
        if row["overlap"] is None:
            continue
        succeed("export", folder / row["folder"] / "model.safetensors", "--to", "npz",
                "--out", tmp_path / "w.npz")
        arrays = np.load(tmp_path / "w.npz")
        physics = np.kron(np.eye(3), np.ones((12, 20))) > 0
        layers = [arrays[name] for name in arrays.files
                  if name.startswith("W") and arrays[name].shape == (36, 60)]
        assert len(layers) == 3
        zeros = np.stack([w == 0 for w in layers])
        assert row["sparsity"] == pytest.approx(zeros.mean())
        assert row["overlap"] == pytest.approx(zeros[:, ~physics].mean())


def test_references_and_tables(everything):
    folder, result = everything
    references = {r["method"]: r for r in result["references"]}
    assert {"OMP", "linear MMSE", "linear MMSE, int8", "FISTA, 3 iterations",
            "FISTA, 100 iterations"} <= set(references)
    assert references["linear MMSE, int8"]["stored_bits"] == 8 * 240 + 32 * 20
    with open(folder / "compare.csv", newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(result["rows"]) + len(references)
    assert float(lines[1]["test_nmse_db"]) == pytest.approx(result["rows"][1]["test_nmse_db"],
                                                            rel=1e-4)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page and "front of the networks" in page and "one-bit-channel" in page
    assert len(result["verdicts"]) == 4
    assert all(verdict.replace("'", "&#39;") in page for verdict in result["verdicts"])


def test_a_scheme_is_the_training_that_train_makes(everything, tmp_path):
    folder, _ = everything
    for name, settings in (("ternary-dense", ["model.weights=ternary", "model.structure=dense"]),
                           ("one-bit-repeated", ["model.structure=problem"])):
        succeed("train", *TINY, *SHORT, *REPEATED, *sets(*settings), "--out", tmp_path / name)
        assert (tmp_path / name / "model.safetensors").read_bytes() == \
            (folder / name / "model.safetensors").read_bytes()
        problem = json.loads((tmp_path / name / "summary.json").read_text())["problem"]
        assert problem["structure"] == "repeated"


def test_the_same_result_for_any_number_of_threads(tmp_path):
    for threads in ("1", "3"):
        succeed("compare", *TINY, *SHORT, *REPEATED, *TWO, "--seeds", "2", "--threads", threads,
                "--out", tmp_path / threads, "--quiet")
    kept = [{name: content for name, content in contents(tmp_path / threads).items()
             if name.endswith("model.safetensors")} for threads in ("1", "3")]
    assert len(kept[0]) == 12 and kept[0] == kept[1]


def test_seeds_give_means_and_deviations(tmp_path):
    result = compare(tmp_path / "c", "--weights", "one-bit", "--architecture", "unrolled",
                     "--seeds", "3")
    summary = json.loads((tmp_path / "c" / "one-bit-dense" / "summary.json").read_text())
    assert result["seeds"] == 3 and len(summary["seeds"]) == 3
    row = result["rows"][0]
    assert names(result) == [("one-bit", "dense")]
    assert row["std"]["test_nmse_db"] == summary["std"]["test_nmse_db"] > 0
    assert row["overlap"] is None and result["verdicts"] == []


@pytest.mark.parametrize("structure", ["blocks", "mask"])
def test_structures_of_files(structure, tmp_path):
    rng = np.random.default_rng(3)
    a = np.zeros((12, 20), np.float32)
    a[:6, :10] = rng.normal(size=(6, 10))
    a[6:, 10:] = rng.normal(size=(6, 10))
    np.save(tmp_path / "A.npy", a)
    settings = sets("problem.operator=A.npy", f"problem.structure={structure}", "problem.repeat=2")
    text = succeed("compare", *TINY, *SHORT, *settings, *TWO, "--out", "c", "--json", "-",
                   cwd=tmp_path)
    result = json.loads(text)
    assert names(result) == [(k, s) for s in (structure, "dense") for k in ("one-bit", "ternary")]
    assert [row["links"] for row in result["rows"]] == [360, 360, 720, 720]
    assert 0 <= result["rows"][3]["overlap"] <= 1


def test_a_finished_comparison_resumes_to_itself_and_can_grow(tmp_path):
    first = compare(tmp_path / "c", *REPEATED, *TWO)
    before = {name: content for name, content in contents(tmp_path / "c").items()
              if name.endswith(("model.safetensors", "history.csv", "checkpoint.safetensors"))}
    more = ["--weights", "one-bit,ternary,float", "--architecture", "unrolled", "--resume"]
    second = compare(tmp_path / "c", *REPEATED, *more)
    after = contents(tmp_path / "c")
    assert len(before) == 12 and {name: after[name] for name in before} == before
    assert len(second["rows"]) == 6
    for row in first["rows"]:
        again = second["rows"][names(second).index((row["scheme"], row["structure"]))]
        for key in ("test_nmse_db", "train_nmse_db", "bits", "overlap", "seconds"):
            assert again[key] == row[key]


def test_a_comparison_does_not_lose_a_finished_scheme(tmp_path):
    text = succeed("compare", *TINY, *SHORT, *TWO, "--out", tmp_path / "c")
    assert "\n* the PIBiNN: one bit per link" in text
    line = refuse("compare", *TINY, *SHORT, "--weights", "one-bit", "--architecture", "unrolled",
                  "--resume", "--out", "c", cwd=tmp_path)
    assert "also holds ternary-dense" in line


def test_told_to_stop_it_keeps_what_is_finished_and_says_how_to_go_on(tmp_path):
    long = ["compare", *TINY, *REPEATED, *TWO, *sets(
        "train.checkpoint_seconds=0", "train.stage.pretrain.epochs=30",
        "train.stage.joint.epochs=60", "train.stage.stage2.epochs=10"), "--threads", "1"]
    succeed(*long, "--out", "whole", cwd=tmp_path)
    program = subprocess.Popen([str(PROGRAM), *long, "--out", "run"], cwd=tmp_path, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        # The longest are first. The second has begun: the first is complete.
        while not (tmp_path / "run/ternary-dense/history.csv").exists() \
                and program.poll() is None:
            time.sleep(0.001)
        program.send_signal(signal.SIGINT)
        text, line = program.communicate(timeout=60)
        line = PROGRESS_LINE.sub("", line)
    finally:
        program.kill()
    assert (program.returncode, text) == (1, "")
    assert "stopped after 1 of 4 schemes" in line and line.count("\n") == 1
    assert (tmp_path / "run/one-bit-dense/summary.json").exists()
    assert not (tmp_path / "run/compare.json").exists()
    assert not (tmp_path / "run/one-bit-repeated").exists()
    finished = contents(tmp_path / "run/one-bit-dense")
    _, mark, command = line.partition("go on with: pibinn ")
    assert mark
    succeed(*shlex.split(command), cwd=tmp_path)
    whole, run = contents(tmp_path / "whole"), contents(tmp_path / "run")
    kept = [name for name in whole if name.endswith(("model.safetensors", "history.csv"))]
    assert len(kept) == 8 and all(whole[name] == run[name] for name in kept)
    for name in ("model.safetensors", "history.csv", "checkpoint.safetensors"):
        assert run[f"one-bit-dense/{name}"] == finished[name]


@pytest.mark.parametrize("options, words", [
    (["--weights", "one-bit,ternry"], ["--weights: unknown word 'ternry'", "did you mean 'ternary'"]),
    (["--weights", "one-bit,,ternary"], ["--weights: unknown word ''"]),
    (["--weights", "ternary,one-bit,ternary"], ["--weights: 'ternary' stands twice"]),
    (["--structure", "densee"], ["did you mean 'dense'?"]),
    (["--structure", "blocks"], ["structure is 'repeated', not 'blocks'", "repeated, dense"]),
    (["--structure", "dense,dense"], ["'dense' stands twice"]),
    (["--architecture", "fcn"], ["--architecture: unknown word 'fcn'", "choose one of unrolled"]),
    (["--architecture", "fcn-relu", "--weights", "ternary"], ["none are asked for"]),
    (["--seeds", "-1"], ["--seeds", "-1"]),
    (["--seeds", "0"], ["--seeds 0", "1 or more"]),
    (["--weights", ""], ["--weights is an empty list"]),
    (["--structure", ""], ["--structure is an empty list"]),
    (["--architecture", ""], ["--architecture is an empty list"]),
    (["--set", "train.stage.joind.epochs=2"], ["no stage 'joind'", "did you mean 'joint'?"]),
    (["--set", "train.stage.joint.projection=l1", "--weights", "ternary"],
     ["scheme ternary on repeated", "needs the two levels"]),
    (["--set", "problem.m=5000", "--set", "problem.n=10000", "--set", "problem.repeat=10000"],
     ["scheme float on dense", "GB", "problem's own structure"]),
    (["--set", "train.batch=1000"], ["a batch of 1000 from a training set of 200"]),
])
def test_what_cannot_be_compared_is_refused(options, words, tmp_path):
    line = refuse("compare", *TINY, *SHORT, *REPEATED, *options, "--out", "c", cwd=tmp_path)
    for word in words:
        assert word in line


def test_a_dense_network_that_does_not_fit_is_refused_by_train_too(tmp_path):
    settings = sets("problem.m=500", "problem.n=1000", "problem.repeat=10000", "problem.train=1",
                    "problem.test=1", "problem.structure=repeated", "model.structure=dense")
    line = refuse("init", *settings, "--out", "m.safetensors", cwd=tmp_path)
    assert "a dense network of 20 layers" in line and "GB" in line


def test_a_folder_of_something_else_is_refused(tmp_path):
    compare(tmp_path / "c", *TWO)
    base = ["compare", *TINY, *SHORT]
    assert "already holds a comparison" in refuse(*base, *TWO, "--out", "c", cwd=tmp_path)
    (tmp_path / "c" / "compare.json").unlink()
    assert "already holds a run" in refuse(*base, *TWO, "--out", "c", cwd=tmp_path)
    other = refuse(*base, *TWO, "--set", "problem.density=0.2", "--resume", "--out", "c",
                   cwd=tmp_path)
    assert "c/one-bit-dense" in other or "checkpoint" in other
    succeed("train", *TINY, *SHORT, "--out", tmp_path / "t")
    assert "holds a training, not a comparison" in refuse(*base, *TWO, "--out", "t", cwd=tmp_path)
    assert "holds a training" in refuse(*base, *TWO, "--resume", "--out", "t", cwd=tmp_path)


def test_an_unknown_structure_of_a_network_is_refused(tmp_path):
    line = refuse("train", *TINY, "--set", "model.structure=densse", "--out", "c", cwd=tmp_path)
    assert "unknown structure of a network 'densse'" in line and "did you mean 'dense'?" in line
