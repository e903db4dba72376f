"""What every network of `burnish.zoo.networks` is asked."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnxruntime
import torch

from burnish.zoo.weights import calibrate_batch_norms, randomise

Inputs = dict[str, torch.Tensor]
Exporter = Literal["torchscript", "dynamo"]
Axes = Mapping[str, Mapping[int, str]]

TOLERANCE = 1e-4
"""Single precision through a dozen layers of order-one numbers, summed in another order."""


def parameter_count(make: Callable[[], torch.nn.Module]) -> int:
    """Return the number of parameters without allocating any."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in make().parameters())


def prepared(network: torch.nn.Module, inputs: Inputs) -> torch.nn.Module:
    """Return `network` with weights that matter, in eval mode."""
    return calibrate_batch_norms(randomise(network, seed=0), inputs)


def images(*shape: int, seed: int = 0) -> torch.Tensor:
    """Return standard normal numbers."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def outputs_of(network: torch.nn.Module, inputs: Inputs) -> tuple[torch.Tensor, ...]:
    """Return the network's outputs, always as a tuple."""
    with torch.no_grad():
        outputs = network(**inputs)
    return outputs if isinstance(outputs, tuple) else (outputs,)


def assert_order_one(network: torch.nn.Module, inputs: Inputs) -> None:
    """Assert that outputs are finite, neither tiny nor huge, and not all alike."""
    for output in outputs_of(network, inputs):
        assert torch.isfinite(output).all()
        assert 0.05 < output.std() < 10
        assert output.abs().max() < 50


def assert_every_parameter_matters(network: torch.nn.Module, inputs: Inputs) -> None:
    """Assert that the outputs change when any one parameter does."""
    network.zero_grad()
    outputs = network(**inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    # the sum of squares: a plain sum is blind to whatever a normalisation evens out
    sum(output.square().sum() for output in outputs).backward()
    idle = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.any()]
    assert not idle, f"nothing depends on {idle}"


def assert_exports(
    network: torch.nn.Module,
    samples: Sequence[Inputs],
    *,
    axes: Axes,
    exporter: Exporter,
    folder: Path,
) -> None:
    """Assert that ONNX Runtime agrees with PyTorch on all samples; the first is exported."""
    path = folder / f"{exporter}.onnx"
    export(network, samples[0], axes=axes, exporter=exporter, path=path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for inputs in samples:
        feeds = {name: tensor.numpy() for name, tensor in inputs.items()}
        actual = session.run(None, feeds)
        for reference, candidate in zip(outputs_of(network, inputs), actual, strict=True):
            np.testing.assert_allclose(candidate, reference, rtol=TOLERANCE, atol=TOLERANCE)


def export(
    network: torch.nn.Module, inputs: Inputs, *, axes: Axes, exporter: Exporter, path: Path
) -> None:
    """Write the network as ONNX through one of PyTorch's two exporters."""
    shared: dict[str, Any] = {"input_names": list(inputs), "verbose": False}
    if exporter == "dynamo":
        dynamic = {name: dict(axes.get(name, {})) for name in inputs}
        with warnings.catch_warnings():
            # said of every name that two inputs share
            warnings.filterwarnings("ignore", "# The axis name")
            torch.onnx.export(
                network, kwargs=inputs, f=path, dynamo=True, opset_version=20,
                dynamic_shapes=dynamic, external_data=False, **shared,
            )  # fmt: skip
    else:
        dynamic = {name: dict(named) for name, named in axes.items()}
        with warnings.catch_warnings():
            # torch asks whether a padding index fits the table, both of them constants
            warnings.filterwarnings("ignore", module="torch.nn.functional")
            # the exporter's own spelling of Pad, which its own folding does not understand
            warnings.filterwarnings("ignore", "Constant folding - Only steps=1")
            torch.onnx.export(
                network, tuple(inputs.values()), path, dynamo=False, opset_version=17,
                dynamic_axes=dynamic, **shared,
            )  # fmt: skip
