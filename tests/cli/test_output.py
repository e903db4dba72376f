"""Results and talk, in characters that show, to whoever still reads."""

from __future__ import annotations

import io
import json
import logging
import sys
from dataclasses import dataclass

import pytest

from burnish.cli import output, progress
from burnish.core.errors import ModelError
from burnish.report.table import Table, table

EVIL = "\x1b[2J\x1b]0;owned\x07[red]x[/red]\nburnish: all is well\u202egnp"
SHOWN = "\\x1b[2J\\x1b]0;owned\\x07[red]x[/red]\\nburnish: all is well\\u202egnp"


@dataclass(frozen=True, slots=True)
class Report:
    name: str


SCHEMA = 1


def _result(*shown: Table | str, as_json: bool = False, name: str = EVIL) -> None:
    output.as_json(wanted=as_json)
    output.result(Report(name), shown)


def test_names_in_lines_and_tables_do_nothing_but_show(capsys: pytest.CaptureFixture[str]) -> None:
    _result(f"node {EVIL}", table(EVIL, ("node", EVIL), [(EVIL, EVIL)]))
    shown = capsys.readouterr().out
    assert shown.startswith(f"node {SHOWN}\n")
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\nburnish: all is well" not in shown
    assert shown.count("[red]x[/red]") >= 3


def test_json_holds_the_name_and_shows_no_control_character(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _result(as_json=True)
    shown = capsys.readouterr().out
    assert json.loads(shown)["name"] == EVIL
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_a_name_in_an_error_cannot_pretend_to_be_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    output.failure(ModelError(f"node {EVIL}\n  hint: nothing", hint=EVIL))
    assert capsys.readouterr().err == (
        f"burnish: node {SHOWN}\\n  hint: nothing\n  hint: {SHOWN}\n"
    )


def test_what_is_indented_in_an_error_stays(capsys: pytest.CaptureFixture[str]) -> None:
    output.failure(ModelError("it failed\n    here\n    and here", hint="h"))
    assert capsys.readouterr().err == "burnish: it failed\n    here\n    and here\n  hint: h\n"


def test_notes_and_progress_are_plain(capsys: pytest.CaptureFixture[str]) -> None:
    output.configure(verbose=0, quiet=False)
    progress.Lines().step(EVIL, 1, 1, EVIL)
    assert "\x1b" not in capsys.readouterr().err


def test_bars_take_no_markup_from_names() -> None:
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    written = io.StringIO()
    columns = (TextColumn("{task.description}", markup=False),)
    bars = Progress(*columns, console=Console(file=written, width=80))
    with bars:
        progress.Bar(bars).step("[/red]", 1, 2, EVIL)
    assert "[/red]" in written.getvalue()


def test_logs_are_plain(capsys: pytest.CaptureFixture[str]) -> None:
    output.configure(verbose=0, quiet=False)
    logging.getLogger("burnish.trial").warning("node %s", EVIL)
    assert capsys.readouterr().err == f"WARNING node {SHOWN}\n".replace("\\nburnish", "\nburnish")


def test_libraries_that_warn_of_what_is_looked_at_are_heard_with_v_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for verbose in (0, 1):
        output.configure(verbose=verbose, quiet=False)
        logging.getLogger("onnx_ir.serde").warning("cannot be found in any scope")
    assert capsys.readouterr().err.count("cannot be found") == 1


class _Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError

    def flush(self) -> None:
        raise BrokenPipeError


def test_where_the_reader_has_gone_the_command_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", _Closed())
    monkeypatch.setattr(sys, "stderr", _Closed())
    output.configure(verbose=0, quiet=False)
    _result("a", table("t", ("c",), [("1",)]))
    output.note("b")
    output.failure(ModelError("p", hint="h"))
    assert not isinstance(sys.stdout, _Closed)
    assert not isinstance(sys.stderr, _Closed)


@pytest.mark.parametrize("as_json", [True, False])
def test_an_old_encoding_gets_what_it_has(monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")
    monkeypatch.setattr(sys, "stdout", stream)
    _result(table("größe", ("Zeit",), [("1.28× – 3 µs",)]), as_json=as_json, name="größe")
    stream.seek(0)
    shown = stream.read()
    assert ('"gr\\u00f6\\u00dfe"' if as_json else "1.28x - 3 us") in shown


def test_a_terminal_that_is_too_narrow_wraps_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    class Narrow(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", narrow := Narrow())
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("NO_COLOR", "1")
    _result(table("t", ("name", "time", "share"), [("encoder.layer.0", "12.3 ms", "10 %")]))
    assert "encoder.layer.0   12.3 ms   10 %" in narrow.getvalue()
