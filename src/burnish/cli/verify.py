"""The command `burnish verify`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from burnish.cli import options, output
from burnish.cli.again import again
from burnish.cli.progress import shown
from burnish.core.errors import CheckFailedError

if TYPE_CHECKING:
    from burnish.parity.report import VerifyReport
    from burnish.parity.request import VerifyRequest


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("candidate", metavar="[CANDIDATE]", required=False)
@click.option("--engine", default="onnxruntime-cpu", show_default=True,
              help="Engine of the candidate; `burnish doctor` lists them.")  # fmt: skip
@click.option("--against", "--reference-engine", default="onnxruntime-cpu", show_default=True,
              help="Engine of the reference; ONNX Runtime optimises nothing there.")  # fmt: skip
@options.shape_option
@click.option("--samples", type=click.IntRange(min=1), default=3, show_default=True,
              help="Made inputs for each shape, which differ in seed and padding.")  # fmt: skip
@options.seed_option
@options.padding_option
@options.data_option
@click.option("--recorded", is_flag=True,
              help="Compare with the outputs in MODEL's test_data_set_N folders.")  # fmt: skip
@click.option("--atol", type=click.FloatRange(min=0), help="Absolute error allowed in floats.")
@click.option("--rtol", type=click.FloatRange(min=0),
              help="Relative error allowed in floats: of the larger of the value and the "
              "tensor's root mean square.")  # fmt: skip
@click.option("--tolerance", metavar="TYPE",
              help="Allow what arithmetic in this type needs: f32, tf32, f16, bf16 …")  # fmt: skip
@options.budget_option("30s", "How long to judge meaning, and to look for inputs that show a "
                       "difference; 0: not at all.")  # fmt: skip
@click.option("--bisect", is_flag=True, help="Find the node where the runs part, if they do.")
@options.threads_option
@options.fallback_option
@options.trust_option
@options.store_option
@options.json_option
def command(as_json: bool, **asked: Any) -> None:  # noqa: ANN401  (one per option)
    """Check that CANDIDATE computes what MODEL computes.

    Without CANDIDATE: that MODEL on --engine computes what it computes as it is written.

    Each --shape is a shape to try; without any, the default one and one with odd sizes are.
    """
    from burnish.cli.verify_tables import tables
    from burnish.parity.report import SCHEMA
    from burnish.parity.request import answer
    from burnish.parity.verdict import verdict

    with shown() as progress:
        report = answer(_request(asked), progress=progress)
    output.result(report, schema=SCHEMA, as_json=as_json, shown=tables(report))
    if not report.passed:
        raise CheckFailedError(verdict(report), hint=_hint(report, asked))


def _request(asked: dict[str, Any]) -> VerifyRequest:
    from burnish.cli.models import resolved
    from burnish.engines.base import EngineOptions
    from burnish.parity.request import VerifyRequest
    from burnish.parity.tolerances import Tolerances

    reference, *others = resolved([n for n in (asked["model"], asked["candidate"]) if n], asked)
    same = {name: asked[name] for name in ("samples", "seed", "padding", "data", "recorded")}
    return VerifyRequest(
        reference=reference,
        candidate=others[0] if others else None,
        engine=asked["engine"],
        against=asked["against"],
        options=EngineOptions(threads=asked["threads"], allow_fallback=asked["allow_fallback"]),
        shapes=tuple(options.bindings((shape,)) for shape in asked["shape"]),
        tolerances=Tolerances(asked["tolerance"], asked["atol"], asked["rtol"]),
        bisect=asked["bisect"],
        budget_s=asked["budget"],
        **same,
    )


def _hint(report: VerifyReport, asked: dict[str, Any]) -> str:
    model = shlex.quote(asked["model"])
    candidate = shlex.quote(asked["candidate"] or asked["model"])
    culprit = report.bisection.culprit if report.bisection else None
    if report.crash is not None:
        return f"a rewrite may avoid it: burnish optimize {candidate} -o rewritten.onnx"
    if culprit is not None and culprit.rule:
        disable = f"--disable {culprit.rule}"
        return f"leave out the rule: burnish optimize {model} -o {candidate} {disable}"
    if culprit is not None:
        return f"look at {culprit.op_type} {culprit.node!r}: burnish model show {candidate}"
    if report.worst is None or report.bisection or asked["recorded"]:
        return f"see what it takes and gives: burnish model show {candidate}"
    return f"find the node where they part: {again(click.get_current_context(), '--bisect')}"
