from __future__ import annotations

import enum
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core import records
from burnish.core.errors import ModelError


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float | None


@dataclass(frozen=True, slots=True)
class DrawingReport:
    DERIVED: ClassVar = ("is_empty",)
    name: str
    count: int
    closed: bool
    colour: Colour
    where: Path
    points: tuple[Point, ...]
    pair: tuple[int, str]
    sizes: Mapping[str, int]
    tags: frozenset[str] = frozenset()
    note: str | None = None

    @property
    def is_empty(self) -> bool:
        return not self.points


drawings = st.builds(
    DrawingReport,
    name=st.text(),
    count=st.integers(),
    closed=st.booleans(),
    colour=st.sampled_from(Colour),
    where=st.sampled_from([Path("a"), Path("/b/c")]),
    points=st.lists(
        st.builds(Point, x=st.floats(allow_nan=False), y=st.none() | st.floats(allow_nan=False))
    ).map(tuple),
    pair=st.tuples(st.integers(), st.text()),
    sizes=st.dictionaries(st.text(), st.integers()),
    tags=st.frozensets(st.text()),
    note=st.none() | st.text(),
)


@given(drawings)
def test_a_record_survives_json(drawing: DrawingReport) -> None:
    text = records.text_of(records.document(drawing, schema=3))
    assert records.decode(DrawingReport, json.loads(text)) == drawing


@given(drawings)
def test_every_document_fits_its_schema(drawing: DrawingReport) -> None:
    document = json.loads(records.text_of(records.document(drawing, schema=3)))
    jsonschema.validate(document, records.json_schema(DrawingReport, schema=3))


def drawing(**changes: Any) -> DrawingReport:  # noqa: ANN401
    fields: dict[str, Any] = {
        "name": "n", "count": 1, "closed": True, "colour": Colour.RED, "where": Path("p"),
        "points": (), "pair": (1, "a"), "sizes": {},
    }  # fmt: skip
    return DrawingReport(**{**fields, **changes})


def test_the_schema_refuses_what_does_not_belong() -> None:
    schema = records.json_schema(DrawingReport, schema=3)
    good = records.document(drawing(), schema=3)
    for bad in ({**good, "extra": 1}, {**good, "count": "1"}, {**good, "schema": 4}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)


def test_nothing_is_no_record_where_one_must_be() -> None:
    with pytest.raises(TypeError, match="None is none of"):
        records.decode(tuple[Point | DrawingReport, ...], [None])
    assert records.decode(Point | None, None) is None


@pytest.mark.parametrize("text", ["[" * 100_000, json.dumps({"x": 10**400, "y": None})])
def test_numbers_and_nestings_beyond_reason_are_refused(tmp_path: Path, text: str) -> None:
    head = '{"kind": "point", "schema": 1, "burnish": "0", '
    (tmp_path / "p.json").write_text(text if text[0] == "[" else head + text[1:])
    with pytest.raises(ModelError, match=r"is (not a readable|nested too deeply for a) record"):
        records.read_document(Point, tmp_path / "p.json", schema=1)


@pytest.mark.parametrize("kind", [int, float])
def test_a_truth_is_no_number(kind: type) -> None:
    with pytest.raises(TypeError, match=f"expected {kind.__name__}, found True"):
        records.decode(kind, True)
    assert records.decode(str | int | float | bool, True) is True


def test_nan_survives() -> None:
    back = records.decode(Point, records.encode(Point(math.nan, -math.inf)))
    assert math.isnan(back.x)
    assert back.y == -math.inf


def test_the_kind_is_the_type_in_words() -> None:
    assert records.document(drawing(), schema=3)["kind"] == "drawing-report"


def test_what_has_no_json_form_is_a_bug() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        records.encode(object())


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('{"kind": "other", "schema": 3}')
    with pytest.raises(ModelError, match="holds other with schema 3, not drawing-report") as caught:
        records.read_document(DrawingReport, path, schema=3)
    assert caught.value.hint.startswith("make it again with burnish")


@pytest.mark.parametrize("text", ["[]", "{}", "3", '"kind"', "null", '{"schema": 3}'])
def test_what_is_no_record_is_told_as_such(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        records.read_document(DrawingReport, path, schema=3)
    assert caught.value.problem == f"{path}: holds no record, not drawing-report with schema 3"


@pytest.mark.parametrize("text", ["", "{", '{"kind": "drawing-report", "schema": 3}'])
def test_a_broken_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(ModelError, match="is not a readable record"):
        records.read_document(DrawingReport, path, schema=3)


def test_a_good_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(records.text_of(records.document(drawing(), schema=3)))
    assert records.read_document(DrawingReport, path, schema=3) == drawing()


def test_what_a_type_derives_is_written_for_readers_that_do_not_compute() -> None:
    assert records.document(drawing(), schema=3)["is_empty"] is True
    assert records.json_schema(DrawingReport, schema=3)["properties"]["is_empty"] == {
        "type": "boolean"
    }


def test_one_of_a_few_words_is_read_and_any_other_refused() -> None:
    assert records.decode(Literal["dynamo", "torchscript"], "dynamo") == "dynamo"
    with pytest.raises(TypeError, match="expected one of dynamo, torchscript, found 'jit'"):
        records.decode(Literal["dynamo", "torchscript"], "jit")


def test_a_document_that_is_nested_too_deeply(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("[" * 100_000)
    with pytest.raises(ModelError, match="is nested too deeply for a record"):
        records.read_document(DrawingReport, path, schema=1)
