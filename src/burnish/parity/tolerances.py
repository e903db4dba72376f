"""Which tolerance holds for which tensor, as models and users have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.closeness.tolerance import (
    ARITHMETIC,
    EXACT,
    OFF_BY_ONE,
    SMALLEST,
    Tolerance,
    arithmetic_of,
    is_float,
    weaker,
)
from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Which tolerance holds for which tensor; the plain default is that of each tensor's type."""

    arithmetic: str | None = None
    """The type of arithmetic that the user allows; None: what the reference computes in."""
    absolute: float | None = None
    relative: float | None = None
    """Asked for by the user; both hold for tensors of floats only."""
    quantised: frozenset[str] = field(default_factory=frozenset)
    """Integer tensors that hold rounded real numbers, by name."""
    by_tensor: Mapping[str, str] = field(default_factory=dict)
    """The weakest type that the reference computes in on the way to a tensor, by name."""
    near_zero: bool = True
    """Whether an error is allowed whatever the magnitudes: not where it is known how far
    roundings can move a number that is nearly zero, but for what the type cannot hold."""

    def __post_init__(self) -> None:
        if self.arithmetic is not None and self.arithmetic not in ARITHMETIC:
            raise UsageError(
                f"there is no tolerance for {self.arithmetic!r}",
                hint=suggestion(self.arithmetic, ARITHMETIC),
            )

    def of(self, name: str, dtype: str) -> Tolerance:
        """Return the tolerance of the tensor `name`."""
        if not is_float(dtype):
            return OFF_BY_ONE if name in self.quantised else EXACT
        kind = self.effective(dtype, name)
        default = ARITHMETIC[kind]
        if self.absolute is None and self.relative is None:
            least = SMALLEST.get(kind, 0.0)
            return default if self.near_zero else Tolerance(least, default.relative, default.reason)
        return Tolerance(
            default.absolute if self.absolute is None else self.absolute,
            default.relative if self.relative is None else self.relative,
            "asked for",
        )

    @property
    def is_asked(self) -> bool:
        """Return whether the user chose what is allowed."""
        return (self.arithmetic, self.absolute, self.relative) != (None, None, None)

    def effective(self, dtype: str, name: str = "") -> str:
        """Return the weaker of a float tensor's own type and the type of the arithmetic."""
        own = arithmetic_of(dtype)
        arithmetic = self.arithmetic or self.by_tensor.get(name)
        return own if arithmetic is None else weaker(own, arithmetic)
