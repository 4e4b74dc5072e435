"""A trained network: one file, a few kilobytes, ready to recover signals."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._arguments import decibels, items, number, only, path_of, places, threads_of, whole
from ._arrays import Array, as_array, as_rows, join_complex, split_complex
from ._errors import InputError, UsageError
from ._pickles import check_state
from .certificate import Calibration, Certificate
from .operator import Operator

_STATE = 1  # of pickles
# What a network is beside its depth.
_WORDS = ("architecture", "activation", "weights", "update", "threshold", "momentum", "onsager",
          "step", "delta", "pieces", "polish", "groups", "neighbours", "grid", "centre")


class Model:
    """Operator, network and weights; what ``UnrolledRecovery.fit`` leaves as ``model_``.

    Examples
    --------
    >>> import numpy as np, pibinn
    >>> A = pibinn.Operator.random(20, 40, "rademacher")
    >>> model = pibinn.Model.untrained(A, n_layers=5, weights="one-bit")
    >>> model
    Model(20 -> 40, 5 layers, one-bit, soft, dense)
    >>> model.recover(A @ np.eye(40)[7]).shape
    (40,)
    >>> model.bits["weights"]
    4000
    """

    def __init__(self, core: _core.Model) -> None:
        self._core = core
        self._recovery = _core_recovery(core)
        self._fast = self._recovery.recover

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Reads a model file, whoever wrote it; a wrong file is an error that says where."""
        return cls(_core.Model.load(path_of(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes one ``.safetensors`` file, whole or not at all."""
        self._core.save(path_of(path))

    @classmethod
    def untrained(cls, operator: Any, *, n_layers: int = 10, theta: float = 0.1,
                  **network: Any) -> Model:
        """The network that the first iterations of a solver are: what a training starts from."""
        spec = {"layers": whole(n_layers, "n_layers", 1), **only(network, _WORDS, "a network")}
        return cls(_core.Model.untrained(spec, Operator(operator)._core, number(theta, "theta")))

    def recover(self, measurements: Any, n_jobs: int | None = None) -> Array:
        """The signal of a vector of measurements, or of every row of an array.

        float32 (complex64) without gaps is read where it is; the result is float32 (complex64).
        ``n_jobs`` threads work on a batch, all cores unless given.
        """
        threads = threads_of(n_jobs)
        found = self._fast(measurements, threads)
        return self._recover_converted(measurements, threads) if found is None else found

    __call__ = recover

    def _recover_converted(self, measurements: Any, threads: int) -> Array:
        array = as_array(measurements, "measurements")
        if array.ndim not in (1, 2):
            raise UsageError(f"measurements have shape {array.shape}", "give a vector, or rows")
        if array.dtype.kind == "c" and not self.complex_measurements:
            raise InputError("Complex data not supported: measurements are complex, and those of "
                             "this model are real", "give real numbers")
        kind = np.complex64 if self.complex_measurements else np.float32
        with np.errstate(over="ignore"):  # refused as infinite, with its place
            found: Array | None = self._fast(np.ascontiguousarray(array, dtype=kind), threads)
        assert found is not None
        return found

    def recover_layers(self, measurements: Any, n_jobs: int | None = None) -> list[Array]:
        """x_1 .. x_K: the coefficients after every layer, one array each."""
        rows = as_rows(measurements, "measurements")
        domain = self._core.domain
        if self.complex_measurements:
            rows = split_complex(rows, domain["vectors"])
        layers = self._recovery.layers(np.ascontiguousarray(rows, dtype=np.float32),
                                       threads_of(n_jobs))
        if domain["complex"]:
            return [join_complex(layer, domain["vectors"]) for layer in layers]
        return list(layers)

    @property
    def operator(self) -> Operator:
        """The operator that measures coefficients."""
        return Operator(self._core.op)

    @property
    def spec(self) -> dict[str, Any]:
        """What the network is, in the words of a configuration."""
        return self._core.spec

    @property
    def metadata(self) -> dict[str, str]:
        """What else the file tells: recipe, seed, scores."""
        return self._core.metadata

    @property
    def bits(self) -> dict[str, int]:
        """Stored bits: ``total`` is all that must be kept, ``paper`` follows the paper."""
        return self._core.bits

    @property
    def parameters(self) -> dict[str, Array]:
        """Everything that is learned beside links: thresholds, gains, steps and others."""
        return self._core.scalars

    def layer_weights(self, k: int) -> Array:
        """W_k as a matrix, k = 1 .. K, without the step; of tied weights the operator."""
        links = self._core.layer_links(whole(k, "k", 1))
        if self.spec["weights"] == "tied" or self.spec["architecture"] == "fcn":
            return self.operator.to_dense() if self.spec["weights"] == "tied" else links
        return Operator(_core.Operator.from_values(self._core.op.structure, links)).to_dense()

    @property
    def complex_measurements(self) -> bool:
        """Whether measurements are complex numbers."""
        domain = self._core.domain
        return bool(domain["complex"] or domain["complex_measurements"])

    @property
    def complex_signals(self) -> bool:
        """Whether signals are complex numbers."""
        return bool(self._core.domain["complex"])

    @property
    def n_measurements(self) -> int:
        """Numbers per row of measurements."""
        return self._core.op.rows // (2 if self.complex_measurements else 1)

    @property
    def n_entries(self) -> int:
        """Numbers per row of signals."""
        return self._core.op.cols // (2 if self.complex_signals else 1)

    @property
    def kernel(self) -> str | None:
        """The packed kernel that recovers, or None where floats do."""
        name: str | None = self._recovery.kernel
        return name

    def evaluate(self, signals: Any, measurements: Any = None) -> dict[str, Any]:
        """How well known signals are recovered; the operator measures unless measurements come."""
        y = None if measurements is None else as_rows(measurements, "measurements")
        return self._core.evaluate(as_rows(signals, "signals"), y)

    def certify(self, signals: Any = None, measurements: Any = None, *,
                support: Sequence[int] | None = None,
                supports: Sequence[Sequence[int]] | None = None, size: int | None = None,
                samples: int = 1000, seed: int = 1, norm: float = 0.0, noise: float = 0.0,
                float32: bool = False, attack: int = 0, attach: bool = False) -> Certificate:
        """What the theory guarantees, for signals, for supports or for all supports of a size.

        A model that was trained with a guarantee needs none of these. ``norm`` bounds the signals,
        ``noise`` the noise; ``attack`` searches from so many starts for bad signals; ``attach``
        keeps the certificate in the model.
        """
        if support is not None and supports is not None:
            raise UsageError("support and supports are both given", "give one of them")
        given = ([support] if support is not None
                 else [] if supports is None else items(supports, "supports"))
        lists = [places(one, "a support") for one in given]
        x = None if signals is None else as_rows(signals, "signals")
        y = None if measurements is None else as_rows(measurements, "measurements")
        words = _core.certify(self._core, x, y, lists,
                              None if size is None else whole(size, "size", 1),
                              whole(samples, "samples", 1), whole(seed, "seed"),
                              number(norm, "norm"), number(noise, "noise"), bool(float32),
                              whole(attack, "attack"), bool(attach))
        return Certificate(words)

    def calibrate(self, signals: Any, measurements: Any = None, *, noise_std: float | None = None,
                  snr_db: Any = None, seed: int = 1, confidence: float = 0.999,
                  coverage: float = 0.99, attach: bool = False) -> Calibration:
        """What held-out signals guarantee of others of their kind, for a network of any kind."""
        y = None if measurements is None else as_rows(measurements, "measurements")
        return Calibration(_core.calibrate(
            self._core, as_rows(signals, "signals"), y,
            None if noise_std is None else number(noise_std, "noise_std"), decibels(snr_db),
            whole(seed, "seed"), number(confidence, "confidence"), number(coverage, "coverage"),
            bool(attach)))

    def __repr__(self) -> str:
        spec = self.spec
        return (f"Model({self.n_measurements} -> {self.n_entries}, {spec['layers']} layers, "
                f"{spec['weights']}, {spec['activation']}, {self.operator.structure})")

    def __getstate__(self) -> dict[str, Any]:
        return {"state": _STATE, "version": _core.__version__, "bytes": self._core.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        check_state(state, _STATE, "model",
                    "save models with model.save(), whose files stay readable")
        self.__init__(  # type: ignore[misc]
            _core.Model.from_bytes(state["bytes"], "the pickled model"))


def _core_recovery(core: _core.Model) -> _core.Recovery:
    return _core.Recovery(core)
