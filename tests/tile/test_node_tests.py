"""ONNX's own node tests: every one is run, or stands in a table with its reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

import pytest

from burnish.core.arrays import Array
from burnish.tile.graph import TileGraph
from burnish.tile.reference import evaluate
from burnish.tile.semantics import SEMANTICS
from burnish.tile.simplify import simplify
from tile.node_tests import Case, Execute, cases, run, unusable

pytestmark = pytest.mark.slow

LEAST = 1300
"""Node tests that were run when this was written; there may be more, not fewer."""

LEFT: Mapping[str, str] = {
    "test_*cast*FLOAT8*": "has elements of type FLOAT8",
    "test_*cast*FLOAT4E2M1*": "has elements of type FLOAT4E2M1",
    "test_*cast*INT4*": "has elements of type U?INT4",
    "test_*cast*INT2*": "has elements of type U?INT2",
    "test_*quantizelinear_e4m3fn*": "has elements of type FLOAT8E4M3FN",
    "test_*quantizelinear_e5m2*": "has elements of type FLOAT8E5M2",
    "test_*quantizelinear_*int4": "has elements of type U?INT4",
    "test_*quantizelinear_*int2": "has elements of type U?INT2",
    "test_*quantizelinear_float4e2m1": "has elements of type FLOAT4E2M1",
    "test_convinteger_*": "its zero point is not a constant",
    "test_qlinearmatmul_*_float16": "its scales are not f32",
    "test_equal_string*": "has elements of type STRING",
    "test_batchnorm_*_training_mode": "in training mode, with statistics of the batch",
    "test_training_dropout*": "it drops at random",
    "test_range_*_expanded": "the operator Loop has no tile semantics",
    "test_resize_*_antialias": "it is antialiased",
    "test_resize_downsample_scales_*_align_corners": "it aligns corners of a size that is no whole",
    "test_dft*": "its axis is not a constant",
    "test_stft*": "its step is not a constant",
    "test_roialign_mode_max": "of the largest sample engines make the largest of weighted elements",
}
"""Tests of covered operators that are not run: what they are called, and the reason given."""

OPERATORS_LEFT = frozenset({
    "AffineGrid", "Bernoulli", "BitCast", "BlackmanWindow", "CausalConvWithState", "CenterCropPad",
    "Col2Im", "Compress", "DeformConv", "Det", "GRU",
    "HammingWindow", "HannWindow", "If", "ImageDecoder", "LSTM", "LinearAttention",
    "Loop", "MaxUnpool", "MelWeightMatrix", "NegativeLogLikelihoodLoss",
    "NonMaxSuppression", "NonZero", "OptionalGetElement", "OptionalHasElement",
    "RNN", "RegexFullMatch", "Scan",
    "SoftmaxCrossEntropyLoss", "StringConcat",
    "StringNormalizer", "StringSplit", "SwiGLU", "TensorScatter", "TfIdfVectorizer",
    "Unique", "ai.onnx.ml.ArrayFeatureExtractor", "ai.onnx.ml.Binarizer", "ai.onnx.ml.LabelEncoder",
    "ai.onnx.ml.TreeEnsemble", "ai.onnx.preview.FlexAttention", "ai.onnx.preview.training.Adagrad",
    "ai.onnx.preview.training.Adam", "ai.onnx.preview.training.Momentum",
})  # fmt: skip
"""Operators without tile semantics: their plain tests are not run; expanded ones often are."""


@pytest.fixture(scope="module")
def obstacles() -> dict[str, str | None]:
    """Return for each case why it cannot be run; None: it can."""
    return {case.name: case.obstacle for case in cases()}


@pytest.fixture(scope="module")
def runnable(obstacles: dict[str, str | None]) -> list[Case]:
    """Return the cases all of whose nodes are covered."""
    return [case for case in cases() if obstacles[case.name] is None]


def test_every_runnable_node_test_passes_through_the_judge(
    runnable: list[Case], request: pytest.FixtureRequest
) -> None:
    failures = failing(runnable, evaluate)
    count = f"{len(runnable)} of onnx's node tests are run, {len(failures)} fail"
    request.config.get_terminal_writer().line(count)
    assert not failures
    assert len(runnable) >= LEAST


def test_every_runnable_node_test_passes_when_it_is_simplified(runnable: list[Case]) -> None:
    def simplified(graph: TileGraph, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        smaller = simplify(graph)
        return evaluate(smaller, {name: inputs[name] for name in smaller.inputs})

    assert not failing(runnable, simplified)


def test_every_test_of_a_covered_operator_that_is_not_run_has_its_reason(
    obstacles: dict[str, str | None],
) -> None:
    for case in cases():
        reason = obstacles[case.name]
        if reason is not None and case.operator in SEMANTICS:
            rows = [why for name, why in LEFT.items() if fnmatchcase(case.name, name)]
            assert any(re.search(why, reason) for why in rows), f"{case.name}: {reason}"


def test_every_row_of_the_table_is_about_some_test(obstacles: dict[str, str | None]) -> None:
    left = [name for name, reason in obstacles.items() if reason is not None]
    for pattern in LEFT:
        assert any(fnmatchcase(name, pattern) for name in left), pattern


def test_every_operator_that_is_left_is_listed_and_no_other(
    obstacles: dict[str, str | None],
) -> None:
    left = {case.operator for case in cases() if obstacles[case.name] is not None}
    assert {operator for operator in left if operator not in SEMANTICS} == OPERATORS_LEFT


def test_tests_that_are_no_cases_have_no_dense_tensors() -> None:
    assert all(
        re.search("is not a dense tensor|is of type optional", r) for r in unusable().values()
    )
    assert len(unusable()) < 40


def failing(chosen: list[Case], execute: Execute) -> dict[str, str]:
    """Return what went wrong, by the name of the test."""
    found: dict[str, str] = {}
    for case in chosen:
        try:
            run(case, execute)
        except Exception as error:
            # whatever it is, it is listed with its test
            found[case.name] = f"{type(error).__name__}: {error}"[:300]
    return found
