"""What real and complex mean together, the groups that follow, and complex blocks and masks."""

import json
import subprocess

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from complex_cases import MODEL, M, N, PLAIN, reference, work  # noqa: F401
from conftest import PROGRAM, load, run, sets, succeed


def test_a_real_operator_on_complex_signals_says_what_it_means(work):
    np.save(work / "A.npy", load(work / "A.npy").real)
    (work / "y.npy").unlink()
    for verb in (["init", "--out", "r.safetensors"], ["sample", "--out", "s"]):
        result = subprocess.run([str(PROGRAM), *verb, *sets(*PLAIN[:2])], capture_output=True,
                                text=True, cwd=work, timeout=60)
        assert result.returncode == 0, result.stderr
        assert result.stderr.count("it measures real and imaginary parts alike") == 1, result.stderr


@pytest.mark.parametrize("settings, groups", [
    ([], "complex"), (["problem.vectors=2"], "rows"), (["model.groups=none"], None),
    (["model.structure=dense"], None)])
def test_a_model_without_training_has_the_groups_of_its_signals(settings, groups, work):
    if "problem.vectors=2" in settings:
        np.save(work / "x.npy", np.tile(load(work / "x.npy"), (1, 2)))
        np.save(work / "y.npy", np.tile(load(work / "y.npy"), (1, 2)))
    succeed("init", *sets(*PLAIN[:-1], *settings), "--theta", "0.05", "--out", "g.safetensors", cwd=work)
    result = json.loads(succeed("inspect", "g.safetensors", "--json", "-", cwd=work))
    assert result["model"].get("groups") == groups
    if not settings:
        assert (work / "g.safetensors").read_bytes() == (work / MODEL).read_bytes()


def on_blocks(a):
    """The same operator with zeros off two blocks."""
    a = a.copy()
    a[:M // 2, N // 2:] = a[M // 2:, :N // 2] = 0
    return a


@pytest.mark.parametrize("form", ["blocks", "files", "mask", "sparse", "matlab"])
@pytest.mark.parametrize("complex_a", [True, False])
def test_blocks_and_masks_are_complex(form, complex_a, work):
    a = on_blocks(load(work / "A.npy"))
    if not complex_a:
        a = a.real
    if form in ("mask", "sparse", "matlab"):
        a[::2, ::3] = a[1::2, 1::3] = 0
    np.save(work / "A.npy", a)
    np.save(work / "a.npy", a[:M // 2, :N // 2])
    np.save(work / "b.npy", a[M // 2:, N // 2:])
    scipy.sparse.save_npz(work / "A.npz", scipy.sparse.csr_matrix(a))
    scipy.io.savemat(work / "A.mat", {"A": scipy.sparse.csc_matrix(a)})
    x = load(work / "x.npy")
    y = x @ a.T
    np.save(work / "y.npy", y)
    settings = {"blocks": ["problem.structure=blocks", "problem.repeat=2"],
                "files": ['problem.operator=["a.npy", "b.npy"]', "problem.structure=blocks", "problem.x=x.npy",
                          "problem.y=y.npy"],
                "mask": ["problem.structure=mask"],
                "sparse": ["problem.structure=mask", "problem.operator=A.npz", "problem.x=x.npy",
                           "problem.y=y.npy"],
                "matlab": ["problem.structure=mask", "problem.operator=A.mat:A", "problem.x=x.npy",
                           "problem.y=y.npy"]}[form]
    own = PLAIN if form in ("blocks", "mask") else [s for s in PLAIN if "path" not in s]
    result = run("init", *sets(*own, *settings), "--theta", "0.05", "--out", "s.safetensors", cwd=work)
    assert result.returncode == 0, result.stderr
    assert ("real and imaginary parts alike" in result.stderr) == (not complex_a)
    result = json.loads(succeed("inspect", "s.safetensors", "--json", "-", cwd=work))
    numbers = np.count_nonzero(a) * (2 if complex_a else 1)
    assert result["structure"]["kind"] == "mask" and result["structure"]["links_per_layer"] == numbers
    assert result["bits"]["operator"] == 32 * numbers + (
        8 * (N + 1 + np.count_nonzero(a)) if form in ("mask", "sparse", "matlab") else 0)
    succeed("recover", "s.safetensors", "--in", "y.npy", "--out", "o.npy", cwd=work)
    expected = reference(work, y, "s.safetensors")
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(load(work / "o.npy"), expected, atol=2e-6)
    # Its measurements are those of the matrix.
    (work / "y.npy").unlink()
    told = [s for s in settings if "problem.y" not in s]
    result = run("sample", *sets(*[s for s in own if "model" not in s], *told), "--out", "s", cwd=work)
    assert result.returncode == 0, result.stderr
    assert np.iscomplexobj(load(work / "s/A.npy")) == complex_a
    np.testing.assert_allclose(load(work / "s/A.npy"), a, rtol=1e-6)
    np.testing.assert_allclose(load(work / "s/y_train.npy"), y[:32], atol=1e-5)


@pytest.mark.parametrize("weights", ["tied", "one-bit", "float"])
def test_a_complex_mask_is_trained_beside_the_references(weights, work):
    a = on_blocks(load(work / "A.npy"))
    np.save(work / "A.npy", a)
    np.save(work / "y.npy", load(work / "x.npy") @ a.T)
    summary = json.loads(succeed(
        "train", *sets("problem.kind=arrays", "problem.path=.", "problem.structure=mask", "model.layers=3",
                       f"model.weights={weights}", "model.activation=piecewise"),
        "--out", "run", "--json", "-", cwd=work))
    assert summary["model"]["groups"] == "complex" and summary["test_nmse_db"] < -0.5
    succeed("recover", "run/model.safetensors", "--in", "y.npy", "--out", "r.npy", cwd=work)
    x, found = load(work / "x.npy"), load(work / "r.npy")
    error = np.sum(np.abs(found - x) ** 2, 1)[32:] / np.sum(np.abs(x) ** 2, 1)[32:]
    assert 10 * np.log10(error.mean()) == pytest.approx(summary["test_nmse_db"], abs=0.01)
