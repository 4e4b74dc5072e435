"""Prediction block by block on Dask arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_dask_array(values: Any) -> bool:
    """Whether an array is one of Dask's, without importing Dask."""
    return type(values).__module__.startswith("dask.array")


def _recover_block(block: Any, model: Any, n_jobs: int | None) -> Any:
    if block.shape[0] == 0:
        kind = np.complex64 if model.complex_signals else np.float32
        return np.zeros((0, model.n_entries), kind)
    return model.recover(block, n_jobs)


def recover_blocks(model: Any, measurements: Any, n_jobs: int | None) -> Any:
    """A Dask array of the signals: rows stay in their chunks, the model goes to the workers."""
    rows = measurements.rechunk({1: -1})
    kind = np.complex64 if model.complex_signals else np.float32
    return rows.map_blocks(_recover_block, model, n_jobs, dtype=kind,
                           chunks=(rows.chunks[0], (model.n_entries,)),
                           meta=np.empty((0, 0), kind))
