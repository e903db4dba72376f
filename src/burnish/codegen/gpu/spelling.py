"""How scalar functions, numbers and element types are written in Triton."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType

from burnish.core.errors import ModelError
from burnish.tile.expr import Call, Expr, Number, walk

TYPES: Mapping[str, str] = MappingProxyType(
    {
        "f16": "tl.float16", "bf16": "tl.bfloat16", "f32": "tl.float32", "f64": "tl.float64",
        "i8": "tl.int8", "i16": "tl.int16", "i32": "tl.int32", "i64": "tl.int64",
        "u8": "tl.uint8", "u16": "tl.uint16", "u32": "tl.uint32", "u64": "tl.uint64",
        "bool": "tl.int1",
    }
)  # fmt: skip
HALVES = frozenset({"f16", "bf16"})
FLOATS = frozenset({*HALVES, "f32", "f64"})
IEEE = "ieee"
"""What Triton calls it that f32 is multiplied as it is."""

_EXACT = frozenset({"where", "cast", "equal", "less", "less_equal", "is_nan", "is_infinite"})
"""Functions that round nothing: 16-bit floats need not be widened for them."""

_ALL_NAN = "propagate_nan=tl.PropagateNan.ALL"

_PLAIN: Mapping[str, str] = MappingProxyType(
    {
        "add": "({0} + {1})",
        "subtract": "({0} - {1})",
        "multiply": "({0} * {1})",
        "negative": "(-{0})",
        "absolute": "tl.abs({0})",
        "sqrt": "tl.sqrt({0})",
        "exp": "tl.exp({0})",
        "log": "tl.log({0})",
        "erf": "tl.erf({0})",
        "sigmoid": "(1 / (1 + tl.exp(-{0})))",
        "gelu": "(0.5 * {0} * (1.0 + tl.erf({0} * 0.7071067811865476)))",
        "silu": "({0} / (1.0 + tl.exp(-{0})))",
        "sin": "tl.sin({0})",
        "cos": "tl.cos({0})",
        "tan": "(tl.sin({0}) / tl.cos({0}))",
        "equal": "({0} == {1})",
        "less": "({0} < {1})",
        "less_equal": "({0} <= {1})",
        "and": "(({0} != 0) & ({1} != 0))",
        "or": "(({0} != 0) | ({1} != 0))",
        "xor": "(({0} != 0) ^ ({1} != 0))",
        "not": "({0} == 0)",
        "bit_and": "({0} & {1})",
        "bit_or": "({0} | {1})",
        "bit_xor": "({0} ^ {1})",
        "bit_not": "(~{0})",
        "shift_left": "({0} << {1})",
        "shift_right": "({0} >> {1})",
        "where": "tl.where({0}, {1}, {2})",
    }
)
_FLOAT: Mapping[str, str] = MappingProxyType(
    {
        "divide": "({0} / {1})",
        "reciprocal": "(1 / {0})",
        "minimum": f"tl.minimum({{0}}, {{1}}, {_ALL_NAN})",
        "maximum": f"tl.maximum({{0}}, {{1}}, {_ALL_NAN})",
        "floor": "tl.floor({0})",
        "ceil": "tl.ceil({0})",
        "is_nan": "({0} != {0})",
        "is_infinite": '(tl.abs({0}) == float("inf"))',
        "fmod": "({0} % {1})",
        "truncate": "tl.where({0} < 0, tl.ceil({0}), tl.floor({0}))",
    }
)
_ROUNDED: Mapping[str, str] = MappingProxyType(
    {
        "divide": "tl.div_rn({0}, {1})",
        "reciprocal": "tl.div_rn(1.0, {0})",
        "sqrt": "tl.sqrt_rn({0})",
    }
)
"""Functions of f32 that are rounded to nearest, as IEEE says; a card's own are a bit off."""
_INTEGER: Mapping[str, str] = MappingProxyType(
    {
        "minimum": "tl.minimum({0}, {1})",
        "maximum": "tl.maximum({0}, {1})",
        "floor": "{0}",
        "ceil": "{0}",
        "round": "{0}",
        "truncate": "{0}",
        "is_nan": "({0} != {0})",
        "is_infinite": "({0} != {0})",
        "fmod": "({0} % {1})",
    }
)
_BOOL: Mapping[str, str] = MappingProxyType(
    {"add": "({0} | {1})", "multiply": "({0} & {1})", "maximum": "({0} | {1})",
     "minimum": "({0} & {1})", "bit_not": "({0} == 0)"}
)  # fmt: skip

