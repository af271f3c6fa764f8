"""What a bounded release means, as a digest that no way of writing the same query changes.

Two releases of one digest sum the same statistics of the same rows into the same groups with the
same limits and noise, so that one's noisy answer is the other's. Aliases, CTEs, derived tables, the
order of conjuncts, of operands and of joined tables leave no trace in it:

    SELECT count(*) FROM a WHERE x > 1 AND y = 2
    WITH t AS (SELECT x AS z, y FROM a WHERE 2 = y) SELECT count(*) AS n FROM t WHERE 1 < z

Where two ways of writing are not seen to be one, the second is charged like any other query. Where
two meanings were taken for one, the second would be answered wrongly: so every occurrence of a leaf
(a table, a list, a release) is another one, by a number of its own. Who counts trips by the region
they begin in doesn't ask what the region is that they end in, though one list names both:

    SELECT o.region, count(*) FROM trips JOIN l AS o ON … JOIN l AS d ON … GROUP BY 1
    SELECT d.region, count(*) FROM trips JOIN l AS o ON … JOIN l AS d ON … GROUP BY 1

All occurrences of a leaf have the same rows, so that it doesn't matter which has which number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, assert_never, get_args

from msgspec import Struct

from dpsql.analysis.lineage.lineage import unit
from dpsql.engine.digest import Digest, digest_of, encoded
from dpsql.plan.aggregate import AggregateFunction, OpenFunction
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, ByStoredRank, KeyDomain
from dpsql.plan.comparison import OPPOSITE
from dpsql.plan.expression import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Column,
    Compare,
    Comparison,
    Expression,
    InList,
    Not,
    Or,
    conjuncts,
)
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    PublicStatement,
    Release,
    Scan,
    SetOperation,
    Sort,
    Union,
    Values,
    Window,
)
from dpsql.plan.output_columns import output_columns
from dpsql.session.digest.cell_digest import digest_of_cells
from dpsql.session.digest.codec import parted
from dpsql.session.digest.comparison_form import in_shortest_form, sides_in_shortest_form
from dpsql.session.digest.plan_digest import as_written

_PLANS = frozenset(get_args(Plan))

_EXPRESSIONS = frozenset(get_args(Expression))

_OF_ANY_ORDER = {
    AggregateFunction.COUNT,
    AggregateFunction.MIN,
    AggregateFunction.MAX,
    OpenFunction.BOOL_OR,
    OpenFunction.BOOL_AND,
}
"""Aggregates that say the same of rows in any order."""

_SUMS = {AggregateFunction.SUM, AggregateFunction.AVG}
"""Of one unit's rows integers are summed; of others also doubles, which are rounded on the way."""

_MIRRORED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.LESS_EQUAL: Comparison.GREATER_EQUAL,
    Comparison.GREATER: Comparison.LESS,
    Comparison.GREATER_EQUAL: Comparison.LESS_EQUAL,
}


def release_digest(bounded: BoundedRelease, keys: Mapping[Release, str]) -> Digest:
    """What `bounded` means; `keys` identify the answers of the releases that it reads."""
    return DigestBuilder(keys).read(bounded)


def digest_of_pairs(bounded: BoundedRelease, keys: tuple[tuple[Release, str], ...]) -> Digest:
    """The same, where the releases that it reads stand beside their keys, none for any other."""
    return release_digest(bounded, dict(keys))


class ReleaseDigests(Struct, frozen=True):
    """What a release counts, part by part: its rows, each of its keys, each of its statistics."""

    rows: Digest
    keys: tuple[Digest, ...]
    statistics: tuple[Digest, ...]


def digests(bounded: BoundedRelease) -> ReleaseDigests:
    """The parts of `bounded`, which reads no other release, as far as others may share them."""
    terms, reader = bounded.contributions, DigestBuilder({})
    rows = reader.read(terms.source)
    keys = tuple(reader.read(key.expression) for key in terms.keys)
    return ReleaseDigests(rows, keys, tuple(map(reader.read, terms.statistics)))


