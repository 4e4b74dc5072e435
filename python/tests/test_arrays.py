"""Arrays of every kind go in, and none is copied that need not be."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import pibinn


class OnlyDLPack:
    """An array of someone who knows DLPack and nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **keywords):
        return self._array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def forms(y):
    gaps = np.zeros((len(y), 2 * y.shape[1]), np.float32)
    gaps[:, ::2] = y
    frozen = y.copy()
    frozen.flags.writeable = False
    shifted = np.frombuffer(b"x" + y.tobytes(), np.uint8)[1:].view(np.float32).reshape(y.shape)
    return {"unaligned": shifted, "float64": y.astype(np.float64), "fortran": np.asfortranarray(y),
            "strided": gaps[:, ::2], "reversed": y[::-1][::-1], "read-only": frozen,
            "big-endian": y.astype(">f4"), "lists": y.tolist(), "DLPack": OnlyDLPack(y.copy()),
            "memoryview": memoryview(y), "longdouble": y.astype(np.longdouble)}


@pytest.mark.parametrize("form", ["unaligned", "float64", "fortran", "strided", "reversed",
                                  "read-only", "big-endian", "lists", "DLPack", "memoryview",
                                  "longdouble"])
def test_the_same_numbers_in_any_form_give_the_same_signals(data, net, form):
    y = np.ascontiguousarray(data.test_measurements[:10])
    expected = net.model_.recover(y)
    assert np.array_equal(net.model_.recover(forms(y)[form]), expected)
    assert expected.dtype == np.float32


def test_a_vector_gives_a_vector_and_equals_its_row(data, net):
    y = data.test_measurements
    assert np.array_equal(net.model_.recover(y[3]), net.model_.recover(y)[3])


COPYING = """
import sys, numpy as np, pibinn
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
model = pibinn.Model.load(sys.argv[1])
y = np.zeros((2_500_000, 20), sys.argv[2])
y[-1, 0] = np.nan  # all rows are looked at, and nothing is recovered
before = peak()
try:
    model.recover(y)
except pibinn.InputError as error:
    assert "row 2499999" in str(error)
    print(peak() - before)
"""


