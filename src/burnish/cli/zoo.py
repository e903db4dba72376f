"""The commands `burnish zoo list` and `burnish zoo show`."""

from __future__ import annotations

import click

from burnish.cli import options, output


@click.group()
def command() -> None:
    """List the models that can be exported without any download."""


@command.command("list")
@options.json_option
def list_models(as_json: bool) -> None:
    """List the zoo: names, parameters, inputs and what each model is good for."""
    from burnish.zoo.listing import SCHEMA, list_zoo

    found = list_zoo()
    rows = [(one.name, one.family, f"{one.parameters:,}", one.inputs, one.summary)
            for one in found.models]  # fmt: skip
    columns = ("model", "family", "parameters", "inputs", "what it is good for")
    table = output.Table("the zoo", columns, rows, right=frozenset({"parameters"}))
    shown: list[output.Table | str] = [table, "next: burnish export NAME"]
    output.result(found, schema=SCHEMA, as_json=as_json, shown=shown)


@command.command("show")
@click.argument("name")
@options.json_option
def show_model(name: str, as_json: bool) -> None:
    """Show one model of the zoo, and which options of `burnish export` it follows."""
    from burnish.zoo.listing import SCHEMA, describe

    found = describe(name)
    rows = [
        ("family", found.family),
        ("parameters", f"{found.parameters:,}"),
        ("inputs", found.inputs),
        ("good for", found.summary),
        ("idea and licence", found.idea),
        ("follows", ", ".join(f"--{choice}" for choice in found.choices) or "no option of its own"),
    ]
    table = output.Table(found.name, ("", ""), rows)
    shown: list[output.Table | str] = [table, f"next: burnish export {found.name}"]
    output.result(found, schema=SCHEMA, as_json=as_json, shown=shown)
