"""The module of PyTorch and the library agree: outputs, and the gradients that train."""

import doctest

import numpy as np
import pytest

import pibinn
from pibinn import _core
from pibinn._arrays import split_complex

torch = pytest.importorskip("torch", reason="skipped: no PyTorch (Debian: python3-torch)",
                            exc_type=ImportError)
from pibinn.torch import UnrolledNet  # noqa: E402


def tensor(array):
    kind = torch.complex128 if np.iscomplexobj(array) else torch.float64
    return torch.tensor(array.tolist(), dtype=kind)


def numbers(tensor_):
    return np.asarray(tensor_.detach().tolist())


def waves(rng):
    t = np.linspace(0, 1, 32)
    x = np.array([np.sin(2 * np.pi * (3 * rng.random() + 1) * t + rng.random())
                  for _ in range(150)])
    a = rng.standard_normal((16, 32)) / 4
    return a, x


def structured(structure, **keywords):
    data = pibinn.datasets.synthetic(m=12, n=24, structure=structure, repeat=3, train=150, test=30,
                                     snr_db=20)
    net = pibinn.UnrolledRecovery(n_layers=4, max_epochs=2, polish=0, **keywords)
    return net.fit_dataset(data).model_, data.test_measurements, data.test_signals


def zeros_and_ones(operator, **keywords):
    data = pibinn.datasets.synthetic(m=24, n=40, operator=operator, train=150, test=30)
    net = pibinn.UnrolledRecovery(n_layers=4, max_epochs=2, polish=0, **keywords)
    model = net.fit_dataset(data).model_
    assert model.spec["centre"]
    return model, data.test_measurements, data.test_signals


def radio(kind, **keywords):
    sizes = {"beamspace": {"antennas": 32, "measurements": 16},
             "access": {"antennas": 2, "users": 48, "pilots": 16}, "fourier": {"m": 16, "n": 32}}
    data = getattr(pibinn.datasets, kind)(train=100, test=20, **sizes[kind])
    net = pibinn.UnrolledRecovery(n_layers=4, max_epochs=1, **{"polish": 0, **keywords})
    net.fit_dataset(data)
    return net.model_, data.test_measurements, data.test_signals


def wiener(basis, rng):
    a, x = waves(rng)
    net = pibinn.UnrolledRecovery(a, n_layers=4, max_epochs=1, activation="wiener", basis=basis)
    return net.fit(x @ a.T, x).model_, (x @ a.T)[:20].astype(np.float32), x[:20]


