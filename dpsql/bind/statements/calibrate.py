"""CALIBRATE table [MEASURE expression] [BY keys] [ALONG tables]: what a unit contributes.

    CALIBRATE orders MEASURE o_totalprice BY o_clerk
    CALIBRATE lineitem BY extract(year FROM o_orderdate) ALONG orders

A ladder counts units, or a unit's rows in one group, by how much they contribute, over rungs that
are a factor of √2 apart. One is drawn of the number of groups of each unit; then, knowing how many
groups nearly all units are in, others of what a unit has in each of them: its number of rows, or
the magnitude of its measure's sum. What is listed by them are the rungs, whatever the data are.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import Final, assert_never

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.expression.coercion import sum_type
from dpsql.bind.expression.current_time import reads_clock
from dpsql.bind.statements.ladder_clauses import (
    Calibration,
    from_clause,
    not_so,
    read_calibration,
)
from dpsql.bind.statements.own_query import bind_text, computed, with_query
from dpsql.bind.statements.rung_search import NUMBER, end_constant, interval_number
from dpsql.bind.syntax.parse import parse_query
from dpsql.errors import Refused, SyntaxFault
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, AggregateOutput
from dpsql.plan.expression import (
    Case,
    Column,
    Compare,
    Comparison,
    Expression,
    IsNull,
    Literal,
    Or,
    When,
)
from dpsql.plan.operator import Aggregate, Output, Plan, Release, Scan
from dpsql.plan.traversal import bottom_up, operators
from dpsql.schema.model import Limits
from dpsql.schema.sql_type import BIGINT, Decimal, Integer
from dpsql.structs import replace

MAX_CONTRIBUTION: Final = 2**30
"""No unit's number of rows or groups is told from a greater one."""

_LONGEST_KEY: Final = 100
"""Keys are told from each other by so many characters."""

_OF_INTEGERS: Final = 2 * 62
"""Rungs above the lowest one, up to 2^62 times as high."""

_BELOW_ONE: Final = 2 * 40
_ABOVE_ONE: Final = 2 * 80
"""Rungs of doubles, from 2^-40 to 2^80."""


class LadderPart(Enum):
    """What is counted.

    Units by their number of groups, their contributions to a group, units in each group; or groups.
    """

    GROUPS = "groups"
    CONTRIBUTIONS = "contributions"
    SHARES = "shares"
    KEYS = "keys"


class Rungs(Struct, frozen=True):
    """Rung k ≥ 1 has magnitudes above 2^((k - 1 - offset) / 2) and up to 2^((k - offset) / 2).

    Rung 0 has those that are 0 or unknown, rung 1 all smaller ones, and the `last` all larger ones.
    """

    offset: int
    last: int

    @property
    def ends(self) -> tuple[Fraction, ...]:
        """The greatest magnitude of each rung, rounded up to 2^-60; that of rung 0 is 0."""
        return (Fraction(0), *(_half_power(k - self.offset) for k in range(1, self.last + 1)))

    def number_of(self, value: Column) -> Expression:
        """The rung of `value`, a number that is at least 0, or NULL."""
        _, *ends, _ = self.ends
        is_0 = Compare(Comparison.LESS_EQUAL, value, end_constant(value, Fraction(0)))
        number = interval_number(value, ends, range(1, self.last + 1), closed=True)
        return Case((When(Or((IsNull(value), is_0)), Literal(0, NUMBER)),), number, NUMBER)


ROWS: Final = Rungs(1, 61)
"""The rungs of numbers of rows and of groups, from 1 to 2^30."""


class CalibratedRows(Struct, frozen=True):
    """The bound rows of a calibration, with its keys and its measure."""

    plan: Plan
    keys: tuple[Column, ...]
    measure: Column | None

    def rungs(self, part: LadderPart) -> Rungs:
        """The rungs of a part's ladder: those of a measure's sums follow from its type."""
        if part is LadderPart.GROUPS or self.measure is None:
            return ROWS
        return _rungs_of(self.measure)


def calibrated_rows(calibration: Calibration, context: Context) -> CalibratedRows:
    """The rows of `calibration`, as no limit of the schema's leaves any out."""
    items = [text for text in (calibration.keys, calibration.measure) if text is not None]
    sql = f"SELECT {', '.join(items) or '1'} FROM {from_clause(calibration, context)}"  # noqa: S608
    try:
        tree = parse_query(sql)
    except SyntaxFault:
        raise not_so() from None
    stated = {name for name, value in tree.args.items() if value}
    if not isinstance(tree, exp.Select) or not stated <= {"expressions", "from_", "joins"}:
        raise not_so()
    if any(isinstance(item.unalias(), exp.Star) for item in tree.expressions):
        raise not_so()
    if reads_clock(tree):
        raise Refused(
            "what is calibrated by the current time is another thing tomorrow",
            hint="write the time out: DATE '2024-01-01'",
            note="calibrate",
        )
    bound = context.bind_query(tree, context.subquery_context(None))
    if any(isinstance(part, Release) for part in operators(bound.plan)):
        raise Refused(
            "what is calibrated reads noisy answers, and ladders are of a table's own rows",
            hint="leave the subquery out, or write its value",
            note="calibrate",
        )
    if visibility(bound.plan) is not Visibility.PRIVATE:
        raise Refused(
            f"{'.'.join(calibration.table)} is public: what a unit contributes has no limit there",
            hint="calibrate a table whose rows are private",
            note="calibrate",
        )
    columns = bound.columns if items else ()
    measure = None if calibration.measure is None else columns[-1]
    if measure is not None and sum_type(measure.type) is None:
        raise Refused(
            f"MEASURE {calibration.measure} is no number", hint="measure a number", note="calibrate"
        )
    keys = columns if measure is None else columns[:-1]
    if calibration.keys is None and keys:
        raise not_so()
    return CalibratedRows(bottom_up(_unlimited, bound.plan), keys, measure)


