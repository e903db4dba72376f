"""One grammar: the same thing has the same option, spelling and meaning in every command."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from burnish.cli import reference
from burnish.cli.commands import COMMANDS, found
from burnish.cli.main import run
from burnish.cli.misuse import meant_by
from burnish.core.precisions import element_type, precision_named
from burnish.study.requests.option import Option, RequestField, fields
from burnish.study.requests.several import one_precision, precisions

SHORT = {"-o", "-p"}


def _options() -> dict[str, dict[str, tuple[RequestField, Option]]]:
    """Return by every name of an option, the commands that have it."""
    by_name: dict[str, dict[str, tuple[RequestField, Option]]] = defaultdict(dict)
    for command, entry in COMMANDS.items():
        for spec in filter(None, (entry.request, entry.rows)):
            for field in fields(found("study.requests", spec)):
                if isinstance(field.said, Option):
                    for flag in field.flags:
                        for name in flag.split("/"):
                            by_name[name][command] = (field, field.said)
    return by_name


SHARED = {name: commands for name, commands in _options().items() if len(commands) > 1}


@pytest.mark.parametrize("name", sorted(SHARED))
def test_an_option_of_one_name_is_the_same_in_every_command(name: str) -> None:
    said = [option for _, option in SHARED[name].values()]
    assert len({str(option.kind) for option in said}) == 1, "of one type"
    assert len({option.metavar for option in said}) == 1, "with one placeholder"
    assert len({option.repeated for option in said}) == 1, "repeatable in all or in none"
    stems = {option.help.partition(".")[0] for option in said}
    assert len(stems) == 1, f"explained in the same words, not {stems}"
    assert len({field.flags for field, _ in SHARED[name].values()}) == 1, "with one spelling"


def test_names_are_whole_words_with_dashes() -> None:
    for name in _options():
        assert name in SHORT or (name.startswith("--") and "_" not in name), name


def test_every_option_is_explained_in_a_sentence() -> None:
    for name, commands in _options().items():
        for _, option in commands.values():
            assert option.help[0].isupper() or option.help[0].isdigit() or option.help[0] == "i", (
                name
            )
            assert option.help.rstrip()[-1] in ".…", (name, option.help)


def test_the_page_of_all_options_has_all_of_them() -> None:
    page = reference.pages()["options.md"]
    for name in _options():
        assert f"`{name}`" in page or f"{name}/" in page or f"/{name}" in page, name


@pytest.mark.parametrize(
    ("words", "problem", "hint"),
    [
        (["profile", "m", "--batch", "8"], "has no option --batch", "write --shape batch=8"),
        (["bench", "m", "--past", "0"], "has no option --past", "write --past-length 128"),
        (["bench", "m", "--batch", "1,x"], "'x' is not a whole number", "1,8,32"),
        (["bench", "m", "--batch", "0"], "0 is not a size", "1,8,32"),
        (["export", "m", "--batch", "1,2"], "one number is taken here, and 2",
         "one after the other"),
        (["optimize", "m", "-p", "fp16,fp32"], "one type is taken here, and 2", "--precision fp16"),
        (["bench", "m", "--fp16"], "has no option --fp16", "write --precision fp16"),
        (["optimize", "m", "--no-check"], "has no option --no-check", "write --no-trial"),
        (["whatif", "m", "--check"], "has no option --check", "write --measure"),
        (["bench", "m", "--thread", "1"], "has no option --thread", "write --threads"),
        (["profile", "m", "--zzzz"], "has no option --zzzz", "see burnish profile --help"),
        (["profile", "m", "--shape", "batch=0"], "a size is at least 1", "write --shape batch=1"),
        (["profile", "m", "--shape", "a=1", "--shape", "a=2"], "one shape is taken here, and 2",
         "give them one after the other: --shape a=1"),
        (["profile", "m", "--shape", "a=1", "--shape", "b=2"], "one shape is taken here, and 2",
         "write it as one: --shape a=1,b=2"),
        (["profile", "m", "--shape", "a=1,a=2"], "gives a two sizes", "--shape batch=1 --shape"),
        (["verify", "m", "--engine", "a,b"], "one engine is taken here, and 2", "--engine a"),
        (["run", "m", "-o", "a", "-o", "b"], "one file or folder is written or read here, and 2",
         "give one of them: a"),
        (["optimize", "m", "-p", "f8"], "cannot be rewritten to f8", "fp16, bf16, int8, int4"),
        (["profile", "m", "--shape", ""], "--shape is empty", "or write --shape NAME=SIZE,…"),
        (["bench", "m", "--engine", ""], "--engine is empty", "leave it out, or write --engine"),
        (["optimize", "m", "-p", ","], "--precision is empty", "write --precision PRECISION,…"),
        (["export", ""], "is empty", "as a name or a path"),
        (["inputs", "m", "-o", ""], "--output is empty", "leave it out, or write --output"),
        (["exec", "", "--data", "d"], "FOLDER is empty", "write FOLDER as a name or a path"),
        (["verify", "m", "--data", ""], "--data is empty", "leave it out, or write --data"),
        (["bench", "m", "--threads", "0"], "--threads: 0 is not a size", "1,8,32"),
        (["bench", "m", "--budget", "1y"], "--budget: '1y' is not a time", "--budget 60s"),
        (["optimize", "m.onnx", "-o", "./m.onnx"], "m.onnx: is MODEL itself, which would be lost",
         "choose another place: -o m_new.onnx"),
        (["optimize", "m", "--rules", "r.py"], "r.py: no such file", "docs/user-rules.md"),
        (["help"], "no such command 'help'", "write burnish --help"),
        (["help", "optimize"], "no such command 'help'", "write burnish optimize --help"),
        (["exec", "c"], "burnish exec needs --data", "write burnish exec c --data PATH; see"),
        (["gate", "m"], "burnish gate needs --baseline", "write burnish gate m --baseline"),
        (["run", "m"], "burnish run needs --output", "write burnish run m --output PATH; see"),
        (["run", "m", "x", "-o", "o"], "run has no place for 'x'", "write burnish run MODEL"),
        (["bench", "m", "--rounds", "0"], "--rounds is at least 1, and not 0", "--rounds 20; see"),
        (["bench", "m", "--rounds", "x"], "--rounds 'x' is not a whole number", "--rounds 20; see"),
        (["verify", "m", "--atol", "-1"], "--atol is at least 0, and not -1.0", "--atol 0; see"),
        (["verify", "m", "--rtol", "x"], "--rtol 'x' is not a number", "--rtol 0.001; see"),
        (["verify", "m", "--padding", "up"], "--padding has no 'up'", "known: left, none, right"),
        (["optimize", "m", "--target", "cuba"], "'cuba' is no back end", "did you mean 'cuda'?"),
        (["whatif", "m", "--scale"], "burnish whatif: --scale needs a value",
         "write --scale WHAT=FACTOR; see burnish whatif --help"),
        (["bench", "m", "--json=1"], "burnish bench: option '--json' does not take a value",
         "see burnish bench --help"),
        (["bench", "m", "--rounds", "1", "--rounds", "2"], "one --rounds is taken here, and 2 were",
         "write it once; see burnish bench --help"),
        (["verify", "m", "--data", "a", "--data", "b", "--data", "a"],
         "one --data is taken here, and 3 were given", "write it once; see burnish verify --help"),
        (["optimize", "m", "--verify", "--no-verify"], "one --verify or --no-verify is taken here",
         "write it once; see burnish optimize --help"),
        (["bench", "m", "--rounds", "1_0"], "--rounds '1_0' is not a whole number", "--rounds 20"),
        (["profile", "m", "--runs", "²"], "--runs '²' is not a whole number", "see burnish"),
        (["export", "m", "--opset", "9" * 20], "is not a whole number", "see burnish export"),
        (["verify", "m", "--atol", "nan"], "--atol 'nan' is not a number", "--atol 0.001; see"),
        (["verify", "m", "--rtol", "1e400"], "--rtol '1e400' is not a number", "--rtol 0.001; see"),
        (["zoo", "lst"], "burnish zoo has no command 'lst'", "did you mean 'list'?"),
        (["zoo", "list", "--json=1"], "option '--json' does not", "see burnish zoo list --help"),
        (["-x"], "burnish has no option -x", "see burnish --help"),
        (["export", "bert", "--store", "s"], "unknown model 'bert'", "did you mean 'bert-"),
        (["export", "gpt2", "-p", "f8"], "cannot be exported in f8", "fp32, fp16, bf16, int8"),
    ],
)  # fmt: skip
def test_what_is_not_understood_says_what_to_write(
    words: list[str], problem: str, hint: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for name in ("m", "m.onnx"):
        (tmp_path / name).write_bytes(b"")
    assert run(words) == 2
    told, advice = capsys.readouterr().err.splitlines()[-2:]
    assert problem in told
    assert hint in advice


def test_a_flag_that_is_written_twice_is_still_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["zoo", "list", "--json", "--json"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("written", "shown", "element"),
    [
        ("fp16", "fp16", "f16"), ("f16", "fp16", "f16"), ("Float16", "fp16", "f16"),
        ("half", "fp16", "f16"), ("f32", "fp32", "f32"), ("float", "fp32", "f32"),
        ("INT8", "int8", "i8"), ("i8", "int8", "i8"), ("bf16", "bf16", "bf16"),
        ("bfloat16", "bf16", "bf16"), ("i4", "int4", "i4"), ("tf32", "tf32", "tf32"),
    ],
)  # fmt: skip
def test_precisions_have_one_name_however_they_are_written(
    written: str, shown: str, element: str
) -> None:
    assert precision_named(written) == shown
    assert element_type(written) == element


def test_every_command_that_takes_a_precision_reads_it_in_the_same_way() -> None:
    takers = _options()["--precision"]
    assert {"optimize", "export", "bench"} <= set(takers)
    assert {option.read for _, option in takers.values()} <= {one_precision, precisions}
    assert precisions(["half", "f16,fp32"]) == (precision_named("float16"), "fp32")
    assert one_precision(["half"]) == "fp16"


def test_no_command_explains_a_precision_by_the_name_of_an_element_type() -> None:
    for name, commands in _options().items():
        for _, option in commands.values():
            words = set(option.help.replace(",", " ").replace(":", " ").replace(".", " ").split())
            assert not words & {"f16", "f32", "i8", "i4"}, (name, option.help)


def test_an_option_of_other_tools_is_led_to_ours_only_where_we_have_it() -> None:
    assert meant_by("--iterations", ["--runs", "--rounds"]) == "--runs"
    assert meant_by("--iterations", ["--rounds"]) == "--rounds"
    assert meant_by("--iterations", []) is None
