"""The limits of a release with the least expected error, by ladders that were paid for.

Whatever is chosen is enforced like any other limit: a sensitivity rests on the choice, never on
what the ladders say. The choice reads noisy counts, the schema and the statement alone, so that it
costs nothing and may be another one for every query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Final

from msgspec import Struct, field

from dpsql.bounding.options import ContributionLimits, SumCap
from dpsql.plan.expression import Expression
from dpsql.plan.expression_text import describe
from dpsql.privacy.ladder.cap_choice import ChosenCap
from dpsql.privacy.ladder.expected_bias import ExpectedBias, KeyBiases, expected_bias
from dpsql.privacy.ladder.joint_choice import (
    SAMPLED,
    ChosenLimits,
    Measured,
    Ways,
    best_limits,
)
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.over_groups import OverGroups
from dpsql.schema.model import Limits
from dpsql.session.ladders.key_cap_choice import KeyCapChoice, key_cap_choice
from dpsql.session.ladders.limit_notes import (
    column_biases,
    gain_notes,
    key_biases,
    limit_notes,
    names_of,
)
from dpsql.session.ladders.query_noise import QueryNoise
from dpsql.session.ladders.release_ladders import ONE_GROUP, LadderedSum, ReleaseLadders
from dpsql.session.ladders.stored_ladders import ROWS, SUMS, StoredLadders
from dpsql.structs import replace

_MANY: Final = 2**20
"""More groups than a unit is taken to be in."""

_DEFAULTS: Final = Limits()
"""What holds where a table's limits are calibrated, and no ladder is of a query's keys."""


class LimitChoice(Struct, frozen=True):
    """The limits that were chosen, and what is told of them: what they leave out, as expected.

    `biases` has that for the columns of aggregates of which ladders tell, by their ids, and
    `key_biases` for those whose groups have caps of their own, by the groups' key.
    """

    limits: ContributionLimits
    notes: tuple[str, ...]
    biases: Mapping[int, ExpectedBias] = field(default_factory=dict)
    key_biases: Mapping[int, KeyBiases] = field(default_factory=dict)


class _Best(Struct, frozen=True):
    """The best limits, with a cap on a unit's rows in all its groups where that binds.

    A cap of each sum comes first, then that of `rows`, if they are counted. `groups` is the ladder
    of a unit's groups; where there is none, fewer than `needed` leave out what it can't tell.
    """

    chosen: ChosenLimits
    rows: StoredLadders | None
    in_all: int | None
    groups: Ladder
    needed: int = 0


class ReleaseLimits:
    """Chooses the limits of one release of a table whose limits are calibrated."""

    def __init__(
        self,
        ladders: ReleaseLadders,
        noise: QueryNoise,
        requested: ContributionLimits,
        *,
        by_key: bool,
    ) -> None:
        self._ladders = ladders
        self._table = ladders.table
        self._noise = noise
        self._requested = requested
        self._sums = ladders.sums()
        self._rows = ladders.find(None)
        self._counts_rows = ladders.counts_rows(self._sums)
        self._ways = self._allowed_ways()
        self._by_key = self._key_caps() if by_key and requested.unit_sum is None else {}

    def chosen(self) -> LimitChoice:
        """The limits with the least expected error, no looser than what is requested."""
        sums, rows, groups = self._sums, self._rows, self._ladders.groups()
        if self._ladders.is_one_row and not sums:
            return LimitChoice(self._requested, ())  # there is nothing to limit
        are_known = groups is not None or self._ladders.cells is not None
        if rows is None and (self._counts_rows or not are_known or not sums):
            return self._by_default()
        best = self._by_all_rows(rows) if groups is None else self._by_either(groups)
        limits = self._limits(best)
        biases = self._biases(best, limits)
        names = [_sum_text(each) for each in sums] + ["count(*)"] * self._counts_rows
        ladders = self._read(best)
        one_cap = [
            n for n in range(len(names)) if n >= len(sums) or sums[n].argument not in self._by_key
        ]
        notes = (
            *limit_notes([names[n] for n in one_cap], [biases[n] for n in one_cap], ladders),
            *(
                self._by_key[each.argument].note(_sum_text(each), each.ladders.name)
                for each in sums
                if each.argument in self._by_key
            ),
            *gain_notes(best.chosen, ladders),
        )
        counted = biases[-1] if self._counts_rows else None
        pairs = zip(sums, biases, strict=False)
        summed = {each.argument: one for each, one in pairs if each.argument not in self._by_key}
        by_column = column_biases(self._ladders.aggregates, summed, counted)
        by_key = {argument: choice.biases for argument, choice in self._by_key.items()}
        return LimitChoice(limits, notes, by_column, key_biases(self._ladders.aggregates, by_key))

    def _key_caps(self) -> Mapping[Expression, KeyCapChoice]:
        """The sums that have caps by key: where units are in one group, whose size is counted."""
        choices: dict[Expression, KeyCapChoice] = {}
        for each in self._sums:
            known = self._ladders.key_shares(each)
            if known is not None:
                noise = partial(self._noise.mean_absolute, 1)
                choice = key_cap_choice(each.ladders.ladders[SUMS], known, noise)
                if choice is not None:
                    choices[each.argument] = choice
        return choices

    def _allowed_ways(self) -> Ways:
        """What may become of units in too many groups: what was said, or what has less error."""
        requested, limits = self._requested, self._table.limits
        ordered = requested.over_groups
        if ordered is None and "over_groups" in limits.declared:
            ordered = limits.over_groups
        # Sums with a cap aren't scaled, nor what is in groups that no list has.
        if self._sums or not self._counts_rows or self._ladders.cells is None:
            return SAMPLED
        every = (OverGroups.SAMPLE, OverGroups.SCALE)
        return Ways(every if ordered is None else (ordered,), requested.norm_order or 2)

    def _limits(self, best: _Best) -> ContributionLimits:
        """The best limits, or tighter ones that are requested."""
        requested, chosen = self._requested, best.chosen
        rows = self._table.limits.rows_per_group
        if self._counts_rows:
            rows = int(chosen.caps[-1].cap)
        return replace(
            requested,
            groups=_tighter(requested.groups, chosen.groups),
            rows_per_group=_tighter(requested.rows_per_group, rows),
            rows=requested.rows if best.in_all is None else _tighter(requested.rows, best.in_all),
            sums=self._sum_caps(chosen.caps),
            over_groups=chosen.over_groups,
            origin=f"by {names_of(self._read(best))}",
        )

    def _read(self, best: _Best) -> list[StoredLadders]:
        """The ladders that limits were chosen by."""
        ladders = [each.ladders for each in self._sums]
        return ladders if best.rows is None else [*ladders, best.rows]

    def _sum_caps(self, caps: Sequence[ChosenCap]) -> tuple[SumCap, ...]:
        by_key = {argument: choice.caps for argument, choice in self._by_key.items()}
        pairs = zip(self._sums, caps, strict=False)
        return tuple(SumCap(e.argument, one.cap, by_key.get(e.argument)) for e, one in pairs)

    def _biases(self, best: _Best, limits: ContributionLimits) -> list[ExpectedBias | None]:
        """What `limits` leave out of each sum, and of rows; None where no ladder tells."""
        groups = min(limits.groups or _MANY, self._table.limits.groups)
        highest = limits.unit_sum
        if groups < best.needed:
            return [None] * len(best.chosen.caps)
        biases: list[ExpectedBias | None] = []
        for each, one in zip(self._sums, best.chosen.caps, strict=False):
            cap = one.cap if highest is None else min(one.cap, highest)
            biases.append(
                expected_bias(best.groups, self._measured(each.ladders, SUMS), groups, cap)
            )
        if self._counts_rows and best.rows is not None:
            declared = self._table.limits
            per_group = min(limits.rows_per_group or _MANY, declared.rows_per_group)
            in_all = min(limits.rows or _MANY, declared.rows)
            if best.in_all is not None or groups == 1:
                per_group = min(per_group, in_all)
            # How rows in all are spread over groups no ladder tells.
            is_known = in_all >= groups * per_group or best.in_all is not None
            rows, cap = self._measured(best.rows, ROWS), Fraction(per_group)
            way, order = best.chosen.over_groups, self._ways.order
            bias = expected_bias(best.groups, rows, groups, cap, way, order)
            biases.append(bias if is_known else None)
        return biases

    def _by_either(self, groups: Ladder) -> _Best:
        """Limits in each group, or on rows in all groups, if both have ladders: the nearer ones.

        A unit with 600 rows in three groups has up to 600 in one: limits that leave out nothing
        let it change 1,800 in all where each group has its limit, and 600 where all have one.
        """
        by_groups, in_all = self._by_groups(groups), self._ladders.rows_in_all()
        is_listed = self._ladders.cells is not None
        if self._sums or not (self._counts_rows and is_listed) or in_all is None:
            return by_groups
        by_rows = self._by_all_rows(in_all)
        return min(by_groups, by_rows, key=lambda best: best.chosen.caps[-1].error)

    def _by_groups(self, groups: Ladder) -> _Best:
        """Limits by the number of a unit's groups, and of its rows in all where they bind."""
        measured = [self._measured(each.ladders, SUMS) for each in self._sums]
        if self._rows is not None and self._counts_rows:
            measured.append(self._measured(self._rows, ROWS))
        best = best_limits(groups, measured, self._table.limits.groups, self._ways)
        # In its only group a unit has all its rows.
        binds = self._counts_rows and best.groups == 1
        return _Best(best, self._rows, int(best.caps[-1].cap) if binds else None, groups)

    def _by_all_rows(self, rows: StoredLadders | None) -> _Best:
        """Limits on all of a unit's rows: it is in no more groups than it has rows."""
        in_all = None
        declared, needed = self._table.limits.groups, self._ladders.cells or _MANY
        counted: tuple[ChosenCap, ...] = ()
        if rows is not None and self._counts_rows:
            counted = best_limits(ONE_GROUP, [self._measured(rows, ROWS, groups=1)], None).caps
            in_all = int(counted[0].cap)
            needed = min(needed, in_all)
        elif rows is not None:
            ladder = rows.ladders[ROWS]
            needed = min(needed, int(ladder.rungs[ladder.top()]))
        groups = min(declared, needed)
        caps = (*self._caps_of_sums(groups), *counted)
        return _Best(ChosenLimits(groups, 0.0, caps), rows, in_all, ONE_GROUP, needed)

    def _caps_of_sums(self, groups: int) -> tuple[ChosenCap, ...]:
        """The caps of sums of units that are in so many groups."""
        measured = [self._measured(each.ladders, SUMS, groups=groups) for each in self._sums]
        return best_limits(ONE_GROUP, measured, None).caps if measured else ()

    def _measured(
        self, ladders: StoredLadders, part: str, *, groups: int | None = None
    ) -> Measured:
        """A statistic that ladders tell of: with noise for so many groups, if these are known."""
        caps, noise = self._table.limits, self._noise.mean_absolute
        highest = Fraction(min(caps.rows_per_group, caps.rows)) if part == ROWS else None

        def noise_of(limit: int, cap: Fraction) -> float:
            return noise(limit if groups is None else groups, cap)

        lowest, share = self._ladders.shares(ladders)
        ladder, of_scaled = ladders.ladders[part], self._noise.of_scaled
        return Measured(ladder, share, noise_of, highest, of_scaled, lowest)

    def _by_default(self) -> LimitChoice:
        """The default limits: no ladder says how many rows or groups a unit has."""
        requested, caps, name = self._requested, self._table.limits, self._table.display_name
        groups = min(caps.groups, _DEFAULTS.groups, self._ladders.cells or _DEFAULTS.groups)
        limits = replace(
            requested,
            groups=_tighter(requested.groups, min(caps.groups, _DEFAULTS.groups)),
            rows_per_group=_tighter(
                requested.rows_per_group, min(caps.rows_per_group, _DEFAULTS.rows_per_group)
            ),
            rows=_tighter(requested.rows, min(caps.rows, _DEFAULTS.rows)),
            sums=tuple(replace(c, by_key=None) for c in self._sum_caps(self._caps_of_sums(groups))),
            origin="the default",
        )
        note = (
            "no ladder says beyond its noise how many rows a unit has, so that default limits hold,"
            f" and what they leave out can't be told: CALIBRATE {name} FOR 0.5"
        )
        return LimitChoice(limits, (note,))


def _sum_text(each: LadderedSum) -> str:
    """What a sum is called in a note."""
    return f"sum({describe(each.argument)})"


def _tighter(requested: int | None, chosen: int) -> int:
    return chosen if requested is None else min(requested, chosen)