CASES = {
    **{f"{s} {w}": (lambda s=s, w=w: structured(s, weights=w, activation="soft"))
       for s in ("dense", "repeated", "blocks", "mask")
       for w in ("tied", "one-bit", "one-bit-layer", "one-bit-channel", "ternary", "float")},
    **{f"{o} {w}": (lambda o=o, w=w: zeros_and_ones(o, weights=w))
       for o in ("bernoulli", "binary-sparse") for w in ("tied", "one-bit", "float")},
    **{f"{s} {a}": (lambda s=s, a=a: structured(s, weights="float", activation=a))
       for s in ("dense", "repeated") for a in ("hard", "piecewise")},
    "plain": lambda: structured("dense", weights="float", activation="soft", update="plain"),
    **{f"{k} {a} {w}": (lambda k=k, a=a, w=w: radio(k, activation=a, weights=w))
       for k in ("beamspace", "access", "fourier") for a in ("soft", "piecewise")
       for w in ("tied", "float", "one-bit")},
    "neighbours": lambda: radio("beamspace", activation="piecewise", neighbours=True),
    "wiener": lambda: wiener("dct", np.random.default_rng(1)),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return CASES[request.param]()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_outputs_are_the_same(case, dtype):
    """Within 1e-6 of the largest entry: float32 against either, layer after layer."""
    model, y, _ = case
    expected = model.recover(y)
    found = numbers(UnrolledNet(model, dtype)(tensor(y)))
    assert np.abs(found - expected).max() < 1e-6 * max(1, np.abs(expected).max())


def test_all_that_a_module_holds_moves_with_it(case):
    """The device "meta" computes nothing, and refuses what stayed behind on another one."""
    model, y, x = case
    kind = torch.complex64 if np.iscomplexobj(y) else torch.float32
    net = UnrolledNet(model).to("meta")
    found = net(torch.empty(y.shape, dtype=kind, device="meta"))
    assert found.device.type == "meta" and found.shape == x.shape
    held = [t for m in net.modules() for t in vars(m).values() if isinstance(t, torch.Tensor)]
    assert held == [] and {b.device.type for b in net.buffers()} == {"meta"}


def test_a_module_computes_in_the_precision_it_is_turned_to(data, net):
    found = UnrolledNet(net.model_).double()(tensor(data.test_measurements))
    exact = UnrolledNet(net.model_, torch.float64)(tensor(data.test_measurements))
    assert found.dtype == torch.float64 and torch.equal(found, exact)


@pytest.mark.parametrize("bad, words", [
    (torch.zeros(20), "rows of 20 measurements"), (torch.zeros(2, 19), "rows of 20 measurements"),
    (torch.zeros(2, 4, 5), "rows of 20 measurements"),
    (torch.zeros(2, 20, dtype=torch.complex64), "real numbers")])
def test_tensors_that_do_not_fit_are_told_with_a_hint(net, bad, words):
    with pytest.raises(pibinn.UsageError, match=words) as caught:
        UnrolledNet(net.model_)(bad)
    assert caught.value.hint


def test_a_model_that_went_through_pytorch_is_the_same(case):
    model, y, _ = case
    again = UnrolledNet(model).to_model()
    assert np.array_equal(again.recover(y), model.recover(y))
    assert again.bits == model.bits


def test_gradients_are_the_same(case):
    """Autograd of the formulas against the passes that train, every parameter."""
    model, y, x = case
    if model._core.domain["basis"] != "identity":
        x = np.zeros_like(x)  # coefficients of another basis; any target will do
    vectors = model._core.domain["vectors"]
    if np.iscomplexobj(y):
        y, x = split_complex(y, vectors), split_complex(x, vectors)
    y, x = (np.ascontiguousarray(part, np.float32) for part in (y, x))
    loss, gradient = _core.gradient(model._core, y, x)
    net = UnrolledNet(model, torch.float64)
    own = ((net.coefficients(tensor(y))[-1] - tensor(x)) ** 2).sum()
    own.backward()
    assert float(own.detach()) == pytest.approx(loss, rel=1e-5)

    def of_layers(name):
        return np.concatenate([gradient[f"{name}.{k}"] for k in range(1, 5)])

    for name in net.names:
        theirs = gradient[name] if name in gradient else of_layers(name)
        autograd = getattr(net, name).grad
        found = np.zeros_like(theirs) if autograd is None else numbers(autograd).reshape(-1)
        assert np.abs(found - theirs).max() <= 2e-5 * np.abs(theirs).max() + 1e-7, name
    if model.spec["weights"] != "float":
        return
    theirs = of_layers("weights").reshape(4, -1)
    if hasattr(net, "_source"):  # both places of a complex number
        half = theirs.shape[1] // 2
        source, sign = numbers(net._source), numbers(net._sign)
        total = theirs[:, :half].copy()
        np.add.at(total, (slice(None), source.astype(int)), theirs[:, half:] * sign)
        theirs = total
    found = numbers(net.latent.grad)
    assert np.abs(found - theirs).max() <= 2e-5 * np.abs(theirs).max()


def polished(data, steps):
    model = pibinn.UnrolledRecovery(data.operator, n_layers=4, polish=steps, max_epochs=2).fit(
        data.measurements, data.signals).model_
    module = UnrolledNet(model, torch.float64)
    return model, module, module(tensor(data.test_measurements))


def conditioning(a, x):
    return np.array([np.linalg.cond(a[:, np.flatnonzero(row)]) if row.any() else 1 for row in x])


def test_polish_is_least_squares_on_the_support(data):
    """The module against float64's own least squares, once there are steps enough."""
    model, _, out = polished(data, 30)
    found, a = numbers(out), data.operator.to_dense().astype(float)
    for x, y in zip(found, data.test_measurements.astype(float)):
        places = np.flatnonzero(x)
        best = np.linalg.lstsq(a[:, places], y, rcond=None)[0]
        # Steps end at a gradient of 1e-7 of the first one, and A_S^T A_S is divided by.
        assert np.abs(x[places] - best).max() < 1e-6 * np.abs(best).max() * max(
            1, np.linalg.cond(a[:, places]) ** 2 / 10)


@pytest.mark.parametrize("steps", [3, 6, 30])
def test_polish_is_that_of_the_library(data, steps):
    """Conjugate gradients in float32, which are the library's, square the conditioning.

    So 1e-6 holds where it is small and the steps are few, or enough to have converged; between
    these two the directions of float32 turn, and some signals in a hundred differ in more digits.
    """
    model, module, out = polished(data, steps)
    expected = model.recover(data.test_measurements)
    error = np.abs(numbers(out) - expected).max(axis=1) / np.abs(expected).max(axis=1)
    well = conditioning(data.operator.to_dense(), expected) < 4
    assert well.mean() > 0.9
    if steps != 6:
        assert error[well].max() < 1e-6
    assert (error < 1e-6).mean() >= 0.99 and error.max() < 1e-4
    single = numbers(UnrolledNet(model)(tensor(data.test_measurements).float()))
    assert np.abs(single - numbers(out)).max() < 1e-6 * np.abs(expected).max()
    out.sum().backward()
    assert float(module.theta.grad.abs().sum()) > 0


@pytest.mark.parametrize("steps", [3, 30])
@pytest.mark.parametrize("kind, keywords", [
    ("fourier", {}), ("fourier", {"weights": "one-bit"}), ("fourier", {"weights": "float"}),
    ("beamspace", {"neighbours": True}), ("access", {}), ("access", {"groups": "none"})])
def test_polish_of_groups_is_that_of_the_library(kind, keywords, steps):
    model, y, _ = radio(kind, activation="piecewise", polish=steps, **keywords)
    parameters = dict(model.parameters, cut=np.array([0.3], np.float32))
    model = pibinn.Model(model._core.with_numbers(
        parameters, [model._core.layer_links(k) for k in range(1, 5)]
        if model.spec["weights"] != "tied" else []))
    expected = model.recover(y)
    found = numbers(UnrolledNet(model, torch.float64)(tensor(y)))
    assert np.array_equal(found != 0, expected != 0)
    error = np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)
    n = expected.shape[1] // model._core.domain["vectors"]  # the vectors of a row share a support
    well = conditioning(model.operator.to_dense()[:, :n], expected[:, :n]) < 4
    assert well.mean() > 0.5
    assert error[well].max() < 2e-6


