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


def words(*arguments, **options):
    """What the program prints, its lines joined: sentences are wrapped."""
    return " ".join(succeed(*arguments, **options).split())


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
    assert result["suggestion"]["largest_delta_open"] is False
    text = succeed("certify", folder / "model.safetensors", "--support", "1,5,9", "--suggest")
    assert "largest delta for these weights" in text and "all lambda for delta 1" in text


def test_a_border_of_delta_promises_nothing_and_a_margin_does(folder):
    result = certify(folder, "--support", "1,5,9,12", "--suggest")["suggestion"]
    border, margin = result["largest_delta"], result["margin_delta"]
    assert result["largest_delta_open"] is True
    assert border["alpha"] == 1 and border["cvg"] is None
    assert margin["delta"] < border["delta"] < 1
    assert margin["alpha"] == pytest.approx(0.95, abs=1e-6) and margin["cvg"] > 0
    text = succeed("certify", folder / "model.safetensors", "--support", "1,5,9,12", "--suggest")
    (line,) = [line for line in text.splitlines() if line.startswith("largest delta for these")]
    assert f"< {border['delta']:.4g}" in line and line.split()[-2:] == ["-", "-"]
    assert "largest delta with alpha 0.95" in text


def test_a_folder_of_page_pictures_and_numbers(folder):
    succeed("certify", folder / "model.safetensors", "--size", "3", "--suggest", "--out",
            folder / "out", "--quiet")
    assert tree(folder / "out") == ["certificate.html", "certificate.json", "error.svg",
                                    "spectral.svg"]
    page = (folder / "out" / "certificate.html").read_text()
    assert page.count("<svg") == 4 and "Into the set" in page
    assert page.index("In plain words") < page.index("Layer by layer") < page.index("eq. ht1")
    assert json.loads((folder / "out" / "certificate.json").read_text())["supports"] > 100


def test_an_attached_certificate_is_known_again(folder):
    model = folder / "model.safetensors"
    before = json.loads(succeed("inspect", model, "--json", "-"))
    assert before["certificate"] is None
    succeed("certify", model, "--support", "1,5,9", "--attach", "--quiet")
    text = succeed("inspect", model)
    assert "certificate: no guarantee: Nothing is guaranteed" in text and "warning" not in text
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
    text = words("certify", folder / "model.safetensors", "--support", "1,5,9")
    assert "not proven for Stab Q, Stab b, Sens W, Sens theta." in text
    assert "the paper's bound, for noise 0 and the thresholds of eq. to7" in text


def test_theorem_1_is_told_with_its_condition(folder):
    options = ["certify", folder / "model.safetensors", "--support", "1,5,9"]
    text = words(*options)
    assert "Theorem 1 is under the assumptions above, which fail here." in text
    assert "Term (I) = (a) + (b)" in text
    assert json.loads(succeed(*options, "--json", "-"))["theorem_1"]["assumptions_proven"] is False


def test_spaces_in_a_support_are_allowed(folder):
    assert certify(folder, "--support", "1, 5 ,9") == certify(folder, "--support", "1,5,9")


def test_a_proof_says_for_which_operators_and_measurements(tmp_path):
    np.save(tmp_path / "A.npy", np.eye(4, dtype=np.float32))
    succeed("init", *sets("problem.operator=A.npy", "model.update=plain", "model.layers=1",
                          "model.weights=float"), "--theta", "0.9", "--out", "model.safetensors",
            cwd=tmp_path)
    x = np.zeros((1, 4), dtype=np.float32)
    x[0, 1] = 2
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x + np.float32([0, 0, 0.0625, 0]))
    options = ["--signals", tmp_path / "x.npy", "--measurements", tmp_path / "y.npy",
               "--operator-radius", "0.05"]
    result = certify(tmp_path, *options)
    assert result["guarantee"] is True and result["measured_noise"] == 0.0625
    assert result["response_proven_up_to"]["stab_q"] is None
    assert result["response_proven_up_to"]["stab_q_y_within"] is None
    result = certify(tmp_path, *options, "--noise", "0.125")
    assert result["guarantee"] is True
    assert result["response_proven_up_to"]["stab_q"] == 0.03125
    assert result["response_proven_up_to"]["stab_q_y_within"] == 0.0625
    text = words("certify", tmp_path / "model.safetensors", *options, "--noise", "0.125")
    assert "Stab Q (operators within 0.03125, for y at most 0.0625 away from A x)" in text
    assert "Theorem 1 is under the assumptions above. " in text
    assert text.startswith("For every signal") and "Guaranteed yes: " in text
    assert "What failed" not in text
    assert f"Largest error proven {result['bound'][-1]:.4g}, which is " in text


