"""What an attack brings to light."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not be."""

    kind: str
    """`traceback`, `hang`, `crash`, `lost`, `orphan`, `litter`, `wrongly different` …"""
    where: str
    what: str
