"""The limits of a release with the least expected error, by ladders that were paid for.

Whatever is chosen is enforced like any other limit: a sensitivity rests on the choice, never on
what the ladders say. The choice reads noisy counts, the schema and the statement alone, so that it
costs nothing and may be another one for every query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, assert_never

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.lineage.functional_dependency import declared, one_row_per_unit
from dpsql.analysis.lineage.lineage import private_scans
from dpsql.bounding.contribution_limit import highest_fanout_table
from dpsql.bounding.group_choice import cell_count, unit_independent_keys
from dpsql.bounding.key_domain import key_domains, limit_cells
from dpsql.bounding.options import ContributionLimits, SumCap
from dpsql.bounding.public_facts import Facts
from dpsql.engine.digest import Digest
from dpsql.errors import InternalError
from dpsql.plan.aggregate import AggregateFunction
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.expression import Expression
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Release
from dpsql.plan.traversal import operators
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.ladder.cap_choice import ChosenCap
from dpsql.privacy.ladder.joint_choice import ChosenLimits, Measured, best_limits
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.schema.model import Limits, Schema
from dpsql.session.digest.canonical_digest import SourceDigests
from dpsql.session.ladders.stored_ladders import GROUPS, ROWS, SUMS, StoredLadders

_ONE_GROUP: Final = Ladder((0, 1), (Fraction(0), Fraction(1)), DiscreteLaplace(Fraction(1)))
"""Of units that are in one group each: nobody needs to ask how many groups they are in."""

_MEAN_OF_NORMAL: Final = math.sqrt(2 / math.pi)
"""The mean absolute value of a standard normal variable."""

_MANY: Final = 2**20
"""More groups than a unit is taken to be in."""

_DEFAULTS: Final = Limits()
"""What holds where a table's limits are calibrated, and no ladder is of a query's keys."""


@dataclass(frozen=True, slots=True)
class LimitChoice:
    """The limits that were chosen, and what is told of them: what they leave out, as expected."""

    limits: ContributionLimits
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryNoise:
    """What noise costs a query: its `loss`, shared by so many `statistics`, of so many units."""

    loss: PrivacyLoss
    distance: NeighborDistance
    statistics: int

    def mean_absolute(self, groups: int, cap: Fraction) -> float:
        """About how far noise moves a value of which a unit changes `groups` by up to `cap`."""
        amount = float(self.loss.amount) / self.statistics
        change = self.distance.steps * float(cap)
        laplace = groups * change / amount
        match self.loss.accounting:
            case Accounting.PURE:
                return laplace
            case Accounting.ZCDP:
                return _MEAN_OF_NORMAL * math.sqrt(groups / (2 * amount)) * change
            case Accounting.APPROX:
                delta = float(self.loss.delta) / self.statistics
                if not delta:
                    return laplace
                deviation = math.sqrt(2 * groups * math.log(1.25 / delta)) * change / amount
                return min(laplace, _MEAN_OF_NORMAL * deviation)
            case missing:
                assert_never(missing)


@dataclass(frozen=True, slots=True)
class LimitChooser:
    """Chooses the limits of a statement's releases, each of which may spend `loss`."""

    schema: Schema
    facts: Facts
    ladders: Sequence[StoredLadders]
    loss: PrivacyLoss

    def choice(
        self, release: Release, requested: ContributionLimits, *, is_synopsis: bool
    ) -> LimitChoice:
        """The limits of one release, no looser than what is `requested`."""
        scans = private_scans(release.source)
        if not any(scan.table.limits.calibrated for scan in scans):
            return LimitChoice(requested, ())
        below = column_domains(release.source)
        listed = key_domains(release.keys, release.source, release.key_source, below, self.facts)
        terms = Contributions(release.source, release.keys, limit_cells(listed), ())
        if not highest_fanout_table(terms).limits.calibrated:
            return LimitChoice(requested, ())
        reads = any(isinstance(part, Release) for part in operators(release.source))
        ladders = () if is_synopsis or reads else self.ladders
        distance = self.schema.neighbor_distance
        return _ReleaseLimits(release, terms, ladders, self.loss, distance).chosen(requested)


@dataclass(frozen=True, slots=True)
class _Sum:
    """An argument that is summed, and the ladders of what a unit's values of it sum to."""

    argument: Expression
    ladders: StoredLadders