def test_signals_of_a_basis_are_certified_by_their_coefficients(tmp_path):
    """The DCT of signals that are sparse in it: supports, and B, are those of the coefficients."""
    draw = np.random.default_rng(4)
    k, i = np.mgrid[0:16, 0:16]
    dct = np.sqrt(2 / 16) * np.cos(np.pi * (2 * i + 1) * k / 32)
    dct[0] /= np.sqrt(2)
    c = np.zeros((60, 16))
    for row in c:
        row[draw.choice(16, 2, replace=False)] = draw.standard_normal(2)
    np.save(tmp_path / "x.npy", (c @ dct).astype(np.float32))
    np.save(tmp_path / "A.npy", (draw.standard_normal((12, 16)) / np.sqrt(12)).astype(np.float32))
    succeed("train", *sets("problem.kind=arrays", "problem.operator=A.npy", "problem.x=x.npy",
                           "problem.basis=dct", "problem.test=10", "model.layers=2",
                           "model.update=plain", "train.recipe=paper", "train.batch=25",
                           "train.stage.pretrain.epochs=1", "train.stage.stage1.epochs=1",
                           "train.stage.stage2.epochs=1"), "--out", "run", cwd=tmp_path)
    options = ["certify", "run/model.safetensors", "--signals", "x.npy"]
    result = json.loads(succeed(*options, "--json", "-", cwd=tmp_path))
    assert result["support_size"] == 2
    assert result["supports"] == len({tuple(np.flatnonzero(row)) for row in c})
    assert result["B"] == pytest.approx(np.linalg.norm(c, axis=1).max(), rel=1e-5)
    assert "supports of the coefficients of the signals of x.npy" in words(*options, cwd=tmp_path)


def test_the_certificate_leads_with_plain_words(folder):
    options = ["--signals", folder / "x_test.npy"]
    result = certify(folder, *options)
    text = succeed("certify", folder / "model.safetensors", *options)
    lines = text.splitlines()
    assert lines[0].startswith("Nothing is guaranteed: on ")
    assert any(line.startswith("Guaranteed") and line.split()[1] == "no:" for line in lines)
    front, _, paper = text.partition("Layer by layer")
    for notation in ("alpha", "Cvg", "eq. ", "f_k", "mu"):
        assert notation not in front
    assert "alpha" in paper and "Cvg" in paper
    x = load(folder / "x_test.npy").astype(float)
    succeed("recover", folder / "model.safetensors", "--in", folder / "y_test.npy", "--out",
            folder / "xhat.npy")
    own = np.linalg.norm(load(folder / "xhat.npy") - x, axis=1) / np.linalg.norm(x, axis=1)
    assert result["measured_relative_error"][-1] == pytest.approx(own.max(), rel=1e-4)
    assert f"at most {20 * math.log10(own.max()):.1f} dB" in " ".join(front.split())
    assert result["measured_median_relative_error"][-1] == pytest.approx(
        np.sort(own)[(len(own) - 1) // 2], rel=1e-4)
    assert result["failed"] and " ".join(front.split()).count(result["failed"][0]) == 1


def test_the_length_given_is_not_said_to_be_measured(folder):
    options = ["certify", folder / "model.safetensors", "--signals", folder / "x_test.npy"]
    assert "is the length of the longest" in words(*options)
    assert "B = 20 as given" in words(*options, "--B", "20")


def test_a_damaged_certificate_is_only_a_warning(folder):
    model = folder / "model.safetensors"
    succeed("certify", model, "--support", "1", "--attach", "--quiet")
    data = model.read_bytes()
    model.write_bytes(data.replace(b'weights_hash', b'weights_hush'))
    assert "warning" in succeed("inspect", model)


def test_the_accelerated_update_is_said_to_lie_outside(folder):
    succeed("init", *PLAIN[:-2], "--out", folder / "model.safetensors")
    result = certify(folder, "--support", "1,5,9")
    assert result["update"] == "accelerated" and result["followed"] is True
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
    (["--size", "2", "--c1", "-1"], "--c1 -1 is not a number from 0 on"),
    (["--size", "2", "--N", "0.5"], "--N 0.5 is not a number from 1 on"),
    (["--size", "2", "--N", "0"], "--N 0"),
    (["--size", "2", "--level", "-4"], "--level -4 is not"),
    (["--size", "2", "--b-theta", "-7"], "--b-theta -7 is not"),
    (["--size", "2", "--log-gamma", "-1"], "--log-gamma -1 is not"),
    (["--size", "2", "--t", "0"], "--t 0 is not"),
    (["--size", "2", "--c3", "inf"], "--c3 inf is not"),
    (["--support", "1 5"], "'1 5' is no entry"),
    (["--size", "2", "--gram"], "the Gram form has one support"),
    (["--size", "2", "--gram"], "give --support 1,5,9"),
    ([], "give one of --signals x.npy, --support 1,5,9 or --size 5"),
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
    line = refuse("certify", "model.safetensors", "--support", "0,1,2,3,4", cwd=tmp_path)
    assert "the support has 5 entries in a block of 4 x 10" in line and "signal" not in line
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
