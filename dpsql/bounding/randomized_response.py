"""Estimates of true answers from randomised ones: aggregates read true answers in expectation.

Of n rows, c have the answer `yes`; the truth is told with probability p, each other answer with q.

count(*) FILTER (WHERE said = 'yes' AND age > 60)   →  (c - q·n) / (p - q)

with c of the rows over 60 that say so, and n of all rows over 60. In general a function f of an
answer becomes (f - q·Σf) / (p - q), Σ over all answers, which has the expected value f of the true
one (Warner 1965; Kairouz, Bonawitz & Ramage 2016); so sums are unbiased. Any other function would
be one of randomised answers, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import lcm

from msgspec import Struct

from dpsql.analysis.domains.known_values import constant
from dpsql.analysis.randomized_response import (
    NoisyNumber,
    Response,
    Responses,
    extract_conditions,
    no_estimator_error,
    no_ratio_error,
)
from dpsql.bounding.linear_estimator import linear, public_count, row_count, scaled
from dpsql.bounding.local_noise import noisy_number_estimator
from dpsql.bounding.randomized_response_keys import AnswerKey, answer_key, group_estimator
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, OpenFunction, OutputKind
from dpsql.plan.bounded_release.estimator import Estimator, LinearEstimator, RowVariance
from dpsql.plan.expression import (
    Column,
    Compare,
    Comparison,
    Expression,
    Literal,
    Scalar,
    conjunction,
    conjuncts,
)
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Release
from dpsql.plan.traversal import columns, expressions
from dpsql.privacy.mechanisms.randomized_response import RandomizedResponse
from dpsql.structs import replace

EstimateOf = Callable[[AggregateCall], Estimator]
Largest = Callable[[AggregateCall], tuple[Fraction, int]]
Ends = Callable[[Expression], tuple[Fraction, Fraction] | None]

_SUMMED = frozenset({AggregateFunction.COUNT, AggregateFunction.SUM, AggregateFunction.AVG})
_SHOWN = frozenset({OutputKind.VALUE, OutputKind.LOW, OutputKind.HIGH, OutputKind.STDDEV})
_STATEMENTS: dict[AggregateFunction | OpenFunction, str] = {
    AggregateFunction.WEIGHTED_MAJORITY: "a decision",
    AggregateFunction.ABOVE_THRESHOLD: "an alert",
}
"""What no text calls by the name of its function."""


class _AnswerCondition(Struct, frozen=True):
    """A call over one column of answers: the answers that it selects, and its other conditions."""

    column: Column
    response: Response
    listed: tuple[Literal, ...]
    rest: Expression | None


def estimate_true_answers(release: Release) -> tuple[Release, Responses, AnswerKey | None]:
    """`release` with conditions on randomised answers in its aggregates, and the answers it reads.

    With these comes the answer that it groups by, if any. Raises Refused where the release would
    show randomised answers: by a choice, or by which keys appear.
    """
    spans = [*(a.call.at for a in release.aggregates), *(key.at for key in release.keys)]
    at = next((span for span in spans if span is not None), None)
    below = extract_conditions(release.source, at)
    if not below.responses and not below.conditions:
        return release, {}, None
    answers = below.responses.keys()
    candidates = release.candidates
    if candidates is not None and (below.conditions or columns(candidates.value) & answers):
        raise no_estimator_error("a choice by randomised answers", candidates.at)
    if release.frequent is not None:
        raise no_estimator_error("a choice by randomised answers", at)
    key = answer_key(release.keys, below)
    if below.conditions and not release.aggregates:
        raise no_estimator_error("keys by what was said", at)
    filtered = tuple(
        replace(output, call=_with(output.call, below.conditions)) for output in release.aggregates
    )
    for output in filtered:
        call = output.call
        reads_answers = key is not None or columns(*expressions(call)) & answers
        if reads_answers and (call.function not in _SUMMED or call.output_kind not in _SHOWN):
            what = _STATEMENTS.get(call.function, f"{call.function.value}()")
            raise no_estimator_error(f"{what} of randomised answers", call.at)
    return replace(release, source=below.plan, aggregates=filtered), below.responses, key


def _with(call: AggregateCall, conditions: tuple[Expression, ...]) -> AggregateCall:
    own = () if call.filter is None else (call.filter,)
    return replace(call, filter=conjunction((*own, *conditions))) if conditions else call


def response_estimator(
    call: AggregateCall,
    responses: Responses,
    key: AnswerKey | None,
    estimate: EstimateOf,
    largest: Largest,
    ends: Ends,
) -> Estimator | None:
    """The estimator of `call` over true answers; None if it neither reads nor groups by answers.

    `estimate` is that of a call over randomised answers; `largest` are the magnitude of its
    argument and the rows that one answer may be in; `ends` clamp an argument.
    """
    if key is not None:
        return group_estimator(call, responses, key, estimate, largest)
    read = [c for c in columns(call.filter, *call.arguments) if c in responses]
    if not read:
        return None
    if len(read) > 1:
        raise no_estimator_error("two columns of randomised answers together", call.at)
    (column,) = read
    answer = responses[column]
    if call.distinct or call.output_kind not in _SHOWN:
        raise no_estimator_error(f"{call.function.value}() of randomised answers", call.at)
    if isinstance(answer, NoisyNumber):
        _, together = largest(row_count(call, None))
        return noisy_number_estimator(call, column, answer, estimate, together)
    condition = _answer_condition(call, column, answer)
    of_answers = [argument for argument in call.arguments if column in columns(argument)]
    match call.function:
        case AggregateFunction.COUNT if not of_answers or of_answers == [column]:
            counted = replace(call, arguments=() if of_answers else call.arguments)
            return _weighted(counted, condition, _indicator(condition), estimate, largest)
        case AggregateFunction.SUM if not of_answers:
            return _weighted(call, condition, _indicator(condition), estimate, largest)
        case AggregateFunction.SUM | AggregateFunction.AVG if of_answers:
            return _of_values(call, condition, _scale(call, condition, ends), estimate, largest)
        case AggregateFunction.AVG:
            count = f"count({describe(call.arguments[0])})"
            raise no_ratio_error(call, "avg() of rows by what was said", count)
        case function:
            raise no_estimator_error(f"{function.value}() of randomised answers", call.at)


def _answer_condition(call: AggregateCall, column: Column, response: Response) -> _AnswerCondition:
    own: list[Expression] = []
    others: list[Expression] = []
    for part in conjuncts(call.filter) if call.filter is not None else ():
        (own if column in columns(part) else others).append(part)
    if any(columns(part) != {column} for part in own):
        raise no_estimator_error("a condition on a randomised answer and on other columns", call.at)
    among = tuple(
        value for value in response.values if all(_holds(part, {column: value}) for part in own)
    )
    return _AnswerCondition(column, response, among, conjunction(tuple(others)) if others else None)


def _holds(condition: Expression, fixed: dict[Column, Literal]) -> bool:
    truth = constant(condition, fixed)
    if truth is None:
        raise no_estimator_error(
            "a condition on randomised answers that isn't known for each", None
        )
    return truth.value is True


def _indicator(condition: _AnswerCondition) -> dict[Literal, Fraction]:
    return dict.fromkeys(condition.listed, Fraction(1))


def _scale(call: AggregateCall, condition: _AnswerCondition, ends: Ends) -> dict[Literal, Fraction]:
    """The number that each answer stands for, within the bounds that a view declares for it."""
    (argument,) = call.arguments
    low_high = ends(argument)
    if columns(argument) != {condition.column}:
        raise no_estimator_error("an argument of a randomised answer and of other columns", call.at)
    worth: dict[Literal, Fraction] = {}
    for value in condition.response.values:
        number = constant(argument, {condition.column: value})
        if number is None or (number.value is not None and _number(number.value) is None):
            raise no_estimator_error(
                "a function of randomised answers that isn't known for each", call.at
            )
        if number.value is None and call.function is AggregateFunction.AVG:
            raise no_ratio_error(call, "avg() of rows by what was said", None)
        if number.value is not None and value in condition.listed:
            exact = _number(number.value) or Fraction(0)
            worth[value] = exact if low_high is None else max(low_high[0], min(exact, low_high[1]))
    return worth


def _of_values(
    call: AggregateCall,
    condition: _AnswerCondition,
    scale: dict[Literal, Fraction],
    estimate: EstimateOf,
    largest: Largest,
) -> Estimator:
    """The estimator of the sum of the answers' numbers, or of their mean."""
    counted = row_count(call, call.filter)
    total = _weighted(replace(counted, type=call.type), condition, scale, estimate, largest)
    if call.function is AggregateFunction.SUM:
        return total
    rows = estimate(replace(counted, filter=condition.rest))
    if len(condition.listed) < len(condition.response.values):
        raise no_ratio_error(call, "avg() of rows by what was said", "count(*)")
    count = public_count(rows)
    if count is None:
        what = "avg() of randomised answers of rows whose number isn't public"
        raise no_ratio_error(call, what, "count(*)")
    return scaled(total, 1 / count)


