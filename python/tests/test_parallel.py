"""More than one process: Dask, joblib, forks."""

import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest
from joblib import Parallel, delayed

import pibinn
from conftest import ROOT

da = pytest.importorskip("dask.array", reason="skipped: Dask is not installed")
distributed = pytest.importorskip("distributed", reason="skipped: dask.distributed is not installed")


@pytest.fixture(scope="module")
def client():
    """A cluster of processes, as on several machines: models travel by pickle."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        yield client


def test_a_cluster_of_processes_predicts_the_same(client, data, net):
    y = data.test_measurements
    found = net.predict(da.from_array(y, chunks=(30, 7)))
    assert found.chunks == ((30, 30, 30, 10), (40,)) and found.dtype == np.float32
    assert np.array_equal(found.compute(), net.predict(y))
    pids = client.run(os.getpid)
    assert os.getpid() not in pids.values() and len(set(pids.values())) == 2


def test_complex_blocks_are_predicted(client, radio):
    net = pibinn.UnrolledRecovery(radio.operator, n_layers=2, max_epochs=1).fit(
        radio.measurements, radio.signals)
    found = net.predict(da.from_array(radio.test_measurements, chunks=(15, -1)))
    assert found.dtype == np.complex64
    assert np.array_equal(found.compute(), net.predict(radio.test_measurements))


def test_an_array_larger_than_memory_is_predicted_block_by_block(client, net):
    """A terabyte of measurements that exist only block by block; the last block is asked for."""
    y = da.random.default_rng(3).standard_normal((12_500_000_000, 20), chunks=(1_000_000, -1),
                                                 dtype=np.float32)
    assert y.nbytes > 9e11
    signals = net.predict(y)
    last = signals[-1000:].compute()
    assert np.array_equal(last, net.predict(y[-1000:].compute()))


def test_the_error_of_a_worker_reaches_the_caller(client, net):
    bad = np.zeros((10, 20), np.float32)
    bad[7, 3] = np.nan
    with pytest.raises(pibinn.InputError, match="row 2, column 3.*NaN"):
        net.predict(da.from_array(bad, chunks=(5, -1))).compute()


def test_joblib_predicts_the_same(data, net):
    blocks = np.array_split(data.test_measurements, 4)
    found = Parallel(n_jobs=2)(delayed(net.predict)(block) for block in blocks)
    assert np.array_equal(np.concatenate(found), net.predict(data.test_measurements))


def _predict(arguments):
    net, y = arguments
    return net.predict(y)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(data, net):
    y = np.tile(data.test_measurements, (20, 1))
    expected = net.predict(y)  # wakes the pool of this process
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert np.array_equal(pool.apply_async(_predict, ((net, y),)).get(timeout=60), expected)


def test_the_example_of_a_large_file_runs(tmp_path):
    """In small. docs/python.md has a run with a file that no worker could hold."""
    example = ROOT / "python" / "examples" / "larger_than_memory.py"
    run = subprocess.run([sys.executable, "-W", "ignore", example, tmp_path, "--rows", "1000",
                          "--block", "400", "--memory", "2GB"], check=True, capture_output=True,
                         timeout=120, text=True)
    assert "MiB at most" in run.stdout
    y, x = np.load(tmp_path / "y.npy"), np.load(tmp_path / "x.npy")
    model = pibinn.Model.load(tmp_path / "model.safetensors")
    assert y.shape == (1000, 50) and np.abs(y).max(axis=1).min() > 0
    assert np.array_equal(x, model.recover(y))
