from __future__ import annotations

from pathlib import Path

import pytest

from burnish.core import records
from burnish.core.errors import UsageError
from burnish.zoo.entry import NetworkOptions
from burnish.zoo.exporting.request import (
    Exporter,
    ExportRequest,
    FactorySource,
    FolderSource,
    Source,
    ZooSource,
    check,
)


@pytest.mark.parametrize(
    "source", [ZooSource("gpt2"), FactorySource("a.b:c"), FolderSource(Path("/x"), True)]
)
def test_request_survives_its_json_form(source: Source) -> None:
    request = ExportRequest(
        source, NetworkOptions(past=True, layers=2), "torchscript", dynamic=False
    )
    assert records.decode(ExportRequest, records.encode(request)) == request


@pytest.mark.parametrize(
    ("exporter", "opset", "hint"),
    [
        ("dynamo", 17, "choose --opset 18 to 23, or --exporter torchscript for this one"),
        ("dynamo", 99, "choose --opset 18 to 23"),
        ("torchscript", 21, "choose --opset 14 to 20, or --exporter dynamo for this one"),
        ("torchscript", 3, "choose --opset 14 to 20"),
    ],
)
def test_an_opset_that_the_exporter_does_not_write_is_refused(
    exporter: Exporter, opset: int, hint: str
) -> None:
    message = f"the exporter {exporter} does not write opset {opset}"
    with pytest.raises(UsageError, match=message) as raised:
        check(ExportRequest(ZooSource("gpt2"), exporter=exporter, opset=opset))
    assert raised.value.hint == hint


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_the_default_opset_is_one_that_the_exporter_writes(exporter: Exporter) -> None:
    check(ExportRequest(ZooSource("gpt2"), exporter=exporter))


def test_only_dynamo_knows_modules() -> None:
    message = "the exporter torchscript does not say which module a node belongs to"
    with pytest.raises(UsageError, match=message) as raised:
        check(ExportRequest(ZooSource("gpt2"), exporter="torchscript", functions=True))
    assert raised.value.hint == "use --exporter dynamo with --functions"