@pytest.mark.parametrize("dtype, copies", [("float32", False), ("float64", True)])
def test_float32_rows_are_read_where_they_are(net, tmp_path, dtype, copies):
    """200 MB of measurements; the memory of a process of its own tells whether they are copied."""
    net.save(tmp_path / "m.safetensors")
    run = subprocess.run([sys.executable, "-c", COPYING, tmp_path / "m.safetensors", dtype],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert (float(run.stdout) > 100) == copies


def test_results_belong_to_the_caller(data, net):
    first = net.predict(data.test_measurements)
    kept = first.copy()
    net.predict(2 * data.test_measurements)
    first += 0  # writeable
    assert np.array_equal(first, kept)


def test_threads_share_a_model(data, net):
    """The interpreter's lock is released, and every thread gets its own working memory."""
    y, expected, wrong = data.test_measurements, net.predict(data.test_measurements), []

    def work():
        for i in range(200):
            if not np.array_equal(net.model_.recover(y[i % 100]), expected[i % 100]):
                wrong.append(i)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert wrong == []


def test_complex_arrays_go_in_and_come_out(radio):
    net = pibinn.UnrolledRecovery(radio.operator, n_layers=3, max_epochs=2).fit(
        radio.measurements, radio.signals)
    found = net.predict(radio.test_measurements)
    assert found.dtype == np.complex64 and found.shape == radio.test_signals.shape
    assert np.allclose(net.predict(radio.test_measurements.astype(np.complex128)), found)
    assert net.score(radio.test_measurements, radio.test_signals) > 0.5
    assert len(net.model_.recover_layers(radio.test_measurements)) == 3


@pytest.mark.parametrize("bad, words", [
    (np.zeros((2, 19), np.float32), "expected 20 measurements per row, got 19"),
    (np.zeros((2, 2, 20), np.float32), "give a vector, or rows"),
    (np.full((2, 20), np.nan, np.float32), "row 0, column 0"),
    (np.full((2, 20), 1e38), "over 1e+30"),
    (np.full((2, 20), 1e300), "inf at row 0"),
    (np.array([["a"] * 20]), "not numbers"),
    (np.zeros((2, 20), complex), "complex"),
    ([[1, 2], [3]], "rows of equal length"),
    (None, "give a vector, or rows"),
])
def test_bad_measurements_are_told_with_a_hint(net, bad, words):
    with pytest.raises(ValueError) as caught:
        net.model_.recover(bad)
    assert words in str(caught.value)
    assert isinstance(caught.value, pibinn.Error) and caught.value.hint
    assert str(caught.value) == f"{caught.value.message}; {caught.value.hint}"


def test_other_threads_run_while_a_batch_is_recovered(data, net):
    """A thread that only counts gets nowhere while another holds the interpreter's lock."""
    y = np.tile(data.test_measurements, (4000, 1))
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1
            done.wait(1e-4)

    counter = threading.Thread(target=count)
    counter.start()
    before = counts[0]
    net.model_.recover(y, n_jobs=1)
    during = counts[0] - before
    done.set()
    counter.join()
    assert during > 20


class Refuses:
    """An array of someone who refuses to convert it, by whatever exception he likes."""

    def __init__(self, error):
        self._error = error

    def __array__(self, *_, **__):
        raise self._error


class RefusesDLPack:
    def __dlpack__(self, **_):
        raise BufferError("on another device")

    def __dlpack_device__(self):
        return (2, 0)


class NoNumber:
    def __float__(self):
        raise RuntimeError("not today")

    def __repr__(self):
        raise RuntimeError("nor a text")


REFUSING = {
    "RuntimeError": lambda: Refuses(RuntimeError("wants a gradient")),
    "BufferError": RefusesDLPack,
    "KeyError": lambda: Refuses(KeyError("odd")),
    "a number beyond float64": lambda: np.array([[10**400] * 20] * 2, object),
    "no number": lambda: np.array([[NoNumber()] * 20] * 2, object)}


@pytest.mark.parametrize("kind", REFUSING)
def test_an_array_that_does_not_convert_is_told_with_a_hint(net, data, kind):
    bad = REFUSING[kind]()
    model, a = net.model_, data.operator
    calls = [lambda: model.recover(bad), lambda: model.recover_layers(bad),
             lambda: model.evaluate(bad), lambda: model.evaluate(data.test_signals, bad),
             lambda: pibinn.Operator(bad), lambda: pibinn.Operator.blocks([bad]),
             lambda: pibinn.Operator.repeated(bad, 2), lambda: a @ bad,
             lambda: pibinn.solvers.omp(a, bad),
             lambda: net.score(data.test_measurements, bad)]
    if kind not in ("a number beyond float64", "no number"):  # scikit-learn's own words
        calls += [lambda: net.predict(bad), lambda: net.fit(bad, data.signals),
                  lambda: net.fit(data.measurements, bad)]
    for call in calls:
        with pytest.raises(pibinn.Error) as caught:
            call()
        assert caught.value.message and caught.value.hint


def test_a_tensor_with_a_gradient_is_told_and_one_without_is_read(data, net):
    torch = pytest.importorskip("torch", reason="skipped: no PyTorch (Debian: python3-torch)",
                                exc_type=ImportError)
    y = torch.tensor(data.test_measurements.tolist())
    assert np.array_equal(net.model_.recover(y), net.model_.recover(data.test_measurements))
    assert np.array_equal(net.predict(y), net.predict(data.test_measurements))
    wanted = y.clone().requires_grad_()
    for call in (net.model_.recover, net.predict, pibinn.Operator):
        with pytest.raises(pibinn.InputError, match="detach"):
            call(wanted)


@pytest.mark.parametrize("call, words", [
    (lambda net, a: net.fit_prior(density="much"), "density is 'much'"),
    (lambda net, a: net.fit_prior(noise_std=[1]), r"noise_std is \[1\]"),
    (lambda net, a: net.fit_prior(support=3), "support is 3"),
    (lambda net, a: net.fit_prior(support=[2**40]), "below 4294967296"),
    (lambda net, a: net.model_.certify(size=1, norm="x"), "norm is 'x'"),
    (lambda net, a: net.model_.certify(supports=5), "supports is 5"),
    (lambda net, a: net.model_.calibrate(np.ones((2, 40)), noise_std="x"), "noise_std is 'x'"),
    (lambda net, a: pibinn.Model.untrained(a, theta=None), "theta is None"),
    (lambda net, a: pibinn.Model.load(3), "the path is 3"),
    (lambda net, a: net.save("a\0b"), "the path is"),
    (lambda net, a: pibinn.solvers.fista(a, np.ones(20), lambda_="x"), "lambda_ is 'x'"),
    (lambda net, a: pibinn.solvers.amp(a, np.ones(20), density=NoNumber()), "density is a NoNumb"),
    (lambda net, a: pibinn.solvers.linear(a, np.ones(20), fit=3), "fit is 3"),
    (lambda net, a: pibinn.solvers.linear(a, np.ones(20), fit=[1]), "fit holds 1 arrays"),
    (lambda net, a: pibinn.Operator.blocks(3), "blocks is 3"),
    (lambda net, a: pibinn.Operator.formula("dct", 4, 3), "rows is 3"),
    (lambda net, a: pibinn.Operator.formula(7, 4, [1]), "kind is 7"),
    (lambda net, a: pibinn.Operator.formula("dct", 4, [1], flipped=["no"] * 4), "flipped is 'no'"),
    (lambda net, a: pibinn.Operator.convolution([1.0], 4, first=0.5), "first is 0.5"),
    (lambda net, a: net.score(np.ones((1, 20)), np.ones((1, 40)), [1, 2]), "sample_weight"),
    (lambda net, a: net.model_.recover(np.ones(20), n_jobs=10**9), "n_jobs is 1000000000")])
def test_an_argument_of_the_wrong_type_is_told_with_a_hint(net, data, call, words):
    with pytest.raises(pibinn.UsageError, match=words) as caught:
        call(net, data.operator)
    assert caught.value.hint
