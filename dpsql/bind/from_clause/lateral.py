"""LATERAL: the rows that a subquery in FROM has for each row of the sources before it.

    SELECT p.sex, t.n FROM patients p,
    LATERAL (SELECT count(*) AS n FROM visits v WHERE v.patient_id = p.patient_id) t

is a join on the subquery's conditions. An aggregate without GROUP BY has one row for each row
before it, whether or not there are rows to aggregate, as a scalar subquery has.
"""

from __future__ import annotations

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.subquery.correlated_limit import ranked
from dpsql.bind.subquery.scalar_join import one_value
from dpsql.bind.subquery.single_row import grouping_of
from dpsql.bind.subquery.subquery_kind import has_one_row, without_limit
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.plan.expression import Expression


class Lateral(Struct, frozen=True):
    """The subquery's rows, and `values`, which stand for their columns above the join.

    `has_one_row`: each row before the subquery is joined to one row of it, or to NULLs.
    """

    rows: BoundQuery
    values: tuple[Expression, ...]
    has_one_row: bool

    @property
    def subquery_columns(self) -> tuple[Expression, ...]:
        """The expressions through which the subquery reads columns of the sources before it."""
        return (
            *self.rows.correlated,
            *(output.expression for output in self.rows.subquery_columns),
        )


def bind_lateral(node: exp.Lateral, context: Context) -> Lateral:
    """The subquery of `node`, in the context of the sources before it."""
    require_args(node, "this", "alias", "joins")
    query = node.this
    if not isinstance(query, exp.Subquery):
        raise unsupported(node, "LATERAL before a function", hint="LATERAL (SELECT …) AS t")
    query = ranked(query, context.parameters) or query
    limited = query.this.args.get("limit") or query.this.args.get("offset")
    if limited is not None and not has_one_row(query):
        raise unsupported(
            limited,
            "LIMIT in LATERAL",
            hint="number the rows of each: row_number() OVER (PARTITION BY key ORDER BY x) <= 2",
        )
    rows = context.bind_query(without_limit(query.this), context)
    named = rows.columns[: len(rows.names)]
    if not rows.correlated:
        return Lateral(rows, named, has_one_row=False)
    if not has_one_row(query):
        if rows.subquery_columns:
            raise unsupported(
                node,
                "LATERAL of groups that are asked for by an inequality",
                hint="ask for them by equalities, or leave GROUP BY out",
            )
        return Lateral(rows, named, has_one_row=False)
    context.values.append(grouping_of(rows.plan) or rows.plan)
    values = tuple(one_value(query, rows, column) for column in named)
    return Lateral(rows, values, has_one_row=True)


def side_of_lateral(node: exp.Join, side: str) -> str:
    """The preserved side of a join with LATERAL: none where each row has exactly one partner."""
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
