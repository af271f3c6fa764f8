"""Conditions by which rows that are asked for are a row's own unit's, without looking up whose.

Only rows of its own unit may answer a private row's EXISTS. Where lines are asked for by the key of
their order, `l_orderkey = o_orderkey`, a line's customers are found by that very column: one of
them is the customer of the order that asks, whether order keys repeat or not. So a line that meets
the condition answers as one of that customer's, and whose else it is makes no difference.

The other way round it would: of two orders with one key, each asks a line of both for itself.
"""

from __future__ import annotations

from dpsql.analysis.lineage.lineage import unit
from dpsql.analysis.lineage.unit_identity import (
    UnitIdentifier,
    declared_key_identifiers,
    passed_identifiers,
    unit_key_identifiers,
)
from dpsql.plan.expression import Column, matched
from dpsql.plan.operator import Filter, Join, MarkJoin, OuterJoin, OuterKind, Plan, Project, Scan


def is_same_unit(mark: MarkJoin) -> bool:
    """Any row that meets the conditions is there as a row of the unit that asks, too."""
    equal = {frozenset(pair) for pair in matched(mark.on)}
    return any(
        asking.identity == asked.identity
        and all(
            frozenset(pair) in equal for pair in zip(asking.columns, asked.columns, strict=True)
        )
        for asking in _known(mark.source)
        for asked in _looked_up(mark.relation)
    )


def _known(plan: Plan) -> frozenset[UnitIdentifier]:
    """The columns that name rows whose unit is that of this row."""
    match plan:
        case Scan(unit=Column()):
            return unit_key_identifiers(plan) | declared_key_identifiers(plan)
        case Filter(source=source) | MarkJoin(source=source):
            return _known(source)
        case OuterJoin(kind=OuterKind.PUBLIC, right=source) | OuterJoin(left=source):
            # Its columns are NULL where it has no row, and NULL equals nothing.
            return _known(source)
        case Project(source=source, outputs=outputs):
            return passed_identifiers(_known(source), outputs)
        case Join(sources=sources):
            # All private sources are of one unit.
            private = [source for source in sources if unit(source) is not None]
            return frozenset(naming for source in private for naming in _known(source))
        case _:
            return frozenset()


def _looked_up(plan: Plan) -> frozenset[UnitIdentifier]:
    """The columns that name rows, each of whose units this row has, too."""
    match plan:
        case Scan(unit=Column()):
            return unit_key_identifiers(plan)
        case Filter(source=source):
            return _looked_up(source)
        case Project(source=source, outputs=outputs):
            return passed_identifiers(_looked_up(source), outputs)
        case _:
            return frozenset()