def _weighted(
    call: AggregateCall,
    condition: _AnswerCondition,
    scale: dict[Literal, Fraction],
    estimate: EstimateOf,
    largest: Largest,
) -> LinearEstimator:
    """Σ over rows of (f - q·Σf) / (p - q), where f is the `scale` of a row's randomised answer."""
    response, noise = condition.response, condition.response.mechanism
    spread = noise.p - noise.q
    parts: list[tuple[Fraction, LinearEstimator]] = []
    for value, one in scale.items():
        is_answer = Compare(Comparison.EQUAL, condition.column, value)
        both = (is_answer,) if condition.rest is None else (condition.rest, is_answer)
        parts.append((one / spread, linear(estimate(replace(call, filter=conjunction(both))))))
    everybody = linear(estimate(replace(call, filter=condition.rest)))
    parts.append((-noise.q * sum(scale.values(), Fraction(0)) / spread, everybody))
    rows = linear(estimate(row_count(call, condition.rest)))
    # Of n rows, r to an answer, there are n / r answers that add r times as much: r² · n / r.
    amount, together = largest(replace(call, filter=condition.rest))
    variances = {true: _variance(response, scale, true) for true in response.values}
    inside = outside = max(variances.values())
    if call.function is AggregateFunction.COUNT and set(scale.values()) == {Fraction(1)}:
        inside = max(variance for true, variance in variances.items() if true in scale)
        out = [variance for true, variance in variances.items() if true not in scale]
        outside = max(out, default=inside)
    factor = amount**2 * together
    added = RowVariance(inside * factor, outside * factor, rows)
    return replace(_combined(parts, call), row_variance=added)


