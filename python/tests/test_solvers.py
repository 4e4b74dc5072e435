"""The references, beside those of scikit-learn."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from sklearn.linear_model import Lasso, orthogonal_mp

import pibinn
from pibinn import Operator, solvers


@pytest.fixture(scope="module")
def clean():
    return pibinn.datasets.synthetic(m=30, n=60, train=300, test=20, density=0.05)


def test_omp_is_that_of_scikit_learn(clean):
    a = clean.operator.to_dense().astype(float)
    found = solvers.omp(clean.operator, clean.test_measurements, n_nonzero=3, tolerance=0)
    theirs = orthogonal_mp(a / np.linalg.norm(a, axis=0), clean.test_measurements.T.astype(float),
                           n_nonzero_coefs=3).T / np.linalg.norm(a, axis=0)
    large = (clean.test_signals != 0).sum(axis=1) >= 3  # where three columns are needed
    assert np.allclose(found[large], theirs[large], atol=1e-4)


def test_fista_is_the_lasso_of_scikit_learn(clean):
    a = clean.operator.to_dense().astype(float)
    y = clean.test_measurements[0].astype(float)
    found = solvers.fista(clean.operator, y, lambda_=0.05, relative=False, max_iterations=5000,
                          tolerance=1e-8)
    theirs = Lasso(alpha=0.05 / 30, fit_intercept=False, tol=1e-10, max_iter=100000).fit(a, y)
    assert np.abs(found - theirs.coef_).max() < 1e-3
    slow = solvers.ista(clean.operator, y, lambda_=0.05, relative=False, max_iterations=20000)
    assert np.abs(slow - theirs.coef_).max() < 1e-2


def test_amp_recovers_what_is_random(clean):
    found, info = solvers.amp(clean.operator, clean.test_measurements, density=0.05,
                              return_info=True)
    error = np.linalg.norm(found - clean.test_signals) / np.linalg.norm(clean.test_signals)
    assert error < 0.2 and info["signals"] == 20
    assert solvers.amp(clean.operator, clean.test_measurements[0]).shape == (60,)


def test_the_linear_estimate_is_that_of_the_formula(clean, rng):
    a = clean.operator.to_dense().astype(float)
    y = clean.test_measurements
    expected = y @ np.linalg.inv(a @ a.T + 0.01 * np.eye(30)) @ a
    assert np.allclose(solvers.linear(clean.operator, y, noise_std=0.1), expected, atol=1e-4)
    fitted = solvers.linear(clean.operator, y, fit=(clean.measurements, clean.signals))
    assert np.linalg.norm(fitted - clean.test_signals) < np.linalg.norm(clean.test_signals)


@pytest.mark.parametrize("solver", [solvers.omp, solvers.fista, solvers.amp, solvers.linear])
def test_complex_measurements_give_complex_signals(radio, solver):
    """Of a real operator and of a complex one, which is that operator times i."""
    y = radio.test_measurements
    found = solver(radio.operator, y)
    turned = solver(radio.operator.to_dense() * 1j, 1j * y)
    assert found.dtype == np.complex64 and found.shape == radio.test_signals.shape
    assert np.allclose(found, turned, atol=1e-3)


@pytest.mark.parametrize("form", ["blocks", "mask", "repeated"])
@pytest.mark.parametrize("solver", [solvers.omp, solvers.fista, solvers.amp, solvers.linear])
def test_a_real_operator_of_any_structure_measures_both_parts(form, solver):
    """The operator times i is complex, and so is its structure."""
    rng = np.random.default_rng(4)
    blocks = [rng.normal(size=(8, 12)), rng.normal(size=(8, 12))]
    whole = scipy.linalg.block_diag(*blocks)
    if form == "blocks":
        operator, turned = Operator.blocks(blocks), Operator.blocks([1j * b for b in blocks])
    elif form == "mask":
        whole = whole * (rng.random(whole.shape) < 0.8)
        operator, turned = (Operator(scipy.sparse.csc_array(a)) for a in (whole, 1j * whole))
    else:
        whole = np.kron(np.eye(2), blocks[0])
        operator, turned = Operator.repeated(blocks[0], 2), Operator.repeated(1j * blocks[0], 2)
    x = np.zeros((6, 24), complex)
    x[:, [3, 17]] = rng.normal(size=(6, 2)) + 1j * rng.normal(size=(6, 2))
    y = x @ whole.T
    found = solver(operator, y)
    assert found.dtype == np.complex64 and found.shape == x.shape
    np.testing.assert_allclose(found, solver(turned, 1j * y), atol=1e-3)
    if solver is solvers.omp:
        np.testing.assert_allclose(found, x, atol=1e-4)


@pytest.mark.parametrize("call, words", [
    (lambda a: solvers.omp(a, np.zeros(3)), "give 30 numbers"),
    (lambda a: solvers.fista(a, np.full(30, np.nan)), "NaN"),
    (lambda a: solvers.fista(a, np.ones(30), max_iterations=-1), "max_iterations is -1"),
    (lambda a: solvers.linear(a, np.ones(30), fit=(np.ones((2, 3)), np.ones((2, 60)))), "pair"),
])
def test_bad_input_is_told(clean, call, words):
    with pytest.raises(pibinn.Error) as caught:
        call(clean.operator)
    assert words in str(caught.value)
