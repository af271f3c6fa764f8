"""What an analyst chooses for a statement beside its text, by what each choice is for."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from msgspec import Struct

from dpsql.bounding.options import ALL_GROUPS, AS_DECLARED, ContributionLimits, ReleaseOptions


class AnswerOptions(Struct, frozen=True):
    """What is computed of noisy numbers, free.

    `reuse`: where that costs nothing, an answer is summed from a stored one of more groups, at more
    noise. `consistent`: totals and their parts are made to add up, at less noise than any alone.
    `clamped`: counts of distinct values are shown within what there can be. `counts_all_keys`: the
    most frequent keys are those of the largest counts that are released, and none is chosen.
    """

    reuse: bool = False
    consistent: bool = False
    clamped: bool = True
    counts_all_keys: bool = False


class PriceOptions(Struct, frozen=True):
    """What a statement may cost, in ε; None where nothing is set.

    `max_error` is the 95 % half-width that will do, and so chooses ε; `max_cost` is the largest ε
    of a statement, or of a batch in all. `ceiling` is the largest ε of each statement, and
    `batch_ceiling` of a batch in all, that whoever lends out the session allows: no statement
    changes that. Without a `batch_ceiling`, a batch may cost what one statement may.
    """

    max_error: Fraction | None = None
    max_cost: Fraction | None = None
    ceiling: Fraction | None = None
    batch_ceiling: Fraction | None = None

    @property
    def batch_cap(self) -> Fraction | None:
        """The largest ε of a batch that whoever lends out the session allows."""
        return self.ceiling if self.batch_ceiling is None else self.batch_ceiling

    @property
    def cost_cap(self) -> Fraction | None:
        """The lesser of `max_cost` and `ceiling`; None where neither is set."""
        caps = [cap for cap in (self.max_cost, self.ceiling) if cap is not None]
        return min(caps, default=None)


AS_DRAWN: Final = AnswerOptions()
ANY_PRICE: Final = PriceOptions()


class QueryOptions(Struct, frozen=True, cache_hash=True):
    """All that an analyst may choose for one statement.

    `epsilon` is what it spends if `price.max_error` doesn't choose that; None: the session's
    default.
    """

    epsilon: Fraction | None = None
    limits: ContributionLimits = AS_DECLARED
    release: ReleaseOptions = ALL_GROUPS
    answer: AnswerOptions = AS_DRAWN
    price: PriceOptions = ANY_PRICE


DEFAULT_OPTIONS: Final = QueryOptions()
