"""Columns of randomised answers: where a plan reads them; conditions on them, lifted out of it.

A condition below an aggregate keeps rows by what was said. It is lifted into the aggregates, which
know how to ask of true answers; anything else that reads an answer would make an answer of what
was said, and is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.errors import Refused, Span
from dpsql.plan.aggregate import AggregateCall
from dpsql.plan.expression import Column, Expression, Literal, conjunction, conjuncts
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Filter, Join, Output, Plan, Project, Scan
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns, operators
from dpsql.privacy.mechanisms.randomized_response import RandomizedResponse
from dpsql.schema.model import Column as Declared
from dpsql.schema.sql_type import Boolean


@dataclass(frozen=True, slots=True)
class Response:
    """What may be said in the column `name` of a table, and how answers were randomised."""

    name: str
    values: tuple[Literal, ...]
    mechanism: RandomizedResponse


Responses = Mapping[Column, Response]


@dataclass(frozen=True, slots=True)
class ResponseConditions:
    """A plan that keeps rows whatever was said; conditions on that; the columns of answers."""

    plan: Plan
    conditions: tuple[Expression, ...]
    responses: Responses


def extract_conditions(plan: Plan, at: Span | None) -> ResponseConditions:
    """`plan` without conditions on randomised answers; Refused where it reads them otherwise.

    `at` is where the statement asks for what is made of it.
    """
    if not any(isinstance(part, Scan) and _response_columns(part) for part in operators(plan)):
        return ResponseConditions(plan, (), {})
    match plan:
        case Scan():
            return ResponseConditions(plan, (), _response_columns(plan))
        case Filter(source=source, predicate=predicate):
            below = extract_conditions(source, at)
            parts = conjuncts(predicate)
            own = tuple(part for part in parts if columns(part) & below.responses.keys())
            rest = tuple(part for part in parts if part not in own)
            kept = replace(plan, source=below.plan, predicate=conjunction(rest)) if rest else None
            return ResponseConditions(
                kept or below.plan, (*below.conditions, *own), below.responses
            )
        case Project(source=source, outputs=outputs):
            return _projected(plan, extract_conditions(source, at), outputs, at)
        case Join(sources=sources, on=on):
            found = [extract_conditions(source, at) for source in sources]
            responses = {c: r for one in found for c, r in one.responses.items()}
            if columns(*on) & responses.keys():
                raise no_estimator_error("a join on randomised answers", at)
            conditions = tuple(part for one in found for part in one.conditions)
            joined = replace(plan, sources=tuple(one.plan for one in found))
            return ResponseConditions(joined, conditions, responses)
        case _:
            raise no_estimator_error(
                "randomised answers below anything but conditions and joins", at
            )


def no_estimator_error(what: str, at: Span | None, hint: str = "", fix: str = "") -> Refused:
    """The refusal of what would be made of what was said."""
    return Refused(
        f"{what}: no unbiased estimate is known",
        at=at,
        hint=hint or "count(*) or sum(x) with FILTER (WHERE column = value) are estimated",
        note="randomized_response",
        fix=fix,
    )


def no_ratio_error(call: AggregateCall, what: str, count: str | None) -> Refused:
    """The refusal of an average of estimates: their sum by `count`, where one is estimated."""
    is_known = count is not None and call.filter is None
    ratio = f"sum({describe(call.arguments[0])}) / {count}" if is_known else ""
    return no_estimator_error(what, call.at, "write sum(x) / count(*): both are estimated", ratio)


def _projected(
    plan: Project, below: ResponseConditions, outputs: tuple[Output, ...], at: Span | None
) -> ResponseConditions:
    named = {o.column: o.expression for o in outputs if o.expression in below.responses}
    for output in outputs:
        if output.column not in named and columns(output.expression) & below.responses.keys():
            raise no_estimator_error(
                f"{output.column.name}, computed of randomised answers in a subquery", at
            )
    handed = {o.column for o in outputs}
    needed = columns(*below.conditions) - handed
    carried = tuple(Output(c, c) for c in output_columns(below.plan) if c in needed)
    responses = {c: below.responses[e] for c, e in named.items() if isinstance(e, Column)}
    responses |= {c: r for c, r in below.responses.items() if c in needed}
    return ResponseConditions(
        replace(plan, source=below.plan, outputs=(*outputs, *carried)), below.conditions, responses
    )


def _response_columns(scan: Scan) -> dict[Column, Response]:
    declared = {c: scan.table.columns[c.name] for c in scan.columns}
    return {c: _response(d, d.response) for c, d in declared.items() if d.response is not None}


def _response(declared: Declared, epsilon: Fraction) -> Response:
    listed = (False, True) if isinstance(declared.type, Boolean) else declared.values or ()
    values = tuple(Literal(value, declared.type) for value in listed)
    return Response(declared.name, values, RandomizedResponse.of_epsilon(epsilon, len(values)))
