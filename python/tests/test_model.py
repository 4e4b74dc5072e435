"""Model files, pickles, certificates; and the same bytes as the program gives."""

import json
import pickle
import subprocess

import numpy as np
import pytest

import pibinn
from conftest import PROGRAM


def test_a_file_holds_the_whole_model(data, net, tmp_path):
    net.model_.save(tmp_path / "m.safetensors")
    again = pibinn.Model.load(tmp_path / "m.safetensors")
    y = data.test_measurements
    assert np.array_equal(again.recover(y), net.predict(y))
    assert again.spec == net.model_.spec and again.operator == net.model_.operator
    estimator = pibinn.UnrolledRecovery.load(tmp_path / "m.safetensors")
    assert np.array_equal(estimator.predict(y), net.predict(y))
    assert estimator.get_params()["n_layers"] == 5


def test_the_program_recovers_the_same_bytes(data, net, tmp_path):
    net.save(tmp_path / "m.safetensors")
    np.save(tmp_path / "y.npy", data.test_measurements)
    subprocess.run([PROGRAM, "recover", tmp_path / "m.safetensors", "--in", tmp_path / "y.npy",
                    "--out", tmp_path / "x.npy", "--quiet"], check=True)
    assert np.array_equal(np.load(tmp_path / "x.npy"), net.predict(data.test_measurements))


def test_the_program_trains_the_same_network(tmp_path):
    """One policy for both: the same problem, seed and settings end in the same bytes."""
    data = pibinn.datasets.synthetic(m=10, n=20, train=200, test=50, seed=4)
    net = pibinn.UnrolledRecovery(n_layers=3, weights="one-bit", activation="soft",
                                  random_state=4).fit_dataset(data)
    settings = ["problem.m=10", "problem.n=20", "problem.train=200", "problem.test=50",
                "model.layers=3", "seed=4"]
    words = [word for setting in settings for word in ("--set", setting)]
    subprocess.run([PROGRAM, "train", *words, "--quiet", "--out", tmp_path / "run"], check=True)
    program = pibinn.Model.load(tmp_path / "run" / "model.safetensors")
    assert program._core.to_bytes() == net.model_._core.to_bytes()


def test_a_slip_in_the_words_of_a_network_is_told(data):
    with pytest.raises(pibinn.UsageError, match="no 'wieghts'; it has.*weights"):
        pibinn.Model.untrained(data.operator, wieghts="one-bit")
    for words in ({"weights": 3}, {"pieces": -1}, {"momentum": "on"}, {"delta": None}):
        with pytest.raises(pibinn.UsageError, match="type"):
            pibinn.Model.untrained(data.operator, **words)


def test_bits_are_counted_both_ways(net):
    bits = net.model_.bits
    assert bits["weights"] == 0 and bits["operator"] == 20 * 40 + 32
    assert bits["total"] == sum(bits[k] for k in ("weights", "thresholds", "momentum", "scales",
                                                  "operator"))


def test_layers_end_in_the_signal(data, net):
    layers = net.model_.recover_layers(data.test_measurements)
    assert len(layers) == 5
    if net.model_.spec["polish"] == 0:
        assert np.array_equal(layers[-1], net.predict(data.test_measurements))
    errors = [np.linalg.norm(x - data.test_signals) for x in layers]
    assert errors[-1] < errors[0]


def test_evaluation_is_that_of_the_program(data, net, tmp_path):
    net.save(tmp_path / "m.safetensors")
    np.save(tmp_path / "x.npy", data.test_signals)
    told = subprocess.run([PROGRAM, "eval", tmp_path / "m.safetensors", "--signals",
                           tmp_path / "x.npy", "--json", "-"], check=True, capture_output=True)
    assert net.model_.evaluate(data.test_signals)["nmse_db"] == pytest.approx(
        json.loads(told.stdout)["nmse_db"], abs=1e-9)


