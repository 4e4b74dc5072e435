"""Operators of every kind are the matrices they stand for."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import pibinn
from pibinn import Operator


def complex_matrix(rng, m=6, n=9):
    return rng.standard_normal((m, n)) + 1j * rng.standard_normal((m, n))


OPERATORS = {
    "dense": lambda r: Operator(r.standard_normal((6, 9))),
    "float32": lambda r: Operator(r.standard_normal((6, 9)).astype(np.float32)),
    "complex": lambda r: Operator(complex_matrix(r)),
    "sparse": lambda r: Operator(scipy.sparse.random(12, 20, 0.4, rng=r)
                                 + scipy.sparse.eye(12, 20) + scipy.sparse.eye(12, 20, k=8)),
    "repeated": lambda r: Operator.repeated(r.standard_normal((3, 4)), 5),
    "complex repeated": lambda r: Operator.repeated(complex_matrix(r, 3, 4), 2),
    "blocks": lambda r: Operator.blocks([r.standard_normal((2, 3)), r.standard_normal((4, 2))]),
    "complex sparse": lambda r: Operator(
        scipy.sparse.random(12, 20, 0.4, rng=r) * 1j + scipy.sparse.eye(12, 20)
        + scipy.sparse.eye(12, 20, k=8)),
    "complex blocks": lambda r: Operator.blocks([complex_matrix(r, 2, 3), r.standard_normal((4, 2))]),
    "hadamard": lambda r: Operator.formula("hadamard", 16, [1, 4, 7, 9], scale=0.5),
    "dct": lambda r: Operator.formula("dct", 10, [0, 3, 4]),
    "dft": lambda r: Operator.formula("dft", 8, [1, 2, 5], scale=2.0),
    "convolution": lambda r: Operator.convolution([1.0, -2.0, 0.5], 8),
    "random": lambda r: Operator.random(5, 8, "rademacher", repeat=2),
}


@pytest.fixture(params=OPERATORS)
def operator(request, rng):
    return OPERATORS[request.param](rng)


def test_products_are_those_of_the_matrix(operator, rng):
    full = operator.to_dense()
    assert full.shape == operator.shape == np.asarray(operator).shape
    m, n = operator.shape
    for real in (True, False):
        x = rng.standard_normal((4, n)) + (0 if real else 1j * rng.standard_normal((4, n)))
        y = rng.standard_normal((4, m)) + (0 if real else 1j * rng.standard_normal((4, m)))
        # float32 adds up n products of numbers of size 3 at most.
        bound = 1e-6 * n * np.abs(full).max() * 10
        assert np.abs(operator.apply(x) - x @ full.T).max() < bound
        assert np.abs(operator.adjoint(y) - y @ full.conj()).max() < bound
        assert np.abs(operator @ x[0] - full @ x[0]).max() < bound
        assert np.abs(operator @ x.T - full @ x.T).max() < bound
    assert operator.squared_norm() == pytest.approx(np.linalg.norm(full, 2) ** 2, rel=1e-5)
    linear = operator.as_linear_operator()
    assert np.abs(linear @ x[0] - full @ x[0]).max() < bound


def test_copies_and_pickles_are_equal(operator):
    again = pickle.loads(pickle.dumps(operator))
    assert again == operator and again.structure == operator.structure
    assert again.formula_kind == operator.formula_kind
    assert copy.deepcopy(operator) == operator
    assert repr(again) == repr(operator)


def test_structures_are_told(rng):
    assert Operator.repeated(np.ones((2, 3)), 4).links == 6
    assert OPERATORS["sparse"](rng).structure == "mask"
    for name in ("complex sparse", "complex blocks"):
        assert OPERATORS[name](rng).structure == "mask" and OPERATORS[name](rng).is_complex
    # A real and a complex block, stored as two numbers per entry.
    assert OPERATORS["complex blocks"](rng).links == 2 * (6 + 8)
    assert OPERATORS["dft"](rng).formula_kind == "dft"
    assert Operator.random(4, 8, "rademacher").is_sign
    found = pibinn.find_structure(np.kron(np.eye(3), np.ones((2, 4))))
    assert "repeated" in [fit["kind"] for fit in found["fits"]]


def test_numbers_of_float64_stay_float64(rng):
    a = rng.standard_normal((3, 4))
    assert np.array_equal(Operator(a)._core.precise_values.reshape(4, 3).T, a)


def test_a_linear_operator_becomes_a_matrix(rng):
    a = rng.standard_normal((4, 300))
    linear = scipy.sparse.linalg.aslinearoperator(a)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(Operator(linear).to_dense(), a.astype(np.float32))


def test_a_large_linear_operator_warns_of_its_size():
    big = scipy.sparse.linalg.LinearOperator((2000, 6000), matvec=lambda x: np.zeros(2000),
                                             matmat=lambda x: np.ones((2000, x.shape[1])),
                                             dtype=np.float64)
    with pytest.warns(UserWarning, match="2000 x 6000 operator is turned into a matrix of 92 MiB"):
        Operator(big)


def test_an_operator_of_pylops_becomes_a_matrix():
    pylops = pytest.importorskip("pylops", reason="skipped: pylops is not installed")
    derivative = pylops.FirstDerivative(12, dtype="float64")
    assert np.allclose(Operator(derivative).to_dense(), derivative.todense())


@pytest.mark.parametrize("make, words", [
    (lambda: Operator(np.zeros(3)), "give a matrix"),
    (lambda: Operator(np.zeros((0, 3))), "give a matrix"),
    (lambda: Operator([[np.nan, 1]]), "NaN"),
    (lambda: Operator("word"), "not numbers"),
    (lambda: Operator(object()), "not numbers"),
    (lambda: Operator.repeated(np.ones((2, 3)), 0), "times is 0"),
    (lambda: Operator.blocks([]), "no blocks"),
    (lambda: Operator.random(3, 4, "gausian"), "gaussian"),
    (lambda: Operator.random(-3, 4), "m is -3"),
    (lambda: Operator.formula("dct", 4, [3, 1]), "ascending"),
    (lambda: Operator.formula("dct", 4, [9]), "9"),
    (lambda: Operator.convolution([], 4), "taps"),
    (lambda: Operator(np.ones((2, 3))) @ np.ones(4), "give 3 numbers"),
    (lambda: Operator(scipy.sparse.csr_matrix((3, 4))), ";"),
])
def test_what_is_no_operator_is_refused(make, words):
    with pytest.raises(pibinn.Error) as caught:
        make()
    assert words in str(caught.value) and caught.value.hint


def test_what_no_memory_holds_is_told_with_a_hint():
    """2^46 entries of 4 bytes are more than a process can address."""
    with pytest.raises(MemoryError) as caught:
        Operator.random(1, 2**46)
    assert isinstance(caught.value, pibinn.OutOfMemoryError) and caught.value.hint
