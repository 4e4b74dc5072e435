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


def hints(call):
    """Stricter: whatever is refused is refused by pibinn, with a hint."""
    try:
        return call()
    except pibinn.Error as error:
        assert error.message and error.hint
    return None


# Small, so that what fits is made at once, or beyond any address.
SIZES = st.one_of(st.integers(-2, 9), st.sampled_from([2**46, 2**63, 2**70]), NUMBERS)
LISTS = st.one_of(st.lists(SIZES, max_size=4), THINGS)


def fits(made):
    """An operator that was made is the matrix that it says it is."""
    if made is not None and made.shape[0] * made.shape[1] < 10**6:
        full = made.to_dense()
        assert full.shape == made.shape and np.isfinite(full).all()


@QUICK
@given(THINGS, SIZES)
def test_any_block_any_number_of_times(block, times):
    fits(hints(lambda: pibinn.Operator.repeated(block, times)))


@QUICK
@given(st.one_of(st.lists(THINGS, max_size=3), THINGS))
def test_any_blocks(blocks):
    fits(hints(lambda: pibinn.Operator.blocks(blocks)))


@QUICK
@given(st.one_of(st.sampled_from(["hadamard", "dct", "fourier", "dft", "convolution"]), NUMBERS),
       SIZES, LISTS, NUMBERS, st.one_of(st.just(()), LISTS))
def test_any_formula(kind, n, rows, scale, flipped):
    fits(hints(lambda: pibinn.Operator.formula(kind, n, rows, scale=scale, flipped=flipped)))


@QUICK
@given(st.one_of(st.lists(st.floats(-3, 3), max_size=4), THINGS), SIZES,
       st.one_of(st.none(), SIZES), SIZES)
def test_any_convolution(taps, n, m, first):
    fits(hints(lambda: pibinn.Operator.convolution(taps, n, m, first)))


@QUICK
@given(SIZES, SIZES, st.one_of(st.just("gaussian"), st.just("hadamard"), NUMBERS), SIZES, SIZES)
def test_any_random_operator(m, n, ensemble, repeat, seed):
    fits(hints(lambda: pibinn.Operator.random(m, n, ensemble, repeat=repeat, seed=seed)))


WORDS = st.sampled_from(["m", "n", "density", "support", "noise_std", "snr_db", "structure",
                         "repeat", "operator", "antennas", "measurements", "paths", "users",
                         "pilots", "activity", "nonzeros", "seed", "basis", "odd"])
VALUES = st.one_of(SIZES, LISTS, st.sampled_from(["dense", "mask", "dct", "rademacher"]))


@QUICK
@given(st.sampled_from(["synthetic", "beamspace", "access", "fourier"]),
       st.dictionaries(WORDS, VALUES, max_size=3), st.one_of(st.integers(1, 9), VALUES))
def test_data_sets_of_any_keys(kind, keys, train):
    made = hints(lambda: getattr(pibinn.datasets, kind)(**{"train": train, "test": 3, **keys}))
    if made is not None:
        assert len(made.signals) == len(made.measurements)


@QUICK
@given(st.sampled_from(["images", "recordings"]), THINGS,
       st.dictionaries(st.sampled_from(["patch", "ratio", "x", "ids", "basis"]), VALUES,
                       max_size=2))
def test_files_of_any_name(tmp_path_factory, kind, path, keys):
    hints(lambda: getattr(pibinn.datasets, kind)(path, **keys))


@QUICK
@given(THINGS, THINGS)
def test_pictures_of_anything(truth, found):
    matplotlib = pytest.importorskip("matplotlib", reason="skipped: matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    try:
        hints(lambda: pibinn.plots.plot_signal(truth, found))
        hints(lambda: pibinn.plots.plot_history(truth))
        hints(lambda: pibinn.plots.plot_layers(found))
    finally:
        pyplot.close("all")


TINY = {"problem": {"m": 3, "n": 5, "train": 20, "test": 5}, "model": {"layers": 1},
        "train": {"recipe": "paper", "stage": []}}
SECTIONS = st.one_of(THINGS, st.dictionaries(st.sampled_from(["problem", "model", "odd"]),
                                             st.one_of(THINGS, st.dictionaries(WORDS, VALUES)),
                                             max_size=2))
NAMES = st.one_of(st.sampled_from(["one-bit", "ternary", "dense"]), NUMBERS,
                  st.lists(st.text(max_size=3), max_size=2))


@settings(QUICK, max_examples=25)
@given(SECTIONS, NAMES, NAMES, NUMBERS, NUMBERS)
def test_comparisons_of_anything(tmp_path_factory, sections, weights, structures, seeds, seed):
    """Wrong words and values end before anything is trained."""
    folder = tmp_path_factory.mktemp("compare") / "out"
    hints(lambda: pibinn.compare(sections, folder=folder, weights="odd"))
    hints(lambda: pibinn.compare(TINY, folder=folder, weights=weights, structures=structures,
                                 architectures="odd", seeds=seeds, seed=seed))
    hints(lambda: pibinn.train(sections, folder=folder, device="odd"))
    hints(lambda: pibinn.reproduce(weights, folder=folder))
    hints(lambda: pibinn.compare(TINY, folder=weights, weights="odd"))
