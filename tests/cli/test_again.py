from __future__ import annotations

import click
import pytest

from burnish.cli.again import again


@click.group()
def tool() -> None:
    pass


@tool.command()
@click.argument("model")
@click.option("--shape", multiple=True)
@click.option("-n", "--samples", type=int, default=3)
@click.option("--store", default=None)
@click.option("--fast", is_flag=True)
def check(**_: object) -> None:
    click.echo(again(click.get_current_context(), "--more"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["a.onnx"], "tool check a.onnx --more"),
        (["a b.onnx"], "tool check 'a b.onnx' --more"),
        (
            ["a", "--shape", "n=1", "--shape", "n=2", "-n", "4"],
            "tool check a --shape n=1 --shape n=2 --samples 4 --more",
        ),
        (["--fast", "a"], "tool check a --fast --more"),
    ],
)
def test_a_command_is_said_again_with_what_was_given(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tool.main(["check", *arguments], prog_name="tool", standalone_mode=False)
    assert capsys.readouterr().out.strip() == expected
