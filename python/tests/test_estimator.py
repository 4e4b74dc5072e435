"""The estimator keeps scikit-learn's conventions."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import pibinn

NAMES = "the arguments are measurements and signals, not X and y"


@parametrize_with_checks(
    [pibinn.UnrolledRecovery(n_layers=2, max_epochs=2)],
    expected_failed_checks=lambda estimator: {
        "check_fit_score_takes_y": NAMES,
        "check_n_features_in_after_fitting": NAMES + ": this check calls score(X, y=y)"})
def test_a_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


def test_training_recovers_signals(data, net):
    assert net.test_nmse_db_ < -12
    assert net.score(data.test_measurements, data.test_signals) > 0.95
    assert net.n_features_in_ == 20 and net.n_iter_ == len(net.history_["epoch"])


def test_the_same_seed_gives_the_same_bytes(data, net, tmp_path):
    again = clone(net).fit(data.measurements, data.signals)
    other = clone(net).set_params(random_state=2).fit(data.measurements, data.signals)
    for name, estimator in (("a", net), ("b", again), ("c", other)):
        estimator.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()


def test_signals_can_be_drawn(data):
    net = pibinn.UnrolledRecovery(data.operator, n_layers=5, max_epochs=5).fit_prior(
        density=0.05, snr_db=(10, 40), train=500, test=100)
    assert net.score(data.test_measurements, data.test_signals) > 0.9
    assert net.model_.metadata["pibinn.recipe"] == "default"


def test_complex_signals_can_be_drawn():
    a = pibinn.Operator.formula("dft", 32, list(range(0, 32, 2)), scale=2**0.5)
    net = pibinn.UnrolledRecovery(a, n_layers=3, max_epochs=2).fit_prior(0.05, 20, train=200,
                                                                         test=50)
    assert net.predict(np.zeros((2, 16), complex)).dtype == np.complex128
    assert net.test_nmse_db_ < 0


def test_an_unknown_operator_is_estimated(data):
    net = pibinn.UnrolledRecovery(n_layers=4, max_epochs=4).fit(data.measurements, data.signals)
    truth = data.operator.to_dense()
    assert np.abs(net.model_.operator.to_dense() - truth).max() < 0.1 * np.abs(truth).max()
    assert net.score(data.test_measurements, data.test_signals) > 0.9


def test_every_parameter_takes_effect(data):
    usual = pibinn.UnrolledRecovery(data.operator, n_layers=3, max_epochs=2)
    base = usual.fit(data.measurements, data.signals).model_._core.to_bytes()
    changes = {"n_layers": 2, "weights": "one-bit", "activation": "soft", "update": "plain",
               "delta": 0.9, "pieces": 2, "neighbours": 1, "centre": True, "polish": 3, "basis": "dct",
               "recipe": "paper", "augment": "none", "loss": "squared", "max_epochs": 1,
               "learning_rate": 0.01, "batch_size": 50, "test_size": 0.5, "random_state": 3}
    ran = {}
    for name, value in changes.items():
        extra = {"activation": "soft"} if name in ("update", "recipe") else {}
        net = clone(usual).set_params(**{name: value, **extra})
        ran[name] = net.fit(data.measurements, data.signals).model_._core.to_bytes() != base
    assert ran == dict.fromkeys(changes, True)
    rest = set(usual.get_params()) - set(changes)
    assert rest == {"operator", "groups", "vectors", "guarantee", "checkpoint_dir", "device",
                    "n_jobs", "verbose"}


def test_a_guarantee_is_trained_and_certified():
    net = pibinn.UnrolledRecovery(pibinn.Operator.random(24, 48, "rademacher"), n_layers=5,
                                  weights="float", activation="soft", recipe="guaranteed",
                                  guarantee={"size": 1}, max_epochs=3).fit_prior(
        density=0.02, train=200, test=50)
    assert net.guarantee_["proven"]
    assert net.certify().verdict == "guaranteed"


def test_vectors_share_their_support(rng):
    a = rng.standard_normal((10, 20)) / 10**0.5
    x = np.zeros((200, 2, 20))
    for row in x:
        row[:, rng.choice(20, 2, replace=False)] = rng.standard_normal((2, 2))
    y = x @ a.T
    net = pibinn.UnrolledRecovery(a, n_layers=4, vectors=2, max_epochs=3).fit(
        y.reshape(200, -1), x.reshape(200, -1))
    assert net.model_.spec["groups"] == "rows"
    assert net.score(y.reshape(200, -1), x.reshape(200, -1)) > 0.5


def test_residuals_are_centred_where_the_operator_is_of_zeros_and_ones():
    data = pibinn.datasets.synthetic(m=40, n=64, operator="bernoulli", train=500, test=100)
    net = pibinn.UnrolledRecovery(n_layers=6, max_epochs=10).fit_dataset(data)
    assert net.model_.spec["centre"]
    assert net.score(data.test_measurements, data.test_signals) > 0.9


def test_it_works_in_a_pipeline_and_a_grid(data):
    pipe = make_pipeline(FunctionTransformer(lambda y: 2 * y),
                         pibinn.UnrolledRecovery(2 * data.operator.to_dense(), max_epochs=1))
    grid = GridSearchCV(pipe, {"unrolledrecovery__n_layers": [1, 4]}, cv=2)
    grid.fit(data.measurements, data.signals)
    assert grid.best_params_ == {"unrolledrecovery__n_layers": 4}
    scores = cross_val_score(grid.best_estimator_, data.measurements, data.signals, cv=2)
    assert min(scores) > 0.3


def test_progress_is_told_and_tqdm_shows_it(data, capsys):
    told = []
    net = pibinn.UnrolledRecovery(data.operator, n_layers=2, max_epochs=3,
                                  verbose=lambda *event: told.append(event))
    net.fit(data.measurements, data.signals)
    assert told and told[-1][2] >= told[-1][1] > 0
    net.set_params(verbose=1).fit(data.measurements, data.signals)
    assert "%" in capsys.readouterr().err


def test_history_is_a_dict_and_a_frame(net):
    frame = net.history_frame()
    assert list(frame.columns) == ["stage", "epoch", "learning_rate", "loss", "test_nmse_db"]
    assert frame["epoch"].tolist() == list(range(1, net.n_iter_ + 1))


def test_pickles_predict_the_same(data, net):
    again = pickle.loads(pickle.dumps(net))
    assert np.array_equal(again.predict(data.test_measurements),
                          net.predict(data.test_measurements))
    assert again.get_params()["n_layers"] == 5


def test_an_unfitted_estimator_says_so(data):
    net = pibinn.UnrolledRecovery(data.operator)
    for call in (lambda: net.predict(data.measurements), lambda: net.save("x"),
                 lambda: net.certify(), lambda: net.history_frame()):
        with pytest.raises(NotFittedError):
            call()


@pytest.mark.parametrize("parameters, words", [
    ({"weights": "two-bit"}, "one-bit"), ({"activation": "gelu"}, "relu"),
    ({"update": "fast"}, "accelerated"), ({"n_layers": 0}, "n_layers is 0"),
    ({"n_layers": 2.5}, "n_layers is 2.5"), ({"test_size": 1.5}, "test_size is 1.5"),
    ({"recipe": "mine"}, "default"), ({"augment": "zoom"}, "none"), ({"loss": "l3"}, "squared"),
    ({"device": "tpu"}, "cpu"), ({"n_jobs": 0}, "n_jobs is 0"), ({"basis": "wavelet"}, "dct"),
    ({"operator": np.ones((3, 40))}, "expected 3 measurements"),
    ({"guarantee": {"sise": 2}}, "size"), ({"guarantee": 3}, "size"),
    ({"groups": "pairs"}, "complex"), ({"random_state": -1}, "random_state is -1"),
])
def test_bad_parameters_are_told_with_a_hint(data, parameters, words):
    net = pibinn.UnrolledRecovery(data.operator, max_epochs=1).set_params(**parameters)
    with pytest.raises(pibinn.Error) as caught:
        net.fit(data.measurements, data.signals)
    assert words in str(caught.value) and caught.value.hint


def test_measurements_that_the_operator_does_not_explain_warn(data, rng):
    net = pibinn.UnrolledRecovery(data.operator, n_layers=2, max_epochs=1)
    with pytest.warns(pibinn.TrainingWarning, match="not close to A x"):
        net.fit(rng.permutation(data.measurements), data.signals)


def test_help_tells_every_parameter():
    text = inspect.getdoc(pibinn.UnrolledRecovery)
    missing = [name for name in pibinn.UnrolledRecovery().get_params() if f"\n{name}" not in text]
    assert missing == []