HELPERS: Mapping[str, str] = MappingProxyType(
    {
        "sign": """    return tl.where(a == a, (a > 0).to(a.dtype) - (a < 0).to(a.dtype), a)""",
        "round": """    low = tl.floor(a)
    up = (a - low > 0.5) | ((a - low == 0.5) & (low - 2 * tl.floor(low / 2) != 0))
    return tl.where(up, low + 1, low)""",
        "tanh": """    fast = tl.exp(-2 * tl.abs(a))
    large = (1 - fast) / (1 + fast)
    s = a * a
    small = a * (1 + s * (-1 / 3 + s * (2 / 15 + s * (-17 / 315 + s * (62 / 2835)))))
    return tl.where(tl.abs(a) < 0.3, small, tl.where(a < 0, -large, large))""",
        "sinh": """    s = a * a
    small = a * (1 + s * (1 / 6 + s * (1 / 120 + s * (1 / 5040))))
    return tl.where(tl.abs(a) < 0.5, small, 0.5 * (tl.exp(a) - tl.exp(-a)))""",
        "cosh": """    return 0.5 * (tl.exp(a) + tl.exp(-a))""",
        "atan": """    x = tl.abs(a)
    far, middle = x > 2.414213562373095, x > 0.4142135623730951
    y = tl.where(far, -1 / x, tl.where(middle, (x - 1) / (x + 1), x))
    base = tl.where(far, 1.5707963267948966, tl.where(middle, 0.7853981633974483, 0.0))
    z = y * y
    tail = ((0.0805374449538 * z - 0.138776856032) * z + 0.199777106478) * z - 0.333329491539
    found = base + (tail * z * y + y)
    return tl.where(a < 0, -found, found)""",
        "asin": """    return atan(a / tl.sqrt(1 - a * a))""",
        "acos": """    return 1.5707963267948966 - asin(a)""",
        "asinh": """    x = tl.abs(a)
    s = a * a
    large = tl.log(x + tl.sqrt(s + 1))
    small = x * (1 + s * (-1 / 6 + s * (3 / 40 - s * (15 / 336))))
    found = tl.where(x < 0.2, small, large)
    return tl.where(a < 0, -found, found)""",
        "acosh": """    return tl.log(a + tl.sqrt(a * a - 1))""",
        "atanh": """    s = a * a
    small = a * (1 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7))))
    return tl.where(tl.abs(a) < 0.2, small, 0.5 * tl.log((1 + a) / (1 - a)))""",
        "power": """    x, y = a.to(tl.float64), b.to(tl.float64)
    size = tl.exp2(y * tl.log2(tl.abs(x)))
    exact = tl.where(tl.floor(x) == x, tl.where(y > 0, tl.floor(y) == y, False), False)
    size = tl.where(exact, tl.where(size < 4503599627370496.0, tl.floor(size + 0.5), size), size)
    odd = y - 2 * tl.floor(y / 2)
    negative = tl.where(odd == 1, -size, tl.where(odd == 0, size, float("nan")))
    known = tl.where(x < 0, negative, size)
    return tl.where(y == 0, 1.0, tl.where(x == 1, 1.0, known)).to(a.dtype)""",
        "modulo": """    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)""",
        "int_divide": """    safe = tl.where(b == 0, 1, b).to(b.dtype)
    return tl.where(b == 0, 0, a // safe).to(a.dtype)""",
        "near_tanh": """    return tl.inline_asm_elementwise(
        "tanh.approx.f32 $0, $1;", "=f,f", [a], dtype=tl.float32, is_pure=True, pack=1
    )""",
        "near_erf": """    return near_tanh(a * (1.1283791671 + 0.1009109 * a * a))""",
        "near_sigmoid": """    return 0.5 * near_tanh(0.5 * a) + 0.5""",
        "near_gelu": """    half = 0.5 * a
    return half + half * near_tanh(a * (0.7978845608 + 0.03567740814 * a * a))""",
        "near_silu": """    half = 0.5 * a
    return half + half * near_tanh(half)""",
        "fetch": """    tl.inline_asm_elementwise(
        "prefetch.global.L2 [$1]; mov.b32 $0, 0;",
        "=r,l", [a], dtype=tl.int32, is_pure=False, pack=1,
    )""",
        "together": """    return tl.inline_asm_elementwise(
        "mov.b32 $0, $1;", "=r,r", [a], dtype=a.dtype, is_pure=False, pack=2,
    )""",
        "largest": f"""    return tl.maximum(a, b, {_ALL_NAN})""",
        "smallest": f"""    return tl.minimum(a, b, {_ALL_NAN})""",
        "product": """    return a * b""",
    }
)  # fmt: skip
"""Functions that Triton lacks, by name, each as the body of one of `a` (and `b`)."""

_TWO = frozenset({"power", "modulo", "int_divide", "largest", "smallest", "product"})
_NEEDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"asin": ("atan",), "acos": ("atan", "asin")}
)
_NEAR: Mapping[str, str] = MappingProxyType(
    {
        "erf": "near_erf",
        "sigmoid": "near_sigmoid",
        "tanh": "near_tanh",
        "gelu": "near_gelu",
        "silu": "near_silu",
    }
)
_ONLY_F32 = frozenset({"atan", "asin", "acos"})
"""Their polynomials are as good as an f32."""


