from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from burnish.core.arrays import Arrays
from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.core.tensors import TensorSpec
from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.generation import (
    Continuation,
    Generating,
    continuation,
    require_generating,
)
from burnish.store import onnx_files
from burnish.store.interface import Interface
from burnish.store.stored import StoredModel

WORDS, WIDTH, TOKENS = 7, 4, 6
DECODER = """
<ir_version: 8, opset_import: ["": 18]>
decoder (int64[batch, sequence] input_ids, int64[batch, total] attention_mask,
         int64[batch, sequence] position_ids, float[batch, 1, past, 4] past_key_0)
    => (float[batch, sequence, 7] logits, float[batch, 1, total, 4] present_key_0)
{
    words = Gather(table, input_ids)
    places = Cast <to: int = 1> (position_ids)
    axis = Constant <value_ints: ints = [2]> ()
    place = Unsqueeze(places, axis)
    placed = Mul(place, scale)
    value = Add(words, placed)
    one = Constant <value_ints: ints = [1]> ()
    fresh = Unsqueeze(value, one)
    present_key_0 = Concat <axis: int = 2> (past_key_0, fresh)
    kept = Cast <to: int = 1> (attention_mask)
    ends = Constant <value_ints: ints = [1, 3]> ()
    mask = Unsqueeze(kept, ends)
    masked = Mul(present_key_0, mask)
    summed = ReduceSum <keepdims: int = 0> (masked, axis)
    seen = Sub(value, summed)
    logits = MatMul(seen, out)
}
"""


@pytest.fixture
def decoder(tmp_path: Path) -> StoredModel:
    dice = np.random.default_rng(3)
    model = onnx.parser.parse_model(DECODER)
    for name, shape in (("table", (WORDS, WIDTH)), ("out", (WIDTH, WORDS)), ("scale", (WIDTH,))):
        array = dice.normal(size=shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    path = tmp_path / "decoder.onnx"
    onnx.save(model, path)
    return StoredModel(path, "decoder")


def fed(batch: int, past: int) -> dict[str, np.ndarray]:
    dice = np.random.default_rng(past)
    return {
        "input_ids": dice.integers(0, WORDS, (batch, 1)),
        "attention_mask": np.ones((batch, past + 1), np.int64),
        "position_ids": np.full((batch, 1), past),
        "past_key_0": dice.normal(size=(batch, 1, past, WIDTH)).astype(np.float32),
    }


@pytest.mark.parametrize("past", [0, 5])
def test_tokens_are_those_of_a_loop_that_feeds_arrays_back(decoder: StoredModel, past: int) -> None:
    interface = onnx_files.interface(onnx_files.read(decoder.onnx))
    how = continuation(interface, TOKENS)
    assert how.past == {"past_key_0": "present_key_0"}
    with ENGINES["onnxruntime-cpu"].open(decoder, EngineOptions(threads=1)) as session:
        write = require_generating(session, "onnxruntime-cpu").prepare_generation(fed(2, past), how)
        expected, feeds = [], fed(2, past)
        for _ in range(TOKENS):
            given = session.run(feeds)
            chosen = given["logits"][:, -1].argmax(axis=-1)[:, None]
            expected.append(chosen)
            feeds = {
                **how.next_inputs(feeds, chosen),
                "past_key_0": given["present_key_0"],
            }
        assert np.array_equal(write(), np.concatenate(expected, axis=1))
        assert np.array_equal(write(), write()), "each call begins anew"


@pytest.mark.torch
def test_pytorch_writes_the_same_with_tensors_that_stay_where_they_are(
    decoder: StoredModel,
) -> None:
    torch = pytest.importorskip("torch")
    from burnish.engines.torch_generation import writer

    interface = onnx_files.interface(onnx_files.read(decoder.onnx))
    how = continuation(interface, TOKENS)
    with ENGINES["onnxruntime-cpu"].open(decoder, EngineOptions(threads=1)) as session:

        def call(tensors: Arrays) -> list[object]:
            given = session.run({name: tensor.numpy() for name, tensor in tensors.items()})
            return [torch.from_numpy(given[spec.name]) for spec in interface.outputs]

        begin = {name: torch.from_numpy(array) for name, array in fed(2, 3).items()}
        names = [spec.name for spec in interface.outputs]
        written = writer(call, begin, names, how)()  # type: ignore[arg-type]
        assert isinstance(session, Generating)
        expected = session.prepare_generation(fed(2, 3), how)()
    assert np.array_equal(written.numpy(), expected)


def test_zoo_names_and_hugging_face_names_are_both_known() -> None:
    def interface(past: str, present: str) -> Interface:
        spec = TensorSpec
        return Interface(
            (spec("input_ids", "i64", (1, 1)), spec(past, "f32", (1, 1, 0, 4))),
            (spec("logits", "f32", (1, 1, 9)), spec(present, "f32", (1, 1, 1, 4))),
        )

    assert continuation(interface("past_key_0", "present_key_0"), 3) == Continuation(
        3, {"past_key_0": "present_key_0"}, mask=False, positions=False
    )
    found = continuation(interface("past_key_values.0.value", "present.0.value"), 3)
    assert found.past == {"past_key_values.0.value": "present.0.value"}


def test_a_model_that_is_no_decoder_is_refused_with_what_makes_one() -> None:
    plain = Interface((TensorSpec("x", "f32", (2,)),), (TensorSpec("y", "f32", (2,)),))
    with pytest.raises(UsageError, match="it takes x and gives y") as raised:
        continuation(plain, 8)
    assert raised.value.hint == "export one with its past: burnish export gpt2 --past"


def test_an_engine_of_fixed_sizes_cannot_generate() -> None:
    with pytest.raises(MissingCapabilityError, match="burnish cannot be fed") as raised:
        require_generating(object(), "burnish")
    assert raised.value.hint == "measure single steps: --generate 0"


def test_a_captured_graph_cannot_generate(decoder: StoredModel) -> None:
    interface = onnx_files.interface(onnx_files.read(decoder.onnx))
    with ENGINES["onnxruntime-cpu"].open(decoder, EngineOptions(threads=1)) as session:
        session._options = EngineOptions(cuda_graph=True)  # type: ignore[attr-defined]
        with pytest.raises(MissingCapabilityError, match="a past grows") as raised:
            require_generating(session, "x").prepare_generation(
                fed(1, 0), continuation(interface, 2)
            )
    assert raised.value.hint == "measure it without: leave --cuda-graph and :graph away"
