"""pibinn certify: what it says, what it writes, what it refuses."""

import json
import math

import numpy as np
import pytest

from conftest import load, refuse, sets, succeed, tree

PLAIN = sets("problem.m=40", "problem.n=20", "problem.density=0.1", "problem.train=8",
             "problem.test=30", "model.layers=4", "model.update=plain")


@pytest.fixture
def folder(tmp_path):
    succeed("sample", *PLAIN[:-4], "--out", tmp_path)
    succeed("init", *PLAIN, "--out", tmp_path / "model.safetensors")
    return tmp_path


def certify(folder, *options):
    return json.loads(succeed("certify", folder / "model.safetensors", *options, "--json", "-"))


def dense(folder):
    """Operator and effective weights of one layer, in float64, from the exported arrays."""
    succeed("export", folder / "model.safetensors", "--to", "npz", "--out", folder / "m.npz")
    return np.load(folder / "m.npz")


def test_spectral_terms_are_those_numpy_finds(folder):
    arrays = dense(folder)
    a = load(folder / "A.npy").astype(float)
    support = [1, 5, 9]
    result = certify(folder, "--support", "1,5,9")
    # Untrained: every layer has the signs of A and one scale.
    w = result["scale"] * np.where(a >= 0, 1.0, -1.0)
    f = np.linalg.norm(np.eye(3) - w[:, support].T @ a[:, support], 2)
    g = np.abs(w.T @ a)
    np.fill_diagonal(g, 0)
    assert result["f"] == pytest.approx([f] * 4, rel=1e-6)
    assert result["mu"] == pytest.approx([g.max()] * 4, rel=1e-6)
    assert result["alpha"] == pytest.approx(f + 3 * g.max(), rel=1e-6)
    assert result["member"]["hard"] == (f < 1)
    assert result["support_size"] == 3 and result["supports"] == 1
    assert len(arrays.files) > 0


def test_every_number_of_the_contract_is_there(folder):
    result = certify(folder, "--signals", folder / "x_test.npy")
    assert result["verdict"] == "no guarantee" and result["guarantee"] is False
    assert "alpha" in result["why"]
    for name in ("f", "mu", "cvg", "stab_q", "stab_b", "sens_w", "sens_theta", "measured_error",
                 "bound", "theta", "theta_needed", "theta_asked", "term_a", "term_b", "term_i"):
        assert len(result[name]) == 4, name
    assert set(result["member"]) == {"hard", "soft", "good"}
    x = load(folder / "x_test.npy").astype(float)
    assert result["B"] == pytest.approx(np.linalg.norm(x, axis=1).max(), rel=1e-6)
    assert result["supports"] == len({tuple(np.flatnonzero(row)) for row in x})


def test_measured_error_is_that_of_recover(folder):
    model = folder / "model.safetensors"
    result = certify(folder, "--signals", folder / "x_test.npy", "--measurements",
                     folder / "y_test.npy")
    succeed("recover", model, "--in", folder / "y_test.npy", "--out", folder / "xhat.npy")
    error = np.linalg.norm(load(folder / "xhat.npy") - load(folder / "x_test.npy"), axis=1).max()
    assert result["measured_error"][-1] == pytest.approx(error, rel=1e-4)


def test_a_size_gives_a_bound_for_all_supports(folder):
    result = certify(folder, "--size", "2", "--samples", "50")
    assert all(seen <= bound for seen, bound in zip(result["f"], result["f_all"]))
    assert result["alpha_all"] >= result["alpha"]
    assert all(bound >= 0 for bound in result["bound_all"]) and len(result["leak_all"]) == 4
    assert result["sampled"] is True and "supports drawn of 2 entries" in result["bounds_for"]
    assert result["source"] == {"size": 2, "samples": 50, "seed": 1}
    assert certify(folder, "--size", "2", "--samples", "50", "--seed", "2")["f"] != result["f"]


