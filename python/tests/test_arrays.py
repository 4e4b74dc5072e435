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
