"""A query that is answered of a dashboard which has what it asks for: free, and of no noise anew.

    CREATE DASHBOARD d AS (SELECT sex, count(*) …; SELECT ward, count(*) …) WITH (epsilon = 1)
    SELECT sex, count(*) … GROUP BY sex                          read of d, as its chart shows it

Sound: what a dashboard keeps was paid for, and a sum over its cells reads no private row. What it
tells is that of the dashboard: units are limited in its cells, not in the query's groups, and rows
are in none whose keys are outside of what is declared. So it takes the place of what is asked for
alone where its maker meant it to: the same rows, keys and values, which its charts show together;
under the schema's limits; and at an ε of no more than the dashboard's own, or where its error will
do. All else is charged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

import pyarrow as pa
from msgspec import Struct

from dpsql.bounding.options import ALL_GROUPS, AS_DECLARED
from dpsql.errors import InternalError
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.privacy.mechanisms.residual_gaussian import RESIDUAL_NOISE
from dpsql.release.add_noise import listed_cells
from dpsql.release.columns.arrow import arrow_array
from dpsql.release.dashboard.chart_error import half_width
from dpsql.schema.sql_type import Decimal, Integer, SqlType
from dpsql.session.answer.answer import ColumnPrivacy
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.request import ANSWER
from dpsql.session.digest.sum_digest import sum_digests
from dpsql.session.saved.dashboard_law import DashboardContent, DashboardLaw
from dpsql.structs import replace


class ReadableDashboard(Struct, frozen=True):
    """A dashboard whose table may be read for nothing, of an `edition` of the data.

    `keys` are those of the stored answers that its table was made of, `cells` the values of its
    keys in each row; `table` reads it, with keys and values in the order of the law's content.
    """

    name: str
    law: DashboardLaw
    content: DashboardContent
    edition: str
    keys: tuple[str, ...]
    cells: Callable[[], Sequence[Cell]]
    table: Callable[[], pa.Table]


class ChartReading(Struct, frozen=True):
    """`target` is read of `dashboard`: its cells are sums over `groups` of the rows of its table.

    `values` are the names of the table's values that `target` asks for, `variances` the largest
    ones of their sums.
    """

    target: CompiledRelease
    dashboard: ReadableDashboard
    groups: tuple[tuple[int, ...], ...]
    values: tuple[str, ...]
    variances: tuple[Fraction, ...]

    @property
    def note(self) -> str:
        """Where the answer is from, for the analyst."""
        limits = "with the limits and the declared values of all their keys"
        return f"read of {self.dashboard.name}: as its charts show it, {limits}"

    @property
    def columns(self) -> tuple[ColumnPrivacy, ...]:
        """How each column of `target` was made; what is rounded is off by half a unit more."""
        outputs = self.target.step.bounded.outputs
        return tuple(
            ColumnPrivacy(
                self.target.display_name(output.column),
                RESIDUAL_NOISE,
                math.sqrt(variance),
                half_width(variance) + _unit(output.column.type) / 2,
            )
            for output, variance in zip(outputs, self.variances, strict=True)
        )

    def released(self) -> pa.Table:
        """The released table of `target`, of its own types: whole numbers are rounded."""
        bounded, stored = self.target.step.bounded, self.dashboard.table()
        cells, content = listed_cells(bounded, self.target.step.query), self.dashboard.content
        arrays = {
            f"c{key.column.id}": arrow_array([cell[n] for cell in cells], key.column.type)
            for n, key in enumerate(bounded.contributions.keys)
        }
        names = [*content.keys, *content.values]
        for output, name in zip(bounded.outputs, self.values, strict=True):
            estimates = stored.column(names.index(name)).to_pylist()
            sums = [Fraction(math.fsum(estimates[row] for row in rows)) for rows in self.groups]
            if isinstance(output.column.type, Integer):
                sums = [Fraction(round(each)) for each in sums]
            arrays[f"c{output.column.id}"] = arrow_array(sums, output.column.type)
        return pa.table(arrays)


def chart_readings(
    compiled: CompiledStatement,
    missing: Sequence[CompiledRelease],
    dashboards: Iterable[ReadableDashboard],
) -> dict[str, ChartReading]:
    """Those of `missing`, releases of `compiled`, that one of `dashboards` has, by name, and how.

    Of several the one of the least noise; an error that will do is the caller's to compare.
    """
    options = compiled.options
    if (
        compiled.request != ANSWER
        or replace(options.limits, norm_order=None) != AS_DECLARED
        or options.release != ALL_GROUPS
    ):
        return {}
    read = {name for release in compiled.releases for name in release.step.reads}
    targets = [one for one in missing if one.name not in read and _has_cells_of_its_own(one)]
    if not targets:
        return {}
    wanted = Fraction(0)
    if options.price.max_error is None:
        wanted = compiled.query_loss.amount
    fitting = [
        dashboard
        for dashboard in dashboards
        if dashboard.edition == compiled.version and dashboard.content.granted >= wanted
    ]
    best: dict[str, ChartReading] = {}
    for target in targets:
        readings = (chart_reading(target, dashboard) for dashboard in fitting)
        ways = [way for way in readings if way is not None]
        if ways:
            best[target.name] = min(ways, key=lambda way: sum(way.variances))
    return best


def _has_cells_of_its_own(release: CompiledRelease) -> bool:
    """All of its cells are listed and shown, of whole tables, and it reads no other release."""
    bounded = release.step.bounded
    return release.step.lists_cells and not release.step.reads and bounded.sampling is None


def reading_notes(
    compiled: CompiledStatement, dashboards: Iterable[ReadableDashboard]
) -> tuple[str, ...]:
    """What EXPLAIN says of releases of `compiled` that one of `dashboards` has."""
    current = (replace(dashboard, edition=compiled.version) for dashboard in dashboards)
    ways = chart_readings(compiled, compiled.releases, current)
    return tuple(
        f"{', '.join(f'{c.name} within ± {c.half_width:.4g}' for c in way.columns)} (95 %) is"
        f" {way.note}"
        for way in ways.values()
    )


def chart_reading(target: CompiledRelease, dashboard: ReadableDashboard) -> ChartReading | None:
    """How `target` is read of `dashboard`; None if that doesn't have all that it asks for."""
    bounded, content = target.step.bounded, dashboard.content
    if not _has_cells_of_its_own(target):
        return None
    own = sum_digests(bounded)
    if own.rows != content.rows:
        return None
    keys = _named(own.keys, content.keys)
    values = _named(own.values, content.values)
    if keys is None or not values:
        return None
    cells = dashboard.cells()
    groups = _groups(target, cells, [list(content.keys).index(name) for name in keys])
    if groups is None:
        return None
    by_name = [dict(zip(content.keys, cell, strict=True)) for cell in cells]
    variances = []
    for value in values:
        variance = dashboard.law.largest_variance(value, keys, by_name)
        if variance is None:
            return None
        variances.append(variance)
    return ChartReading(target, dashboard, groups, values, tuple(variances))


