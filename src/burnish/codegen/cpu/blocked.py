"""A nest on its way to code: its innermost block, and the constants as that block reads them."""

from __future__ import annotations

from burnish.codegen.cpu.blocking import Blocking, choose
from burnish.codegen.cpu.form import NestForm
from burnish.codegen.cpu.pack import pack
from burnish.codegen.cpu.quads import in_quads
from burnish.codegen.cpu.target import InstructionSet
from burnish.core.arrays import Array, Arrays


def blocked(
    nest: NestForm, constants: Arrays, target: InstructionSet
) -> tuple[NestForm, Blocking, dict[str, Array]]:
    """Return the nest as it reads constants, its block, and the constants that are new."""
    nest, quads = in_quads(nest, constants, target.dot)
    blocking = choose(nest, target)
    nest, panels = pack(nest, blocking, {**constants, **quads})
    read = {access.tensor for access in nest.reads}
    new = {name: array for name, array in {**quads, **panels}.items() if name in read}
    return nest, blocking, new