@pytest.mark.parametrize("weights", ["tied", "one-bit", "ternary", "one-bit-channel"])
def test_fine_tuning_lowers_the_loss_and_is_saved(data, weights, tmp_path):
    start = pibinn.Model.untrained(data.operator, n_layers=3, weights=weights)
    net = UnrolledNet(start)
    y, x = (tensor(part[:200]).float() for part in (data.measurements, data.signals))
    optimiser = torch.optim.Adam(net.parameters(), 1e-2)
    losses = []
    for _ in range(15):
        optimiser.zero_grad()
        loss = ((net(y) - x) ** 2).mean()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.9 * losses[0]
    net.save(tmp_path / "tuned.safetensors")
    again = UnrolledNet.load(tmp_path / "tuned.safetensors")
    assert np.allclose(numbers(again(y)), numbers(net(y)), atol=1e-5)
    assert again.to_model().bits == start.bits


def test_a_fully_connected_network_is_refused(data):
    model = pibinn.Model.untrained(data.operator, n_layers=2, weights="float", update="plain",
                                   architecture="fcn")
    with pytest.raises(pibinn.UsageError, match="unrolled"):
        UnrolledNet(model)


def test_examples_of_docstrings_run():
    found = doctest.testmod(pibinn.torch, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0 and found.attempted > 0
