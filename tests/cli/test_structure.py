"""Structured matrices, from the user's file to a trained network."""

import json

import numpy as np
import pytest

from conftest import SHORT, load, refuse, sets, succeed, tree

DRAW = np.random.default_rng(5)


def normal(*shape):
    return DRAW.standard_normal(shape).astype("f4")


def diagonal(*blocks):
    a = np.zeros(np.sum([b.shape for b in blocks], axis=0), "f4")
    row = col = 0
    for b in blocks:
        a[row:row + b.shape[0], col:col + b.shape[1]] = b
        row, col = row + b.shape[0], col + b.shape[1]
    return a


def found(folder, a, *options):
    np.save(folder / "mine.npy", a)
    return json.loads(succeed("inspect", "mine.npy", "--structure", *options, "--json", "-",
                              cwd=folder))


def kinds(result):
    return [(fit["structure"], fit["reordered"]) for fit in result["structures"]]


def test_a_full_matrix_is_dense(tmp_path):
    result = found(tmp_path, normal(5, 9))
    assert kinds(result) == [("dense", False)]
    assert result["density"] == 1 and result["smallest"]["bits_per_dense_weight"] == 1
    assert 'structure = "dense"' in result["config"] and "mine.npy" in result["config"]


def test_repeated_blocks_are_found_and_their_block_is_written(tmp_path):
    block = normal(5, 9)
    result = found(tmp_path, np.kron(np.eye(8), block), "--out", "s", "--layers", 10)
    assert kinds(result) == [("dense", False), ("repeated", False), ("blocks", False),
                             ("mask", False)]
    smallest = result["smallest"]
    assert smallest["structure"] == "repeated" and smallest["repeat"] == 8
    assert smallest["blocks"] == [[5, 9]] and smallest["links_per_layer"] == 45
    assert smallest["bits"]["weights"] == 450 and smallest["bits"]["paper"] == 450 + 320
    assert smallest["bits_per_dense_weight"] == pytest.approx(1 / 64)
    np.testing.assert_array_equal(load(tmp_path / "s" / "A.npy"), block)
    assert tree(tmp_path / "s") == ["A.npy", "config.toml"]


def test_shuffled_blocks_are_put_in_order(tmp_path):
    a = diagonal(normal(4, 7), normal(6, 5))
    mine = a[DRAW.permutation(10)][:, DRAW.permutation(12)]
    result = found(tmp_path, mine, "--out", "s")
    assert ("blocks", True) in kinds(result)
    assert sorted(result["smallest"]["blocks"]) == [[4, 7], [6, 5]]
    rows, cols = load(tmp_path / "s" / "rows.npy"), load(tmp_path / "s" / "cols.npy")
    ordered = load(tmp_path / "s" / "A.npy")
    np.testing.assert_array_equal(ordered, mine[rows][:, cols])
    m, n = result["smallest"]["blocks"][0]
    assert not ordered[:m, n:].any() and not ordered[m:, :n].any()


def test_interleaved_repetitions_are_found(tmp_path):
    result = found(tmp_path, np.kron(normal(4, 6), np.eye(5)))
    assert result["smallest"]["structure"] == "repeated" and result["smallest"]["reordered"]
    assert result["smallest"]["links_per_layer"] == 24


def test_a_sparse_pattern_is_a_mask_and_small_entries_can_count_as_zeros(tmp_path):
    a = normal(20, 30)
    a[np.abs(a) < 1.5] *= 1e-6
    a[np.arange(30) % 20, np.arange(30)] = 2
    assert kinds(found(tmp_path, a)) == [("dense", False)]
    result = found(tmp_path, a, "--zero-below", 1e-3, "--out", "s")
    assert result["smallest"]["structure"] == "mask"
    assert result["nonzeros"] == np.count_nonzero(np.abs(a) >= 1e-3)
    assert np.count_nonzero(load(tmp_path / "s" / "A.npy")) == result["nonzeros"]


def test_layers_change_what_is_counted(tmp_path):
    a = np.kron(np.eye(3), normal(4, 6))
    for layers in (1, 7):
        bits = found(tmp_path, a, "--layers", layers)["smallest"]["bits"]
        assert bits["weights"] == 24 * layers and bits["thresholds"] == 32 * layers


def test_a_person_reads_the_finding_and_the_lines_to_train(tmp_path):
    np.save(tmp_path / "mine.npy", diagonal(normal(4, 7), normal(6, 5)))
    text = succeed("inspect", "mine.npy", "--structure", cwd=tmp_path)
    for words in ("10 x 12, 58 non-zero entries", "2 blocks on the diagonal", "bits per dense weight",
                  "blocks = [[4, 7], [6, 5]]", 'operator = "mine.npy"'):
        assert words in text
    np.save(tmp_path / "mine.npy", np.kron(np.eye(3), normal(4, 6)))
    assert "Add --out DIR" in succeed("inspect", "mine.npy", "--structure", cwd=tmp_path)


