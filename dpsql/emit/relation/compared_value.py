"""Computed columns by which an engine may join rows: those that a condition above compares.

    SELECT … FROM (SELECT c1 + c1 AS c5, c4 AS c6 FROM visits CROSS JOIN levels) WHERE c5 = c6

An engine moves the condition into the SELECT, where it joins rows by `c1 + c1`.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.emit.dialect.nodes import Scalar
from dpsql.plan.expression import Column, Compare, Expression
from dpsql.plan.operator import Aggregate, Output, Plan, Project, SetOperation, Union
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns, expressions, operators, sources, subexpressions


def mark_compared(emitted: exp.Expr, plan: Plan) -> None:
    """Make keys of the values in `emitted`, which `plan` became, that are compared with columns."""
    compared: set[Column] = set()
    for expression in expressions(plan):
        compared |= _compared(expression)
    keys: set[Expression] = set()
    # From the top: what a compared column is computed of is moved into, too.
    for part in reversed([*operators(plan)]):
        match part:
            case Project(outputs=outputs) | Aggregate(keys=outputs):
                chosen = [each.expression for each in outputs if _is_compared(each, compared)]
                keys |= {*chosen}
                compared |= columns(*chosen)
            case Union(outputs=outputs) | SetOperation(outputs=outputs):
                for source in sources(part):
                    own = zip(outputs, output_columns(source), strict=True)
                    compared |= {column for output, column in own if output in compared}
            case _:
                pass
    if not keys:
        return
    for value in emitted.find_all(Scalar):
        if value.args["expression"] in keys:
            value.set("is_key", True)


def _is_compared(output: Output, compared: set[Column]) -> bool:
    return output.column in compared or bool(_compared(output.expression))


def _compared(expression: Expression) -> frozenset[Column]:
    """The columns of comparisons in `expression` that have columns on both of their sides."""
    both = (
        part
        for part in subexpressions(expression)
        if isinstance(part, Compare) and columns(part.left) and columns(part.right)
    )
    return columns(*both)
