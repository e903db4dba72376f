"""What a command writes never takes the place of what it reads."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from burnish.core.errors import UsageError
from burnish.study.requests.apart import require_apart, targets
from burnish.study.requests.guarding import GateCommand
from burnish.study.requests.judging import BenchCommand
from burnish.study.requests.looking import ProfileCommand, WhatIfCommand
from burnish.study.requests.rewriting import CompileCommand, OptimizeCommand


def _refused(asked: object) -> UsageError:
    with pytest.raises(UsageError, match="itself, which would be lost") as caught:
        require_apart(asked)
    return caught.value


def test_a_timeline_never_replaces_the_model_it_is_of(tmp_path: Path) -> None:
    error = _refused(ProfileCommand(tmp_path / "m.onnx", trace_out=str(tmp_path / "m.onnx")))
    assert error.problem.startswith(f"{tmp_path / 'm.onnx'}: is MODEL|TRACE|FOLDER itself")
    assert error.hint == f"choose another place: --trace-out {tmp_path / 'm_new.onnx'}"


def test_the_place_to_choose_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    model = tmp_path / "a dir" / "it's.onnx"
    error = _refused(OptimizeCommand(model, output=model))
    words = shlex.split(error.hint.removeprefix("choose another place: "))
    assert words == ["-o", str(tmp_path / "a dir" / "it's_new.onnx")]


def test_a_timeline_never_replaces_a_recording(tmp_path: Path) -> None:
    error = _refused(WhatIfCommand(tmp_path / "t.json", trace_out=tmp_path / "x/../t.json"))
    assert "is MODEL|TRACE itself" in error.problem


def test_what_options_read_is_safe_too(tmp_path: Path) -> None:
    data = tmp_path / "d.npz"
    error = _refused(OptimizeCommand("m.onnx", output=data, data=data))
    assert f"{data}: is the file of --data itself" in error.problem


def test_links_of_either_kind_are_seen_through(tmp_path: Path) -> None:
    model = tmp_path / "m.onnx"
    model.write_bytes(b"m")
    (tmp_path / "soft.onnx").symlink_to(model)
    os.link(model, tmp_path / "hard.onnx")
    for name in ("soft.onnx", "hard.onnx"):
        _refused(OptimizeCommand(model, output=tmp_path / name))


def test_other_places_are_free(tmp_path: Path) -> None:
    (tmp_path / "old.onnx").write_bytes(b"o")
    require_apart(OptimizeCommand(tmp_path / "m.onnx", output=tmp_path / "old.onnx"))
    require_apart(OptimizeCommand(object(), output=tmp_path / "old.onnx", data=tmp_path / "d"))
    require_apart(ProfileCommand([tmp_path], trace_out=tmp_path))


def test_what_may_be_a_name_or_a_file_is_safe_where_it_is_a_file(tmp_path: Path) -> None:
    place = tmp_path / "given"
    asked = (
        GateCommand("m.onnx", baseline=str(place), output=[tmp_path / "x.md", place]),
        BenchCommand(["m.onnx"], baseline=str(place), output=place),
        OptimizeCommand("m.onnx", output=place, calibrate=str(place)),
        OptimizeCommand("m.onnx", output=place, metric=f"{place}:share"),
        WhatIfCommand("t.json", model=str(place), trace_out=place),
        WhatIfCommand("t.json", hw=str(place), trace_out=place),
    )
    for one in asked:
        require_apart(one)  # nothing lies there: it is a name
    place.write_text("mine")
    for one in asked:
        assert str(place) in _refused(one).problem


def test_every_place_that_is_written_to_is_known(tmp_path: Path) -> None:
    asked = CompileCommand("m.onnx", output=tmp_path / "out", dump=tmp_path / "dump")
    assert {*targets(asked)} == {tmp_path / "out", tmp_path / "dump"}
    assert not [*targets(CompileCommand("m.onnx", output=tmp_path / "o"))][1:]
