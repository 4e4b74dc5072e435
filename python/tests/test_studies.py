"""Comparisons, reproductions and data sets are those of the program; Ctrl-C stops them."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import pibinn

SMALL = {"problem": {"m": 10, "n": 20, "train": 100, "test": 50},
         "model": {"layers": 2}, "train": {"recipe": "paper"}}


def test_networks_are_compared(tmp_path):
    found = pibinn.compare(SMALL, folder=tmp_path / "out", weights=["one-bit", "ternary"],
                           structures="dense", architectures="unrolled")
    assert [row["scheme"] for row in found.rows] == ["one-bit", "ternary"]
    assert (tmp_path / "out" / "report.html").exists() and len(found.models) == 2
    assert list(found.to_frame()["scheme"]) == ["one-bit", "ternary"]
    assert found.models[0].spec["weights"] == "one-bit" and "dB" in repr(found)


def test_a_configuration_is_trained(tmp_path):
    (tmp_path / "c.toml").write_text("[problem]\nm = 10\nn = 20\ntrain = 100\ntest = 50\n"
                                     "[model]\nlayers = 2\n[train]\nrecipe = 'paper'\n")
    models, summary = pibinn.train(tmp_path / "c.toml", folder=tmp_path / "run")
    assert models[0].n_entries == 20 and summary["test_nmse_db"] < 0
    with pytest.raises(pibinn.UsageError, match="resume|folder"):
        pibinn.train(tmp_path / "c.toml", folder=tmp_path / "run")


def test_a_table_of_the_paper_is_made_again(tmp_path):
    told = []
    found = pibinn.reproduce("bits", folder=tmp_path, quick=True,
                             verbose=lambda *event: told.append(event))
    assert found and (tmp_path / "report.html").exists()
    with pytest.raises(pibinn.UsageError, match="table1"):
        pibinn.reproduce("tabel1", folder=tmp_path)


def test_the_configuration_names_every_key():
    assert "[problem]" in pibinn.default_configuration()


@pytest.mark.parametrize("name, keys", [("synthetic", {"structure": "repeated", "repeat": 2}),
                                        ("beamspace", {}), ("access", {"antennas": 2}),
                                        ("fourier", {"m": 16, "n": 32})])
def test_data_sets_are_measured_by_their_operator(name, keys):
    data = getattr(pibinn.datasets, name)(train=20, test=10, snr_db=60, **keys)
    vectors = data.about["vectors"]
    x = data.test_signals.reshape(10 * vectors, -1)
    y = data.test_measurements.reshape(10 * vectors, -1)
    error = np.linalg.norm(data.operator.apply(x) - y) / np.linalg.norm(y)
    assert error < 0.01  # 60 dB of noise are 0.001; faint signals of access have more


def test_pictures_and_recordings_become_data_sets(tmp_path, rng):
    from matplotlib.image import imsave
    (tmp_path / "photos").mkdir()
    for i in range(4):
        imsave(tmp_path / "photos" / f"{i}.png", rng.random((32, 32)).cumsum(0), cmap="gray")
    photos = pibinn.datasets.images(tmp_path / "photos", patch=4, patches=20)
    assert photos.signals.shape[1] == 16 and photos.about["basis"] == "dct2"
    np.save(tmp_path / "x.npy", rng.standard_normal((40, 32)).cumsum(1))
    waves = pibinn.datasets.recordings(x=tmp_path / "x.npy", ratio=0.5)
    assert waves.measurements.shape[1] == 16
    net = pibinn.UnrolledRecovery(n_layers=2, activation="wiener", max_epochs=1)
    assert net.fit_dataset(photos).predict(photos.test_measurements).shape[1] == 16
    assert net.model_.spec["grid"] == 4


@pytest.mark.parametrize("keys, words", [({"m": -5}, "problem.m"), ({"densty": 0.1}, "density"),
                                         ({"operator": object()}, "number"),
                                         ({"snr_db": "loud"}, "snr_db")])
def test_unknown_keys_and_values_are_told(keys, words):
    with pytest.raises(pibinn.Error, match=words):
        pibinn.datasets.synthetic(**keys)


LONG = """
import sys, pibinn
data = pibinn.datasets.synthetic(m=100, n=200, train=4000, test=200)
net = pibinn.UnrolledRecovery(data.operator, n_layers=20, weights="one-bit", activation="soft",
                              checkpoint_dir=sys.argv[1],
                              verbose=lambda *event: print("epoch", flush=True))
try:
    net.fit(data.measurements, data.signals)
except KeyboardInterrupt:
    print("stopped", hasattr(net, "model_"))
"""


def test_ctrl_c_stops_a_training_and_keeps_its_state(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", LONG, str(tmp_path)], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == "epoch\n"
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert out.splitlines()[-1] == "stopped False", err
    assert process.returncode == 0 and time.monotonic() - start < 60
    assert list(tmp_path.glob("checkpoint*"))


def test_a_stopped_training_goes_on_to_the_same_bytes(data, tmp_path):
    def stop_at_once(*event):
        raise RuntimeError("enough")

    def estimator(**keywords):
        return pibinn.UnrolledRecovery(data.operator, n_layers=4, weights="one-bit",
                                       activation="soft", max_epochs=20, **keywords)

    stopped = estimator(checkpoint_dir=tmp_path, verbose=stop_at_once)
    with pytest.raises(RuntimeError, match="enough"):
        stopped.fit(data.measurements, data.signals)
    resumed = estimator(checkpoint_dir=tmp_path).fit(data.measurements, data.signals)
    whole = estimator().fit(data.measurements, data.signals)
    assert resumed.model_._core.to_bytes() == whole.model_._core.to_bytes()
