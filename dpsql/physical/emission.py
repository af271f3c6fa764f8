"""What the SQL of all strategies has in common, whichever of them computes a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from sqlglot import exp

from dpsql.emit.release.contributions import emit_contributions
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.operator import Release

NO_DOMAINS: frozenset[int] = frozenset()


class Emission(Struct, frozen=True):
    """How rows are read: `releases` are the names of the tables of earlier releases among them.

    Keys of the domains `late`, by index, are joined to sums and not to rows. `batch` gives, of rows
    with their units, those that the statement reads: of all units, of one batch, or a name of them.
    """

    releases: Mapping[Release, str]
    late: frozenset[int]
    batch: Callable[[exp.Select], exp.Select]

    def unit_rows(self, contributions: Contributions, extra: tuple[str, ...] = ()) -> exp.Select:
        """The rows of `contributions` with units and `extra` columns, of which `batch` has some."""
        rows = emit_contributions(
            contributions, self.releases, with_unit=True, late=self.late, extra=extra
        )
        return self.batch(rows)
