"""What real and complex mean together, the groups that follow, and complex blocks and masks."""

import json
import subprocess

import numpy as np
import pytest
import scipy.io
import scipy.linalg
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


def inspected(folder, a, *options):
    np.save(folder / "mine.npy", a)
    return json.loads(succeed("inspect", "mine.npy", "--structure", *options, "--json", "-", cwd=folder))


def complex_normal(*shape):
    rng = np.random.default_rng(sum(shape))
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def kinds(result):
    return [(fit["structure"], fit["reordered"]) for fit in result["structures"]]


def test_structure_is_found_in_complex_matrices(tmp_path):
    result = inspected(tmp_path, complex_normal(4, 7))
    assert result["complex"] and kinds(result) == [("dense", False)]
    assert result["smallest"]["links_per_layer"] == 2 * 4 * 7
    # Equal magnitudes are not equal blocks, and equal ones are no repeated operator of one vector.
    signs = np.sign(complex_normal(4, 7).real) * (1 + 0j)
    for second in (1j * signs, signs):
        a = scipy.linalg.block_diag(1j * signs, second)
        result = inspected(tmp_path, a)
        assert kinds(result) == [("dense", False), ("blocks", False), ("mask", False)]
        assert result["smallest"]["structure"] == "blocks" and result["smallest"]["blocks"] == [[4, 7]] * 2
    # An entry without a real part is not zero; a small one may count as zero.
    a = complex_normal(5, 8)
    a[0, 1] = 1j
    a[1, 2] = 0.01 + 0.02j
    assert kinds(inspected(tmp_path, a)) == [("dense", False)]
    result = inspected(tmp_path, a, "--zero-below", 0.03)
    assert kinds(result)[-1] == ("mask", False) and result["nonzeros"] == 39
    # Without an imaginary part it is real.
    result = inspected(tmp_path, np.kron(np.eye(3), complex_normal(3, 5).real).astype(complex))
    assert not result["complex"] and result["smallest"]["structure"] == "repeated"


@pytest.mark.parametrize("form", ["blocks", "reordered", "mask"])
def test_complex_findings_train_as_their_configurations_say(form, tmp_path):
    rng = np.random.default_rng(8)
    a = scipy.linalg.block_diag(complex_normal(6, 10), complex_normal(5, 8))
    if form == "mask":
        a = np.where(rng.random((11, 18)) < 0.6, complex_normal(11, 18), 0)
    mine = a[rng.permutation(11)][:, rng.permutation(18)] if form == "reordered" else a
    result = inspected(tmp_path, mine, "--out", "s")
    assert result["complex"] and result["smallest"]["reordered"] == (form == "reordered")
    rows, cols = range(11), range(18)
    if form == "reordered":
        rows, cols = load(tmp_path / "s" / "rows.npy"), load(tmp_path / "s" / "cols.npy")
    written = load(tmp_path / "s" / "A.npy")
    assert written.dtype == np.complex64
    np.testing.assert_array_equal(written, mine[rows][:, cols].astype("c8"))
    x = np.where(rng.random((60, 18)) < 0.1, complex_normal(60, 18), 0)
    np.save(tmp_path / "s" / "x.npy", x[:, cols])
    summary = json.loads(succeed("train", "config.toml", *sets(
        "model.layers=2", "model.weights=tied", "train.stage.tune.epochs=2"), "--out", "run", "--json", "-",
        cwd=tmp_path / "s"))
    assert summary["model"]["complex"]
    trained = json.loads(succeed("inspect", "run/model.safetensors", "--json", "-", cwd=tmp_path / "s"))
    assert trained["structure"]["links_per_layer"] == result["smallest"]["links_per_layer"]
