"""A bound on several columns of a row together."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct


class RowNorm(Struct, frozen=True):
    """The norm of a row's values in `columns`, L1 or L2 by `order`, is `radius` at most."""

    columns: tuple[str, ...]
    radius: Fraction
    order: int
