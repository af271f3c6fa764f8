"""Charts of a dashboard: which keys each groups by, and which values it shows."""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.plan.expression import Column


@dataclass(frozen=True, slots=True)
class Chart:
    """The keys and the aggregates of one release that one chart shows, as the release has them."""

    keys: tuple[Column, ...]
    values: tuple[Column, ...]