def test_a_certificate_tells_and_shows_itself(data):
    model = pibinn.Model.untrained(data.operator, n_layers=4, weights="one-bit", update="plain")
    certificate = model.certify(size=1, samples=50, attach=True)
    assert certificate.statement and certificate.numbers["support_size"] == 1
    assert "<table>" in certificate._repr_html_() and certificate.verdict in str(certificate)
    assert any("certificate" in key for key in model.metadata)
    assert model.certify(data.test_signals[:20]).numbers["delta"] == 1.0
    assert model.certify(support=[1, 5]).numbers["support_size"] == 2


def test_held_out_signals_calibrate_any_network(data, net):
    fresh = pibinn.datasets.synthetic(m=20, n=40, operator="rademacher", train=2, test=1000,
                                      seed=9).test_signals
    calibration = net.model_.calibrate(fresh, snr_db=25)
    assert calibration.statement and calibration.numbers
    assert "<table>" in calibration._repr_html_()
    with pytest.raises(pibinn.InputError, match="train"):
        net.model_.calibrate(data.signals, data.measurements)


def test_a_pickle_of_another_version_is_refused_with_a_hint(net):
    state = net.model_.__getstate__()
    for other in ({**state, "state": 99, "version": "9.1.0"}, {}, None):
        with pytest.raises(pibinn.InputError, match="does not read.*model.save"):
            pibinn.Model.__new__(pibinn.Model).__setstate__(other)
    with pytest.raises(pibinn.InputError, match="the pickled model"):
        pibinn.Model.__new__(pibinn.Model).__setstate__({**state, "bytes": state["bytes"][:50]})
    again = pickle.loads(pickle.dumps(net.model_, protocol=2))
    assert again._core.to_bytes() == state["bytes"]


PICKLED = {"operator": (lambda net: net.model_.operator, "model.save"),
           "estimator": (lambda net: net, "net.save")}


@pytest.mark.parametrize("noun", PICKLED)
def test_a_pickle_of_another_layout_is_refused_with_a_hint(net, data, noun):
    """As another version would have written it; plain dicts are those of before there were any."""
    find, hint = PICKLED[noun]
    whole = find(net)
    again = pickle.loads(pickle.dumps(whole))
    assert repr(again) == repr(whole)
    if noun == "operator":
        make, (state,) = whole.__reduce__()
    else:
        state = whole.__getstate__()

        def make(other):
            pibinn.UnrolledRecovery.__new__(pibinn.UnrolledRecovery).__setstate__(other)

    assert state["version"] == pibinn.__version__
    for other in ({**state, "state": 99, "version": "9.1.0"}, {}, {"n_layers": 3}, None, 7):
        with pytest.raises(pibinn.InputError, match=f"a pickled {noun} of pibinn.*does not read"
                                                    f".*{hint}") as caught:
            make(other)
    assert caught.value.hint
    with pytest.raises(pibinn.InputError, match="9.1.0"):
        make({**state, "state": 99, "version": "9.1.0"})
    for key in ("structure", "attributes"):
        if key in state:
            with pytest.raises(pibinn.InputError, match="damaged"):
                make({**state, key: 5})


def test_files_that_are_wrong_are_told(tmp_path):
    with pytest.raises(OSError, match="no-such-file") as caught:
        pibinn.Model.load(tmp_path / "no-such-file")
    assert isinstance(caught.value, pibinn.FileError)
    (tmp_path / "bad").write_bytes(b"\0" * 100)
    with pytest.raises(pibinn.InputError):
        pibinn.Model.load(tmp_path / "bad")
    with pytest.raises(pibinn.UsageError, match="give a path"):
        pibinn.Model.load(3)


def test_errors_travel_between_processes():
    error = pibinn.InputError("expected 3, got 2", "give 3")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "expected 3, got 2; give 3" and again.hint == "give 3"
    names = pibinn.UsageError.of_library("NetworkSpec::layers and PatchSpec::side", "")
    assert str(names) == "n_layers and side"
