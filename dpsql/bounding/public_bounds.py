"""Bounds of public columns: the least and the greatest value that the public table's rows have.

SELECT avg(d.fee) FROM visits v JOIN doctors d USING (doctor_id)

Owners don't declare bounds of what everybody may read. The bounds are read only for arguments that
need bounds and have none; a column of few values has the list of them as its domain, as `mode` and
`min` of text need it.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Final

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import Environment, domain
from dpsql.analysis.domains.predicate_narrowing import narrow
from dpsql.bounding.public_facts import Facts
from dpsql.plan.aggregate import LEFT_OUT, AggregateCall, AggregateFunction, AggregateOutput
from dpsql.plan.bounded_release.cell_selection import MAX_LISTED
from dpsql.plan.expression import And, Column, Compare, Comparison, Expression, IsNull, Literal, Not
from dpsql.plan.operator import Aggregate, Filter, Output, Plan, Release, Scan
from dpsql.plan.traversal import replace_sources
from dpsql.privacy.domain import UNKNOWN, Domain, Interval, coordinate, of_values
from dpsql.schema.model import Public
from dpsql.schema.sql_type import Date, Decimal, Double, Integer, Timestamp, Varchar
from dpsql.structs import replace

_LARGEST: Final = Literal(Fraction(sys.float_info.max), Double())
_SMALLEST: Final = Literal(-Fraction(sys.float_info.max), Double())


def with_public_bounds(release: Release, facts: Facts) -> Release:
    """`release` with the domains of public columns in its scans, if an argument needs bounds."""
    below = column_domains(release.source)
    calls = (output.call for output in release.aggregates)
    if not any(
        _is_unbounded(argument, below if call.filter is None else narrow(call.filter, below))
        for call in calls
        if call.function is not AggregateFunction.COUNT or call.output_kind in LEFT_OUT
        for argument in call.arguments
    ):
        return release
    return replace(release, source=_known(release.source, facts))


def _is_unbounded(argument: Expression, below: Environment) -> bool:
    known = domain(argument, below)
    return known.values is None and (known.bounds is None or known.bounds.ends is None)


def _known(plan: Plan, facts: Facts) -> Plan:
    """`plan` with the domains of columns without declared bounds in its public scans."""
    match plan:
        case Release():
            return plan
        case Scan(table=table, columns=columns):
            if not isinstance(table.ownership, Public):
                return plan
            declared = {c: table.columns[c.name] for c in columns}
            silent = [c for c, d in declared.items() if d.bounds is None and d.values is None]
            domains = ((c.id, _domain(plan, c, facts)) for c in silent)
            return replace(plan, known=tuple((i, d) for i, d in domains if d != UNKNOWN))
        case _:
            return replace_sources(lambda source: _known(source, facts), plan)


def _domain(scan: Scan, column: Column, facts: Facts) -> Domain:
    """The domain of `column` by the rows of `scan`; UNKNOWN if these tell nothing.

    NaN and infinities are no bounds: a double lies between its least and its greatest number.
    """
    if not isinstance(column.type, Integer | Decimal | Double | Date | Timestamp | Varchar):
        return UNKNOWN
    there: Expression = Not(IsNull(column))
    if isinstance(column.type, Double):
        there = And(
            (
                Compare(Comparison.GREATER_EQUAL, column, _SMALLEST),
                Compare(Comparison.LESS_EQUAL, column, _LARGEST),
            )
        )
    rows = Filter(replace(scan, columns=(column,)), there)
    nullable = scan.table.columns[column.name].nullable
    value = Column(1, column.name, column.type)
    listed = facts.rows(Aggregate(rows, (Output(value, column),), ()), MAX_LISTED)
    values = [] if listed is None else [cell for (cell,) in listed if cell is not None]
    if values:
        # Equal values of one type sort, and both zeros of a double are one.
        return of_values(tuple(sorted(set(values))), nullable=nullable)
    if isinstance(column.type, Varchar):
        return UNKNOWN
    ends = facts.rows(Aggregate(rows, (), _ends(column)), 1)
    low, high = (None if v is None else coordinate(v) for v in (ends or ((None, None),))[0])
    if low is None or high is None:
        return UNKNOWN
    return Domain(Interval(low, high), nullable=nullable)


def _ends(column: Column) -> tuple[AggregateOutput, ...]:
    functions = (AggregateFunction.MIN, AggregateFunction.MAX)
    return tuple(
        AggregateOutput(
            Column(number, column.name, column.type),
            AggregateCall(f, (column,), distinct=False, filter=None, type=column.type),
        )
        for number, f in enumerate(functions, 1)
    )
