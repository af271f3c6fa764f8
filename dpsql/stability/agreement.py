"""Conditions by which rows that are asked for are a row's own unit's, without looking up whose.

Only rows of its own unit may answer a private row's EXISTS. Where lines are asked for by the key of
their order, `l_orderkey = o_orderkey`, a line's customers are found by that very column: one of
them is the customer of the order that asks, whether order keys repeat or not. So a line that meets
the condition answers as one of that customer's, and whose else it is makes no difference.

The other way round it would: of two orders with one key, each asks a line of both for itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpsql.plan.expression import Column, Compare, Comparison
from dpsql.plan.operator import Filter, Join, Mark, OuterJoin, OuterKind, Plan, Project, Scan
from dpsql.schema.model import EntityUnit
from dpsql.stability.lineage import unit

_Place = tuple[str, str]
"""A table and its column; or a kind of unit, and nothing: the value is the unit."""

_Places = Mapping[Column, frozenset[_Place]]


def asks_own_unit(mark: Mark) -> bool:
    """Any row that meets the conditions is there as a row of the unit that asks, too."""
    asking, asked = _known(mark.source), _looked_up(mark.relation)
    return any(
        asking.get(one, frozenset()) & asked.get(other, frozenset())
        for condition in mark.on
        for one, other in _equal(condition)
    )


def _equal(condition: object) -> Iterator[tuple[Column, Column]]:
    match condition:
        case Compare(op=Comparison.EQUAL, left=Column() as left, right=Column() as right):
            yield left, right
            yield right, left
        case _:
            return


def _known(plan: Plan) -> _Places:
    """For each column, where a row with its value is whose unit is that of this row."""
    match plan:
        case Scan(table=table, columns=columns, unit=Column()):
            led = _leads(plan)
            return {c: led.get(c, frozenset()) | {(table.name, c.name)} for c in columns}
        case Filter(source=source) | Mark(source=source):
            return _known(source)
        case OuterJoin(kind=OuterKind.PUBLIC, right=source) | OuterJoin(left=source):
            # Its columns are NULL where it has no row, and NULL equals nothing.
            return _known(source)
        case Project():
            return _handed_on(plan, _known(plan.source))
        case Join(sources=sources):
            # All private sources are of one unit.
            private = [source for source in sources if unit(source) is not None]
            return {c: places for source in private for c, places in _known(source).items()}
        case _:
            return {}


def _looked_up(plan: Plan) -> _Places:
    """For each column, where rows with its value are, each of whose units this row has, too."""
    match plan:
        case Scan(unit=Column()):
            return _leads(plan)
        case Filter(source=source):
            return _looked_up(source)
        case Project():
            return _handed_on(plan, _looked_up(plan.source))
        case _:
            return {}


def _leads(scan: Scan) -> _Places:
    """The column that a row's unit is looked up by, or is."""
    match scan.table.ownership:
        case EntityUnit(hops=(hop, *_)):
            return {
                c: frozenset({(hop.table, hop.key)}) for c in scan.columns if c.name == hop.column
            }
        case EntityUnit(kind=kind, column=column):
            return {c: frozenset({(kind, "")}) for c in scan.columns if c.name == column}
        case _:
            return {}


def _handed_on(plan: Project, below: _Places) -> _Places:
    return {
        output.column: below[output.expression]
        for output in plan.outputs
        if isinstance(output.expression, Column) and output.expression in below
    }
