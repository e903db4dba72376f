"""What a kernel is called in short, and what kind of work its name says it does."""

from __future__ import annotations

import re
from functools import lru_cache

_FAMILIES: tuple[tuple[str, str], ...] = (
    ("communication", r"nccl|rccl|oneccl|all_?reduce_|all_?gather_|reduce_?scatter"),
    ("attention", r"flash|fmha|sdpa|mem_?eff|attention|attn"),
    ("pooling", r"pool"),
    ("convolution", r"conv|winograd|implicit_gemm|dgrad|wgrad|fprop|cudnn_|\dcudnn|scudnn"),
    ("product", r"gemm|xmma|cutlass|nvjet|cublas|matmul|gemv|splitk|Cijk_|wgmma|triton_tem|dot_"),
    ("normalisation", r"layer_?norm|rms_?norm|batch_?norm|group_?norm|softmax"),
    ("copy", r"memcpy|memset|copy|transpose|permute|cat_?array|\bcat\b|reformat|tonhwc|tonchw"),
    ("look-up", r"index|gather|scatter|embedding"),
    ("reduction", r"reduce|triton_red|triton_per|argmax|argmin|topk|sort"),
    ("elementwise", r"elementwise|vectorized|triton_poi|unrolled|gelu|relu|silu|binary|unary"),
    ("elementwise", r"^(aten::)?(add|sub|mul|div|where|erf|tanh|sigmoid|pow|sqrt|exp|neg|sum)_?$"),
)
_PATTERNS = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _FAMILIES)
ARITHMETIC = frozenset({"attention", "convolution", "product"})
"""Kinds of work that arithmetic limits, as far as a name can tell; memory limits the others."""
OTHER = "other"
_DOES = re.compile(
    r"CUDAFunctor_(\w+)|(\w+?)(?:CUDAKernelImpl|KernelImpl|_kernel_cuda|Functor|Ops?)\b"
)
_WRAPPERS, _WRAPPED = ("Kernel", "Kernel2", "device_kernel"), re.compile(r"<\s*(?:\w+::)*(\w+)")
"""What CUTLASS calls all its kernels; which one it is stands in their argument."""
_PIECE = re.compile(r"(\d+)")
_LONGEST, _TAIL = 60, 28


@lru_cache(maxsize=4096)
def family(name: str) -> str:
    """Return what kind of work a kernel does, `other` where its name does not say."""
    return next((family for family, like in _PATTERNS if like.search(name)), OTHER)


@lru_cache(maxsize=4096)
def short(name: str) -> str:
    """Return a kernel's name without types, spaces of names and arguments.

    What it is made for stays, in brackets: `vectorized_elementwise_kernel (Gelu)`.
    """
    whole = _demangled(name) if name.startswith("_Z") else name
    whole = whole.replace("(anonymous namespace)", "").removeprefix("void ").strip()
    head = _outside(whole)
    base = head.rpartition("::")[2].strip() or head.strip() or name
    if base in _WRAPPERS and (wrapped := _WRAPPED.search(whole)):
        base = wrapped[1]
    inside = _DOES.search(whole[len(base) :]) if "<" in whole else None
    does = next((part for part in inside.groups() if part), "") if inside else ""
    told = f"{base} ({does})" if does and does not in base else base
    # the middle goes: the end holds the tile and the layout, by which kernels of a kind differ
    return told if len(told) <= _LONGEST else f"{told[: _LONGEST - _TAIL - 1]}…{told[-_TAIL:]}"


def _outside(name: str) -> str:
    """Return what stands outside of all < > and before the arguments."""
    depth, kept = 0, list[str]()
    for at, letter in enumerate(name):
        if letter == "<" and not name.startswith("operator", max(0, at - 8)):
            depth += 1
        elif letter == ">" and depth:
            depth -= 1
        elif letter == "(" and not depth and kept:
            break
        elif not depth:
            kept.append(letter)
    return "".join(kept)


def _demangled(name: str) -> str:
    """Return the parts of a mangled name, as `a::b::kernel<rest>`; the name itself if it has none.

    The rules of the Itanium ABI as far as names of kernels need them: each part after its length.
    """
    at, parts = 2 + name.startswith("_ZN"), list[str]()
    while found := _PIECE.match(name, at):
        begin = found.end()
        at = begin + int(found[1])
        parts.append(name[begin:at])
    known = [part for part in parts if not part.startswith("_GLOBAL__N")]
    return f"{'::'.join(known)}<{name[at:]}>" if known else name
