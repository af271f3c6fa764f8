"""Conditions of a join that equate columns of one table with a key of another."""

from __future__ import annotations

from collections.abc import Iterable

from dpsql.plan.expression import Expression, matched
from dpsql.plan.operator import Scan
from dpsql.schema.model import Hop


def hop_keys(on: Iterable[Expression], child: Scan, hop: Hop, parent: Scan) -> list[Expression]:
    """The conditions that equate all columns of a hop with its key; none if one isn't equated.

    Sales that meet returns by the item alone are those of all who bought it.
    """
    if parent.table.name != hop.table:
        return []
    met = [key_equalities(on, child, column, parent, key) for column, key in hop.pairs]
    return [condition for equalities in met for condition in equalities] if all(met) else []


def key_equalities(
    on: Iterable[Expression], left: Scan, left_name: str, right: Scan, right_name: str
) -> list[Expression]:
    """The conditions of `on` that equate columns of two tables, of these names."""
    pairs = [
        {a, b}
        for a in left.columns
        if a.name == left_name
        for b in right.columns
        if b.name == right_name
    ]
    return [p for p in on for sides in matched([p]) if {*sides} in pairs]
