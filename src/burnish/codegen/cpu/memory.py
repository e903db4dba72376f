"""Loads and stores of vectors: side by side, masked, strided, gathered and scattered."""

from __future__ import annotations

from llvmlite import ir

from burnish.codegen.cpu.types import (
    Builder,
    LlvmType,
    LlvmValue,
    Native,
    from_memory,
    load,
    memory_type,
    size_in_bytes,
    store,
    to_memory,
)

I8, I32, I64, POINTER = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.PointerType()
_SUFFIX = {"f32": "f32", "f64": "f64", "bool": "i8", "f16": "i16", "bf16": "i16"}


def element(builder: Builder, base: LlvmValue, offset: LlvmValue, dtype: str) -> LlvmValue:
    """Return the address of the element `offset` elements behind `base`."""
    return builder.gep(base, [offset], source_etype=memory_type(dtype))


def move_bytes(builder: Builder, target: LlvmValue, source: LlvmValue, length: int) -> None:
    """Move bytes to where some of them may come from."""
    kinds = [POINTER, POINTER, I64, ir.IntType(1)]
    function = _intrinsic(builder, "llvm.memmove.p0.p0.i64", ir.VoidType(), kinds)
    builder.call(function, [target, source, I64(length), ir.IntType(1)(0)])


def forget_loads(builder: Builder) -> None:
    """Let the compiler keep nothing in registers that it could load again; no instruction."""
    builder.asm(ir.FunctionType(ir.VoidType(), []), "", "~{memory}", [], side_effect=True)


def prefetch(builder: Builder, pointer: LlvmValue) -> None:
    """Have the line of an address brought into the second cache; it may point anywhere."""
    _prefetch(builder, pointer, to_write=0, nearness=2)


def prefetch_to_write(builder: Builder, pointer: LlvmValue) -> None:
    """Have the line of an address brought into the first cache, to be changed there."""
    _prefetch(builder, pointer, to_write=1, nearness=3)


def _prefetch(builder: Builder, pointer: LlvmValue, *, to_write: int, nearness: int) -> None:
    function = _intrinsic(builder, "llvm.prefetch.p0", ir.VoidType(), [POINTER, I32, I32, I32])
    data = 1
    builder.call(function, [pointer, I32(to_write), I32(nearness), I32(data)])


def masked_load(
    builder: Builder, pointer: LlvmValue, dtype: str, mask: LlvmValue, otherwise: LlvmValue
) -> LlvmValue:
    """Return neighbouring elements where the mask is set, `otherwise` elsewhere."""
    width = int(mask.type.count)
    kind = memory_type(dtype, width)
    name = f"llvm.masked.load.v{width}{_suffix(dtype)}.p0"
    function = _intrinsic(builder, name, kind, [POINTER, I32, mask.type, kind])
    align = I32(size_in_bytes(dtype))
    given = to_memory(builder, otherwise, dtype)
    return from_memory(builder, builder.call(function, [pointer, align, mask, given]), dtype)


def masked_store(
    builder: Builder, value: LlvmValue, pointer: LlvmValue, dtype: str, mask: LlvmValue
) -> None:
    """Store the elements whose mask is set side by side.

    A single one is stored by itself: of numbers that were just made shorter LLVM 22.1 would store
    the long one there, beyond what is meant, on AVX-512.
    """
    width = int(mask.type.count)
    if mask == first_lane(width):
        store(builder, builder.extract_element(value, I32(0)), pointer, dtype)
        return
    kind = memory_type(dtype, width)
    name = f"llvm.masked.store.v{width}{_suffix(dtype)}.p0"
    function = _intrinsic(builder, name, ir.VoidType(), [kind, POINTER, I32, mask.type])
    align = I32(size_in_bytes(dtype))
    builder.call(function, [to_memory(builder, value, dtype), pointer, align, mask])


def gather(
    builder: Builder,
    base: LlvmValue,
    offsets: LlvmValue,
    dtype: str,
    mask: LlvmValue,
    otherwise: LlvmValue,
) -> LlvmValue:
    """Return the elements at a vector of offsets where the mask is set."""
    width = int(mask.type.count)
    kind = memory_type(dtype, width)
    addresses = _addresses(builder, base, offsets, dtype)
    name = f"llvm.masked.gather.v{width}{_suffix(dtype)}.v{width}p0"
    function = _intrinsic(builder, name, kind, [addresses.type, I32, mask.type, kind])
    align = I32(size_in_bytes(dtype))
    given = to_memory(builder, otherwise, dtype)
    return from_memory(builder, builder.call(function, [addresses, align, mask, given]), dtype)


def scatter(
    builder: Builder,
    value: LlvmValue,
    base: LlvmValue,
    offsets: LlvmValue,
    dtype: str,
    mask: LlvmValue,
) -> None:
    """Store the elements whose mask is set at a vector of offsets."""
    width = int(mask.type.count)
    kind = memory_type(dtype, width)
    addresses = _addresses(builder, base, offsets, dtype)
    name = f"llvm.masked.scatter.v{width}{_suffix(dtype)}.v{width}p0"
    function = _intrinsic(builder, name, ir.VoidType(), [kind, addresses.type, I32, mask.type])
    align = I32(size_in_bytes(dtype))
    builder.call(function, [to_memory(builder, value, dtype), addresses, align, mask])


def strided_load(
    builder: Builder, pointer: LlvmValue, dtype: str, width: int, stride: int
) -> LlvmValue:
    """Return every `stride`-th element; reads up to `stride` - 1 elements beyond the last."""
    wide = load(builder, pointer, dtype, width * stride)
    lanes = ir.Constant(ir.VectorType(I32, width), [lane * stride for lane in range(width)])
    return builder.shuffle_vector(wide, ir.Constant(wide.type, ir.Undefined), lanes)


def splat(builder: Builder, scalar: LlvmValue, width: int) -> LlvmValue:
    """Return a vector with the same number in all lanes."""
    if width == 1:
        return scalar
    kind = ir.VectorType(scalar.type, width)
    empty = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(empty, scalar, I32(0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(I32, width), None))


def all_set(width: int) -> LlvmValue:
    """Return the mask that is set in all lanes."""
    return ir.Constant(ir.VectorType(ir.IntType(1), width), [1] * width)


def first_lane(width: int) -> LlvmValue:
    """Return the mask that is set in the first lane only."""
    return ir.Constant(ir.VectorType(ir.IntType(1), width), [1, *([0] * (width - 1))])


def lane_numbers(width: int) -> LlvmValue:
    """Return 0, 1, 2 … as a vector of i32."""
    return ir.Constant(ir.VectorType(I32, width), list(range(width)))


def _addresses(builder: Builder, base: LlvmValue, offsets: LlvmValue, dtype: str) -> LlvmValue:
    addresses = builder.gep(base, [offsets], source_etype=memory_type(dtype))
    # llvmlite takes every gep for a scalar
    addresses.type = ir.VectorType(POINTER, int(offsets.type.count))
    return addresses


def _suffix(dtype: str) -> str:
    return _SUFFIX.get(dtype, f"i{8 * size_in_bytes(dtype)}")


def _intrinsic(builder: Builder, name: str, result: LlvmType, arguments: list[LlvmType]) -> Native:
    module = builder.module
    if name in module.globals:
        return module.globals[name]
    return ir.Function(module, ir.FunctionType(result, arguments), name)
