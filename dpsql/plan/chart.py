"""Charts of a dashboard: which keys each groups by, and which values it shows."""

from __future__ import annotations

from msgspec import Struct

from dpsql.plan.expression import Column


class Chart(Struct, frozen=True):
    """The keys and the aggregates of one release that one chart shows, as the release has them."""

    keys: tuple[Column, ...]
    values: tuple[Column, ...]
