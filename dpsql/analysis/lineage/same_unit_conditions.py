"""Conditions of EXISTS that imply the same privacy unit, so that units needn't be compared.

Only rows of its own unit may answer a private row's EXISTS. Let an order's EXISTS look lines up by
the order's key, `l_orderkey = o_orderkey`. A line has a row for each customer of an order with its
key, and the order that asks is one of these, whether order keys repeat or not. So a line that meets
the condition also appears as a row of that order's customer, and its rows of other customers make
no difference.

The other way round they would: where orders of two customers share a key, a line has a row for each
customer, and the EXISTS of either row would find the other customer's order.
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
    """Rows that meet `mark`'s conditions are in its relation as rows of the asking unit, too."""
    equal = {frozenset(pair) for pair in matched(mark.on)}
    return any(
        own.identity == lookup.identity
        and all(frozenset(pair) in equal for pair in zip(own.columns, lookup.columns, strict=True))
        for own in _row_keys(mark.source)
        for lookup in _lookup_keys(mark.relation)
    )


def _row_keys(plan: Plan) -> frozenset[UnitIdentifier]:
    """The unit identifiers that hold keys of rows of the same unit as the row that has them."""
    match plan:
        case Scan(unit=Column()):
            return unit_key_identifiers(plan) | declared_key_identifiers(plan)
        case Filter(source=source) | MarkJoin(source=source):
            return _row_keys(source)
        case OuterJoin(kind=OuterKind.PUBLIC, right=source) | OuterJoin(left=source):
            # Its columns are NULL where it has no row, and NULL equals nothing.
            return _row_keys(source)
        case Project(source=source, outputs=outputs):
            return passed_identifiers(_row_keys(source), outputs)
        case Join(sources=sources):
            # All private sources are of one unit.
            private = [source for source in sources if unit(source) is not None]
            return frozenset(naming for source in private for naming in _row_keys(source))
        case _:
            return frozenset()


def _lookup_keys(plan: Plan) -> frozenset[UnitIdentifier]:
    """The identifiers that units are looked up by: a row appears once for each unit they name."""
    match plan:
        case Scan(unit=Column()):
            return unit_key_identifiers(plan)
        case Filter(source=source):
            return _lookup_keys(source)
        case Project(source=source, outputs=outputs):
            return passed_identifiers(_lookup_keys(source), outputs)
        case _:
            return frozenset()
