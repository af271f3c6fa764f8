"""A bound on several columns of a row together."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class RowNorm:
    """The norm of a row's values in `columns`, L1 or L2 by `order`, is `radius` at most."""

    columns: tuple[str, ...]
    radius: Fraction
    order: int
