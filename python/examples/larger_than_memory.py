"""Recovers a file of measurements that is larger than memory, block by block on a local cluster.

Makes such a file first: a sparse .npy file of ROWS measurements. The signals go to another file;
neither is ever in memory as a whole.
Usage: python larger_than_memory.py FOLDER [--rows N] [--block N] [--workers N]
"""

import argparse
from pathlib import Path

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import pibinn


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=500_000_000, help="100 GB of measurements")
    parser.add_argument("--block", type=int, default=250_000)
    parser.add_argument("--workers", type=int, default=2)
    words = parser.parse_args()

    operator = pibinn.Operator.random(50, 100, "rademacher")
    net = pibinn.UnrolledRecovery(operator, n_layers=8, max_epochs=5, n_jobs=1)
    net.fit_prior(density=0.05, snr_db=20, train=1000, test=100)

    y = np.lib.format.open_memmap(words.folder / "y.npy", "w+", np.float32, (words.rows, 50))
    y[:1000] = np.random.default_rng(1).standard_normal((min(1000, words.rows), 50))
    y.flush()
    x = np.lib.format.open_memmap(words.folder / "x.npy", "w+", np.float32, (words.rows, 100))

    with LocalCluster(n_workers=words.workers, threads_per_worker=1,
                      dashboard_address=None) as cluster, Client(cluster):
        blocks = []
        for begin in range(0, words.rows, words.block):
            shape = (min(words.block, words.rows - begin), 50)
            # Each worker maps its part of the file itself.
            blocks.append(da.map_blocks(read_rows, str(words.folder / "y.npy"), begin,
                                        chunks=((shape[0],), (50,)), dtype=np.float32,
                                        meta=np.empty((0, 0), np.float32)))
        for begin, block in zip(range(0, words.rows, words.block), blocks):
            x[begin:begin + words.block] = net.predict(block).compute()
    x.flush()
    print(f"{words.rows} signals in {words.folder / 'x.npy'}")


def read_rows(path, begin, block_info=None):
    count = block_info[None]["chunk-shape"][0]
    return np.array(np.load(path, mmap_mode="r")[begin:begin + count])


if __name__ == "__main__":
    main()
