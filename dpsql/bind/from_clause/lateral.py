"""LATERAL: the rows that a subquery in FROM has for each row that stands before it.

    SELECT p.sex, t.n FROM patients p,
    LATERAL (SELECT count(*) AS n FROM visits v WHERE v.patient_id = p.patient_id) t

is a join by what the subquery asks of the row. An aggregate without GROUP BY has one row for each,
whether or not there are rows to aggregate: the same as a scalar subquery.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.query.query import bind_query
from dpsql.bind.subquery.correlated_limit import ranked
from dpsql.bind.subquery.scalar_join import one_value
from dpsql.bind.subquery.single_row import grouping_of
from dpsql.bind.subquery.subquery_kind import has_one_row, without_limit
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.plan.expression import Expression


@dataclass(frozen=True, slots=True)
class Lateral:
    """The subquery's rows, and what stands for each of their columns beside the rows that ask.

    `has_one_row`: there is one for each of these, or NULLs in the place of columns.
    """

    rows: BoundQuery
    values: tuple[Expression, ...]
    has_one_row: bool

    @property
    def subquery_columns(self) -> tuple[Expression, ...]:
        """What it reads of the rows that ask."""
        return (
            *self.rows.correlated,
            *(output.expression for output in self.rows.subquery_columns),
        )


def bind_lateral(node: exp.Lateral, context: Context) -> Lateral:
    """The subquery, in the context of the sources before it."""
    require_args(node, "this", "alias", "joins")
    query = node.this
    if not isinstance(query, exp.Subquery):
        raise unsupported(node, "LATERAL before a function", hint="LATERAL (SELECT …) AS t")
    query = ranked(query) or query
    limited = query.this.args.get("limit") or query.this.args.get("offset")
    if limited is not None and not has_one_row(query):
        raise unsupported(
            limited,
            "LIMIT in LATERAL",
            hint="number the rows of each: row_number() OVER (PARTITION BY key ORDER BY x) <= 2",
        )
    found = bind_query(without_limit(query.this), context)
    named = found.columns[: len(found.names)]
    if not found.correlated:
        return Lateral(found, named, has_one_row=False)
    if not has_one_row(query):
        if found.subquery_columns:
            raise unsupported(
                node,
                "LATERAL of groups that are asked for by an inequality",
                hint="ask for them by equalities, or leave GROUP BY out",
            )
        return Lateral(found, named, has_one_row=False)
    context.values.append(grouping_of(found.plan) or found.plan)
    values = tuple(one_value(query, found, column) for column in named)
    return Lateral(found, values, has_one_row=True)


def side_of_lateral(node: exp.Join, side: str) -> str:
    """The side of a join with LATERAL that keeps rows: none where each row has one anyway."""
    if side in ("", "LEFT") and not has_one_row(node.this.this):
        return side
    on = node.args.get("on")
    if side == "" or (side == "LEFT" and isinstance(on, exp.Boolean) and on.this):
        return ""
    raise unsupported(
        node,
        f"{side} JOIN LATERAL" + " on a condition of one row" * (side == "LEFT"),
        hint="LEFT JOIN LATERAL (…) AS t ON TRUE, and the condition in CASE or WHERE",
    )
