"""Random arguments give results or exceptions of Python, never a crash."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pibinn

QUICK = settings(max_examples=40, deadline=None, derandomize=True,
                 suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
TYPES = st.one_of(*(st.just(np.dtype(t)) for t in
                    ("f2", "f4", "f8", ">f4", "c8", "c16", "i1", "u8", "?", "S3", "U2", "O",
                     "M8[s]")))
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)
ARRAYS = TYPES.flatmap(lambda t: hnp.arrays(t, SHAPES) if t.kind != "O" else
                       hnp.arrays(t, SHAPES, elements=st.one_of(st.none(), st.text(max_size=2))))
THINGS = st.one_of(ARRAYS, st.none(), st.text(max_size=3), st.integers(), st.floats(),
                   st.lists(st.floats(), max_size=4), st.dictionaries(st.text(), st.integers()))
NUMBERS = st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=3), st.booleans())
# What Python code expects of bad arguments.
EXPECTED = (pibinn.Error, ValueError, TypeError, OverflowError, MemoryError)


def survives(call):
    try:
        return call()
    except EXPECTED as error:
        assert str(error)
        return None


@QUICK
@given(THINGS)
def test_operators_of_anything(thing):
    made = survives(lambda: pibinn.Operator(thing))
    if made is not None:
        assert np.isfinite(made.to_dense()).all()


@QUICK
@given(THINGS)
def test_recovering_anything(net, thing):
    found = survives(lambda: net.model_.recover(thing))
    if found is not None:
        assert np.isfinite(found).all() and found.shape[-1] == 40
    survives(lambda: net.predict(thing))
    survives(lambda: net.model_.recover_layers(thing))


@QUICK
@given(hnp.arrays(np.float32, (3, 20), elements=st.floats(width=32)))
def test_numbers_of_any_size_are_recovered_or_refused(net, y):
    found = survives(lambda: net.predict(y))
    assert found is None or np.isfinite(found).all()


@QUICK
@given(THINGS, THINGS)
def test_training_on_anything(thing, other):
    net = pibinn.UnrolledRecovery(np.eye(2, 3), n_layers=1, max_epochs=1)
    survives(lambda: net.fit(thing, other))


@QUICK
@given(st.fixed_dictionaries({}, optional={
    name: NUMBERS for name in pibinn.UnrolledRecovery().get_params()
    if name not in ("operator", "max_epochs", "checkpoint_dir", "n_jobs", "n_layers")}))
def test_any_parameters(parameters):
    net = pibinn.UnrolledRecovery(np.eye(2, 3), n_layers=1, max_epochs=1)
    survives(lambda: net.set_params(**parameters).fit_prior(0.5, train=10, test=5))


@QUICK
@given(NUMBERS, NUMBERS, st.sampled_from(["omp", "fista", "amp", "linear"]), THINGS)
def test_solvers_of_anything(first, second, name, thing):
    solver = getattr(pibinn.solvers, name)
    survives(lambda: solver(np.eye(2, 3), thing))
    words = {"omp": ("n_nonzero", "noise_std"), "fista": ("lambda_", "tolerance"),
             "amp": ("alpha", "density"), "linear": ("noise_std", "ridge")}[name]
    survives(lambda: solver(np.eye(2, 3), np.ones(2), **dict(zip(words, (first, second)))))


@QUICK
@given(st.binary(max_size=200))
def test_pickles_of_any_bytes(content):
    with pytest.raises(pibinn.InputError):
        pibinn.Model.__new__(pibinn.Model).__setstate__({"state": 1, "bytes": content})


@QUICK
@given(NUMBERS, NUMBERS, THINGS)
def test_certificates_of_anything(net, size, support, signals):
    survives(lambda: net.model_.certify(signals))
    survives(lambda: net.model_.certify(size=size, samples=5))
    survives(lambda: net.model_.certify(support=support))
    survives(lambda: net.model_.calibrate(signals, snr_db=size))