def helper_text(names: set[str]) -> str:
    """Return the definitions of the helpers with these names, and of those they use."""
    needed = {*names, *(each for name in names for each in _NEEDS.get(name, ()))}
    return "".join(
        f"@triton.jit\ndef {name}({'a, b' if name in _TWO else 'a'}):\n{body}\n\n\n"
        for name, body in HELPERS.items()
        if name in needed
    )


def refusal(expr: Expr) -> str | None:
    """Return what in the expression has no Triton ("atan of f64"); None: nothing."""
    for part in walk(expr):
        if part.dtype not in TYPES:
            return f"element type {part.dtype}"
        if isinstance(part, Call) and part.function != "cast":
            dtype = part.arguments[-1].dtype
            if _template(part.function, dtype) is None:
                return f"{part.function} of {dtype}"
    return None


def called(
    function: str,
    arguments: list[str],
    dtype: str,
    helpers: set[str],
    *,
    near: bool = False,
    rounded: bool = True,
) -> str:
    """Return a call as text; `dtype` is that of the last argument, helpers used are added.

    `near`: the result becomes a 16-bit float, for which the device's own tanh is exact enough.
    `rounded`: quotients and roots of f32 are rounded to nearest.
    """
    if near and function in _NEAR and dtype in ("f32", *HALVES):
        helpers.update((_NEAR[function], "near_tanh"))
        text = f"{_NEAR[function]}({arguments[0]}.to(tl.float32))"
        return f"{text}.to({TYPES[dtype]})" if dtype in HALVES else text
    wide = dtype in HALVES and function not in _EXACT
    texts = [f"{each}.to(tl.float32)" for each in arguments] if wide else arguments
    template = _template(function, "f32" if wide else dtype)
    if template is None:
        raise ModelError(
            f"Triton kernels have no {function} of {dtype}",
            hint="report it as a bug in burnish: such a node should stay with ONNX Runtime",
        )
    if dtype == "f32" and rounded:
        template = _ROUNDED.get(function, template)
    if function == "bit_not" and dtype.startswith("u"):
        return f"({number(2 ** int(dtype[1:]) - 1, dtype)} - {arguments[0]})"
    if template in HELPERS:
        helpers.add(template)
        text = f"{template}({', '.join(texts)})"
        if function == "power" and dtype not in FLOATS:
            helpers.add("round")
            exact = ", ".join(f"{each}.to(tl.float64)" for each in texts)
            text = f"round(power({exact})).to({TYPES[dtype]})"
    else:
        text = template.format(*texts)
    return f"{text}.to({TYPES[dtype]})" if wide else text


def is_helper(function: str, dtype: str) -> bool:
    """Say whether a function is one of our own, which takes tensors only."""
    return _template(function, "f32" if dtype in HALVES else dtype) in HELPERS


def _template(function: str, dtype: str) -> str | None:
    """Return a format string, or the name of a helper; None: there is neither."""
    if dtype == "bool" and function in _BOOL:
        return _BOOL[function]
    special = _FLOAT if dtype in FLOATS else _INTEGER
    if function in special:
        return special[function]
    if function in _PLAIN:
        return _PLAIN[function]
    if function == "divide":
        return "int_divide"
    if function in _ONLY_F32 and dtype == "f64":
        return None
    if function in ("sign", "modulo", "power") or (function in HELPERS and dtype in FLOATS):
        return function
    return None


def number(value: Number, dtype: str) -> str:
    """Return a literal; of other types than f32 and bool, with its type."""
    if dtype == "bool":
        return f"tl.full((), {int(bool(value))}, tl.int1)"
    text = digits(value, dtype)
    if dtype == "bf16":
        return f"tl.full((), {text}, tl.float32).to(tl.bfloat16)"
    return text if dtype == "f32" else f"tl.full((), {text}, {TYPES[dtype]})"


def otherwise(value: Number, dtype: str) -> str:
    """Return what a load gives where it loads nothing."""
    if value == 0 or dtype not in FLOATS:
        return str(int(value))
    return number(value, "f32")


def tensor(text: str, dtype: str) -> str:
    """Return a number as a tensor of no dimension, which functions of tensors want."""
    if not re.match(r'-?\d|float\("', text):
        return text
    return f"tl.full((), {text}, {TYPES[dtype]})"


def digits(value: Number, dtype: str) -> str:
    """Return a number as Python writes it."""
    if dtype not in FLOATS:
        return str(int(value))
    real = float(value)
    if math.isnan(real) or math.isinf(real):
        return f'float("{real}")'
    return repr(real)


def casted(text: str, source: str, target: str) -> str:
    """Return a value in another element type."""
    if source == target:
        return text
    given = tensor(text, source)  # a number of f32 is none to Triton
    if target == "bool":
        return f"({given} != 0)"
    return f"{given}.to({TYPES[target]})"