def _variance(response: Response, scale: dict[Literal, Fraction], true: Literal) -> Fraction:
    """The variance of a row's (f - q·Σf) / (p - q), f the `scale` of its randomised answer."""
    noise: RandomizedResponse = response.mechanism
    more, own = noise.p - noise.q, scale.get(true, Fraction(0))
    mean = noise.q * sum(scale.values(), Fraction(0)) + more * own
    square = noise.q * sum((w * w for w in scale.values()), Fraction(0)) + more * own**2
    return (square - mean**2) / more**2


def _number(value: Scalar) -> Fraction | None:
    return Fraction(value) if isinstance(value, int | Fraction) else None


def _combined(
    parts: list[tuple[Fraction, LinearEstimator]], call: AggregateCall
) -> LinearEstimator:
    """The weighted sum of `parts`, exactly."""
    weights: dict[int, Fraction] = {}
    for index, weight in _weights(parts):
        weights[index] = weights.get(index, Fraction(0)) + weight
    below = lcm(*(weight.denominator for weight in weights.values()))
    terms = tuple((index, int(weight * below)) for index, weight in weights.items() if weight)
    constant_part = sum((weight * part.constant for weight, part in parts), Fraction(0))
    minimum = parts[-1][1].minimum
    return LinearEstimator(terms, Fraction(1, below), call.type, minimum, constant_part)


def _weights(parts: list[tuple[Fraction, LinearEstimator]]) -> Iterator[tuple[int, Fraction]]:
    for weight, part in parts:
        yield from ((index, weight * factor * part.step) for index, factor in part.summands)