def test_inputs_take_effect(folder):
    base = certify(folder, "--support", "1,5,9")
    assert base["B"] == pytest.approx(math.sqrt(3) + 3)
    longer = certify(folder, "--support", "1,5,9", "--B", "20")
    assert longer["B"] == 20 and longer["bound"][0] > base["bound"][0]
    noisy = certify(folder, "--support", "1,5,9", "--noise", "0.5")
    assert noisy["bound"][0] > base["bound"][0]
    for option in ("--operator-radius", "--weight-radius"):
        wider = certify(folder, "--support", "1,5,9", option, "0.1")
        assert wider["f"][0] > base["f"][0]
    moved = certify(folder, "--support", "1,5,9", "--threshold-radius", "0.1")
    assert moved["theta_needed"][0] == pytest.approx(base["theta_needed"][0] + 0.1)
    theorem = certify(folder, "--support", "1,5,9", "--N", "50", "--log-gamma", "3", "--b-theta",
                      "0", "--level", "2", "--t", "1.5", "--c1", "2", "--c2", "0", "--c3", "0")
    got = theorem["theorem_1"]
    level = theorem["bound"][-1] + math.sqrt(2)
    stab = math.sqrt(2) * 3 / math.sqrt(50) * theorem["stab_q"][-1]
    assert got["C1"] == 6 and got["C2"] == 0 and got["C3"] == 0
    assert got["bound"] == pytest.approx(stab * (level * math.sqrt(6) + 4))
    assert base["theorem_1"]["log_gamma"] == 0 and base["theorem_1"]["N"] == 1000


def test_a_gram_form_has_its_own_r_and_l(tmp_path):
    a = np.random.default_rng(1).standard_normal((12, 6))
    q = (a.T @ a)[[0, 2, 3]]
    np.save(tmp_path / "Q.npy", q.astype(np.float32))
    succeed("init", *sets("problem.operator=Q.npy", "model.update=plain", "model.layers=2"),
            "--out", "model.safetensors", cwd=tmp_path)
    result = certify(tmp_path, "--support", "0,2,3", "--gram")
    values = np.linalg.eigvalsh(q[:, [0, 2, 3]])
    assert result["form"] == "gram"
    assert [result["r"], result["L"]] == pytest.approx([values[0], values[-1]], rel=1e-4)
    line = refuse("certify", "model.safetensors", "--support", "0,1,2", "--gram", cwd=tmp_path)
    assert "symmetric" in line


def test_suggestions_are_true(folder):
    succeed("init", *PLAIN, *sets("model.activation=hard"), "--out", folder / "model.safetensors")
    result = certify(folder, "--support", "1,5,9", "--suggest")
    best = result["suggestion"]["best"]
    low, high = result["suggestion"]["scale_at_delta"]
    assert low < result["scale"] < high
    assert best["delta"] == 1 and low < best["scale"] < high
    assert best["alpha"] < result["alpha"] < 1
    assert best["cvg"] == pytest.approx(best["alpha"] ** 4 * result["B"])
    assert result["suggestion"]["largest_delta"]["delta"] == 1
    text = succeed("certify", folder / "model.safetensors", "--support", "1,5,9", "--suggest")
    assert "largest delta for these weights" in text


def test_a_folder_of_page_pictures_and_numbers(folder):
    succeed("certify", folder / "model.safetensors", "--size", "3", "--suggest", "--out",
            folder / "out", "--quiet")
    assert tree(folder / "out") == ["certificate.html", "certificate.json", "error.svg",
                                    "spectral.svg"]
    page = (folder / "out" / "certificate.html").read_text()
    assert page.count("<svg") == 4 and "Into the set" in page
    assert json.loads((folder / "out" / "certificate.json").read_text())["supports"] > 100


def test_an_attached_certificate_is_known_again(folder):
    model = folder / "model.safetensors"
    before = json.loads(succeed("inspect", model, "--json", "-"))
    assert before["certificate"] is None
    succeed("certify", model, "--support", "1,5,9", "--attach", "--quiet")
    text = succeed("inspect", model)
    assert "certificate: no guarantee: alpha" in text and "warning" not in text
    data = model.read_bytes()
    assert json.loads(succeed("inspect", model, "--json", "-"))["certificate"]["matches"] is True
    # One byte of the tensors, which stand last.
    model.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert "warning: the attached certificate was made of other weights" in succeed("inspect", model)
    assert json.loads(succeed("inspect", model, "--json", "-"))["certificate"]["matches"] is False


def test_an_attached_certificate_says_what_it_is_about(folder):
    model = folder / "model.safetensors"
    printed = certify(folder, "--support", "1,5,9", "--weight-radius", "0.25", "--attach")
    data = model.read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    kept = json.loads(header["__metadata__"]["pibinn.certificate"])
    assert kept == printed
    assert kept["source"] == {"support": [1, 5, 9], "samples": 1000, "seed": 1}
    assert kept["weight_radius"] == 0.25 and kept["operator_radius"] == 0
    assert kept["sampled"] is False and kept["worst_support"] == [[1, 5, 9]] * 4


