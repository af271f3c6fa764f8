"""What an analyst may tighten for the statements to come; nothing here loosens the schema."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.schema.model import Limits


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits below the schema's, None where those hold, and what is done to answers.

    `min_units`: groups of fewer units, as far as noise lets tell, are left out. `nonnegative`:
    counts below 0 are shown as 0, which biases sums over many of them upwards. `reuse`: where that
    is free, an answer is summed from a stored one of more groups, at more noise. `consistent`:
    totals and their parts are made to add up, at less noise than any alone. `max_error` is the
    95 % half-width that will do, and so chooses ε; `max_cost` is the largest ε of a statement, and
    `ceiling` the largest that whoever lends out the session allows: no statement changes that.
    `rounds` are those of the synopsis that is made of one statement, None for its answer.
    """

    groups: int | None = None
    rows_per_group: int | None = None
    rows: int | None = None
    min_units: int | None = None
    nonnegative: bool = False
    reuse: bool = False
    consistent: bool = False
    max_error: Fraction | None = None
    max_cost: Fraction | None = None
    ceiling: Fraction | None = None
    rounds: int | None = None

    @property
    def cost_cap(self) -> Fraction | None:
        """The lesser of `max_cost` and `ceiling`; None where neither is set."""
        caps = [cap for cap in (self.max_cost, self.ceiling) if cap is not None]
        return min(caps, default=None)

    def tightened(self, limits: Limits) -> Limits:
        """The schema's limits, or lower ones."""
        return Limits(
            _tighter(limits.groups, self.groups),
            _tighter(limits.rows_per_group, self.rows_per_group),
            _tighter(limits.rows, self.rows),
            limits.declared,
        )


AS_DECLARED = Settings()


def _tighter(declared: int, requested: int | None) -> int:
    return declared if requested is None else min(declared, requested)
