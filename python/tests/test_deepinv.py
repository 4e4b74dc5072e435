"""The wrapper for deepinv, with deepinv's own physics."""

import doctest

import numpy as np
import pytest

import pibinn

torch = pytest.importorskip("torch", reason="skipped: no PyTorch (Debian: python3-torch)",
                            exc_type=ImportError)
deepinv = pytest.importorskip(
    "deepinv", exc_type=ImportError,
    reason="skipped: deepinv is not installed: it needs a PyTorch 2 of gigabytes")


from pibinn.deepinv import UnrolledReconstructor  # noqa: E402


def physics_of(operator, noise=0.0):
    a = torch.tensor(operator.to_dense().tolist())
    return deepinv.physics.LinearPhysics(
        A=lambda x, **_: x @ a.T.to(x), A_adjoint=lambda y, **_: y @ a.to(y),
        noise_model=deepinv.physics.GaussianNoise(noise))


def test_the_reconstructor_recovers_what_its_physics_measures(data, net):
    physics = physics_of(data.operator)
    y = physics(torch.tensor(data.test_signals.tolist()))
    model = UnrolledReconstructor(net.model_)
    assert isinstance(model, deepinv.models.Reconstructor)
    found = model(y, physics)
    expected = net.model_.recover(np.array(y.tolist(), np.float32))
    assert np.abs(np.array(found.tolist()) - expected).max() < 1e-6 * np.abs(expected).max()


def test_gradients_reach_the_measurements_and_the_network(data, net):
    """Measurements may be the output of another network."""
    physics = physics_of(data.operator)
    y = physics(torch.tensor(data.test_signals[:5].tolist())).requires_grad_()
    model = UnrolledReconstructor(net.model_)
    model(y, physics).square().sum().backward()
    assert float(y.grad.abs().sum()) > 0
    assert float(model.network.theta.grad.abs().sum()) > 0


def test_a_loss_of_deepinv_tunes_it_and_the_file_keeps_that(data, net, tmp_path):
    physics = physics_of(data.operator, noise=0.01)
    x = torch.tensor(data.signals[:200].tolist())
    y = physics(x)
    start = pibinn.Model.untrained(data.operator, n_layers=3, weights="tied")
    model = UnrolledReconstructor(start)
    loss, optimiser = deepinv.loss.SupLoss(), torch.optim.Adam(model.parameters(), 1e-2)
    losses = []
    for _ in range(15):
        optimiser.zero_grad()
        value = loss(x_net=model(y, physics), x=x, y=y, physics=physics, model=model).mean()
        value.backward()
        optimiser.step()
        losses.append(value.item())
    assert losses[-1] < 0.9 * losses[0]
    model.network.save(tmp_path / "tuned.safetensors")
    again = UnrolledReconstructor(tmp_path / "tuned.safetensors")
    assert torch.allclose(again(y, physics), model(y, physics), atol=1e-5)


def test_the_matrix_of_a_physics_is_an_operator():
    physics = deepinv.physics.CompressedSensing(m=32, img_size=(1, 8, 8))
    columns = physics(torch.eye(64).reshape(64, 1, 8, 8)).reshape(64, -1)
    net = pibinn.UnrolledRecovery(np.array(columns.tolist()).T, n_layers=5, max_epochs=3)
    net.fit_prior(0.05, 20, train=300, test=50)
    x = torch.zeros(3, 1, 8, 8)
    x[:, 0, 2, 3] = 1
    found = UnrolledReconstructor(net.model_, shape=(1, 8, 8))(physics(x), physics)
    assert found.shape == x.shape and (found - x).square().sum().item() < 0.1


def test_it_moves_to_another_device_as_a_whole(data, net):
    model = UnrolledReconstructor(net.model_, device="meta")
    assert model(torch.empty(2, 20, device="meta")).shape == (2, 40)


@pytest.mark.parametrize("call, words", [
    (lambda net: UnrolledReconstructor(net.model_, shape=(3, 5)), r"shape is \(3, 5\)"),
    (lambda net: UnrolledReconstructor(net.model_, shape=7), "shape is 7"),
    (lambda net: UnrolledReconstructor(3), "the path is 3"),
    (lambda net: UnrolledReconstructor(net.model_)(torch.zeros(2, 19)), "rows of 20"),
    (lambda net: UnrolledReconstructor(net.model_)(torch.tensor(1.0)), "one measurement")])
def test_what_does_not_fit_is_told_with_a_hint(net, call, words):
    with pytest.raises(pibinn.UsageError, match=words) as caught:
        call(net)
    assert caught.value.hint


def test_examples_of_docstrings_run():
    found = doctest.testmod(pibinn.deepinv, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0 and found.attempted > 0
