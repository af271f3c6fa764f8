"""Conditions by which rows that are asked for are a row's own unit's, without looking up whose.

Only rows of its own unit may answer a private row's EXISTS. Where lines are asked for by the key of
their order, `l_orderkey = o_orderkey`, a line's customers are found by that very column: one of
them is the customer of the order that asks, whether order keys repeat or not. So a line that meets
the condition answers as one of that customer's, and whose else it is makes no difference.

The other way round it would: of two orders with one key, each asks a line of both for itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.plan.expression import Column, equated
from dpsql.plan.operator import Filter, Join, Mark, OuterJoin, OuterKind, Plan, Project, Scan
from dpsql.stability.lineage import Identity, leading, unit

_Places = Mapping[Column, frozenset[Identity]]


def asks_own_unit(mark: Mark) -> bool:
    """Any row that meets the conditions is there as a row of the unit that asks, too."""
    asking, asked = _known(mark.source), _looked_up(mark.relation)
    return any(
        asking.get(one, frozenset()) & asked.get(other, frozenset())
        for left, right in equated(mark.on)
        if isinstance(left, Column) and isinstance(right, Column)
        for one, other in ((left, right), (right, left))
    )


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
    led = leading(scan.table)
    if led is None:
        return {}
    name, found = led
    return {c: frozenset({found}) for c in scan.columns if c.name == name}


def _handed_on(plan: Project, below: _Places) -> _Places:
    return {
        output.column: below[output.expression]
        for output in plan.outputs
        if isinstance(output.expression, Column) and output.expression in below
    }
