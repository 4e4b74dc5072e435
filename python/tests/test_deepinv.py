"""The wrapper for deepinv, with deepinv's own physics."""

import pytest

import pibinn

torch = pytest.importorskip("torch", reason="PyTorch is not installed (Debian: python3-torch)",
                            exc_type=ImportError)
deepinv = pytest.importorskip(
    "deepinv", exc_type=ImportError,
    reason="deepinv is not installed: it needs a PyTorch 2 of gigabytes")


def test_the_reconstructor_recovers_what_its_physics_measures(data, net):
    from pibinn.deepinv import UnrolledReconstructor
    a = torch.tensor(data.operator.to_dense().tolist())
    physics = deepinv.physics.LinearPhysics(A=lambda x, **_: x @ a.T,
                                            A_adjoint=lambda y, **_: y @ a)
    x = torch.tensor(data.test_signals.tolist())
    y = physics(x)
    found = UnrolledReconstructor(net.model_)(y, physics)
    expected = net.model_.recover(pibinn._arrays.as_array(y.numpy(), "y"))
    assert abs(found.detach().numpy() - expected).max() < 1e-4


def test_the_matrix_of_a_physics_is_an_operator():
    import numpy as np
    from pibinn.deepinv import UnrolledReconstructor
    physics = deepinv.physics.CompressedSensing(m=32, img_size=(1, 8, 8))
    columns = physics(torch.eye(64).reshape(64, 1, 8, 8)).reshape(64, -1)
    net = pibinn.UnrolledRecovery(np.array(columns.tolist()).T, n_layers=5, max_epochs=3)
    net.fit_prior(0.05, 20, train=300, test=50)
    x = torch.zeros(3, 1, 8, 8)
    x[:, 0, 2, 3] = 1
    found = UnrolledReconstructor(net.model_, shape=(1, 8, 8))(physics(x), physics)
    assert found.shape == x.shape and float(((found - x) ** 2).sum()) < 0.1