def calibration(sql: str, part: LadderPart, context: Context) -> BoundQuery:
    """The plan of one part of the calibration that `sql` is: rungs, or keys, and noisy counts."""
    rows = calibrated_rows(read_calibration(sql), context)
    pairs = _pairs(rows, context)
    named = with_query("pairs", pairs, context)
    match part:
        case LadderPart.GROUPS:
            units = BoundQuery(Aggregate(pairs.plan, (), (_count(context),)), ("n",))
            return _ladder(units, "n", ROWS, context)
        case LadderPart.CONTRIBUTIONS:
            value = "n" if rows.measure is None else "abs(s)"
            return _ladder(pairs, value, rows.rungs(part), context)
        case LadderPart.SHARES:
            keys = ", ".join(f"k{n}" for n in range(len(rows.keys)))
            return bind_text(f'SELECT {keys}, count(*) AS "count" FROM pairs GROUP BY ALL', named)  # noqa: S608 - our own
        case LadderPart.KEYS:
            # One text of all keys: few groups share theirs with another.
            texts = [
                f"coalesce(left(CAST(k{n} AS VARCHAR), {_LONGEST_KEY}), '')"
                for n in range(len(rows.keys))
            ]
            whole = " || ', ' || ".join(texts)
            return bind_text(f'SELECT count(DISTINCT {whole}) AS "count" FROM pairs', named)  # noqa: S608 - our own
        case missing:
            assert_never(missing)


def _pairs(rows: CalibratedRows, context: Context) -> BoundQuery:
    """One row for each unit in each of its groups: its keys, number of rows and measure's sum."""
    names = context.names
    keys = tuple(Output(names.column(f"k{n}", key.type), key) for n, key in enumerate(rows.keys))
    outputs = [_count(context)]
    if rows.measure is not None:
        kind = sum_type(rows.measure.type) or rows.measure.type
        total = AggregateCall(AggregateFunction.SUM, (rows.measure,), False, None, kind)
        outputs.append(AggregateOutput(names.column("s", kind), total))
    shown = (*(key.column.name for key in keys), *(o.column.name for o in outputs))
    return BoundQuery(Aggregate(rows.plan, keys, tuple(outputs)), shown)


def _count(context: Context) -> AggregateOutput:
    """n, a number of rows."""
    counted = AggregateCall(AggregateFunction.COUNT, (), False, None, BIGINT)
    return AggregateOutput(context.names.column("n", BIGINT), counted)


def _ladder(rows: BoundQuery, value: str, rungs: Rungs, context: Context) -> BoundQuery:
    """The numbers of `rows` by the rung of `value`, SQL over them."""
    values = bind_text(f"SELECT {value} AS x FROM r", with_query("r", rows, context))  # noqa: S608 - our own
    (magnitude,) = values.columns
    numbered = computed(values, {"rung": rungs.number_of(magnitude)}, context)
    sql = 'SELECT rung, count(*) AS "count" FROM r GROUP BY rung'
    return bind_text(sql, with_query("r", numbered, context))


def _rungs_of(measure: Column) -> Rungs:
    match measure.type:
        case Integer():
            return Rungs(1, 1 + _OF_INTEGERS)
        case Decimal(scale=scale):
            offset = 1 + 2 * (10**scale).bit_length()
            return Rungs(offset, offset + _OF_INTEGERS)
        case _:
            return Rungs(1 + _BELOW_ONE, 1 + _BELOW_ONE + _ABOVE_ONE)


def _half_power(exponent: int) -> Fraction:
    """2^(exponent / 2), rounded up."""
    whole = Fraction(2) ** (exponent // 2)
    if exponent % 2 == 0:
        return whole
    root = Fraction(6369051672525773, 2**52)  # the least double above the root of two
    return whole * root


def _unlimited(plan: Plan) -> Plan:
    """`plan` without the schema's limits, which are in question."""
    if not isinstance(plan, Scan):
        return plan
    limits = Limits(MAX_CONTRIBUTION, MAX_CONTRIBUTION, MAX_CONTRIBUTION)
    return replace(plan, table=replace(plan.table, limits=limits))
