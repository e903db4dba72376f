"""A model in which any one text is no text is refused, or can be written again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx
import onnx_ir as ir
import pytest
from google.protobuf.message import Message
from onnx import parser

from burnish.core.errors import ModelError
from burnish.store import onnx_files

TEXT = """
<ir_version: 10, opset_import: ["" : 17, "my" : 1], producer_name: "me">
g (float[n, 4] x) => (float[n, 4] y)
<float[4] w = {1, 2, 3, 4}, float[n, 4] a>
{ a = Add(x, w)  b = LeakyRelu<alpha = 0.5>(a)  c = Constant<value = float[1] {1}>()
  y = my.f(b) }
<domain: "my", opset_import: ["" : 17]> f (p) => (q) { q = Neg(p) }
"""
MARK = "QQQQQ"
NO_TEXT = b"Q\xff\xfe\xc3("


def _with_the_mark() -> Iterator[tuple[str, onnx.ModelProto]]:
    """Yield the model with the mark in one text, for each text that its messages can hold."""
    for number in range(len(list(_texts(parser.parse_model(TEXT))))):
        model = parser.parse_model(TEXT)
        message, field = list(_texts(model))[number]
        setattr(message, field, MARK)
        yield f"{message.DESCRIPTOR.name}.{field}", model


def _texts(message: Message) -> Iterator[tuple[Message, str]]:
    for field in message.DESCRIPTOR.fields:
        held = getattr(message, field.name)
        if field.type == field.TYPE_STRING and isinstance(held, str):
            yield message, field.name
        elif field.type == field.TYPE_MESSAGE and isinstance(held, Message):
            if message.HasField(field.name):
                yield from _texts(held)
        elif field.type == field.TYPE_MESSAGE:
            for each in held:
                yield from _texts(each)


MODELS = list(_with_the_mark())


@pytest.mark.parametrize("number", range(len(MODELS)), ids=[name for name, _ in MODELS])
def test_what_is_no_text_is_refused_or_can_be_written(number: int, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(MODELS[number][1].SerializeToString().replace(MARK.encode(), NO_TEXT))
    try:
        model = onnx_files.read(path)
    except ModelError:
        return
    assert ir.to_proto(model).SerializeToString()


def test_most_of_them_are_descriptions_that_can_be_kept(tmp_path: Path) -> None:
    kept = set()
    for name, model in MODELS:
        path = tmp_path / "m.onnx"
        path.write_bytes(model.SerializeToString().replace(MARK.encode(), NO_TEXT))
        try:
            onnx_files.read(path)
        except ModelError:
            continue
        kept.add(name)
    assert {"AttributeProto.doc_string", "ValueInfoProto.doc_string", "TypeProto.denotation",
            "Dimension.denotation", "NodeProto.doc_string"} <= kept  # fmt: skip
