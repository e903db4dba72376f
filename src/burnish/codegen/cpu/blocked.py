"""A nest on its way to code: its innermost block, and the constants as that block reads them."""

from __future__ import annotations

from burnish.codegen.cpu.blocking import Blocking, choose
from burnish.codegen.cpu.form import NestForm
from burnish.codegen.cpu.pack import pack
from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.words import in_words
from burnish.core.arrays import Array, Arrays


def blocked(
    nest: NestForm, constants: Arrays, target: InstructionSet
) -> tuple[NestForm, Blocking, dict[str, Array]]:
    """Return the nest as it reads constants, its block, and the constants that are new."""
    nest, words = in_words(nest, constants, target)
    blocking = choose(nest, target)
    nest, panels = pack(nest, blocking, {**constants, **words})
    read = {access.tensor for access in nest.reads}
    new = {name: array for name, array in {**words, **panels}.items() if name in read}
    return nest, blocking, new
