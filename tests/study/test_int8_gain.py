from __future__ import annotations

from pathlib import Path

import onnx
import onnx_ir as ir

from burnish.rewrite.passes.shapes import InferShapes
from burnish.store.stored import StoredModel
from burnish.study.int8_gain import Int8Gain, int8_gain
from rewriting import Graph, samples


def _model() -> ir.Model:
    g = Graph()
    x = g.input("x", ["batch", 64])
    hidden = g.op("MatMul", g.op("MatMul", x, samples(64, 64)), samples(64, 64, seed=1))
    out = g.op("Gemm", hidden, samples(8, 64), transB=1)
    out.shape = ir.Shape(["batch", 8])
    model = g.model(out)
    InferShapes()(model)
    return model


def test_the_shape_that_does_most_of_the_work_is_the_one_that_is_measured(tmp_path: Path) -> None:
    onnx.save(ir.to_proto(_model()), tmp_path / "m.onnx")
    measured = []

    def measure(shape: tuple[int, int, int]) -> float:
        measured.append(shape)
        return 2.0

    found = int8_gain(_model(), StoredModel(tmp_path / "m.onnx", "m"), measure)
    assert found is not None
    assert measured == [found.shape]
    assert (found.shape[1:], found.products, found.of_products) == ((64, 64), 2, 3)


def test_the_verdict_comes_with_what_was_measured() -> None:
    faster, slower = Int8Gain((128, 64, 32), 2, 3, 2.0), Int8Gain((128, 64, 32), 2, 3, 0.8)
    assert faster.pays
    assert str(faster) == (
        "int8 should pay here: a product of 128×64 with 64×32 (2 of 3) takes 0.50 of its time "
        "in fp32"
    )
    assert not slower.pays
    assert str(slower).startswith("int8 should not pay here, but in size: ")


def test_a_model_without_products_has_nothing_to_measure(tmp_path: Path) -> None:
    g = Graph()
    model = g.model(g.op("Tanh", g.input("x", [2])))
    onnx.save(ir.to_proto(model), tmp_path / "m.onnx")
    assert int8_gain(model, StoredModel(tmp_path / "m.onnx", "m"), lambda _: 1.0) is None
