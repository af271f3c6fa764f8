"""Calls of scalar functions: whatever node the parser made of them, their name and arguments."""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.allow import only
from dpsql.bind.parse import span
from dpsql.errors import Refused, TypeFault, UnknownFunction
from dpsql.plan.expression import Call, Expression, Literal
from dpsql.plan.function import FUNCTIONS

NAMED: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    # sqlglot gives common functions nodes of their own; these are their names and arguments.
    exp.Lower: ("lower", ("this",)),
    exp.Upper: ("upper", ("this",)),
    exp.Length: ("length", ("this",)),
    exp.Substring: ("substring", ("this", "start", "length")),
    exp.Year: ("year", ("this",)),
    exp.Month: ("month", ("this",)),
    exp.Day: ("day", ("this",)),
    exp.Greatest: ("greatest", ("this", "expressions", "ignore_nulls")),
    exp.Least: ("least", ("this", "expressions", "ignore_nulls")),
}


def function_call(node: exp.Expr) -> tuple[str, list[exp.Expr]] | None:
    """The name and the arguments of the scalar function that `node` calls; None if it is no call."""
    if isinstance(node, exp.Like | exp.ILike):
        only(node, "this", "expression")
        return ("like" if isinstance(node, exp.Like) else "ilike"), [node.this, node.expression]
    if isinstance(node, exp.Extract):
        only(node, "this", "expression")
        return node.this.name.lower(), [node.expression]
    if isinstance(node, exp.Anonymous):
        only(node, "this", "expressions")
        return node.name.lower(), node.expressions
    if type(node) in NAMED:
        name, places = NAMED[type(node)]
        only(node, *places)
        return name, _arguments(node, places)
    if isinstance(node, exp.Func):
        raise unknown_function(node)
    return None


def bind_call(node: exp.Expr, name: str, values: tuple[Expression, ...]) -> Expression:
    """The typed call of `name`, refused if its types or constants aren't those of its entry."""
    function = FUNCTIONS[name]
    result = function.result(tuple(value.type for value in values))
    if result is None:
        kinds = ", ".join(str(value.type) for value in values)
        raise TypeFault(
            f"{name}({kinds}) has no rule", at=span(node), hint=f"write {function.usage}"
        )
    fixed = all(isinstance(v, Literal) for p, v in enumerate(values) if p in function.constants)
    if not fixed or not function.accepts(values):
        raise Refused(
            f"an argument of {name} has to be another constant",
            at=span(node),
            hint=f"write {function.usage}",
            note="scalar_functions",
        )
    return Call(name, values, result)


def unknown_function(node: exp.Expr) -> UnknownFunction:
    """The refusal of a function that isn't on the allow-list."""
    name = node.sql(dialect="duckdb", comments=False).split("(")[0][:60]
    return UnknownFunction(
        f"function {name.lower()} isn't on the allow-list",
        at=span(node),
        hint="grammar_notes/scalar_functions.md lists those that are",
        note="refused_functions",
    )


def _arguments(node: exp.Expr, places: tuple[str, ...]) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for place in places:
        value = node.args.get(place)
        if isinstance(value, list):
            found += value
        elif isinstance(value, exp.Expr):
            found.append(value)
    return found
