"""The commands `burnish model list` and `burnish model show`."""

from __future__ import annotations

from pathlib import Path

import click

from burnish.cli import options, output


@click.group()
def command() -> None:
    """List the models in a store and show what a model is."""


@command.command("list")
@options.store_option
@options.json_option
def list_models(store: Path | None, as_json: bool) -> None:
    """List the models in the store: <store>/<model>/<variant>/<model>_<variant>.onnx."""
    from burnish.cli.model_tables import listing_tables
    from burnish.core import settings
    from burnish.store.summarize import list_store
    from burnish.store.summary import SCHEMA

    found = list_store(store or settings.read().store)
    output.result(found, schema=SCHEMA, as_json=as_json, shown=listing_tables(found))


@command.command("show")
@options.model_argument
@options.store_option
@options.json_option
def show_model(model: str, store: Path | None, as_json: bool) -> None:
    """Show what MODEL takes and gives, its operators and weights, and its history."""
    from burnish.cli.model_tables import summary_tables
    from burnish.core import settings
    from burnish.store import layout
    from burnish.store.summarize import summarize
    from burnish.store.summary import SCHEMA

    summary = summarize(layout.resolve(model, store or settings.read().store))
    output.result(summary, schema=SCHEMA, as_json=as_json, shown=summary_tables(summary))
