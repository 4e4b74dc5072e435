"""How far the module of PyTorch and the library part where a network polishes.

One network per problem and number of steps. The table has the share of test signals whose recovered
entries agree to 1e-6 of the largest one, and the largest difference, relative to that too.
Usage: build/deepinv-venv/bin/python bench/torch_polish.py [--epochs N]
"""

import argparse
import warnings

import numpy as np
import torch

import pibinn
from pibinn.torch import UnrolledNet

PROBLEMS = {
    "20 x 40, signs, density 0.05, 25 dB":
        {"m": 20, "n": 40, "operator": "rademacher", "train": 600, "snr_db": 25},
    "50 x 100, signs, density 0.1, no noise":
        {"operator": "rademacher", "train": 1000, "density": 0.1}}
STEPS = (3, 6, 12, 30)


def differences(data, steps, epochs):
    net = pibinn.UnrolledRecovery(n_layers=6, polish=steps, max_epochs=epochs).fit_dataset(data)
    y = data.test_measurements
    expected = net.predict(y)
    module = UnrolledNet(net.model_, torch.float64)
    found = np.array(module(torch.tensor(y.tolist(), dtype=torch.float64)).tolist())
    return np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=2)
    epochs = parser.parse_args().epochs
    warnings.simplefilter("ignore")
    print("| problem |" + "".join(f" {steps} steps |" for steps in STEPS))
    print("| --- |" + " --- |" * len(STEPS))
    for name, keys in PROBLEMS.items():
        data = pibinn.datasets.synthetic(**keys, test=1000)
        cells = [differences(data, steps, epochs) for steps in STEPS]
        print(f"| {name} |" + "".join(f" {100 * (d < 1e-6).mean():.1f} %, {d.max():.1e} |"
                                      for d in cells))


if __name__ == "__main__":
    main()
