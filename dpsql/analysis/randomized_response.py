"""Columns of randomised answers: which a plan reads, and the conditions on them, lifted out of it.

An answer is one of several, or a number that noise was added to.

A condition below an aggregate selects rows by their randomised answers. It is lifted into the
aggregates, whose estimators correct for the randomisation. Any other expression that reads such a
column would pass the randomised answer off as the true one, and is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct

from dpsql.errors import Refused, Span
from dpsql.plan.aggregate import AggregateCall
from dpsql.plan.expression import Column, Expression, Literal, conjunction, conjuncts
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Filter, Join, Output, Plan, Project, Scan
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns, operators
from dpsql.privacy.mechanisms.local_noise import LocalNoise
from dpsql.privacy.mechanisms.randomized_response import RandomizedResponse
from dpsql.schema.model import Column as Declared
from dpsql.schema.sql_type import Boolean
from dpsql.structs import replace


class Response(Struct, frozen=True):
    """The column `name` of a table: the answers that it may hold, and how these were randomised."""

    name: str
    values: tuple[Literal, ...]
    mechanism: RandomizedResponse


class NoisyNumber(Struct, frozen=True):
    """The column `name` of a table: numbers with `noise` that was added before they came."""

    name: str
    noise: LocalNoise


Responses = Mapping[Column, Response | NoisyNumber]
"""The columns of a plan that hold randomised answers."""


class ResponseConditions(Struct, frozen=True):
    """A plan without its conditions on randomised answers, which stand in `conditions`.

    `responses` are the columns of `plan` that hold randomised answers; `conditions` read these
    columns.
    """

    plan: Plan
    conditions: tuple[Expression, ...]
    responses: Responses


def extract_conditions(plan: Plan, at: Span | None) -> ResponseConditions:
    """Take the conditions on randomised answers out of `plan`.

    `at` is the place in the statement of the aggregate over `plan`, for messages. Raises Refused
    where a part of `plan` other than such a condition reads randomised answers.
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
            filtered = (
                replace(plan, source=below.plan, predicate=conjunction(rest)) if rest else None
            )
            return ResponseConditions(
                filtered or below.plan, (*below.conditions, *own), below.responses
            )
        case Project(source=source, outputs=outputs):
            return _projected(plan, extract_conditions(source, at), outputs, at)
        case Join(sources=sources, on=on):
            extracted = [extract_conditions(source, at) for source in sources]
            responses = {c: r for one in extracted for c, r in one.responses.items()}
            if columns(*on) & responses.keys():
                raise no_estimator_error("a join on randomised answers", at)
            conditions = tuple(part for one in extracted for part in one.conditions)
            joined = replace(plan, sources=tuple(one.plan for one in extracted))
            return ResponseConditions(joined, conditions, responses)
        case _:
            raise no_estimator_error(
                "randomised answers below anything but conditions and joins", at
            )


def no_estimator_error(what: str, at: Span | None, hint: str = "", fix: str = "") -> Refused:
    """The refusal of `what`, which would be computed of randomised answers without an estimator."""
    return Refused(
        f"{what}: no unbiased estimate is known",
        at=at,
        hint=hint or "count(*) or sum(x) with FILTER (WHERE column = value) are estimated",
        note="randomized_response",
        fix=fix,
    )


def no_ratio_error(call: AggregateCall, what: str, count: str | None) -> Refused:
    """The refusal of an average; it suggests the ratio of sum and `count`, if one is estimated."""
    is_known = count is not None and call.filter is None
    ratio = f"sum({describe(call.arguments[0])}) / {count}" if is_known else ""
    return no_estimator_error(what, call.at, "write sum(x) / count(*): both are estimated", ratio)


def _projected(
    plan: Project, below: ResponseConditions, outputs: tuple[Output, ...], at: Span | None
) -> ResponseConditions:
    named = {o.column: o.expression for o in outputs if o.expression in below.responses}
    for output in outputs:
        name, passed = output.column.name, output.expression
        response = below.responses.get(passed) if isinstance(passed, Column) else None
        if response is None and columns(passed) & below.responses.keys():
            raise no_estimator_error(f"{name}, computed of randomised answers in a subquery", at)
        if isinstance(response, NoisyNumber) and output.declared is not None:
            # Within bounds of their own noisy numbers aren't unbiased any more.
            raise no_estimator_error(
                f"{name}, numbers with local noise within a view's own bounds",
                at,
                f"its owner can leave the bounds of {name} out of the view",
            )
    passed_on = {o.column for o in outputs}
    needed = columns(*below.conditions) - passed_on
    carried = tuple(Output(c, c) for c in output_columns(below.plan) if c in needed)
    responses = {c: below.responses[e] for c, e in named.items() if isinstance(e, Column)}
    responses |= {c: r for c, r in below.responses.items() if c in needed}
    return ResponseConditions(
        replace(plan, source=below.plan, outputs=(*outputs, *carried)), below.conditions, responses
    )


def _response_columns(scan: Scan) -> dict[Column, Response | NoisyNumber]:
    responses: dict[Column, Response | NoisyNumber] = {}
    for column in scan.columns:
        declared = scan.table.columns[column.name]
        if declared.local_noise is not None:
            responses[column] = NoisyNumber(declared.name, declared.local_noise)
        elif declared.response is not None:
            responses[column] = _response(declared, declared.response)
    return responses


def _response(declared: Declared, epsilon: Fraction) -> Response:
    listed = (False, True) if isinstance(declared.type, Boolean) else declared.values or ()
    values = tuple(Literal(value, declared.type) for value in listed)
    return Response(declared.name, values, RandomizedResponse.of_epsilon(epsilon, len(values)))