def test_responses_say_whether_they_are_proven(folder):
    result = certify(folder, "--support", "1,5,9", "--noise", "0.1")
    assert result["response_proven_up_to"]["stab_b"] is None
    text = succeed("certify", folder / "model.safetensors", "--support", "1,5,9")
    assert "not proven for Stab Q, Stab b, Sens W, Sens theta." in text
    assert "Cvg is for noise 0" in text


def test_the_length_given_is_not_said_to_be_measured(folder):
    options = ["certify", folder / "model.safetensors", "--signals", folder / "x_test.npy"]
    assert "is the length of the longest" in succeed(*options)
    assert "B = 20 as given" in succeed(*options, "--B", "20")


def test_a_damaged_certificate_is_only_a_warning(folder):
    model = folder / "model.safetensors"
    succeed("certify", model, "--support", "1", "--attach", "--quiet")
    data = model.read_bytes()
    model.write_bytes(data.replace(b'weights_hash', b'weights_hush'))
    assert "warning" in succeed("inspect", model)


def test_the_accelerated_update_is_said_to_lie_outside(folder):
    succeed("init", *PLAIN[:-2], "--out", folder / "model.safetensors")
    result = certify(folder, "--support", "1,5,9")
    assert result["update"] == "accelerated" and result["companion"] is True
    assert "outside the paper's theory" in result["why"]
    assert "stab_q" not in result and len(result["f"]) == 4
    assert result["cvg"] == [None] * 4


@pytest.mark.parametrize("options, words", [
    ([], "no supports to certify"),
    (["--support", "1", "--size", "2"], "more than one source"),
    (["--support", "20"], "support entry 20 is not below n = 20"),
    (["--support=-1"], "'-1' is no entry"),
    (["--support", "4294967297"], "'4294967297' is no entry"),
    (["--support", "1,a"], "'a' is no entry"),
    (["--support", "1,,2"], "'' is no entry"),
    (["--support="], ""),
    (["--support", "3,3"], "named twice"),
    (["--size", "0"], "supports of 0 entries"),
    (["--size", "41"], "supports of 41 entries"),
    (["--size", "2", "--samples", "0"], "--samples 0"),
    (["--size", "2", "--measurements", "y_test.npy"], "measurements without signals"),
    (["--size", "2", "--B", "-1"], "B -1"),
    (["--size", "2", "--noise", "nan"], "noise nan"),
    (["--size", "2", "--c1", "-1"], "negative"),
    (["--size", "2", "--gram"], "the Gram form has one support"),
    (["--signals", "y_test.npy"], "signal entries"),
    (["--signals", "x_test.npy", "--measurements", "x_test.npy"], "measurements"),
    (["--signals", "x_test.npy", "--B", "0.001"], "over B"),
    (["--signals", "none.npy"], "none.npy"),
    (["--size", "2", "--suggest", "--weight-radius", "0.1"], "within a radius"),
])
def test_bad_input_is_one_line(folder, options, words):
    assert words in refuse("certify", "model.safetensors", *options, "--out", "made", cwd=folder)


def test_more_entries_than_measurements_are_refused(tmp_path):
    sizes = sets("problem.m=4", "problem.n=10", "model.layers=2")
    succeed("init", *sizes, "--out", tmp_path / "model.safetensors")
    np.save(tmp_path / "x.npy", np.ones((1, 10), dtype=np.float32))
    line = refuse("certify", "model.safetensors", "--signals", "x.npy", cwd=tmp_path)
    assert "only 4 measurements" in line
    assert "from 1 to 4" in refuse("certify", "model.safetensors", "--size", "5", cwd=tmp_path)
    np.save(tmp_path / "x.npy", np.zeros((3, 10), dtype=np.float32))
    line = refuse("certify", "model.safetensors", "--signals", "x.npy", cwd=tmp_path)
    assert "all 3 signals are zero" in line
    succeed("init", *sizes, *sets("model.architecture=fcn", "model.update=plain"), "--out",
            tmp_path / "fcn.safetensors")
    assert "fully connected" in refuse("certify", "fcn.safetensors", "--size", "2", cwd=tmp_path)


def test_threads_do_not_change_a_number(folder):
    one = certify(folder, "--size", "3", "--suggest", "--threads", "1")
    assert certify(folder, "--size", "3", "--suggest", "--threads", "3") == one
