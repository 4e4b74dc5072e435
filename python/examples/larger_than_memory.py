"""Recovers a file of measurements that is larger than memory, block by block on a local cluster.

Makes such a file first, y.npy, and a model. The signals go to x.npy; neither file is ever in memory
as a whole: workers read and write their own rows. --memory is what a worker may take, which the
cluster watches: it restarts a worker that takes more, and gives up after four times.
Usage: python larger_than_memory.py FOLDER [--rows N] [--block N] [--workers N] [--memory SIZE]
"""

import argparse
from pathlib import Path

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import pibinn


class RowsOfFile:
    """Rows of a .npy file, read and written by whoever asks; only its name goes to workers."""

    def __init__(self, path):
        self._path = str(path)
        file = np.load(path, mmap_mode="r")
        self.shape, self.dtype, self.ndim = file.shape, file.dtype, file.ndim

    def __getitem__(self, place):
        return np.array(np.load(self._path, mmap_mode="r")[place])

    def __setitem__(self, place, values):
        np.load(self._path, mmap_mode="r+")[place] = values


def new_file(path, rows, columns):
    np.lib.format.open_memmap(path, "w+", np.float32, (rows, columns))
    return RowsOfFile(path)


def make_file(path, operator, rows, block):
    """Sparse signals, measured: nothing but blocks is in memory here either."""
    y = new_file(path, rows, operator.shape[0])
    rng = np.random.default_rng(1)
    for begin in range(0, rows, block):
        count = min(block, rows - begin)
        x = np.zeros((count, operator.shape[1]), np.float32)
        places = rng.integers(operator.shape[1], size=(count, 3))
        x[np.arange(count)[:, None], places] = rng.standard_normal((count, 3), dtype=np.float32)
        y[begin:begin + count] = operator.apply(x)
    return y


def peak_mebibytes():
    """Of this process; ru_maxrss would count the process that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=500_000_000, help="100 GB of measurements")
    parser.add_argument("--block", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="auto", help="of a worker, such as 400MB")
    words = parser.parse_args()

    operator = pibinn.Operator.random(50, 100, "rademacher")
    net = pibinn.UnrolledRecovery(operator, n_layers=8, max_epochs=5, n_jobs=1)
    net.fit_prior(density=0.05, snr_db=20, train=1000, test=100)
    net.save(words.folder / "model.safetensors")
    file = make_file(words.folder / "y.npy", operator, words.rows, words.block)
    found = new_file(words.folder / "x.npy", words.rows, operator.shape[1])

    with LocalCluster(n_workers=words.workers, threads_per_worker=1, memory_limit=words.memory,
                      dashboard_address=None) as cluster, Client(cluster) as client:
        y = da.from_array(file, chunks=(words.block, -1))
        da.store(net.predict(y), found, lock=False)
        peaks = client.run(peak_mebibytes).values()
    print(f"{words.rows} signals in {words.folder / 'x.npy'}")
    print(f"y.npy has {y.nbytes / 2**20:.0f} MiB; workers took {max(peaks):.0f} MiB at most")


if __name__ == "__main__":
    main()