class RowsDigest(Struct, frozen=True):
    """All combinations of rows of `sources` for which `where` holds: filters and inner joins."""

    sources: tuple[Digest, ...]
    where: frozenset[Digest] = frozenset()

    @property
    def digest(self) -> Digest:
        """The combinations in which no order counts: of joined tables, and of conditions."""
        return digest_of("rows", *sorted(self.sources), "where", *sorted(self.where))


class DigestBuilder:
    """Reads a plan from its tables up, and knows what each column means by then."""

    def __init__(self, keys: Mapping[Release, str]) -> None:
        self._keys = keys
        self._columns: dict[int, Digest] = {}
        self._leaves: Counter[tuple[str, ...]] = Counter()

    def read(self, value: Any) -> Digest:
        """The digest of any part: plans and expressions by their meaning, others by their fields.

        A plan stands before what reads its columns, in each part's order of fields.
        """
        kind = type(value)
        if kind in _PLANS:
            return self._rows(value).digest
        if kind in _EXPRESSIONS:
            return self._expression(value)
        if kind is ByStoredRank:
            # Whoever asked before the owner made a sidecar isn't charged again for its ranks.
            return self.read(value.without_sidecar)
        if kind is KeyDomain:
            return digest_of("domain", encoded(value.keys), digest_of_cells(value.cells))
        return parted(value, self.read)

    def _rows(self, plan: Plan) -> RowsDigest:
        match plan:
            case Scan(table=table, columns=columns, unit=own):
                # A name may be dropped and given again: a kept table goes by its entry.
                scan = self._leaf("scan", table.engine_name)
                for column in columns:
                    name = table.in_source(column.name)
                    self._columns[column.id] = digest_of("column", scan, name)
                if own is not None:
                    self._columns[own.id] = digest_of("unit", scan)
                return RowsDigest((scan,))
            case Filter(source=source, predicate=predicate):
                below = self._rows(source)
                return RowsDigest(below.sources, below.where | self._all(predicate))
            case Project(source=source, outputs=outputs):
                below = self._rows(source)
                # What is computed is what it is computed from, whatever its name.
                computed = {o.column.id: self._expression(o.expression) for o in outputs}
                self._columns |= computed
                return below
            case Join(sources=sources, on=on):
                joined = [self._rows(source) for source in sources]
                where = [rows.where for rows in joined]
                return RowsDigest(
                    tuple(digest for rows in joined for digest in rows.sources),
                    frozenset().union(*where, *(self._all(part) for part in on)),
                )
            case Release():
                return self._new(plan, self._leaf("answer", self._keys[plan]))
            case OuterJoin(kind=kind, left=left, right=right, on=on):
                sides = [self._rows(side).digest for side in (left, right)]
                return self._new(
                    plan, digest_of("outer", self.read(kind), *sides, *self._sorted(on))
                )
            case MarkJoin(source=source, relation=relation, on=on, column=column):
                below = self._rows(source)
                mark = digest_of("mark", self._rows(relation).digest, *self._sorted(on))
                self._columns[column.id] = mark
                return below
            case Union(sources=sources):
                return self._new(plan, digest_of("union", *map(self._by_index, sources)))
            case SetOperation(kind=kind, left=left, right=right):
                sides = [self._by_index(side) for side in (left, right)]
                return self._new(plan, digest_of("set operation", self.read(kind), *sides))
            case Aggregate(source=source, keys=keys, aggregates=aggregates):
                below = self._rows(source)
                grouped = [self._expression(key.expression) for key in keys]
                calls = [self.read(aggregate.call) for aggregate in aggregates]
                alike = _OF_ANY_ORDER if unit(source) is None else _OF_ANY_ORDER | _SUMS
                if any(a.call.function not in alike for a in aggregates):
                    calls.append(self._order(source))
                return self._new(plan, digest_of("aggregate", below.digest, *grouped, "", *calls))
            case Window(source=source, outputs=windows):
                below = self._rows(source)
                order = self._order(source)
                for window in windows:
                    call = self.read(window.call)
                    self._columns[window.column.id] = digest_of("window", below.digest, order, call)
                return below
            case Sort(source=source, by=by):
                below = self._rows(source)
                return RowsDigest((digest_of("sort", below.digest, self.read(by)),))
            case Limit(source=source, count=count, offset=offset):
                ordered = (self._rows(source).digest, self._order(source))
                return RowsDigest((digest_of("limit", *ordered, encoded((count, offset))),))
            case Values(outputs=columns, rows=rows):
                types = (self.read(column.type) for column in columns)
                return self._new(
                    plan, self._leaf("values", *types, "", *sorted(map(encoded, rows)))
                )
            case PublicStatement(sql=sql, tables=tables):
                return self._new(plan, self._leaf("whole", sql, "", *tables))
            case missing:
                assert_never(missing)

    def _new(self, plan: Plan, digest: Digest) -> RowsDigest:
        """Rows that `plan` makes anew: its columns are known by their places in it.

        Columns that it only hands on keep what they mean; a side that may be missing is seen in
        `digest`, which every later part is built on.
        """
        keeps_columns = isinstance(plan, OuterJoin)
        for index, column in enumerate(output_columns(plan)):
            known = self._columns[column.id] if keeps_columns else str(index)
            self._columns[column.id] = digest_of("place", digest, known)
        own = plan.unit if isinstance(plan, OuterJoin | Union) else None
        if own is not None:
            self._columns[own.id] = digest_of("unit", digest)
        return RowsDigest((digest,))

    def _leaf(self, kind: str, *parts: str) -> Digest:
        """A leaf, told apart from all others that have the same rows."""
        self._leaves[kind, *parts] += 1
        return digest_of(kind, *parts, str(self._leaves[kind, *parts]))

    def _order(self, source: Plan) -> Digest:
        """What decides in which order the rows of `source` come.

        Ties among a unit's rows are broken by their columns, in order; no order of others is told.
        """
        if unit(source) is None:
            return as_written(source, self._keys)
        return digest_of("ties", *(self._columns[c.id] for c in output_columns(source)))

    def _by_index(self, source: Plan) -> Digest:
        rows = self._rows(source)
        columns = (self._columns[column.id] for column in output_columns(source))
        return digest_of("places", rows.digest, *columns)

    def _all(self, predicate: Expression) -> frozenset[Digest]:
        return frozenset(map(self._expression, conjuncts(predicate)))

    def _sorted(self, on: tuple[Expression, ...]) -> list[Digest]:
        return sorted(frozenset[Digest]().union(*map(self._all, on)))

    def _expression(self, expression: Expression) -> Digest:
        match expression:
            case Column(id=number):
                # A column that a part makes itself is known by its place there.
                return self._columns.get(number, "new")
            case And():
                return digest_of("and", *sorted(self._all(expression)))
            case Or(operands=operands):
                return digest_of("or", *sorted(set(map(self._expression, operands))))
            case Not(operand=Compare(op=op, left=left, right=right)):
                # Also where a side is NULL: then both ways of writing are.
                return self._expression(Compare(OPPOSITE[op], left, right))
            case Compare(op=op):
                first, second = map(self._expression, sides_in_shortest_form(expression))
                if second < first:
                    first, second, op = second, first, _MIRRORED.get(op, op)
                return digest_of("compare", self.read(op), first, second)
            case Arithmetic(op=ArithmeticOperator.ADD | ArithmeticOperator.MULTIPLY as op):
                sides = sorted(map(self._expression, (expression.left, expression.right)))
                return digest_of("arithmetic", self.read(op), self.read(expression.type), *sides)
            case InList():
                operand, values = in_shortest_form(expression.operand, expression.values)
                listed = sorted(set(map(self.read, values)))
                return digest_of("in", self._expression(operand), *listed)
            case _:
                return parted(expression, self.read)
