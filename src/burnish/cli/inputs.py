"""The command `burnish inputs`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output

if TYPE_CHECKING:
    from burnish.feeds.report import WrittenSample


@click.command()
@options.model_argument
@options.output_option(
    required=True,
    text="An .npz file, or a folder for test_data_set_0, test_data_set_1 …",
    of="either",
)
@options.shape_option
@options.seed_option
@options.padding_option
@click.option("--samples", type=click.IntRange(min=1), default=1, show_default=True,
              help="How many; each differs in seed and padding.")  # fmt: skip
@options.store_option
@options.json_option
def command(model: str, target: Path, samples: int, as_json: bool, **asked: Any) -> None:  # noqa: ANN401
    """Write inputs for MODEL, made from its names, types and shapes.

    Equal arguments give equal inputs. Integers stay inside the tables that they index, masks
    have rows of different lengths, and whatever had to be guessed is said.
    """
    from burnish.core import settings
    from burnish.feeds.choose import choose
    from burnish.feeds.report import SCHEMA
    from burnish.feeds.write import write
    from burnish.store import layout, onnx_files

    stored = layout.resolve(model, asked["store"] or settings.read().store)
    feeds = choose(
        stored,
        bindings=options.bindings(asked["shape"]),
        seed=asked["seed"],
        padding=asked["padding"],
        samples=samples,
    )
    interface = onnx_files.interface(onnx_files.read(stored.onnx))
    report = write(feeds, target, interface=interface, model=stored.label)
    notes = dict.fromkeys(f"note: {note}" for sample in report.samples for note in sample.notes)
    shown: list[output.Table | str] = [*map(_table, report.samples), *notes]
    output.result(report, schema=SCHEMA, as_json=as_json, shown=shown)


def _table(sample: WrittenSample) -> output.Table:
    rows = [(spec.name, spec.dtype, str(list(spec.shape))) for spec in sample.inputs]
    return output.Table(str(sample.path), ("input", "type", "shape"), rows)
