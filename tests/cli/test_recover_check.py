"""pibinn recover --check: warnings of signals outside the class that a model carries."""

import json
import subprocess

import numpy as np
import pytest

from conftest import PROGRAM, SHORT, TINY, load, refuse, run, sets, succeed

MODEL = "model.safetensors"


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calibrated")
    succeed("train", *TINY, *SHORT, "--out", folder / "run", "--quiet")
    succeed("sample", *TINY, *sets("problem.test=3000"), "--out", folder, "--quiet")
    x = load(folder / "x_test.npy")
    np.save(folder / "held_out.npy", x[:2000])
    succeed("certify", folder / "run" / MODEL, "--calibrate", folder / "held_out.npy", "--attach",
            "--quiet")
    return folder


@pytest.fixture
def folder(calibrated, tmp_path):
    (tmp_path / MODEL).write_bytes((calibrated / "run" / MODEL).read_bytes())
    np.save(tmp_path / "y.npy", load(calibrated / "y_test.npy")[2000:])
    return tmp_path


def check(folder, y, *options):
    """What the JSON says of the check, and what stands on standard error."""
    np.save(folder / "y.npy", y)
    result = run("recover", MODEL, "--in", "y.npy", "--out", "x.npy", "--check", "--json", "r.json",
                 *options, cwd=folder)
    assert result.returncode == 0, result.stderr
    return json.loads((folder / "r.json").read_text())["check"], result.stderr


def test_signals_of_the_kind_pass(folder):
    found, said = check(folder, load(folder / "y.npy"))
    assert found["signals"] == 1000 and found["another_kind"] is False
    assert len(found["rows"]) == found["outside"] <= 60  # at most 1 % by each of three limits
    assert [limit["measure"] for limit in found["limits"]] == ["relative residual", "length", "nonzeros"]
    assert ("no more than chance allows" in said) == (found["outside"] > 0)


def test_signals_of_another_kind_are_told_by_their_rows(folder):
    y = load(folder / "y.npy")[:50]
    quiet, _ = check(folder, y)
    y = np.repeat(y, 4, axis=0)
    clean = [i for i in range(200) if i // 4 not in quiet["rows"]]
    far = clean[::10]
    y[far] *= 1000
    found, said = check(folder, y)
    assert set(far) <= set(found["rows"]) and found["another_kind"] is True
    assert said.startswith("pibinn: warning: ") and said.count("\n") == 1
    assert "length over" in said and f"rows {found['rows'][0]}, " in said
    assert "of another kind" in said
    assert check(folder, y, "--quiet")[1] == ""


def test_numbers_are_those_of_numpy(folder):
    y = load(folder / "y.npy")
    y[5] = 40 * y[5]
    found, _ = check(folder, y)
    x = load(folder / "x.npy").astype(float)
    succeed("export", MODEL, "--to", "npz", "--out", "m.npz", cwd=folder)
    a = load(folder / "m.npz")["A"].astype(float)
    own = [np.linalg.norm(y - x @ a.T, axis=1) / np.linalg.norm(y, axis=1), np.linalg.norm(x, axis=1),
           np.count_nonzero(x, axis=1)]
    beyond = [values > limit["most"] for values, limit in zip(own, found["limits"])]
    assert [limit["exceeded"] for limit in found["limits"]] == [np.count_nonzero(b) for b in beyond]
    assert found["rows"] == np.flatnonzero(np.any(beyond, axis=0)).tolist()


def test_nothing_changes_but_the_warning(folder):
    succeed("recover", MODEL, "--in", "y.npy", "--out", "plain.npy", cwd=folder)
    y = load(folder / "y.npy")
    check(folder, y)
    assert (folder / "x.npy").read_bytes() == (folder / "plain.npy").read_bytes()
    result = json.loads(succeed("recover", MODEL, "--in", "y.npy", "--out", "x.npy", "--json", "-",
                                cwd=folder))
    assert "check" not in result
    layers, _ = check(folder, y)
    run("recover", MODEL, "--in", "y.npy", "--out", "all.npz", "--layers", "all", "--check",
        "--json", "all.json", cwd=folder)
    assert json.loads((folder / "all.json").read_text())["check"] == layers


def test_a_stream_is_checked_over_all_its_reads(folder):
    y = np.tile(load(folder / "y.npy"), (100, 1)).astype("<f4")
    y[70_007] *= 1000
    result = subprocess.run([str(PROGRAM), "recover", MODEL, "--in", "-", "--out", "-", "--check",
                             "--json", "r.json"], input=y.tobytes(), capture_output=True, cwd=folder,
                            timeout=120)
    assert result.returncode == 0 and len(result.stdout) == 100_000 * 20 * 4
    found = json.loads((folder / "r.json").read_text())["check"]
    assert found["signals"] == 100_000
    base, _ = check(folder, load(folder / "y.npy"))
    assert found["outside"] in (100 * base["outside"] + 1, 100 * base["outside"])
    if found["outside"] < 10_000:
        assert 70_007 in found["rows"]


def test_a_certificate_is_checked_too(tmp_path):
    np.save(tmp_path / "A.npy", np.eye(4, dtype=np.float32))
    succeed("init", *sets("problem.operator=A.npy", "model.update=plain", "model.layers=1",
                          "model.weights=float"), "--theta", "0.1", "--out", MODEL, cwd=tmp_path)
    succeed("certify", MODEL, "--size", "2", "--B", "3", "--noise", "0.05", "--attach", "--quiet",
            cwd=tmp_path)
    inside = np.float32([[1, 0, 0, -1], [0, 2, 0, 0.04]])
    found, said = check(tmp_path, inside)
    assert found["outside"] == 0 and said == ""
    assert [limit["from"] for limit in found["limits"]] == ["certificate"] * 3
    assert [limit["measure"] for limit in found["limits"]] == ["residual", "length", "nonzeros"]
    found, said = check(tmp_path, np.float32([[1, 0, 0, -1], [1, 1, 1, 0], [9, 0, 0, 0]]))
    assert found["rows"] == [1, 2] and found["another_kind"] is True
    assert "2 of 3 signals leave the class of the model's certificate" in said
    assert "nonzeros over 2 (1)" in said and "length over" in said


def test_a_model_without_evidence_is_refused(small, tmp_path):
    for name in (MODEL, "y_test.npy"):
        (tmp_path / name).write_bytes((small / name).read_bytes())
    line = refuse("recover", MODEL, "--in", "y_test.npy", "--out", "x.npy", "--check", cwd=tmp_path)
    assert "no calibration and no certificate" in line
    assert "pibinn certify MODEL --calibrate x.npy --attach" in line


def test_a_calibration_of_other_weights_is_refused(folder):
    data = (folder / MODEL).read_bytes()
    (folder / MODEL).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    line = refuse("recover", MODEL, "--in", "y.npy", "--out", "x.npy", "--check", cwd=folder)
    assert "calibration was made of other weights" in line
