"""Run a bounded release's own SQL on neighbouring databases, and count what changed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, isqrt
from typing import assert_never

import duckdb
import pyarrow as pa

from dpsql.plan.query import EngineQuery
from dpsql.privacy.loss import Accounting
from dpsql.privacy.mechanisms.quantile import Quantiles
from dpsql.release.arrow import arrow_array
from dpsql.release.choice import Chooser, Frequent
from dpsql.session.prepared import PreparedRelease
from dpsql.stability.sensitivity import rows_per_group

Groups = dict[tuple[object, ...], tuple[int, ...]]
Histogram = dict[tuple[object, ...], dict[int, int]]


def totals(
    connection: duckdb.DuckDBPyConnection,
    release: PreparedRelease,
    salt: str,
    released: Mapping[str, pa.Table],
) -> Groups:
    """The integers of each group, before noise; `released` are the tables that it reads."""
    query = release.step.query
    tables = domain_tables(query) | {name: released[name] for name in release.step.reads}
    for name, table in tables.items():
        connection.register(name, table)
    count = len(release.step.bounded.terms.statistics)
    if not count:
        return {}
    found = connection.execute(query.sql, [salt] if query.salted else []).fetchall()
    groups = {
        tuple(row[: len(row) - count]): tuple(map(int, row[len(row) - count :])) for row in found
    }
    assert len(groups) == len(found), "a group came twice"
    return groups


def histograms(
    connection: duckdb.DuckDBPyConnection, release: PreparedRelease, salt: str
) -> list[Histogram]:
    """The rows of each group in each cell, for each selection; its tables are registered."""
    found: list[Histogram] = []
    terms = release.step.bounded.terms
    for histogram, selection in zip(release.step.query.histograms, terms.selections, strict=True):
        rows = connection.execute(histogram.sql, [salt] if histogram.salted else []).fetchall()
        groups: Histogram = {}
        for *key, cell, count in rows:
            cells = groups.setdefault(tuple(key), {})
            assert cell not in cells, "a cell came twice"
            assert 0 <= cell < selection.cells.count, f"statistic 0 of cells: there is no {cell}"
            cells[cell] = count
        found.append(groups)
    return found


def check_histograms(
    before: list[Histogram], after: list[Histogram], release: PreparedRelease, where: str
) -> None:
    """One unit adds or removes so many rows in each of so many groups, in all cells together."""
    derived, rows = release.sensitivity, rows_per_group(release.step.bounded.limited)
    choosers = release.step.measurement.choosers
    for ours, theirs, chooser in zip(before, after, choosers, strict=True):
        changes = [
            {c: a.get(c, 0) - b.get(c, 0) for c in {*a, *b}}
            for key in {*ours, *theirs}
            for a, b in [(ours.get(key, {}), theirs.get(key, {}))]
            if a != b
        ]
        assert len(changes) <= derived.groups * derived.units, f"groups [{changes}]: {where}"
        found = max((sum(map(abs, change.values())) for change in changes), default=0)
        assert found <= rows * derived.units, f"statistic 0 of cells by {changes}: {where}"
        _check_choice(chooser, changes, release, where)


def _check_choice(
    chooser: Chooser, changes: list[dict[int, int]], release: PreparedRelease, where: str
) -> None:
    """The choice is paid for, by its own parameters, with all that changes in its cells."""
    derived, shown = release.sensitivity, f"statistic 0 of a choice by {changes}: {where}"
    match chooser:
        case Quantiles(rows=rows):
            most = max((sum(map(abs, change.values())) for change in changes), default=0)
            assert most <= rows * derived.units, shown
        case Frequent(mechanism=mechanism):
            accounting = release.step.measurement.loss.accounting
            # The log-probabilities of two cells come apart by as much: some cells don't change.
            spreads = [max(0, *c.values()) - min(0, *c.values()) for c in changes]
            losses = [spread * mechanism.rate for spread in spreads]
            bounded_range = accounting is Accounting.ZCDP
            cost = sum((x * x / 8 if bounded_range else x for x in losses), Fraction(0))
            assert cost <= chooser.loss(accounting).amount, shown
        case missing:
            assert_never(missing)


def domain_tables(query: EngineQuery) -> dict[str, pa.Table]:
    return {
        domain.name: pa.table(
            {
                "cell": pa.array(range(len(domain.cells)), pa.int64()),
                **{
                    f"k{n}": arrow_array([cell[n] for cell in domain.cells], kind)
                    for n, kind in enumerate(domain.types)
                },
            }
        )
        for domain in query.domains
    }


def check(before: Groups, after: Groups, release: PreparedRelease, where: str) -> None:
    """What one unit changed is within the derived sensitivity, in every norm."""
    derived = release.sensitivity
    zeros = (0,) * len(release.step.bounded.terms.statistics)
    changed = [key for key in {*before, *after} if before.get(key) != after.get(key)]
    assert len(changed) <= derived.groups * derived.units, f"groups {changed}: {where}"
    for place, most in enumerate(derived.per_group):
        found = [
            abs(before.get(key, zeros)[place] - after.get(key, zeros)[place]) for key in changed
        ]
        shown = f"statistic {place} by {found}, derived {most}: {where}"
        assert max(found, default=0) <= most, shown
        assert sum(found) <= derived.groups * most, shown
        assert sum(x * x for x in found) <= derived.groups * most**2, shown
    _check_together(before, after, release, where)


def _check_together(before: Groups, after: Groups, release: PreparedRelease, where: str) -> None:
    """Of statistics that can't all be extreme at once, too; weighted as their noise weighs them."""
    derived = release.sensitivity
    zeros = (0,) * len(derived.per_group)
    changes = [
        [abs(a - b) for a, b in zip(before.get(k, zeros), after.get(k, zeros), strict=True)]
        for k in {*before, *after}
    ]
    variances = [Fraction(m.variance) for m in release.step.measurement.mechanisms]
    wide = [Fraction(most) ** 2 for most in derived.per_group]
    for squares in (variances, wide):
        l2 = sum(c * c / s for row in changes for c, s in zip(row, squares, strict=True))
        most = derived.total(derived.l2, lambda p, c, s=squares: c * c / s[p])
        assert l2 <= most, f"joint L2 norm {float(l2)}, derived {float(most)}: {where}"
        # Any weights will do, so roots may be rounded.
        scales = [Fraction(isqrt(ceil(square)) or 1) for square in squares]
        l1 = sum(c / s for row in changes for c, s in zip(row, scales, strict=True))
        most = derived.total(derived.l1, lambda p, c, s=scales: c / s[p])
        assert l1 <= most, f"joint L1 norm {float(l1)}, derived {float(most)}: {where}"
