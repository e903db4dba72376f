"""Inputs that have no room are not made."""

from __future__ import annotations

import pytest

from burnish.core.errors import MissingCapabilityError, ModelError
from burnish.feeds.room import require_room


def test_what_fits_is_let_through() -> None:
    require_room({"x": (2, 3), "scalar": (), "none": (0, 2**40)}, usable=lambda: 100)


def test_a_claim_beyond_memory_is_refused_before_anything_is_made() -> None:
    with pytest.raises(MissingCapabilityError) as caught:
        require_room({"x": (2**40,), "y": (2,)}, usable=lambda: 2**34)
    assert caught.value.problem == (
        "input 'x' of shape [1099511627776] takes 8.00 TiB to make, and there are 16.0 GiB of"
        " memory"
    )
    assert caught.value.hint == (
        "bind smaller sizes with --shape, or export the model with smaller ones"
    )


def test_an_array_has_64_dimensions_at_most() -> None:
    with pytest.raises(ModelError) as caught:
        require_room({"x": (1,) * 72})
    assert caught.value.problem == "input 'x' has 72 dimensions, and arrays have 64 at most"
