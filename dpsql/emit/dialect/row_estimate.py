"""What no engine may conclude from the number of rows that it takes a join to have.

DuckDB takes an outer join to have at most as many rows as its sides multiplied: none, where the
statistics of a side say that no row meets its conditions. So it leaves out a LIMIT that all rows
are within, and adds up integers of 64 bits without a look at their overflow.

SELECT doctor_id FROM doctors LEFT JOIN (SELECT * FROM regions WHERE region_id > 9) ON … LIMIT 1

has all doctors. A proof that each unit is in one group, since it meets one row, would be of another
statement than the one that is run; and a total of 2^63 would be -2^63 with one unit more. So would
that of each unit by itself: a unit more whose row meets the conditions would change all others'.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.emit.dialect.nodes import Neutral, UnitSum, WideSum
from dpsql.plan.operator import OuterJoin, Plan
from dpsql.plan.traversal import operators


class RowLimit(Neutral):
    """The `count` of a LIMIT, as a number that an engine looks at once it has rows."""


class Unestimated(Neutral):
    """An `expression` of whose least and greatest value an engine knows nothing."""


def limit_rows(select: exp.Select, count: int) -> exp.Select:
    """`select` itself, with a LIMIT that holds whatever an engine takes rows to be."""
    select.set("limit", exp.Limit(expression=RowLimit(count=count)))
    return select


def may_seem_empty(source: Plan) -> bool:
    """Whether an engine may take the rows of `source` for none, whatever rows there are."""
    return any(isinstance(part, OuterJoin) for part in operators(source))


def guard_sums(select: exp.Select, source: Plan) -> None:
    """Have sums over rows of `source` checked for overflow where its rows may be taken for none."""
    if not may_seem_empty(source):
        return
    for total in list(select.find_all(WideSum, UnitSum)):
        term = total.args["term"]
        added = term.expressions[0] if isinstance(term, exp.Distinct) else term
        added.replace(Unestimated(expression=added.copy()))
