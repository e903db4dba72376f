"""LLVM IR text to machine code in this process; no compiler need be installed.

Kernels are vectorised where they are written, so LLVM's own vectorisers and its loop unroller are
off. What a kernel calls of `intrinsics` is defined and inlined here, for the target at hand.
llvmlite takes a lock around each of its calls, so compiling from several threads is safe (and one
at a time).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count

import llvmlite.binding as llvm

from burnish.codegen.cpu import intrinsics, math, math_system
from burnish.codegen.cpu.target import InstructionSet, available
from burnish.codegen.cpu.types import Native
from burnish.core.errors import MissingCapabilityError, ModelError

_NUMBERS = count()


@dataclass(frozen=True, slots=True)
class MachineCode:
    """Machine code, loaded; it stays loaded as long as this object lives."""

    target: InstructionSet
    object_code: bytes = field(repr=False)
    """What `load` makes the same of again, also in another process."""
    _library: str = field(repr=False, compare=False)
    _keeps_loaded: Native = field(repr=False, compare=False)

    def address(self, name: str) -> int:
        """Return where the function of this name is."""
        try:
            found = _linker().lookup(self._library, name)
        except RuntimeError as error:
            raise KeyError(f"the compiled module has no function {name!r}: {error}") from None
        # what a lookup gives back would unload the code when it goes
        found.detach()
        return int(found[name])


def compile_module(ir_text: str, target: InstructionSet) -> MachineCode:
    """Return the machine code of a module, optimised for the target and loaded."""
    return load(object_code(ir_text, target), target)


def object_code(ir_text: str, target: InstructionSet) -> bytes:
    """Return the machine code of a module for a target; nothing is loaded.

    It is one of this processor, or of another family, whose code never runs here. Whoever only
    writes it down has none of it in a process that must not crash.
    """
    if not target.is_foreign:
        _refuse_others(target)
    machine = _target_machine(target, intrinsics.needed(ir_text))
    return bytes(machine.emit_object(_optimized(ir_text, target, machine)))


def assembly(ir_text: str, target: InstructionSet) -> str:
    """Return what `compile_module` makes of a module, as assembly text to look at."""
    machine = _target_machine(target, intrinsics.needed(ir_text))
    return str(machine.emit_assembly(_optimized(ir_text, target, machine)))


def load(content: bytes, target: InstructionSet) -> MachineCode:
    """Return object code that was made for this target, loaded."""
    _refuse_others(target)
    name = f"burnish-{next(_NUMBERS)}"
    parts = llvm.JITLibraryBuilder().add_object_img(content).add_current_process()
    try:
        return MachineCode(target, content, name, parts.link(_linker(), name))
    except RuntimeError as error:
        raise ModelError(
            f"{len(content)} bytes that should be machine code are not: {error}",
            hint="compile the model again",
        ) from None


def _refuse_others(target: InstructionSet) -> None:
    """Raise if this processor does not run code for a target."""
    if target not in available():
        raise MissingCapabilityError(
            f"this processor cannot run code for {target.name}",
            hint=f"compile the model here: it can run {_names(available())}",
        )


def _names(targets: Sequence[InstructionSet]) -> str:
    return ", ".join(target.name for target in targets) or "none of our targets"


def _optimized(ir_text: str, target: InstructionSet, machine: Native) -> Native:
    context = llvm.create_context()
    module = llvm.parse_assembly(ir_text, context=context)
    for name in _wanted(module):
        text = math.definition(name, target)
        module.link_in(llvm.parse_assembly(text, context=context))
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    _refuse_unknown_calls(module)
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = False
    tuning.slp_vectorization = False
    tuning.loop_interleaving = False
    tuning.loop_unrolling = False
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(module, passes)
    return module


def _wanted(module: Native) -> list[str]:
    return [
        function.name
        for function in module.functions
        if function.is_declaration and function.name.startswith(intrinsics.PREFIX)
    ]


def _refuse_unknown_calls(module: Native) -> None:
    for function in module.functions:
        if not function.is_declaration or function.name.startswith("llvm."):
            continue
        if llvm.address_of_symbol(function.name) is None:
            raise KeyError(f"the module calls {function.name!r}, which is not in this process")


@lru_cache(maxsize=1)
def _linker() -> Native:
    _initialize()
    # the older of LLVM's linkers ends the process where this one raises
    return llvm.create_lljit_compiler(use_jit_link=True, suppress_errors=True)


@lru_cache(maxsize=1)
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    if any(llvm.address_of_symbol(name) is None for name in math_system.SYSTEM_FUNCTIONS):
        llvm.load_library_permanently("libm.so.6")


@lru_cache(maxsize=1)
def _initialize_others() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def _target_machine(target: InstructionSet, needed: Sequence[str]) -> Native:
    _initialize()
    features = ",".join(filter(None, (target.features, *(f"+{name}" for name in needed))))
    return _target(target).create_target_machine(
        cpu=target.cpu, features=features, opt=3, reloc="pic", codemodel="small", jit=True
    )


def _target(target: InstructionSet) -> Native:
    """Return what LLVM knows of a target's family; folders for others are run on Linux."""
    if not target.is_foreign:
        return llvm.Target.from_default_triple()
    _initialize_others()
    return llvm.Target.from_triple(f"{target.family}-unknown-linux-gnu")
