"""The field's benchmark in miniature."""

import json
import re
import shlex
import signal
import subprocess
import time

import pytest

from conftest import PROGRAM, PROGRESS_LINE, contents, refuse, run, sets, succeed, tree

METHODS = {"tied", "tied, one model for 10 to 40 dB", "one-bit", "float", "ISTA", "FISTA", "OMP",
           "AMP, soft thresholds", "AMP, Bernoulli-Gaussian", "linear MMSE", "linear MMSE, int8",
           "oracle: knows the support"}


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The benchmark in miniature: its folder, its text and its result."""
    folder = tmp_path_factory.mktemp("field") / "f"
    began = time.monotonic()
    text = succeed("field", "--quick", "--out", folder)
    assert time.monotonic() - began < 100
    return folder, text, json.loads((folder / "field.json").read_text())


def networks(result):
    return [row for row in result["rows"] if row["kind"] == "network"]


def test_every_method_has_errors_bits_and_times(quick):
    _, _, result = quick
    assert {row["method"] for row in result["rows"]} == METHODS
    for row in result["rows"]:
        assert -200 < row["energy_nmse_db"] < 10 and row["signals"] > 0
        if row["kind"] == "bound":
            assert "stored_bits" not in row
        else:
            assert row["stored_bits"] > 0 and row["latency_microseconds"] > 0
            assert row["microseconds_per_signal"] > 0 and row["threads"] > 0
    assert result["m"] == 40 and result["seeds"] == 1
    assert result["command"] == "pibinn field --quick --out DIR"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"]) and result["machine"]
    assert result["version"] and len(result["sources"]) == 3
    assert {row["n"] for row in networks(result)} == {80, 160}


def test_signs_store_a_bit_per_entry_and_tied_weights_none(quick):
    rows = {(r["method"], r["operator"]): r for r in networks(quick[2])
            if (r["n"], r["layers"], r.get("snr_db")) == (80, 4, 20)}
    assert rows["tied", "rademacher"]["stored_bits"] < 40 * 80 + 4 * 32 * 20
    assert rows["tied", "gaussian"]["stored_bits"] > 32 * 40 * 80
    assert rows["one-bit", "gaussian"]["stored_bits"] > 32 * 40 * 80 + 4 * 40 * 80
    assert rows["float", "gaussian"]["stored_bits"] > 5 * 32 * 40 * 80


def test_one_model_for_a_range_is_judged_at_every_ratio(quick, tmp_path):
    folder, _, result = quick
    judged = [r for r in networks(result) if r["method"].startswith("tied, one model")]
    assert sorted(r["snr_db"] for r in judged) == [20, 40]
    assert len([t for t in result["trainings"] if t["noise"] == "10 to 40 dB"]) == 1
    model = folder / "networks" / "tied-rademacher-n80-K4-10-40dB" / "model.safetensors"
    for row in judged:
        data = tmp_path / f"{row['snr_db']:g}"
        succeed("sample", *sets("problem.m=40", "problem.n=80", "problem.density=0.05",
                                "problem.operator=rademacher", "problem.train=250",
                                "problem.test=60", f"problem.snr_db={row['snr_db']:g}"),
                "--out", data)
        said = json.loads(succeed("eval", model, "--signals", data / "x_test.npy",
                                  "--measurements", data / "y_test.npy", "--json", "-"))
        assert said["energy_nmse_db"] == pytest.approx(row["energy_nmse_db"], abs=1e-6)


def test_a_case_is_the_training_that_its_command_makes(quick, tmp_path):
    folder, _, result = quick
    for network, noise in (("tied, one model for 10 to 40 dB", "10 to 40 dB"),
                           ("tied", "no noise")):
        (training,) = [t for t in result["trainings"] if t["network"] == network
                       and t["noise"] == noise]
        words = shlex.split(training["command"])
        assert words[:2] == ["pibinn", "train"]
        succeed(*words[1:], "--out", tmp_path / network)
        model = (tmp_path / network / "model.safetensors").read_bytes()
        assert [p for p in folder.glob("networks/*/model.safetensors") if p.read_bytes() == model]


def test_text_and_page_show_the_same_tables(quick):
    folder, text, _ = quick
    page = (folder / "field.html").read_text(encoding="utf-8")
    for heading in ("40 × 80, 4 layers, operator: signs", "40 × 80, 4 layers, operator: Gaussian",
                    "40 × 160, 4 layers, operator: signs"):
        assert heading in text and heading in page
    assert "Published figures are of 250 × 500" in text and page.count("<svg") >= 6
    for label in ("layers or iterations K", "signal-to-noise ratio", "stored bits in all",
                  "latency of one signal"):
        assert label in page


def test_a_second_run_does_nothing_again(quick, tmp_path):
    folder, text, _ = quick
    before = contents(folder)
    assert succeed("field", "--quick", "--out", folder) == text
    after = contents(folder)
    kept = [name for name in before if name.startswith(("networks", "references"))]
    assert len(kept) > 60 and {name: after[name] for name in kept} == {name: before[name] for name in kept}
    # A case that is removed is done again, and no other.
    one = folder / "networks" / "tied-rademacher-n80-K2-20dB"
    (one / "case.json").rename(tmp_path / "case.json")
    for file in one.iterdir():
        file.unlink()
    succeed("field", "--quick", "--out", folder)
    again = contents(folder)
    name = "networks/tied-rademacher-n80-K2-20dB/model.safetensors"
    assert again[name] == before[name]
    assert json.loads((one / "case.json").read_text())["rows"]


def test_what_is_of_another_benchmark_is_refused(quick, tmp_path):
    folder = quick[0]
    parent = folder.parent
    line = refuse("field", "--quick", "--set", "train.batch=25", "--out", "f", cwd=parent)
    assert "is of another configuration" in line and "case.json" in line
    assert "of another configuration" in refuse("field", "--quick", "--seeds", "2", "--out", "f", cwd=parent)
    assert "not of this benchmark" in refuse("field", "--out", "f", cwd=parent)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model.safetensors").write_bytes(b"x")
    assert "not of a benchmark" in refuse("field", "--quick", "--out", "run", cwd=tmp_path)


def test_references_may_take_fewer_seeds(tmp_path):
    succeed("field", "--quick", "--networks", "tied-gaussian", "--seeds", "2",
            "--reference-seeds", "1", "--out", tmp_path / "f")
    result = json.loads((tmp_path / "f" / "field.json").read_text())
    assert {r["seeds"] for r in networks(result)} == {2}
    assert {r["seeds"] for r in result["rows"] if r["kind"] == "reference"} == {1}
    page = (tmp_path / "f" / "field.html").read_text(encoding="utf-8")
    assert "mean of 2 seeds, of 1 for methods without a network" in page


@pytest.mark.parametrize("options, words", [
    (["--seeds", "0"], ["--seeds 0", "1 or more"]),
    (["--reference-seeds", "0"], ["--reference-seeds 0", "1 or more"]),
    (["--set", "model.layers=3"], ["the benchmark itself says", "pibinn train"]),
    (["--set", "problem.snr_db=20"], ["the benchmark itself says"]),
    (["--set", "train.stage.tume.epochs=3"], ["no stage 'tume'", "did you mean 'tune'?"]),
    (["--device", "gpu"], ["unknown device 'gpu'", "cpu, cuda or cuda-tf32"]),
    (["--set", "train.batc=3"], ["unknown key 'train.batc'"]),
])
def test_what_cannot_be_run_is_refused(options, words, tmp_path):
    line = refuse("field", "--quick", *options, "--out", "f", cwd=tmp_path)
    for word in words:
        assert word in line


def test_a_damaged_case_is_refused(tmp_path):
    (tmp_path / "f" / "references").mkdir(parents=True)
    (tmp_path / "f" / "references" / "gaussian-n80-20dB.json").write_text('{"configuration": 3}')
    line = refuse("field", "--quick", "--out", "f", cwd=tmp_path)
    assert "gaussian-n80-20dB.json" in line and "configuration" in line


def test_told_to_stop_it_keeps_what_is_finished_and_goes_on(tmp_path):
    long = ["field", "--quick", *sets("train.checkpoint_seconds=0", "train.stage.tune.epochs=40")]
    program = subprocess.Popen([str(PROGRAM), *long, "--out", "f"], cwd=tmp_path, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        # The second training has begun: the first one is complete.
        while len(list(tmp_path.glob("f/networks/*/history.csv"))) < 2 and program.poll() is None:
            time.sleep(0.001)
        program.send_signal(signal.SIGINT)
        text, line = program.communicate(timeout=60)
    finally:
        program.kill()
    line = PROGRESS_LINE.sub("", line)
    assert (program.returncode, text) == (1, "") and line.count("\n") == 1
    assert re.search(r"stopped after \d+ of \d+ cases", line) and not (tmp_path / "f/field.json").exists()
    _, mark, command = line.partition("go on with: pibinn ")
    assert mark
    finished = [p for p in (tmp_path / "f").glob("networks/*/case.json") if json.loads(p.read_text())["rows"]]
    assert len(finished) >= 1
    before = {p: p.read_bytes() for p in finished}
    result = run(*shlex.split(command), cwd=tmp_path, timeout=240)
    assert result.returncode == 0, result.stderr
    assert {p: p.read_bytes() for p in finished} == before
    assert "f/field.html" in tree(tmp_path)
