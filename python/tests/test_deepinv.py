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
