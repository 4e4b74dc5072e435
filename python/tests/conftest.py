"""A small problem and a network trained on it, shared by all tests of a process."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

import pibinn

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("PIBINN", str(ROOT / "build" / "pibinn"))

# A shell that runs the tests in the background ignores Ctrl-C for them, and programs inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data():
    return pibinn.datasets.synthetic(m=20, n=40, operator="rademacher", train=600, test=100,
                                     snr_db=25)


@pytest.fixture(scope="session")
def net(data):
    return pibinn.UnrolledRecovery(data.operator, n_layers=5, max_epochs=6).fit(
        data.measurements, data.signals)


@pytest.fixture(scope="session")
def radio():
    return pibinn.datasets.beamspace(antennas=32, measurements=16, train=200, test=40)


@pytest.fixture
def rng():
    return np.random.default_rng(7)
