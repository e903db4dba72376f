"""The table of planted errors: what the default `burnish verify` must find."""

from __future__ import annotations

from torture.case import Case
from torture.families.afresh import AFRESH
from torture.families.attention import ATTENTION
from torture.families.control import CONTROL
from torture.families.converted import CONVERTED
from torture.families.detection import DETECTION, RECURRENT
from torture.families.engines import ENGINE_CASES
from torture.families.exporters import EXPORTERS
from torture.families.fusions import FUSIONS
from torture.families.images import IMAGES
from torture.families.integers import INTEGERS
from torture.families.judged import JUDGED
from torture.families.masks import MASKS
from torture.families.newer import NEWER
from torture.families.outputs import BLANK, OUTPUTS
from torture.families.positions import POSITIONS
from torture.families.quantised import QUANTISED
from torture.families.routing import ROUTING
from torture.families.sizes import SIZES
from torture.families.together import TOGETHER
from torture.families.tokens import TOKENS
from torture.families.values import VALUES
from torture.families.weights import WEIGHTS

FAMILIES = (
    JUDGED, SIZES, MASKS, TOKENS, ATTENTION, VALUES, INTEGERS, CONTROL, WEIGHTS, QUANTISED, IMAGES,
    DETECTION, RECURRENT, OUTPUTS, FUSIONS, POSITIONS, ROUTING, TOGETHER,
    NEWER, AFRESH, EXPORTERS, CONVERTED,
)  # fmt: skip
PLANTS: tuple[Case, ...] = (
    *(case for family in FAMILIES for case in family.cases),
    *ENGINE_CASES,
)
BLANKS: tuple[Case, ...] = tuple(BLANK.cases)
"""Pairs whose outputs tell nothing: to be called neither equal nor different."""