def dashboard_of(
    name: str,
    compiled: CompiledStatement,
    law: DashboardLaw,
    table: Callable[[], pa.Table],
) -> ReadableDashboard:
    """The dashboard that `compiled` makes, whose stored table is read by `table`."""
    (release,) = compiled.releases
    if law.content is None:
        raise InternalError("a dashboard that was compiled here says what it has")
    step = release.step
    return ReadableDashboard(
        name,
        law,
        law.content,
        compiled.version,
        (release.key,),
        lambda: listed_cells(step.bounded, step.query),
        table,
    )


def _named(wanted: Sequence[str | None], known: Mapping[str, str]) -> tuple[str, ...] | None:
    """The names of what has the digests `wanted`; None if one isn't `known`."""
    by_digest = {digest: name for name, digest in known.items()}
    names = tuple(by_digest[digest] for digest in wanted if digest in by_digest)
    return names if len(names) == len(wanted) else None


def _groups(
    target: CompiledRelease, cells: Sequence[Cell], keys: Sequence[int]
) -> tuple[tuple[int, ...], ...] | None:
    """For each cell of `target` the rows of the table in it; None if the cells aren't the same."""
    by_cell: dict[Cell, list[int]] = {}
    for row, cell in enumerate(cells):
        by_cell.setdefault(tuple(cell[key] for key in keys), []).append(row)
    own = listed_cells(target.step.bounded, target.step.query)
    if by_cell.keys() != {*own}:
        return None
    return tuple(tuple(by_cell[cell]) for cell in own)


def _unit(kind: SqlType) -> float:
    """What numbers of `kind` are rounded to."""
    match kind:
        case Integer():
            return 1.0
        case Decimal(scale=scale):
            return float(10**-scale)
        case _:
            return 0.0
