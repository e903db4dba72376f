from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from burnish.core.errors import ModelError
from burnish.trace.formats import FORMATS, content, read_any

PROFILE = (
    '[\n{"cat" : "Session","pid" :1,"tid" :1,"dur" :9,"ts" :0,"ph" : "X",'
    '"name" :"model_run","args" : {}}\n]\n'
)


@pytest.mark.parametrize("packed", [False, True])
def test_a_profile_is_recognised_by_its_content(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "whatever"
    path.write_bytes(gzip.compress(PROFILE.encode()) if packed else PROFILE.encode())
    assert read_any(path).runs == 1


def test_an_unknown_format_names_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "trace.bin"
    path.write_bytes(b"SQLite format 3")
    with pytest.raises(ModelError) as caught:
        read_any(path)
    assert caught.value.problem == (
        f"{path}: is in no known trace format (it starts with b'SQLite format 3')"
    )
    assert "onnxruntime-profile" in caught.value.hint
    assert "onnxruntime-profile" in FORMATS


def test_a_missing_file_is_an_error_to_act_on(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read") as caught:
        content(tmp_path / "absent.json")
    assert caught.value.hint == "record a trace with burnish profile MODEL"


def test_a_damaged_gzip_file_is_an_error_to_act_on(tmp_path: Path) -> None:
    path = tmp_path / "damaged.json.gz"
    path.write_bytes(b"\x1f\x8b" + b"nonsense" * 4)
    with pytest.raises(ModelError, match="is a damaged gzip file") as caught:
        content(path)
    assert caught.value.hint == "copy it again from where it was made"


@pytest.mark.parametrize("length", [10_000, 3_000_000])
def test_a_timeline_with_long_metadata_before_its_events_is_recognised(
    tmp_path: Path, length: int
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"metadata": {"config": "x" * length}, "traceEvents": []}))
    assert read_any(path).source == "torch profiler"


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_a_profile_that_another_program_wrote_again_is_recognised(
    tmp_path: Path, is_wrapped: bool
) -> None:
    path, events = tmp_path / "profile.json", json.loads(PROFILE)
    path.write_text(json.dumps({"traceEvents": events} if is_wrapped else events, indent=2))
    assert (read_any(path).source, read_any(path).runs) == ("onnxruntime profile", 1)