@pytest.mark.parametrize("name, start", [("p.svg", b"<?xml"), ("p.png", b"\x89PNG")])
def test_pictures_of_matrices_and_models(name, start, small, tmp_path):
    np.save(tmp_path / "mine.npy", diagonal(normal(4, 7), normal(6, 5)))
    succeed("inspect", "mine.npy", "--structure", "--picture", name, cwd=tmp_path)
    assert (tmp_path / name).read_bytes().startswith(start)
    (tmp_path / name).unlink()
    succeed("inspect", small / "model.safetensors", "--picture", name, cwd=tmp_path)
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("settings, links, dense", [
    (["problem.structure=dense"], 60, 60),
    (["problem.structure=repeated", "problem.repeat=4"], 60, 960),
    (["problem.structure=blocks", "problem.repeat=4"], 240, 960),
    (["problem.structure=mask", "problem.mask_density=1.0"], 60, 60),
])
def test_inspect_tells_links_beside_dense_weights(settings, links, dense, tmp_path):
    succeed("init", *sets("problem.m=6", "problem.n=10", "model.layers=3", *settings), "--out",
            "m.safetensors", cwd=tmp_path)
    result = json.loads(succeed("inspect", "m.safetensors", "--json", "-", cwd=tmp_path))
    structure = result["structure"]
    assert structure["links_per_layer"] == links and structure["links"] == 3 * links
    assert structure["dense_weights"] == 3 * dense
    assert structure["bits_per_dense_weight"] == pytest.approx(links / dense)
    text = succeed("inspect", "m.safetensors", cwd=tmp_path)
    assert f"{3 * links:,} links of {3 * dense:,} dense weights" in text


def test_every_finding_trains_as_its_configuration_says(tmp_path):
    matrices = {"repeated": np.kron(np.eye(3), normal(4, 6)),
                "blocks": diagonal(normal(4, 7), normal(6, 5)),
                "mask": np.kron(np.eye(3), normal(4, 6)) + 3 * np.eye(12, 18, 1),
                "dense": normal(6, 9)}
    for structure, a in matrices.items():
        folder = tmp_path / structure
        folder.mkdir()
        assert found(folder, a, "--out", "s")["smallest"]["structure"] == structure
        x = (DRAW.random((60, a.shape[1])) < 0.2) * normal(60, a.shape[1])
        x[:, 0] = 1
        np.save(folder / "s" / "x.npy", x)
        np.save(folder / "s" / "y.npy", x @ a.T.astype("f4"))
        summary = json.loads(succeed(
            "train", "s/config.toml", *SHORT, *sets("model.layers=2", "train.batch=20"), "--out",
            "run", "--json", "-", cwd=folder))
        assert summary["model"]["structure"] == structure
        succeed("eval", "run/model.safetensors", "--signals", "s/x.npy", "--measurements",
                "s/y.npy", cwd=folder)


def test_two_different_blocks_train_with_half_the_links(tmp_path):
    np.save(tmp_path / "one.npy", normal(16, 32))
    np.save(tmp_path / "two.npy", normal(16, 32))
    common = sets("problem.structure=blocks", "model.layers=2", "train.batch=20",
                  "problem.train=40", "problem.test=10")
    for name, settings in (
            ("drawn", ["problem.blocks=[[16, 32], [16, 32]]"]),
            ("files", ['problem.operator=["one.npy", "two.npy"]'])):
        summary = json.loads(succeed("train", *common, *sets(*settings), *SHORT, "--out", name,
                                     "--json", "-", cwd=tmp_path))
        assert summary["model"]["links"] == 2 * 2 * 16 * 32
        assert summary["problem"]["m"] == 32 and summary["problem"]["n"] == 64
    succeed("sample", *common, *sets('problem.operator=["one.npy", "two.npy"]'), "--out", "s",
            cwd=tmp_path)
    np.testing.assert_array_equal(
        load(tmp_path / "s" / "A.npy"),
        diagonal(load(tmp_path / "one.npy"), load(tmp_path / "two.npy")))


def test_a_drawn_mask_has_the_density_asked_for(tmp_path):
    result = json.loads(succeed("sample", *sets(
        "problem.structure=mask", "problem.m=100", "problem.n=200", "problem.mask_density=0.2",
        "problem.train=1", "problem.test=1"), "--out", "s", "--json", "-", cwd=tmp_path))
    a = load(tmp_path / "s" / "A.npy")
    assert result["links"] == np.count_nonzero(a)
    assert abs(result["links"] / 20000 - 0.2) < 0.02
    assert a.any(axis=0).all() and a.any(axis=1).all()


def test_a_run_tells_the_density_that_its_mask_has(tmp_path):
    options = sets("problem.structure=mask", "problem.m=6", "problem.n=10", "problem.train=60",
                   "problem.test=5", "problem.mask_density=0.01", "model.layers=2",
                   "train.stage.pretrain.epochs=1", "train.stage.joint.epochs=1",
                   "train.stage.stage2.epochs=1")
    summary = json.loads(succeed("train", *options, "--out", "run", "--json", "-", cwd=tmp_path))
    density = summary["problem"]["mask_density"]
    # Every column has a link, so that 1 % is out of reach.
    assert density == summary["model"]["links"] / 2 / 60 and density >= 10 / 60
    assert f"a mask with {100 * density:.3g} % of the links" in \
        (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_structure_is_found_in_a_matrix_of_any_format(tmp_path):
    a = np.kron(np.eye(2), np.random.default_rng(1).normal(size=(4, 6)))
    np.save(tmp_path / "A.npy", a)
    np.savetxt(tmp_path / "A.csv", a.astype("f4"), delimiter=",", fmt="%.9g")
    one, other = (json.loads(succeed("inspect", name, "--structure", "--out", f"{name}-out",
                                     "--json", "-", cwd=tmp_path)) for name in ("A.npy", "A.csv"))
    assert one == other and one["smallest"]["structure"] == "repeated"
    assert "add --structure" in refuse("inspect", "A.csv", cwd=tmp_path)
