"""Queries: WITH, SELECT and set operations, in any nesting."""

from __future__ import annotations

from sqlglot import exp

from dpsql.analysis.lineage.lineage import Visibility, unit_kind, visibility
from dpsql.analysis.lineage.unit_identity import determines_unit, identifier_indices
from dpsql.bind.context import BoundQuery, Context, Cte
from dpsql.bind.expression.coercion import common_type
from dpsql.bind.expression.expression import convert
from dpsql.bind.proof.join_ownership import require_total_keys
from dpsql.bind.proof.unmatched_public_rows import release_without_unmatched
from dpsql.bind.query.multiset_operation import of_all_rows
from dpsql.bind.query.order_by import order_by_name, row_limit
from dpsql.bind.query.union_by_name import by_name
from dpsql.bind.syntax.allowlist import require_args, unlisted, unsupported
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused, SyntaxFault, TypeFault
from dpsql.plan.expression import Column
from dpsql.plan.operator import (
    Aggregate,
    Output,
    Plan,
    Project,
    SetKind,
    SetOperation,
    Union,
)
from dpsql.schema.sql_type import BIGINT


def bind_query(node: exp.Expr, context: Context) -> BoundQuery:
    """The plan of a query, with its WITH clause."""
    # SELECTs hold queries and queries hold SELECTs.
    from dpsql.bind.query.select import bind_select  # noqa: PLC0415

    while isinstance(node, exp.Subquery | exp.Paren):
        require_args(node, "this", "alias", "with_")
        context = _with(node, context)
        node = node.this
    context = _with(node, context)
    match node:
        case exp.Select():
            return bind_select(node, context)
        case exp.SetOperation():
            return _set_operation(node, context)
        case _:
            raise unlisted(node)


def _with(node: exp.Expr, context: Context) -> Context:
    clause = node.args.get("with_")
    if clause is None:
        return context
    require_args(clause, "expressions")
    for cte in clause.expressions:
        require_args(cte, "this", "alias", "materialized")
        require_args(cte.args["alias"], "this", "columns")
        name = cte.alias
        if name.casefold() in context.ctes and any(
            other is not cte and other.alias.casefold() == name.casefold()
            for other in clause.expressions
        ):
            raise SyntaxFault(f"WITH names {name} twice", at=span(cte.args["alias"]))
        aliases = tuple(column.name for column in cte.args["alias"].args.get("columns") or [])
        context = context.with_cte(name, Cte(cte.this, context, aliases))
    return context


def _set_operation(node: exp.SetOperation, context: Context) -> BoundQuery:
    require_args(
        node, "this", "expression", "distinct", "by_name", "order", "limit", "offset", "with_"
    )
    left = bind_query(node.this, context.subquery_context(None))
    right = bind_query(node.expression, context.subquery_context(None))
    if node.args.get("by_name"):
        if not isinstance(node, exp.Union):
            raise unsupported(node, "BY NAME of what isn't a UNION", "select them in one order")
        left, right = by_name(left, right, context.names, node)
    if len(left.columns) != len(right.columns):
        raise SyntaxFault(
            f"the sides have {len(left.columns)} and {len(right.columns)} columns",
            at=span(node),
            hint="select as many columns on each side",
        )
    arms = _unified(node, left, right, context)
    plan = _combined(node, arms, context)
    ordered = order_by_name(node, BoundQuery(plan, left.names))
    return row_limit(node, ordered, context.parameters)


def _unified(
    node: exp.SetOperation, left: BoundQuery, right: BoundQuery, context: Context
) -> tuple[Plan, Plan]:
    """Both sides with columns of the same types."""
    kinds = [
        common_type([a.type, b.type]) for a, b in zip(left.columns, right.columns, strict=True)
    ]
    plans: list[Plan] = []
    for side, where in ((left, node.this), (right, node.expression)):
        outputs: list[Output] = []
        for column, kind, name in zip(side.columns, kinds, side.names, strict=True):
            if kind is None:
                raise TypeFault(
                    f"column {name} has types that don't mix on the two sides",
                    at=span(where),
                    hint=f"convert it on one side: CAST({name} AS VARCHAR)",
                )
            fresh = context.names.column(name, kind)
            outputs.append(Output(fresh, convert(column, kind, where)))
        plans.append(Project(side.plan, tuple(outputs)))
    return plans[0], plans[1]


def _combined(node: exp.SetOperation, arms: tuple[Plan, Plan], context: Context) -> Plan:
    """The set operation of `arms`; private arms whose rows would lose their unit are released."""
    all_rows = not node.args.get("distinct")
    private = [visibility(arm) is Visibility.PRIVATE for arm in arms]
    if any(private) and not _keep_unit(arms, all_rows=all_rows and isinstance(node, exp.Union)):
        if all_rows:
            raise Refused(
                f"{type(node).__name__.upper()} ALL of rows of a privacy unit with others",
                at=span(node),
                hint="aggregate each side first, with GROUP BY, and then the results",
                note="set_operations",
            )
        arms = (_keys_of(arms[0], context), _keys_of(arms[1], context))
        private = [False, False]
    outputs = _outputs(arms[0], context)
    if isinstance(node, exp.Union):
        own = context.names.column("unit", BIGINT) if any(private) else None
        united = Union(arms, outputs, own)
        return united if all_rows else _distinct(united, context)
    kind = SetKind.INTERSECT if isinstance(node, exp.Intersect) else SetKind.EXCEPT
    if all_rows:
        return of_all_rows(kind, *arms, context.names)
    return SetOperation(kind, arms[0], arms[1], outputs)


def _keep_unit(arms: tuple[Plan, Plan], *, all_rows: bool) -> bool:
    """Whether both sides' rows belong to units of one kind, and equal rows to one unit.

    `all_rows`: the operation is UNION ALL, which doesn't compare rows.
    """
    if any(visibility(arm) is not Visibility.PRIVATE for arm in arms):
        return False
    kinds = {unit_kind(arm) for arm in arms}
    if len(kinds) > 1 or any((kind or "").startswith("row of") for kind in kinds):
        return False
    if all_rows:
        return True
    one, other = (identifier_indices(arm, _columns(arm)) for arm in arms)
    return bool(one & other)


def _keys_of(arm: Plan, context: Context) -> Plan:
    """The distinct rows of `arm` as a release if it is private, else `arm`."""
    if visibility(arm) is not Visibility.PRIVATE:
        return arm
    return release_without_unmatched(
        arm, _fresh(arm, context), (), lambda column: column.name, context.names
    )


def _distinct(plan: Plan, context: Context) -> Plan:
    return Aggregate(plan, _fresh(plan, context), ())


def distinct_rows(plan: Plan, context: Context) -> Plan:
    """The distinct rows of `plan`: a release of keys if it is private and no column tells units."""
    if visibility(plan) is Visibility.PRIVATE and not determines_unit(plan, _columns(plan)):
        require_total_keys(plan, _fresh(plan, context))
        return _keys_of(plan, context)
    return _distinct(plan, context)


def _fresh(plan: Plan, context: Context) -> tuple[Output, ...]:
    """The columns of `plan` under new ids, with the places of the expressions that they are of."""
    spans = {o.column: o.at for o in plan.outputs} if isinstance(plan, Project) else {}
    return tuple(Output(context.names.like(c), c, spans.get(c)) for c in _columns(plan))


def _outputs(plan: Plan, context: Context) -> tuple[Column, ...]:
    return tuple(context.names.like(c) for c in _columns(plan))


def _columns(plan: Plan) -> tuple[Column, ...]:
    return BoundQuery(plan, ()).columns
