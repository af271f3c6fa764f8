"""The limits of a release with the least expected error, by ladders that were paid for.

Whatever is chosen is enforced like any other limit: a sensitivity rests on the choice, never on
what the ladders say. The choice reads noisy counts, the schema and the statement alone, so that it
costs nothing and may be another one for every query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.lineage.functional_dependency import declared, one_row_per_unit
from dpsql.analysis.lineage.lineage import private_scans
from dpsql.bounding.contribution_limit import highest_fanout_table
from dpsql.bounding.group_choice import cell_count, unit_independent_keys
from dpsql.bounding.key_domain import key_domains, limit_cells
from dpsql.bounding.options import ContributionLimits, SumCap
from dpsql.bounding.public_facts import Facts
from dpsql.engine.digest import Digest
from dpsql.plan.aggregate import AggregateFunction
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.expression import Expression
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Release
from dpsql.plan.traversal import operators
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.ladder.cap_choice import ChosenCap
from dpsql.privacy.ladder.joint_choice import ChosenLimits, Measured, best_limits
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.schema.model import Limits, Schema
from dpsql.session.digest.source_digests import SourceDigests
from dpsql.session.ladders.group_share import counted_share, listed_values
from dpsql.session.ladders.limit_notes import limit_notes, names_of
from dpsql.session.ladders.query_noise import QueryNoise
from dpsql.session.ladders.stored_ladders import GROUPS, ROWS, SUMS, StoredLadders

_ONE_GROUP: Final = Ladder((0, 1), (Fraction(0), Fraction(1)), DiscreteLaplace(Fraction(1)))
"""Of units that are in one group each: nobody needs to ask how many groups they are in."""


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
class LimitChooser:
    """Chooses the limits of a statement's releases, each of which may spend `loss`."""

    schema: Schema
    facts: Facts
    ladders: Sequence[StoredLadders]
    loss: PrivacyLoss

    def choice(
        self, release: Release, requested: ContributionLimits, *, is_table: bool
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
        ladders = () if is_table or reads else self.ladders
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
        own = [each for each in ladders if each.about.table == table.name and each.stands_out]
        self._release = release
        self._terms = terms
        self._table = table
        self._digests = SourceDigests(release.source) if own else None
        self._listed = listed_values(release, self._digests) if self._digests else {}
        keys = {self._meaning(terms.keys[index].expression) for index in independent}
        # WHERE clerk = 7 leaves one group of those by clerk.
        fixed = {digest for digest, values in self._listed.items() if len(values) == 1}
        self._is_in_one = not independent
        self._is_one_row = one_row_per_unit(release.source, declared)
        by_keys = [each for each in own if set(each.about.keys) - fixed == keys - fixed]
        self._by_keys = sorted(by_keys, key=lambda each: len(each.about.keys))
        self._of_all = [each for each in own if not each.about.keys]
        self._cells = cell_count(terms.domains, range(len(terms.keys)))
        self._noise = QueryNoise(loss, distance, self._statistics)

    def chosen(self, requested: ContributionLimits) -> LimitChoice:
        """The limits with the least expected error, no looser than what is `requested`."""
        sums, rows, groups = self._sums(), self._find(None), self._groups()
        counts_rows = self._counts_rows(sums) and not self._is_one_row
        if self._is_one_row and not sums:
            return LimitChoice(requested, ())  # there is nothing to limit
        are_known = groups is not None or self._cells is not None
        if rows is None and (counts_rows or not are_known or not sums):
            return self._by_default(requested, sums)
        if groups is not None:
            best, in_all = self._by_groups(groups, sums, rows if counts_rows else None)
        else:
            best, in_all = self._by_all_rows(sums, rows, counts_rows=counts_rows)
        per_group = int(best.caps[-1].cap) if counts_rows else self._table.limits.rows_per_group
        ladders = [each.ladders for each in sums] + ([] if rows is None else [rows])
        limits = replace(
            requested,
            groups=_tighter(requested.groups, best.groups),
            rows_per_group=_tighter(requested.rows_per_group, per_group),
            rows=requested.rows if in_all is None else _tighter(requested.rows, in_all),
            sums=tuple(
                SumCap(each.argument, one.cap) for each, one in zip(sums, best.caps, strict=False)
            ),
            origin=f"by {names_of(ladders)}",
        )
        named = [f"sum({describe(each.argument)})" for each in sums] + ["count(*)"] * counts_rows
        return LimitChoice(limits, limit_notes(named, best.caps, ladders))

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
            ladder = rows.ladders[ROWS]
            groups = min(groups, int(ladder.rungs[ladder.top()]))
        measured = [self._measured(each.ladders, SUMS, in_several) for each in sums]
        capped = best_limits(_ONE_GROUP, measured, None).caps if measured else ()
        return ChosenLimits(groups, 0.0, (*capped, *counted)), in_all

    def _counts_rows(self, sums: Sequence[_Sum]) -> bool:
        """Whether anything but capped sums is asked for: a mean divides one by a number of rows."""
        capped = {each.argument for each in sums}
        calls = [aggregate.call for aggregate in self._release.aggregates]
        return not calls or any(
            call.function is not AggregateFunction.SUM or capped.isdisjoint(call.arguments)
            for call in calls
        )

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
            of_measure = [each for each in known if each.about.measure == measure]
            if of_measure:
                return of_measure[-1]
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
        ladders = [each.ladders[GROUPS] for each in self._by_keys if GROUPS in each.ladders]
        return ladders[-1] if ladders else None

    def _measured(
        self, ladders: StoredLadders, part: str, noise: Callable[[int, Fraction], float]
    ) -> Measured:
        caps = self._table.limits
        highest = Fraction(min(caps.rows_per_group, caps.rows)) if part == ROWS else None
        return Measured(ladders.ladders[part], self._share(ladders), noise, highest)

    def _share(self, ladders: StoredLadders) -> Fraction:
        """The part of all units, in their groups, that a group of the release has, as expected."""
        counted = counted_share(ladders, self._listed)
        if counted is not None:
            share, read = counted
            return share / max(1, min(self._group_count, read))
        of_ladders = ladders.about.lower_groups if ladders.about.keys else 1
        return Fraction(1, max(self._group_count, of_ladders))

    @property
    def _group_count(self) -> int:
        """How many groups the release has: those that are listed, or that its ladders saw."""
        if self._cells is not None:
            return self._cells
        return max((each.about.lower_groups for each in self._by_keys), default=1)

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
            groups=_tighter(requested.groups, min(caps.groups, _DEFAULTS.groups)),
            rows_per_group=_tighter(
                requested.rows_per_group, min(caps.rows_per_group, _DEFAULTS.rows_per_group)
            ),
            rows=_tighter(requested.rows, min(caps.rows, _DEFAULTS.rows)),
            sums=tuple(
                SumCap(each.argument, one.cap) for each, one in zip(sums, capped, strict=True)
            ),
            origin="the default",
        )
        note = (
            "no ladder says beyond its noise how many rows a unit has, so that default limits hold,"
            f" and what they leave out can't be told: CALIBRATE {name} FOR 0.5"
        )
        return LimitChoice(limits, (note,))


_OF_SUMS: Final = {AggregateFunction.SUM, AggregateFunction.AVG}


def _tighter(requested: int | None, chosen: int) -> int:
    return chosen if requested is None else min(requested, chosen)
