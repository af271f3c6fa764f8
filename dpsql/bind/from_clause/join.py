"""Kinds of joins: how they are spelled, NATURAL joins, and SEMI and ANTI joins."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.bind.column_ids import Names
from dpsql.bind.proof.join_ownership import require_subquery_unit
from dpsql.bind.scope import Relation, Scope
from dpsql.bind.subquery.quantified_comparison import Quantifier
from dpsql.bind.syntax.allowlist import unsupported
from dpsql.bind.syntax.construct_name import node_words
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused, SyntaxFault
from dpsql.plan.expression import Expression, Not, matched
from dpsql.plan.operator import Filter, MarkJoin, Plan
from dpsql.schema.sql_type import Boolean

SEMI_ANTI = ("SEMI", "ANTI")


def join_words(node: exp.Join) -> tuple[str, str, str]:
    """The side, kind and method of a join, empty where they aren't written."""
    side, kind, method = (node.text(part).upper() for part in ("side", "kind", "method"))
    known = kind in ("", "INNER", "CROSS", "OUTER") or (kind in SEMI_ANTI and not side)
    if known and side in ("", "LEFT", "RIGHT", "FULL") and method in ("", "NATURAL"):
        return side, kind, method
    shown = " ".join(part for part in (method, side, kind) if part)
    raise Refused(
        f"{shown} JOIN has no rule",
        at=span(node),
        hint="use an inner or outer join on keys: a JOIN b ON a.key = b.key",
        note="join",
    )


def shared_names(known: Scope, added: Sequence[Relation], node: exp.Join) -> list[exp.Expr]:
    """The columns of a NATURAL join: those that both sides have."""
    shared = [name for r in added for name, _ in r.named if known.knows(name, ())]
    if not shared:
        raise SyntaxFault(
            "a NATURAL JOIN of tables that share no column",
            at=span(node),
            hint="name the columns: a JOIN b ON a.key = b.key",
        )
    return [exp.to_identifier(name) for name in shared]


def semi_join(
    node: exp.Join,
    kind: str,
    source: Plan,
    relation: Plan,
    on: tuple[Expression, ...],
    names: Names,
) -> Plan:
    """`source` SEMI or ANTI JOIN `relation`: its rows that satisfy EXISTS or NOT EXISTS."""
    require_subquery_unit(node, source, relation, matched(on))
    column = names.column("exists", Boolean())
    wanted: Expression = column if kind == "SEMI" else Not(column)
    return Filter(MarkJoin(source, relation, on, column), wanted)


def is_parenthesized(node: exp.Subquery) -> bool:
    """Whether `node` is tables in parentheses, not a query."""
    inner = node.this
    while isinstance(inner, exp.Subquery) and not (inner.args.get("joins") or inner.alias):
        inner = inner.this
    return isinstance(inner, exp.Table | exp.Subquery)


def correlated_join_error() -> Refused:
    """The refusal of a join condition on columns of the outer query."""
    return Refused("a join condition names columns of the query around", note="subqueries")


def no_aggregate_in_join(node: exp.Expr) -> Expression | None:
    """Refuse an aggregate, and a subquery, where rows are joined."""
    if isinstance(node, exp.AggFunc):
        raise unsupported(node, "an aggregate in a join condition", "aggregate in a subquery first")
    if isinstance(node, exp.Query | exp.Exists) or Quantifier.of(node) is not None:
        hint = "put it into WHERE, or join its rows: JOIN (SELECT …) AS q ON …"
        raise unsupported(node, "a subquery in a join condition", hint=hint)
    return None


def source_words(node: exp.Expr) -> str:
    """What the source `node` of FROM is called in messages."""
    match node:
        case exp.Subquery():
            return "a subquery in FROM"
        case exp.Table() if isinstance(node.this, exp.Func):
            return f"the table function {node.this.sql_name().lower()}"
        case exp.Lateral():
            return "LATERAL"
        case _:
            return f"{node_words(node)[0]} in FROM"
