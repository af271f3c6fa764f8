"""What the SQL of all strategies has in common, whichever of them computes a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dpsql.emit.release.contributions import emit_contributions
from dpsql.physical.modifier.unit_batches import rows_of_one_batch
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.operator import Release

NO_DOMAINS: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Emission:
    """How rows are read: `releases` are the names of the tables of earlier releases among them.

    Keys of the domains `late`, by index, are joined to sums and not to rows. Unless `batches` is
    None, rows are those of one batch of the units, which parameters of the statement name, and
    `batches` gets each SELECT of them.
    """

    releases: Mapping[Release, str]
    late: frozenset[int]
    batches: list[exp.Select] | None = None

    def unit_rows(self, contributions: Contributions) -> exp.Select:
        """The rows of `contributions` with their units."""
        rows = emit_contributions(contributions, self.releases, with_unit=True, late=self.late)
        return self.batch(rows)

    def batch(self, rows: exp.Select) -> exp.Select:
        """`rows` of the units of the batch; all of them, if there are no batches."""
        if self.batches is None:
            return rows
        one_batch = rows_of_one_batch(rows)
        self.batches.append(one_batch)
        return one_batch
