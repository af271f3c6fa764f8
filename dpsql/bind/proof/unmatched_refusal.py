"""The refusal of an aggregate that takes in public rows without a private partner."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.analysis.domains.known_values import Fixed
from dpsql.analysis.lineage.lineage import private_scans
from dpsql.errors import Refused, Span
from dpsql.plan.aggregate import AggregateCall
from dpsql.plan.expression import Column, Expression
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Plan
from dpsql.plan.traversal import rewrite_expression
from dpsql.structs import replace

Qualified = Callable[[Column], str]
"""A column's name in the statement, with its table's where that is needed."""


def unmatched_in_aggregate(
    call: AggregateCall, constants: Fixed, at: Span | None, source: Plan, qualified: Qualified
) -> Refused:
    """The refusal of `call` over `source`, with an aggregate over matched rows as its hint.

    `constants` are the columns whose value all unmatched rows share, and `at` is the position of
    the outer join that keeps these rows.
    """

    def named_fully(part: Expression) -> Expression:
        return replace(part, name=qualified(part)) if isinstance(part, Column) else part

    keys = {name for scan in private_scans(source) for name in scan.table.key or ()}
    absent = [c for c, value in constants.items() if value.value is None]
    named = [c for c in absent if qualified(c) != c.name] or absent
    best = next((c for c in named if c.name in keys), named[0] if named else None)
    arguments = (rewrite_expression(named_fully, a) for a in call.arguments)
    distinct = "DISTINCT " if call.distinct else ""
    shown = f"{call.function.value}({distinct}{', '.join(map(describe, arguments)) or '*'})"
    hint = "use an inner join"
    if best is not None and call.filter is None:
        column = qualified(best)
        joined = f"{shown} FILTER (WHERE {column} IS NOT NULL)"
        joined = joined if call.arguments else f"count({column})"
        hint = f"{joined}, of the rows that have one"
    return Refused(
        f"{shown} takes in public rows that have no private partner",
        at=call.at or at,
        hint=hint,
        note="outer_join",
    )
