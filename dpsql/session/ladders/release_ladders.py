"""The ladders that say something of one release: what a unit has in its groups, and in how many.

Ladders by the release's own keys say what a unit has in each group. Where there are none, those of
all that it has bound that: it has no more in any group, nor more groups than rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from msgspec import Struct

from dpsql.analysis.lineage.functional_dependency import declared, one_row_per_unit
from dpsql.bounding.contribution_limit import highest_fanout_table
from dpsql.bounding.group_choice import cell_count, unit_independent_keys
from dpsql.engine.digest import Digest
from dpsql.plan.aggregate import LEFT_OUT, AggregateFunction
from dpsql.plan.bounded_release.bounded_release import Contributions, KeyDomain
from dpsql.plan.expression import Expression
from dpsql.plan.operator import Release
from dpsql.privacy.domain import Value
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.session.digest.source_digests import SourceDigests
from dpsql.session.ladders.group_share import counted_share, listed_values, share_of_each
from dpsql.session.ladders.stored_ladders import GROUPS, StoredLadders

ONE_GROUP: Final = Ladder((0, 1), (Fraction(0), Fraction(1)), DiscreteLaplace(Fraction(1)))
"""Of units that are in one group each: nobody needs to ask how many groups they are in."""

_MAX_KEYS: Final = 500
"""Of more keys a cap of each would be chosen for long."""

_SUMS_AND_COUNTS: Final = {AggregateFunction.SUM, AggregateFunction.COUNT}

_OF_SUMS: Final = {AggregateFunction.SUM, AggregateFunction.AVG}


class LadderedSum(Struct, frozen=True):
    """An argument that is summed, and the ladders of what a unit's values of it sum to."""

    argument: Expression
    ladders: StoredLadders


class KeyShares(Struct, frozen=True):
    """The values of the key of a release, and the part of all units that has each."""

    key: Expression
    values: tuple[Value | None, ...]
    shares: tuple[Fraction, ...]


class ReleaseLadders:
    """Those of the `known` ladders that are of the release's table and keys, or of all rows."""

    def __init__(
        self, release: Release, terms: Contributions, known: Sequence[StoredLadders]
    ) -> None:
        self.table = highest_fanout_table(terms)
        self.cells = cell_count(terms.domains, range(len(terms.keys)))
        self.is_one_row = one_row_per_unit(release.source, declared)
        independent = unit_independent_keys(terms, declared)
        own = [each for each in known if each.about.table == self.table.name and each.stands_out]
        self.aggregates = release.aggregates
        self._calls = tuple(aggregate.call for aggregate in release.aggregates)
        self._has_keys = bool(terms.keys)
        self._only_key = _only_key(terms)
        listed_keys = {index for domain in terms.domains for index in domain.keys}
        self._is_unlisted = len(listed_keys) < len(terms.keys)
        self._digests = SourceDigests(release.source) if own else None
        self._listed = listed_values(release, self._digests) if self._digests else {}
        keys = {self._meaning(terms.keys[index].expression) for index in independent}
        # WHERE clerk = 7 leaves one group of those by clerk.
        fixed = {digest for digest, values in self._listed.items() if len(values) == 1}
        self._is_in_one = not independent
        by_keys = [each for each in own if set(each.about.keys) - fixed == keys - fixed]
        self._by_keys = sorted(by_keys, key=lambda each: len(each.about.keys))
        self._of_all = [each for each in own if not each.about.keys]

    def key_shares(self, each: LadderedSum) -> KeyShares | None:
        """The part of all units that each value of the release's only key has, where it is counted.

        Only of a key of which a unit has one value, for it is in one group then, and of an argument
        that only sums and counts read: a mean is one of rows within one cap.
        """
        if not self._is_in_one or self._only_key is None or self._digests is None:
            return None
        key, values = self._only_key
        reading = [call for call in self._calls if each.argument in call.arguments]
        if any(call.function not in _SUMS_AND_COUNTS for call in reading) or any(
            call.output_kind in LEFT_OUT for call in self._calls
        ):
            return None
        shares = share_of_each(each.ladders, self._listed, self._meaning(key), values)
        return None if shares is None else KeyShares(key, values, shares)

    def sums(self) -> list[LadderedSum]:
        """The arguments that are summed, or averaged, and of which there are ladders."""
        sums: dict[Expression, LadderedSum] = {}
        for call in self._calls:
            if call.function in _OF_SUMS and not call.distinct and len(call.arguments) == 1:
                (argument,) = call.arguments
                ladders = self.find(self._meaning(argument)) if self._digests else None
                if ladders is not None:
                    sums[argument] = LadderedSum(argument, ladders)
        return list(sums.values())

    def groups(self) -> Ladder | None:
        """The newest ladder of a unit's groups; None where there is none, and it is in several."""
        if self._is_in_one:
            return ONE_GROUP
        ladders = [each.ladders[GROUPS] for each in self._by_keys if GROUPS in each.ladders]
        return ladders[-1] if ladders else None

    def find(self, measure: Digest | None) -> StoredLadders | None:
        """The newest ladders of this measure, or of rows: by the release's keys, else of all."""
        for known in (self._by_keys, self._of_all):
            of_measure = [each for each in known if each.about.measure == measure]
            if of_measure:
                return of_measure[-1]
        return None

    def rows_in_all(self) -> StoredLadders | None:
        """The newest ladders of a unit's rows in all groups together, if there are any."""
        return next((each for each in self._of_all[::-1] if each.about.measure is None), None)

    def shares(self, ladders: StoredLadders) -> tuple[Fraction, Fraction]:
        """The part of all units, in their groups, that a group has: at least, and at most."""
        about = ladders.about
        known = self.cells if self._has_keys else 1
        counted = counted_share(ladders, self._listed)
        if counted is not None:
            share, read = counted
            one = share / max(1, min(about.lower_groups if known is None else known, read))
        elif not about.keys:
            seen = max((each.about.lower_groups for each in self._by_keys), default=1)
            one = Fraction(1, known or seen)
        elif self._has_keys and known is not None:
            one = Fraction(1, max(known, about.lower_groups))
        else:
            # A condition that fixes keys leaves one of the ladders' groups.
            return Fraction(1, about.upper_groups), Fraction(1, about.lower_groups)
        return one, one

    def counts_rows(self, sums: Sequence[LadderedSum]) -> bool:
        """Whether anything but capped sums is asked for: a mean divides one by a number of rows."""
        if self.is_one_row:
            return False
        capped = {each.argument for each in sums}
        return not self._calls or any(
            call.function is not AggregateFunction.SUM or capped.isdisjoint(call.arguments)
            for call in self._calls
        )

    @property
    def statistics(self) -> int:
        """About how many statistics share the loss."""
        arguments = {call.arguments for call in self._calls}
        has_rows = any(call.function is not AggregateFunction.SUM for call in self._calls)
        return max(1, len(arguments - {()}) + has_rows + self._is_unlisted)

    def _meaning(self, expression: Expression) -> Digest:
        return "" if self._digests is None else self._digests.of(expression)


def _only_key(terms: Contributions) -> tuple[Expression, tuple[Value | None, ...]] | None:
    """The only key of a release, and all its values, where these are listed and not too many."""
    match terms.keys, terms.domains:
        case (key,), (KeyDomain(cells=cells),) if len(cells) <= _MAX_KEYS:
            return key.expression, tuple(value for (value,) in cells)
        case _:
            return None