class _ReleaseLimits:
    """Chooses the limits of one release of a table whose limits are calibrated.

    Ladders by the release's own keys say what a unit has in each group. Where there are none, those
    of all that it has bound that: it has no more in any group, nor more groups than rows.
    """

    def __init__(
        self,
        release: Release,
        terms: Contributions,
        ladders: Sequence[StoredLadders],
        loss: PrivacyLoss,
        distance: NeighborDistance,
    ) -> None:
        table = highest_fanout_table(terms)
        independent = unit_independent_keys(terms, declared)
        own = [each for each in ladders if each.about.table == table.name]
        self._release = release
        self._terms = terms
        self._table = table
        self._digests = SourceDigests(release.source) if own else None
        keys = {self._meaning(terms.keys[index].expression) for index in independent}
        self._is_in_one = not independent
        self._is_one_row = one_row_per_unit(release.source, declared)
        self._by_keys = [each for each in own if set(each.about.keys) == keys]
        self._of_all = [each for each in own if not each.about.keys]
        self._cells = cell_count(terms.domains, range(len(terms.keys)))
        self._noise = QueryNoise(loss, distance, self._statistics)

    def chosen(self, requested: ContributionLimits) -> LimitChoice:
        """The limits with the least expected error, no looser than what is `requested`."""
        sums, rows, groups = self._sums(), self._find(None), self._groups()
        counts_rows = len(sums) < len(self._release.aggregates) and not self._is_one_row
        is_known = groups is not None or self._cells is not None
        if rows is None and (counts_rows or not is_known or not (sums or self._is_one_row)):
            return self._by_default(requested, sums)
        if groups is not None:
            best, in_all = self._by_groups(groups, sums, rows if counts_rows else None)
        else:
            best, in_all = self._by_all_rows(sums, rows, counts_rows=counts_rows)
        per_group = int(best.caps[-1].cap) if counts_rows else self._table.limits.rows_per_group
        ladders = [each.ladders for each in sums] + ([] if rows is None else [rows])
        limits = replace(
            requested,
            groups=_least(requested.groups, best.groups),
            rows_per_group=_least(requested.rows_per_group, per_group),
            rows=requested.rows if in_all is None else _least(requested.rows, in_all),
            sums=tuple(
                SumCap(each.argument, one.cap) for each, one in zip(sums, best.caps, strict=False)
            ),
            origin=f"by {_names(ladders)}",
        )
        named = [f"sum({describe(each.argument)})" for each in sums] + ["count(*)"] * counts_rows
        return LimitChoice(limits, _notes(named, best.caps, ladders))

    def _by_groups(
        self, groups: Ladder, sums: Sequence[_Sum], rows: StoredLadders | None
    ) -> tuple[ChosenLimits, int | None]:
        """Limits by the number of a unit's groups, and of its rows in all where they bind."""
        noise = self._noise.mean_absolute
        measured = [self._measured(each.ladders, SUMS, noise) for each in sums]
        if rows is not None:
            measured.append(self._measured(rows, ROWS, noise))
        best = best_limits(groups, measured, self._table.limits.groups)
        # In its only group a unit has all its rows.
        binds = rows is not None and best.groups == 1
        return best, int(best.caps[-1].cap) if binds else None

    def _by_all_rows(
        self, sums: Sequence[_Sum], rows: StoredLadders | None, *, counts_rows: bool
    ) -> tuple[ChosenLimits, int | None]:
        """Limits where nobody asked how many groups a unit is in: no more than it has rows."""

        def in_one(_: int, cap: Fraction) -> float:
            return self._noise.mean_absolute(1, cap)

        def in_several(_: int, cap: Fraction) -> float:
            return self._noise.mean_absolute(groups, cap)

        groups, in_all = min(self._table.limits.groups, self._cells or _MANY), None
        counted: tuple[ChosenCap, ...] = ()
        if rows is not None and counts_rows:
            counted = best_limits(_ONE_GROUP, [self._measured(rows, ROWS, in_one)], None).caps
            in_all = int(counted[0].cap)
            groups = min(groups, in_all)
        elif rows is not None:
            ladder = self._measured(rows, ROWS, in_one).pairs
            groups = min(groups, int(ladder.rungs[ladder.top()]))
        measured = [self._measured(each.ladders, SUMS, in_several) for each in sums]
        capped = best_limits(_ONE_GROUP, measured, None).caps if measured else ()
        return ChosenLimits(groups, 0.0, (*capped, *counted)), in_all

    @property
    def _statistics(self) -> int:
        """About how many statistics share the loss."""
        calls = [a.call for a in self._release.aggregates]
        arguments = {call.arguments for call in calls}
        has_rows = any(call.function is not AggregateFunction.SUM for call in calls)
        listed = {index for domain in self._terms.domains for index in domain.keys}
        is_unlisted = len(listed) < len(self._terms.keys)
        return max(1, len(arguments - {()}) + has_rows + is_unlisted)

    def _meaning(self, expression: Expression) -> Digest:
        return "" if self._digests is None else self._digests.of(expression)

    def _find(self, measure: Digest | None) -> StoredLadders | None:
        """The newest ladders of this measure, or of rows: by the release's keys, else of all."""
        for known in (self._by_keys, self._of_all):
            found = [each for each in known if each.about.measure == measure]
            if found:
                return found[-1]
        return None

    def _sums(self) -> list[_Sum]:
        """The arguments that are summed, or averaged, and of which there are ladders."""
        sums: dict[Expression, _Sum] = {}
        for aggregate in self._release.aggregates:
            call = aggregate.call
            if call.function in _OF_SUMS and not call.distinct and len(call.arguments) == 1:
                (argument,) = call.arguments
                ladders = self._find(self._meaning(argument)) if self._digests else None
                if ladders is not None:
                    sums[argument] = _Sum(argument, ladders)
        return list(sums.values())

    def _groups(self) -> Ladder | None:
        """The newest ladder of a unit's groups; None where there is none, and it is in several."""
        if self._is_in_one:
            return _ONE_GROUP
        found = [ladder for each in self._by_keys if (ladder := each.ladder(GROUPS)) is not None]
        return found[-1] if found else None

    def _measured(
        self, ladders: StoredLadders, part: str, noise: Callable[[int, Fraction], float]
    ) -> Measured:
        ladder = ladders.ladder(part)
        if ladder is None:
            raise InternalError("a ladder has other parts than its metadata say")
        caps = self._table.limits
        highest = Fraction(min(caps.rows_per_group, caps.rows)) if part == ROWS else None
        return Measured(ladder, self._share(ladders), noise, highest)

    def _share(self, ladders: StoredLadders) -> Fraction:
        """The part of all units, in their groups, that a group of the release has, as expected."""
        if not self._terms.keys:
            return Fraction(1)
        counts = sorted(max(1, count) for count in ladders.group_units.values())
        if counts and self._cells in {None, len(counts)}:
            return Fraction(counts[len(counts) // 2], sum(counts))
        return Fraction(1, max(1, self._cells or ladders.about.least_groups))

    def _by_default(self, requested: ContributionLimits, sums: Sequence[_Sum]) -> LimitChoice:
        """The default limits: no ladder says how many rows or groups a unit has."""
        caps, name = self._table.limits, self._table.display_name
        groups = min(caps.groups, _DEFAULTS.groups, self._cells or _DEFAULTS.groups)

        def noise(_: int, cap: Fraction) -> float:
            return self._noise.mean_absolute(groups, cap)

        measured = [self._measured(each.ladders, SUMS, noise) for each in sums]
        capped = best_limits(_ONE_GROUP, measured, None).caps if measured else ()
        limits = replace(
            requested,
            groups=_least(requested.groups, min(caps.groups, _DEFAULTS.groups)),
            rows_per_group=_least(
                requested.rows_per_group, min(caps.rows_per_group, _DEFAULTS.rows_per_group)
            ),
            rows=_least(requested.rows, min(caps.rows, _DEFAULTS.rows)),
            sums=tuple(
                SumCap(each.argument, one.cap) for each, one in zip(sums, capped, strict=True)
            ),
            origin="the default",
        )
        note = (
            "no ladder says how many rows a unit has, so that default limits hold, and what they"
            f" leave out can't be told: CALIBRATE {name} FOR 0.5"
        )
        return LimitChoice(limits, (note,))


def _names(ladders: Sequence[StoredLadders]) -> str:
    return ", ".join(dict.fromkeys(each.name for each in ladders))


def _notes(
    named: Sequence[str], caps: Sequence[ChosenCap], ladders: Sequence[StoredLadders]
) -> tuple[str, ...]:
    """What the limits leave out of a group, as the ladders let expect."""
    notes = []
    for name, one in zip(named, caps, strict=True):
        notes.append(
            f"{name}: limits leave out about {one.bias:,.3g} of {one.total:,.6g} in a group"
            f" (90 %: {one.low:,.3g} to {one.high:,.3g}), as expected by {_names(ladders)}"
        )
    if any(each.is_old for each in ladders):
        notes.append(f"{_names(ladders)}: of an earlier version of the data; CALIBRATE again")
    return tuple(notes)


_OF_SUMS: Final = {AggregateFunction.SUM, AggregateFunction.AVG}


def _least(requested: int | None, chosen: int) -> int:
    return chosen if requested is None else min(requested, chosen)
