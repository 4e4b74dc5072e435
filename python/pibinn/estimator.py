"""The estimator: an unrolled network in the conventions of scikit-learn."""

from __future__ import annotations

import os
import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._arguments import decibels, number, path_of, places, seed_of, threads_of, whole
from ._arrays import Array, as_array, as_float32, as_rows
from ._dask import is_dask_array, recover_blocks
from ._errors import InputError, UsageError
from ._fit_arguments import plain, row_weights, signal_class
from ._pickles import check_state
from ._progress import Listener, ProgressBar
from .datasets import Dataset
from .model import Model
from .operator import Operator, as_operator


_STATE = 1  # of pickles


class TrainingWarning(UserWarning):
    """What speaks against using a trained model as it is."""


class UnrolledRecovery(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Recovers signals x from measurements y = A x + noise by an unrolled network.

    A network of ``n_layers`` iterations of a sparse solver learns thresholds, steps and, unless
    they are tied, one bit per link of ``A``. Measurements are the features of scikit-learn's
    conventions and signals are the targets: one row each.

    Parameters
    ----------
    operator : Operator, array, sparse matrix or LinearOperator, default=None
        The sensing operator A, m x n. None estimates it from the training pairs by least squares,
        which needs at least n of them.
    n_layers : int, default=10
        How many iterations are unrolled. Time and stored bits grow in proportion.
    weights : str, default="tied"
        How links are stored: ``"tied"`` (the operator itself, no weight bits; the best where A is
        of signs), ``"one-bit"``, ``"one-bit-layer"``, ``"one-bit-channel"``, ``"ternary"`` or
        ``"float"``.
    activation : str, default="piecewise"
        The threshold of a layer: ``"piecewise"`` (learned), ``"soft"``, ``"hard"``, ``"relu"`` or
        ``"wiener"`` (for pictures and recordings, which are not sparse).
    update : str, default="accelerated"
        ``"accelerated"``, or ``"plain"``, the paper's layer. Certificates speak of soft and hard
        thresholds.
    delta : float, default=1.0
        The paper's delta, the share of x that a layer keeps.
    pieces : int, default=4
        Thresholds and gains per layer of ``"piecewise"``.
    groups : str, default="auto"
        Entries that share their fate: ``"complex"``, ``"rows"``, ``"none"``, or what the signals
        are.
    neighbours : int or bool, default=False
        Rings of neighbours whose energy counts for an entry; True is as many as were found useful.
    centre : bool, default=None
        Take residuals less their mean, for operators whose columns have a mean in common; None
        does so where they have one, as zeros and ones do.
    polish : int, default=None
        Conjugate-gradient steps on the support after the last layer; None lets the training
        choose.
    basis : str or array, default=None
        In which signals are sparse: ``"dct"``, ``"dct2"``, or an orthonormal matrix.
    vectors : int, default=1
        Vectors per row, which all go through A and share their support (antennas, channels).
    recipe : str, default="default"
        ``"default"``, ``"paper"`` (as published) or ``"guaranteed"`` (errors are proven).
    guarantee : dict, default=None
        The class of signals of ``"guaranteed"``: ``supports`` or ``size``, ``norm``, ``noise``.
    augment : str, default=None
        New signals every epoch; None is what the problem allows.
    loss : str, default=None
        ``"squared"``, ``"nmse"``, ``"log"`` and others; None is the recipe's.
    max_epochs : int, default=None
        At most so many per stage of the recipe.
    learning_rate : float, default=None
        Of every stage; None is the recipe's.
    batch_size : int, default=None
        Signals per step; None is 250, or less for few signals.
    test_size : float, default=0.2
        The share of the pairs, the last ones, that are kept out of training and give
        ``test_nmse_db_``.
    checkpoint_dir : path, default=None
        Where a training keeps its state. A fit that was stopped goes on from there.
    device : str, default="cpu"
        ``"cpu"``, or ``"cuda"`` where pibinn was built with it.
    random_state : int, RandomState or None, default=1
        The same number gives the same bytes of model.
    n_jobs : int, default=None
        Threads; None and -1 are all cores.
    verbose : int, bool or callable, default=0
        Shows progress, by tqdm where it is installed. A callable gets
        ``(task, done, total, detail, note)``.

    Attributes
    ----------
    model_ : Model
        The trained network: ``model_.save(path)``, ``model_.certify()``, ``model_.bits``.
    history_ : dict of lists
        ``stage``, ``epoch``, ``learning_rate``, ``loss``, ``test_nmse_db``, one entry per epoch.
        ``history_frame()`` is the same as a DataFrame.
    train_nmse_db_, test_nmse_db_ : float
        Mean of ||xhat - x||^2 / ||x||^2 in dB.
    n_iter_ : int
        Epochs that were trained.
    n_features_in_ : int
        Measurements per row.

    Examples
    --------
    >>> import pibinn
    >>> data = pibinn.datasets.synthetic(m=20, n=40, operator="rademacher", train=500, test=100)
    >>> net = pibinn.UnrolledRecovery(data.operator, n_layers=5, max_epochs=5)
    >>> x = net.fit(data.measurements, data.signals).predict(data.test_measurements)
    >>> x.shape
    (100, 40)
    >>> net.score(data.test_measurements, data.test_signals) > 0.8
    True

    Without example signals, describe them:

    >>> net = net.fit_prior(density=0.05, snr_db=(10, 40), train=500, test=100)
    >>> net.model_.bits["weights"]
    0
    """

    def __init__(self, operator: Any = None, *, n_layers: int = 10, weights: str = "tied",
                 activation: str = "piecewise", update: str = "accelerated", delta: float = 1.0,
                 pieces: int = 4, groups: str = "auto", neighbours: int | bool = False,
                 centre: bool | None = None, polish: int | None = None, basis: Any = None,
                 vectors: int = 1,
                 recipe: str = "default", guarantee: dict[str, Any] | None = None,
                 augment: str | None = None, loss: str | None = None,
                 max_epochs: int | None = None, learning_rate: float | None = None,
                 batch_size: int | None = None, test_size: float = 0.2,
                 checkpoint_dir: str | os.PathLike[str] | None = None, device: str = "cpu",
                 random_state: Any = 1, n_jobs: int | None = None,
                 verbose: int | bool | Listener = 0) -> None:
        self.operator = operator
        self.n_layers = n_layers
        self.weights = weights
        self.activation = activation
        self.update = update
        self.delta = delta
        self.pieces = pieces
        self.groups = groups
        self.neighbours = neighbours
        self.centre = centre
        self.polish = polish
        self.basis = basis
        self.vectors = vectors
        self.recipe = recipe
        self.guarantee = guarantee
        self.augment = augment
        self.loss = loss
        self.max_epochs = max_epochs
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.test_size = test_size
        self.checkpoint_dir = checkpoint_dir
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, measurements: Any, signals: Any) -> Self:
        """Trains on pairs, row i of the measurements with row i of the signals.

        Float64 arrays give the same training in any unit. Ctrl-C stops at the end of an epoch and
        raises KeyboardInterrupt; with ``checkpoint_dir`` the next fit goes on from there.
        """
        y, x = self._checked_pairs(measurements, signals)
        if len(x) < 2:
            raise UsageError(f"{len(x)} pair(s), that is {len(x)} sample(s)",
                             "give at least two: one to train, one to test")
        operator = self._estimated(y, x) if self.operator is None else as_operator(self.operator)
        test = min(max(1, round(self._share() * len(x))), len(x) - 1)
        seed = seed_of(self.random_state)
        problem = _core.Problem.from_arrays(
            operator._core, np.ascontiguousarray(x), np.ascontiguousarray(y),
            vectors=whole(self.vectors, "vectors", 1), train=len(x) - test, test=test,
            basis=self._basis(), seed=seed)
        return self._train(problem, seed)

    def fit_prior(self, density: float = 0.05, snr_db: Any = None, *, noise_std: float = 0.0,
                  support: Any = None, train: int = 4000, test: int = 1000) -> Self:
        """Trains on signals that are drawn, where there are no examples.

        An entry is N(0, 1) with probability ``density``, or those of ``support`` are. Noise is
        ``noise_std``, or ``snr_db``: one ratio, or (least, most), drawn for every measurement.
        """
        if self.operator is None:
            raise UsageError("drawn signals need an operator to measure them", "give operator=A")
        seed = seed_of(self.random_state)
        entries = [] if support is None else places(support, "support")
        problem = _core.Problem.from_prior(
            as_operator(self.operator)._core, number(density, "density"), entries,
            whole(train, "train", 1), whole(test, "test", 1), number(noise_std, "noise_std"),
            decibels(snr_db), seed)
        return self._train(problem, seed)

    def fit_dataset(self, dataset: Dataset) -> Self:
        """Trains on a problem of ``pibinn.datasets`` with all that is known of its signals.

        Its operator, basis and noise are used, whatever the parameters say.
        """
        return self._train(dataset.problem, seed_of(self.random_state))

    def predict(self, measurements: Any) -> Any:
        """The signals of every row of measurements.

        Rows of float32 (complex64) give float32 (complex64), others float64 (complex128); the work
        is done in float32. A Dask array gives a Dask array, block by block. Rows of float32
        without gaps are read where they are.
        """
        try:
            found = self.model_._fast(measurements, 0 if self.n_jobs is None
                                      else threads_of(self.n_jobs))
        except AttributeError:
            check_is_fitted(self, "model_")
            raise
        if found is not None and found.ndim == 2 and not self._one_column:
            return found
        return self._predict_converted(measurements)

    def _predict_converted(self, measurements: Any) -> Any:
        if is_dask_array(measurements):
            return recover_blocks(self.model_, measurements, self.n_jobs)
        if self.model_.complex_measurements:
            rows = as_rows(measurements, "measurements")
        else:
            rows = validate_data(self, plain(measurements, "measurements"), reset=False,
                                 dtype=[np.float32, np.float64])
        found = self.model_.recover(rows, self.n_jobs)
        if rows.dtype not in (np.float32, np.complex64):
            found = found.astype(np.result_type(found, np.float64))
        return found[:, 0] if self._one_column else found

    def score(self, measurements: Any, signals: Any, sample_weight: Any = None) -> float:
        """1 - sum ||xhat - x||^2 / sum ||x||^2: 1 is perfect, 0 is the answer zero."""
        found = np.asarray(self.predict(measurements))
        truth = as_array(signals, "signals")
        if truth.shape != found.shape:
            raise UsageError(f"signals have shape {truth.shape}", f"expected {found.shape}")
        weight = row_weights(sample_weight, len(truth))
        axes = tuple(range(1, truth.ndim))
        error = (np.abs(found.astype(truth.dtype) - truth) ** 2).sum(axis=axes) @ weight
        energy = (np.abs(truth) ** 2).sum(axis=axes) @ weight
        return float(1 - error / energy) if energy > 0 else float(error == 0)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the program, C++ and ``Model.load`` read."""
        check_is_fitted(self, "model_")
        self.model_.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **parameters: Any) -> Self:
        """A fitted estimator of a model file, whoever trained it."""
        model = Model.load(path)
        spec = model.spec
        known = {"n_layers": spec["layers"], **{key: spec[key] for key in
                 ("weights", "activation", "update", "delta", "pieces")}}
        estimator = cls(model.operator, **{**known, **parameters})
        return estimator._adopt(model, {"epoch": []})

    def history_frame(self) -> Any:
        """``history_`` as a pandas.DataFrame."""
        check_is_fitted(self, "model_")
        import pandas as pd
        return pd.DataFrame(self.history_)

    def certify(self, *arguments: Any, **keywords: Any) -> Any:
        """``model_.certify``: what the theory guarantees of the trained model."""
        check_is_fitted(self, "model_")
        return self.model_.certify(*arguments, **keywords)

    def __getstate__(self) -> dict[str, Any]:
        return {"state": _STATE, "version": _core.__version__,
                "attributes": super().__getstate__()}

    def __setstate__(self, state: Any) -> None:
        check_state(state, _STATE, "estimator", "train it again, or keep net.save(path), whose "
                    "files stay readable: UnrolledRecovery.load(path)")
        attributes = state.get("attributes")
        if not isinstance(attributes, dict) or not set(self._get_param_names()) <= set(attributes):
            raise InputError("a pickled estimator is damaged", "train it again")
        super().__setstate__(attributes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # of data that no operator measured
        return tags

    def _share(self) -> float:
        share = number(self.test_size, "test_size")
        if not 0 < share < 1:
            raise UsageError(f"test_size is {self.test_size!r}", "give a share in (0, 1)")
        return share

    def _checked_pairs(self, measurements: Any, signals: Any) -> tuple[Array, Array]:
        if signals is None:
            raise ValueError("requires y to be passed, but the target y is None: signals to train "
                             "on; describe them with fit_prior where there are none")
        given = self.operator is not None
        y, x = plain(measurements, "measurements"), plain(signals, "signals")
        if given and (np.iscomplexobj(y) or np.iscomplexobj(x)):
            y, x = as_rows(y, "measurements"), as_rows(x, "signals")
            self.n_features_in_ = y.shape[1]
        else:
            y, x = validate_data(self, y, x, multi_output=True, y_numeric=True,
                                 dtype=[np.float64, np.float32])
        self._one_column = x.ndim == 1
        x = x.reshape(-1, 1) if self._one_column else x
        return y, as_array(x, "signals")

    def _estimated(self, y: Array, x: Array) -> Operator:
        """A of least squares; a whisper of ridge where signals do not span their space."""
        x, y = x.astype(np.float64), y.astype(np.float64)
        gram = x.T @ x
        ridge = 1e-9 * max(np.trace(gram) / len(gram), 1e-30)
        return Operator(np.linalg.solve(gram + ridge * np.eye(len(gram)), x.T @ y).T)

    def _basis(self) -> Any:
        if self.basis is None or isinstance(self.basis, str):
            return self.basis
        return as_float32(self.basis, "basis")

    def _spec(self, on_grid: bool) -> dict[str, Any]:
        rings = self.neighbours
        if rings is True or (self.activation == "wiener" and rings is False):
            rings = _core.usual_neighbours(self.activation, on_grid)
        spec: dict[str, Any] = {
            "layers": whole(self.n_layers, "n_layers", 1), "weights": str(self.weights),
            "activation": str(self.activation), "update": str(self.update),
            "delta": number(self.delta, "delta"), "pieces": whole(self.pieces, "pieces", 1),
            "neighbours": whole(int(rings), "neighbours")}
        if self.groups != "auto":
            spec["groups"] = str(self.groups)
        if self.centre is not None:
            spec["centre"] = bool(self.centre)
        if self.polish is not None:
            spec["polish"] = whole(self.polish, "polish")
        return spec

    def _changes(self) -> dict[str, Any]:
        """What is said differently than the recipe."""
        changes: dict[str, Any] = {}
        for key in ("augment", "loss"):
            if getattr(self, key) is not None:
                changes[key] = str(getattr(self, key))
        if self.guarantee is not None:
            changes["guarantee"] = signal_class(self.guarantee)
        for key, name in (("batch_size", "batch"), ("max_epochs", "max_epochs")):
            if getattr(self, key) is not None:
                changes[name] = whole(getattr(self, key), key, 1)
        if self.learning_rate is not None:
            changes["learning_rate"] = number(self.learning_rate, "learning_rate")
        if self.polish is not None:
            changes["polish"] = True
        return changes

    def _train(self, problem: _core.Problem, seed: int) -> Self:
        for warning in problem.warnings:
            warnings.warn(warning, TrainingWarning, stacklevel=3)
        folder = ("" if self.checkpoint_dir is None
                  else path_of(self.checkpoint_dir, "checkpoint_dir"))
        if folder:
            os.makedirs(folder, exist_ok=True)
        with ProgressBar(self.verbose) as bar:
            result = _core.train(
                problem, self._spec(problem.traits["patch"] > 0), str(self.recipe),
                self._changes(), self.groups != "auto", self.centre is not None, seed,
                str(self.device), folder, bool(folder), threads_of(self.n_jobs), bar.listener)
        for warning in result["warnings"]:
            warnings.warn(warning, TrainingWarning, stacklevel=3)
        self.train_nmse_db_ = result["train_nmse_db"]
        self.test_nmse_db_ = result["test_nmse_db"]
        self.nmse_db_per_layer_ = {"train": result["train_nmse_db_per_layer"],
                                   "test": result["test_nmse_db_per_layer"]}
        self.guarantee_ = result["guarantee"]
        return self._adopt(Model(result["model"]), result["history"])

    def _adopt(self, model: Model, history: dict[str, Any]) -> Self:
        self._one_column = getattr(self, "_one_column", False) and model.n_entries == 1
        self.model_ = model
        self.history_ = history
        self.n_iter_ = max(len(history["epoch"]), 1)
        self.n_features_in_ = model.n_measurements
        return self
