"""PTX without sums of packed 16-bit integers, which NVIDIA's assembler compiles wrongly.

LLVM divides small numbers in 16 bits, and adds two such numbers at once. Where ptxas (12.8 and
12.9) finds that one of the two is not needed, it may take both addends for zero: the last term of
a convolution of 7 x 7 over three channels was read two rows too high, and the result 13 % off on an
H200, as it is when its machine code is followed by hand. Added one by one, they are right.
"""

from __future__ import annotations

import re

_SUM = re.compile(r"^(\s*)add\.[su]16x2\s+(\S+), ([^,;]+), ([^,;]+);", re.MULTILINE)
_APART = r"""\1{
\1.reg .b16 %one<2>, %two<2>;
\1.reg .b32 %both<2>;
\1mov.b32 %both0, \3;
\1mov.b32 %both1, \4;
\1mov.b32 {%one0, %one1}, %both0;
\1mov.b32 {%two0, %two1}, %both1;
\1add.s16 %one0, %one0, %two0;
\1add.s16 %one1, %one1, %two1;
\1mov.b32 \2, {%one0, %one1};
\1}"""


def apart(ptx: str) -> str:
    """Return PTX in which pairs of 16-bit integers are added one by one."""
    return _SUM.sub(_APART, ptx)


def packed_sums(ptx: str) -> bool:
    """Say whether PTX still adds pairs of 16-bit integers."""
    return re.search(r"\badd\.[su]16x2\b", ptx) is not None
