"""Compile a model for given sizes: bind, rewrite, lower, choose, and set out a plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from burnish.codegen.backend import Backend
from burnish.codegen.build import BuildOptions, build
from burnish.codegen.built import Built
from burnish.codegen.choice import Choose
from burnish.core.progress import SILENT, Progress
from burnish.rewrite.pipeline import optimize
from burnish.store.correspondence import behind
from burnish.store.graph_of import nodes_of
from burnish.tile.lower import named, operator
from burnish.tile.partition import Fusion
from burnish.tile.simplify import Fusion as SimplifyFusion
from burnish.tile.static import static

PRODUCTS = frozenset({"MatMul", "Gemm", "com.microsoft.FusedMatMul", "com.microsoft.GemmFloat8"})
"""The operators that `--skip-dot` leaves to ONNX Runtime."""

_BEFORE_GROUPING: Mapping[Fusion, SimplifyFusion] = {
    "none": "none",
    "element-wise": "element-wise",
    "full": "element-wise",
}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A model with fixed sizes, rewritten, and which of the given nodes its nodes stand for."""

    model: ir.Model
    origins: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How a model is compiled."""

    backend: Backend
    choose: Choose
    fusion: Fusion = "full"
    products: Callable[[str], str] = lambda _operator: ""
    """Why ONNX Runtime is to run an operator; empty: nobody says so."""


def keep_products(operator_name: str) -> str:
    """Return why an operator stays with ONNX Runtime under `--skip-dot`; empty: it does not."""
    kept = "--skip-dot keeps matrix products with ONNX Runtime"
    return kept if operator_name in PRODUCTS else ""


def prepare(model: ir.Model, sizes: Mapping[str, int], progress: Progress = SILENT) -> Prepared:
    """Return the model with fixed sizes and rewritten; the argument is left untouched."""
    given = _without_defaults(model)
    bound = static(given, sizes)
    progress.step("bind", 1, 1, f"{bound.graph.num_nodes():,} nodes")
    rewritten = static(optimize(bound).model, {})
    progress.step("rewrite", 1, 1, f"{rewritten.graph.num_nodes():,} nodes")
    inputs = {value.name or "" for value in given.graph.inputs}
    found = behind(nodes_of(given.graph), nodes_of(rewritten.graph), inputs=inputs)
    names = map(named, rewritten.graph)
    return Prepared(rewritten, dict(zip(names, found, strict=True)))


def compile_prepared(
    prepared: Prepared, sizes: Mapping[str, int], options: CompileOptions
) -> Built:
    """Return the plan of a prepared model."""
    reasons = {named(node): options.products(operator(node)) for node in prepared.model.graph}
    chosen = BuildOptions(
        backend=options.backend,
        choose=options.choose,
        fusion=_BEFORE_GROUPING[options.fusion],
        to_ort={name: reason for name, reason in reasons.items() if reason},
    )
    return with_origins(build(prepared.model, chosen, sizes), prepared)


def with_origins(built: Built, prepared: Prepared) -> Built:
    """Return a plan that knows which nodes of the given model its nodes stand for."""
    plan = dataclasses.replace(built.plan, origins=prepared.origins)
    return dataclasses.replace(built, plan=plan)


def _without_defaults(model: ir.Model) -> ir.Model:
    """Return a copy in which inputs with a default are constants: they need not be fed."""
    copy = model.clone()
    for value in list(copy.graph.inputs):
        if value.name in copy.graph.initializers:
            copy.graph.inputs.remove(value)
    return copy
