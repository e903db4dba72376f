"""Every model of the zoo keeps the common promises, at the size that a test can afford."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from burnish.zoo import weights
from burnish.zoo.entry import MODELS, BuiltModel, Module, NetworkOptions, Tensors
from burnish.zoo.factory import build

pytestmark = [
    pytest.mark.torch,
    pytest.mark.slow,
    # diffusers and transformers warn about their own insides while they are imported
    pytest.mark.filterwarnings("ignore"),
]
Tensor = Any
DECODERS = [name for name in MODELS if MODELS[name].has_past]
MASKED = [name for name in MODELS if "attention_mask" in MODELS[name].inputs]


@functools.cache
def _shared(name: str, *, past: bool = False) -> BuiltModel:
    """Return a small model that tests share: they leave it as they find it."""
    return build(name, NetworkOptions(small=True, past=past))


def _run(built: BuiltModel, inputs: Tensors) -> Tensors:
    import torch

    with torch.inference_mode():
        return dict(zip(built.output_names, built.module(**inputs), strict=True))


def _first(built: BuiltModel) -> Tensor:
    return _run(built, built.inputs)[built.output_names[0]]


def _keep_promises(built: BuiltModel) -> None:
    for inputs in (built.inputs, built.second_inputs):
        for name, output in _run(built, inputs).items():
            assert output.isfinite().all(), name
            assert 0.1 < output.std() < 5, f"{name}: {output.std()}"


@pytest.mark.parametrize("name", MODELS.names())
def test_outputs_are_finite_and_of_order_one_at_both_shapes(name: str) -> None:
    _keep_promises(_shared(name))


@pytest.mark.parametrize("name", DECODERS)
def test_outputs_with_past_are_finite_and_of_order_one_at_both_shapes(name: str) -> None:
    _keep_promises(_shared(name, past=True))


@pytest.mark.parametrize("name", MODELS.names())
def test_only_dynamic_axes_differ_between_the_shapes(name: str) -> None:
    built = _shared(name)
    assert tuple(built.second_inputs) == built.input_names
    for tensor in built.inputs:
        first, second = built.inputs[tensor].shape, built.second_inputs[tensor].shape
        changed = {axis for axis in range(len(first)) if first[axis] != second[axis]}
        assert changed == set(built.dynamic_axes.get(tensor, {})), tensor


@pytest.mark.parametrize(
    ("name", "past"), [*((name, False) for name in MASKED), *((name, True) for name in DECODERS)]
)
def test_mask_matters(name: str, past: bool) -> None:
    import torch

    built = _shared(name, past=past)
    for inputs in (built.inputs, built.second_inputs):
        full = {**inputs, "attention_mask": torch.ones_like(inputs["attention_mask"])}
        output = built.output_names[0]
        assert (_run(built, inputs)[output] - _run(built, full)[output]).abs().max() > 1e-2


@pytest.mark.parametrize("name", MODELS.names())
@pytest.mark.parametrize("kind", ["bias", "norm"])
def test_biases_and_norm_weights_matter(name: str, kind: str) -> None:
    import torch

    built = _shared(name)
    before = _first(built).clone()
    changed = [
        (parameter, parameter.detach().clone())
        for parameter_name, parameter in built.module.named_parameters()
        if parameter.ndim == 1 and ("bias" in parameter_name) == (kind == "bias")
    ]
    if not changed:
        pytest.skip(f"has no {kind}")
    with torch.no_grad():
        for parameter, _ in changed:
            parameter.fill_(0.0 if kind == "bias" else 1.0)
        after = _first(built)
        for parameter, kept in changed:
            parameter.copy_(kept)
    assert (after - before).abs().max() > 1e-2


@pytest.mark.parametrize("name", MODELS.names())
def test_parameters_are_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    entry = MODELS[name]

    class CountedError(Exception):
        pass

    def count(module: Module, **_: float) -> None:
        raise CountedError(sum(parameter.numel() for parameter in module.parameters()))

    monkeypatch.setattr(weights, "randomise", count)
    with torch.device("meta"), pytest.raises(CountedError) as raised:
        entry.build(NetworkOptions())
    assert raised.value.args == (entry.parameters,)


@pytest.mark.parametrize("name", [n for n in MODELS if "layers" in MODELS[n].understands])
def test_fewer_layers_make_a_smaller_model(name: str) -> None:
    sizes = [
        len(list(build(name, NetworkOptions(small=True, layers=layers)).module.parameters()))
        for layers in (1, 3)
    ]
    if name == "albert":  # whose layers share one set of weights
        assert sizes[0] == sizes[1]
    else:
        assert sizes[0] < sizes[1]


@pytest.mark.parametrize("name", [n for n in MODELS if "attention" in MODELS[n].understands])
def test_eager_attention_gives_the_same_numbers(name: str) -> None:
    import torch

    eager = build(name, NetworkOptions(small=True, attention="eager"))
    torch.testing.assert_close(_first(_shared(name)), _first(eager), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["bert-mini", "gpt2", "llama", "vit-s32", "resnet18"])
def test_half_precision_is_close(name: str) -> None:
    half = build(name, NetworkOptions(small=True, precision="fp16"))
    assert (_first(half).float() - _first(_shared(name))).abs().max() < 0.1


@pytest.mark.parametrize("name", DECODERS)
def test_two_steps_with_past_equal_one_without(name: str) -> None:
    import torch

    whole = build(name, NetworkOptions(small=True, batch=2, sequence=10))
    tokens = whole.inputs["input_ids"]
    full = _run(whole, {**whole.inputs, "attention_mask": torch.ones_like(tokens)})
    stepwise = _shared(name, past=True)
    empty = {n: t[:2, :, :0] for n, t in stepwise.inputs.items() if n.startswith("past_")}
    past, logits = empty, []
    for start, stop in ((0, 6), (6, 10)):
        outputs = _run(
            stepwise,
            {
                "input_ids": tokens[:, start:stop],
                "attention_mask": torch.ones(2, stop, dtype=torch.int64),
                "position_ids": torch.arange(start, stop).repeat(2, 1),
                **past,
            },
        )
        first, *present = stepwise.output_names
        logits.append(outputs[first])
        past = {n.replace("present", "past"): outputs[n] for n in present}
    expected = full[whole.output_names[0]]
    torch.testing.assert_close(torch.cat(logits, 1), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", [name for name in DECODERS if name != "gpt2-model"])
def test_32_greedy_tokens_are_those_that_the_library_generates(name: str) -> None:
    import torch

    built = build(name, NetworkOptions(small=True, past=True, batch=1))
    prompt = built.inputs["input_ids"]
    generated = built.module.model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=32,
        min_new_tokens=32,
        do_sample=False,
        pad_token_id=0,
    )
    tokens, past = prompt, {n: t[:, :, :0] for n, t in built.inputs.items() if "past" in n}
    while tokens.shape[1] < generated.shape[1]:
        known = past["past_key_0"].shape[2]
        step = {
            "input_ids": tokens[:, known:],
            "attention_mask": torch.ones_like(tokens),
            "position_ids": torch.arange(known, tokens.shape[1])[None, :],
        }
        outputs = _run(built, {**step, **past})
        past = {n.replace("present", "past"): outputs[n] for n in built.output_names[1:]}
        tokens = torch.cat([tokens, outputs["logits"][:, -1:].argmax(-1)], dim=1)
    assert tokens.tolist() == generated.tolist()
