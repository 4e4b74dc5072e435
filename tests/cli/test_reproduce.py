"""The paper made again, in miniature."""

import csv
import json
import re
import signal
import subprocess
import time

import pytest

from conftest import PROGRAM, contents, refuse, run, succeed, tree

IDS = ["table1", "samples", "bits", "layers", "timing", "scale", "large", "schemes-large",
       "schemes-images", "overlap", "real", "delta-hard", "delta-soft", "delta-images", "depths"]
SOME = ["bits", "delta-soft", "overlap"]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Some experiments in miniature: their folder, what was said, and the result."""
    folder = tmp_path_factory.mktemp("reproduce") / "r"
    text = succeed("reproduce", *SOME, "--quick", "--out", folder)
    return folder, text, json.loads((folder / "reproduction.json").read_text())


def rows(result, name):
    (table,) = [t for t in result["tables"] if t["id"] == name]
    return {row["row"]: row for row in table["rows"]}


def test_every_experiment_has_a_markdown_and_a_csv_table(quick):
    folder, text, result = quick
    assert [t["id"] for t in result["tables"]] == SOME
    for name in SOME:
        page = (folder / "tables" / f"{name}.md").read_text()
        assert f"pibinn reproduce {name} --quick --out DIR" in page and "| row | published |" in page
        with open(folder / "tables" / f"{name}.csv", newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        assert {line["row"] for line in lines} == set(rows(result, name))
    assert "Written: " in text and result["quick"] and result["seeds"] == 1
    assert "says nothing of the paper" in (folder / "report.html").read_text()
    assert "tables/bits.md" in (folder / "results.md").read_text()


def test_what_is_not_in_the_paper_is_made_where_it_is_named(tmp_path):
    text = succeed("reproduce", "guarantees", "radio", "--quick", "--out", tmp_path / "r", "--json", "-")
    result = json.loads(text)
    for name in ("one support of 3, 50 x 100, one-bit", "one support of 5"):
        assert rows(result, "guarantees")[name]["numbers"]["proven_db"]["default"]["mean"] < -60
    spectra = rows(result, "radio")["spectra, 20 dB, 10 layers"]
    # So few epochs leave polish something to gain, and its cut takes 32 bits.
    assert spectra["numbers"]["bits_total"]["default"]["mean"] in (4064, 4064 + 32)
    assert "configs/fourier" not in spectra["command"] and "problem.nonzeros=8" in spectra["command"]


def test_counts_of_bits_are_those_of_the_paper(quick):
    table = rows(quick[2], "bits")
    assert len(table) == 9
    for row in table.values():
        bits = row["numbers"]["bits_paper"]
        assert bits["paper"]["mean"] == bits["published"] and row["paper_verdict"] == "matches"
        assert row["default_verdict"] == "not judged"


def test_rows_without_data_or_a_gpu_are_marked_and_have_no_number(quick):
    table = rows(quick[2], "overlap")
    dense, pictures = table["large problem, 100 repetitions"], table["pictures"]
    for row, why in ((dense, "needs a GPU"), (pictures, "needs pictures: --images FOLDER")):
        assert row["paper_verdict"] == "not run" and why in row["note"]
        assert all(n["paper"] is None and n["default"] is None for n in row["numbers"].values())
    assert table["large problem, 4 repetitions"]["numbers"]["overlap_percent"]["paper"]["mean"] >= 0


def test_claims_have_their_evidence(quick):
    folder, text, result = quick
    claims = [c for c in result["claims"] if c["id"] == "delta-soft"]
    assert len(claims) == 5
    for claim in claims:
        left, right = map(float, re.findall(r"[−0-9.]+(?= |$)", claim["evidence"].split(": ")[1]
                                             .replace("−", "-"))[:2])
        above = "above 1" in claim["claim"] or "The same of float" in claim["claim"]
        assert (claim["verdict"] == "holds") == (left > right if above else left < right)
        assert claim["claim"] in text


def test_figures_are_files_and_part_of_the_page(quick):
    folder = quick[0]
    assert [name for name in tree(folder / "figures")] == ["figure-4.svg", "figure-st-new.svg"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2 and "http" not in page.replace("http://www.w3.org", "")
    assert "Known to differ: Soft thresholds at delta 1" in page
    assert len(page) < 500_000


def test_a_training_is_the_one_that_its_command_makes(quick, tmp_path):
    folder, _, result = quick
    row = rows(result, "delta-soft")["one-bit, support of 5, 10 layers, delta 0.48"]
    command = row["command"].split(" ", 1)[1]
    subprocess.run(f"'{PROGRAM}' {command} --quiet --out run", shell=True, check=True, cwd=tmp_path)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["test_nmse_db"] == row["numbers"]["test_nmse_db"]["paper"]["mean"]
    model = folder / row["folder"] / "paper" / "seed-1" / "model.safetensors"
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == model.read_bytes()


def test_what_is_finished_is_kept_and_shared_by_experiments(quick, tmp_path):
    folder, text, result = quick
    before = {name: bytes_ for name, bytes_ in contents(folder).items() if "seed-1" in name}
    models = [folder / name for name in before if name.endswith("model.safetensors")]
    times = [model.stat().st_mtime_ns for model in models]
    assert models and not [name for name in before if name.endswith("checkpoint.safetensors")]
    succeed("reproduce", "timing", "--quick", "--out", folder, "--quiet")
    assert [model.stat().st_mtime_ns for model in models] == times
    # Timing shows the trainings of table1, which bits has made.
    assert "timing" not in {p.name for p in folder.iterdir() if p.is_dir()}
    assert succeed("reproduce", *SOME, "--quick", "--out", folder) == text


def test_an_interrupted_reproduction_goes_on_to_the_same_models(tmp_path):
    words = [str(PROGRAM), "reproduce", "delta-soft", "--quick", "--seeds", "8", "--threads", "1",
             "--quiet"]
    program = subprocess.Popen([*words, "--out", str(tmp_path / "a")], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not list((tmp_path / "a").glob("*/*/*/*/model.safetensors")):
        assert time.monotonic() < until and program.poll() is None
        time.sleep(0.01)
    program.send_signal(signal.SIGINT)
    said = program.communicate(timeout=60)[1]
    if program.returncode == 0:
        pytest.skip("skipped: it was finished before it was interrupted")
    assert program.returncode == 1
    assert re.search(r"stopped after \d+ of 40 trainings.*; go on with: pibinn reproduce "
                     r"delta-soft --seeds 8 --quick --out ", said)
    assert not (tmp_path / "a" / "report.html").exists()
    assert run(*words[1:], "--out", tmp_path / "a").returncode == 0
    assert run(*words[1:], "--out", tmp_path / "b").returncode == 0
    kept = [{name: content for name, content in contents(tmp_path / x).items()
             if name.endswith("model.safetensors")} for x in "ab"]
    assert len(kept[0]) == 40 and kept[0] == kept[1]


def test_the_benchmark_of_the_field_can_be_asked_for(tmp_path):
    result = json.loads(succeed("reproduce", "field", "--quick", "--out", tmp_path / "r", "--json", "-"))
    assert {"tied", "OMP"} <= {row["method"] for row in result["rows"]}
    assert (tmp_path / "r" / "field" / "field.html").exists()
    assert not (tmp_path / "r" / "report.html").exists()


def test_unknown_experiments_are_refused_with_the_list(tmp_path):
    line = refuse("reproduce", "tabel1", "--out", "r", cwd=tmp_path)
    assert "unknown experiment 'tabel1'" in line and ", ".join([*IDS, "guarantees", "radio", "field"]) in line


@pytest.mark.parametrize("option, how", [("--images", "BSDS500"), ("--eeg", "EEGdenoiseNet")])
def test_a_folder_without_the_data_is_refused_with_where_to_get_it(option, how, tmp_path):
    (tmp_path / "empty").mkdir()
    line = refuse("reproduce", "real", "--quick", option, "empty", "--out", "r", cwd=tmp_path)
    assert "empty" in line and how in line


def test_a_folder_of_another_version_or_of_something_else_is_refused(tmp_path):
    folder = tmp_path / "r"
    folder.mkdir()
    (folder / "study.json").write_text('{"kind": "a quick reproduction", "version": "0.0.1"}')
    assert "is of version 0.0.1" in refuse("reproduce", "bits", "--quick", "--out", "r", cwd=tmp_path)
    (folder / "study.json").write_text("{")
    assert "damaged" in refuse("reproduce", "bits", "--quick", "--out", "r", cwd=tmp_path)
    (folder / "study.json").unlink()
    (folder / "model.safetensors").write_text("")
    assert "of no study" in refuse("reproduce", "bits", "--quick", "--out", "r", cwd=tmp_path)


def test_a_whole_reproduction_does_not_go_on_with_a_quick_one(quick):
    folder = quick[0]
    line = refuse("reproduce", "bits", "--out", folder.name, cwd=folder.parent)
    assert "holds a quick reproduction, not a reproduction" in line
    assert "0 trains nothing" in refuse("reproduce", "--seeds", "0", "--out", "x", cwd=folder.parent)
