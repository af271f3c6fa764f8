"""Calls of scalar functions, typed: only those of the registry, with arguments that it allows."""

from __future__ import annotations

import datetime as dt
from typing import Final

from sqlglot import exp

from dpsql.bind.aggregate.syntax import aggregate_names
from dpsql.bind.expression.cast import convert
from dpsql.bind.function.function_nodes import match_node
from dpsql.bind.function.irregular_functions import Named
from dpsql.bind.function.width_bucket import bins_instead
from dpsql.bind.syntax.allowlist import unlisted
from dpsql.bind.syntax.construct_name import function_instead
from dpsql.bind.syntax.parse import span
from dpsql.engine.duckdb.constant_evaluation import Template
from dpsql.errors import DataError, Refused, TypeFault, UnknownFunction
from dpsql.near_name import near_name
from dpsql.plan.expression import Call, Expression, Literal, Scalar
from dpsql.plan.expression_text import describe
from dpsql.plan.functions import ALIASES, FUNCTIONS, find
from dpsql.plan.functions.evaluation import Operand, evaluated, raises
from dpsql.plan.functions.function import Function, Totalization
from dpsql.schema.sql_type import Date, SqlType, Timestamp, Varchar

_LIKENESS: Final = 0.75
"""Of names of functions: of random and round it is 0.55, and nobody means the one by the other."""

_DIVISIONS: Final = frozenset({"//", "%"})


class DivisionByZero(DataError):
    """A constant is divided by one that is 0, which no row decides."""

    sqlstate = "22012"


def function_call(node: exp.Expr) -> Named | None:
    """The scalar function that `node` calls, and its arguments; None if it is no call."""
    call = match_node(node)
    if isinstance(node, exp.Collate | exp.Array | exp.Struct):
        raise unlisted(node)
    if call is None and isinstance(node, exp.Func):
        raise unknown_function(node)
    return call


def registered(name: str, node: exp.Expr) -> Function:
    """The registry's entry of the function `name`; UnknownFunction if there is none."""
    function = find(name)
    if function is None:
        raise unknown_function(node)
    return function


def bind_call(function: Function, values: tuple[Expression, ...], node: exp.Expr) -> Expression:
    """The typed call, refused if the function's entry doesn't allow its types or constants.

    A call of constants is a constant.
    """
    signature = function.types(values)
    if signature is None:
        kinds = ", ".join(str(value.type) for value in values)
        raise TypeFault(
            f"{function.name}({kinds}) has no rule",
            at=span(node),
            hint=f"write {function.usage}",
            note="scalar_functions",
        )
    values = tuple(
        convert(v, kind, node) for v, kind in zip(values, signature.arguments, strict=True)
    )
    for index, value in enumerate(values):
        if index in function.constants and not isinstance(value, Literal):
            raise _unfit(
                function, f"argument {index + 1} of {function.name} isn't a constant", node
            )
    if not function.accepts(values):
        raise _unfit(function, f"a constant of {function.name} is out of its limits", node)
    if function.probed and not _engine_accepts(function, values):
        raise _unfit(function, f"DuckDB can't read the constants of {function.name}", node)
    if all(isinstance(value, Literal) for value in values):
        return folded(function, values, signature.result, node)
    return Call(function.name, values, signature.result)


def folded(
    function: Function, values: tuple[Expression, ...], kind: SqlType, node: exp.Expr
) -> Literal:
    """The value of a call of constants; DataError where it raises, or isn't finite.

    By zero, PostgreSQL's own: no row decides it.
    """
    operands = tuple(Operand((v.value,), v.type) for v in values if isinstance(v, Literal))
    template = function.template(len(operands))
    results = evaluated(template, operands, kind, 1)
    if results is None or (results[0] is None and _is_fault(function, template, operands)):
        if function.name in _DIVISIONS and operands[-1].values == (0,):
            raise DivisionByZero("division by zero", at=span(node))
        shown = describe(Call(function.name, values, kind))
        raise DataError(f"{shown[:80]} has no value", at=span(node))
    return Literal(results[0], kind)


def _is_fault(function: Function, template: Template, operands: tuple[Operand, ...]) -> bool:
    """Whether NULL stands for NaN or an error: of constants that is a mistake in the statement."""
    if any(operand.values == (None,) for operand in operands):
        return False
    return function.total is Totalization.FINITE or raises(template, operands)


def unknown_function(node: exp.Expr) -> UnknownFunction:
    """The refusal of a function that isn't on the allow-list."""
    if isinstance(node, exp.ToChar | exp.Initcap):
        name = node.sql_name()  # which sqlglot writes as CAST and array_to_string for DuckDB
    else:
        name = node.sql(dialect="duckdb", comments=False).split("(")[0][:60]
    listed = "grammar_notes/scalar_functions.md lists those that are"
    return UnknownFunction(
        f"function {name.lower()} isn't on the allow-list",
        at=span(node),
        hint=bins_instead(node) or function_instead(node) or _near(name.lower()) or listed,
        note="refused_functions",
    )


def _near(name: str) -> str:
    names = sorted({*aggregate_names(), *FUNCTIONS, *ALIASES})
    # One of the list that was written in a form that isn't allowed is no misspelling.
    near = "" if name in names else near_name(name, names, _LIKENESS)
    return f"did you mean {near}?" if near else ""


_SAMPLES: dict[type, Scalar] = {
    Varchar: "",
    Date: dt.date(2000, 1, 1),
    Timestamp: dt.datetime(2000, 1, 1),  # noqa: DTZ001 - SQL's TIMESTAMP has no zone
}


def _engine_accepts(function: Function, values: tuple[Expression, ...]) -> bool:
    """Whether the engine accepts the constants of `values`, with samples for the other values."""
    operands = tuple(
        Operand((v.value,) if isinstance(v, Literal) else (_SAMPLES[type(v.type)],), v.type)
        for v in values
    )
    return not raises(function.template(len(operands)), operands)


def _unfit(function: Function, what: str, node: exp.Expr) -> Refused:
    hint = f"write {function.usage}"
    return Refused(what, at=span(node), hint=hint, note="scalar_functions")
