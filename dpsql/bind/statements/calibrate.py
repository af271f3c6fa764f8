"""CALIBRATE table [MEASURE expression] [BY keys] [ALONG tables]: what a unit contributes.

    CALIBRATE orders MEASURE o_totalprice BY o_clerk
    CALIBRATE lineitem BY extract(year FROM o_orderdate) ALONG orders

A ladder counts units, or a unit's rows in one group, by how much they contribute, over rungs that
are a factor of √2 apart. One is drawn of the number of groups of each unit; then, knowing how many
groups nearly all units are in, others of what a unit has in each of them: its number of rows, or
the magnitude of its measure's sum. What is listed by them are the rungs, whatever the data are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Final, assert_never

from sqlglot import exp

from dpsql.analysis.lineage.functional_dependency import (
    declared,
    is_determined,
    unit_determined_columns,
)
from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.context import BoundQuery, Context, Cte
from dpsql.bind.expression.coercion import sum_type
from dpsql.bind.expression.current_time import reads_clock
from dpsql.bind.from_clause.table import find_named
from dpsql.bind.scope import quoted_name
from dpsql.bind.syntax.parse import parse_query
from dpsql.errors import Refused, SyntaxFault
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, AggregateOutput
from dpsql.plan.expression import Column
from dpsql.plan.operator import Aggregate, Output, Plan, Scan
from dpsql.plan.traversal import bottom_up
from dpsql.schema.model import EntityUnit, Limits, Table, View
from dpsql.schema.sql_type import BIGINT, Decimal, Integer
from dpsql.sqltext.tokens import Word, words

CALIBRATE: Final = "CALIBRATE table MEASURE expression BY keys ALONG tables FOR 0.5"
"""The form of the statement; MEASURE, BY and ALONG may be left out."""

MAX_CONTRIBUTION: Final = 2**30
"""No unit's number of rows or groups is told from a greater one."""

_CLAUSES: Final = ("measure", "by", "along")
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")

_LARGEST_DOUBLE: Final = 2**80
_DOUBLE_OFFSET: Final = 81
_LARGEST_INTEGER: Final = 2**62


class LadderPart(Enum):
    """What is counted.

    Units by their number of groups, their contributions to a group, units in each group; or groups.
    """

    GROUPS = "groups"
    CONTRIBUTIONS = "contributions"
    SHARES = "shares"
    KEYS = "keys"


@dataclass(frozen=True, slots=True)
class Rungs:
    """Rung k ≥ 1 has magnitudes above 2^((k - 1 - offset) / 2) and up to 2^((k - offset) / 2).

    Rung 0 has those that are 0 or unknown, rung 1 all smaller ones, and the `last` all larger ones.
    """

    offset: int
    last: int

    @property
    def ends(self) -> tuple[Fraction, ...]:
        """The greatest magnitude of each rung, rounded up to 2^-60; that of rung 0 is 0."""
        return (Fraction(0), *(_half_power(k - self.offset) for k in range(1, self.last + 1)))

    def number_of(self, value: str) -> str:
        """The SQL of the rung of `value`, a DOUBLE that is at least 0, or NULL or NaN."""
        largest = float(_half_power(self.last - self.offset))
        number = f"CAST(ceil(2 * log2({value})) AS INTEGER) + {self.offset}"
        return (
            f"CASE WHEN {value} >= {largest!r} THEN {self.last}"
            f" WHEN {value} > 0 THEN least(greatest({number}, 1), {self.last}) ELSE 0 END"
        )


ROWS: Final = Rungs(1, 61)
"""The rungs of numbers of rows and of groups, from 1 to 2^30."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A calibration as it is written, by its clauses; `rows` is the query of its rows.

    The first columns of `rows` are its keys, the last one is its measure, if it has one.
    """

    table: tuple[str, ...]
    measure: str | None
    keys: str | None
    along: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class CalibratedRows:
    """The bound rows of a calibration, with its keys and its measure."""

    plan: Plan
    keys: tuple[Column, ...]
    measure: Column | None

    @property
    def determined(self) -> bool:
        """Each unit is in one group, by declared keys: there are no keys, or it has one value."""
        known = unit_determined_columns(self.plan, declared)
        return all(is_determined(key, known) for key in self.keys)

    def rungs(self, part: LadderPart) -> Rungs:
        """The rungs of a part's ladder: those of a measure's sums follow from its type."""
        if part is LadderPart.GROUPS or self.measure is None:
            return ROWS
        return _rungs_of(self.measure)


def read_calibration(sql: str) -> Calibration:
    """The clauses of `sql`; raises SyntaxFault for what has another form."""
    found = [word for word in words(sql) if word.text != ";"]
    starts = [n for n in _top_level(found) if found[n].folded in _CLAUSES]
    names = [found[n].folded for n in starts]
    if len(found) < 2 or names != [clause for clause in _CLAUSES if clause in names]:
        raise _not_so()
    ends = [*starts[1:], len(found)] if starts else []
    texts: dict[str, str] = {}
    for start, end in zip(starts, ends, strict=True):
        inside = found[start + 1 : end]
        if not inside:
            raise _not_so()
        texts[found[start].folded] = sql[inside[0].start : inside[-1].end]
    table = _name(found[1 : starts[0] if starts else len(found)])
    along: tuple[tuple[str, ...], ...] = ()
    if "along" in texts:
        along = tuple(map(_name, _parted(list(words(texts["along"])))))
    return Calibration(table, texts.get("measure"), texts.get("by"), along)


def calibrated_rows(calibration: Calibration, context: Context) -> CalibratedRows:
    """The rows of `calibration`, as no limit of the schema's leaves any out."""
    items = [text for text in (calibration.keys, calibration.measure) if text is not None]
    sql = f"SELECT {', '.join(items) or '1'} FROM {_joined(calibration, context)}"  # noqa: S608
    try:
        tree = parse_query(sql)
    except SyntaxFault:
        raise _not_so() from None
    stated = {name for name, value in tree.args.items() if value}
    if not isinstance(tree, exp.Select) or not stated <= {"expressions", "from_", "joins"}:
        raise _not_so()
    if reads_clock(tree):
        raise Refused(
            "what is calibrated by the current time is another thing tomorrow",
            hint="write the time out: DATE '2024-01-01'",
            note="calibrate",
        )
    bound = context.bind_query(tree, context.subquery_context(None))
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
        raise _not_so()
    return CalibratedRows(bottom_up(_unlimited, bound.plan), keys, measure)


def calibration(sql: str, part: LadderPart, context: Context) -> BoundQuery:
    """The plan of one part of the calibration that `sql` is: rungs, or keys, and noisy counts."""
    rows = calibrated_rows(read_calibration(sql), context)
    pairs = _pairs(rows, context)
    match part:
        case LadderPart.GROUPS:
            number = context.names.column("n", BIGINT)
            counted = AggregateCall(AggregateFunction.COUNT, (), False, None, BIGINT)
            units = Aggregate(pairs.plan, (), (AggregateOutput(number, counted),))
            named = context.with_cte("units", Cte(None, context, (), BoundQuery(units, ("n",))))
            return _bound(_ladder("n", ROWS, "units"), named)
        case LadderPart.CONTRIBUTIONS:
            named = context.with_cte("pairs", Cte(None, context, (), pairs))
            if rows.measure is None:
                return _bound(_ladder("n", ROWS, "pairs"), named)
            magnitude = "abs(CAST(s AS DOUBLE))"
            return _bound(_ladder(magnitude, rows.rungs(part), "pairs"), named)
        case LadderPart.SHARES:
            keys = ", ".join(f"k{n}" for n in range(len(rows.keys)))
            named = context.with_cte("pairs", Cte(None, context, (), pairs))
            return _bound(f'SELECT {keys}, count(*) AS "count" FROM pairs GROUP BY ALL', named)  # noqa: S608 - our own
        case LadderPart.KEYS:
            # One text of all keys: few groups share theirs with another.
            texts = [f"coalesce(CAST(k{n} AS VARCHAR), '')" for n in range(len(rows.keys))]
            named = context.with_cte("pairs", Cte(None, context, (), pairs))
            whole = " || ', ' || ".join(texts)
            return _bound(f'SELECT count(DISTINCT {whole}) AS "count" FROM pairs', named)  # noqa: S608 - our own
        case missing:
            assert_never(missing)


def _pairs(rows: CalibratedRows, context: Context) -> BoundQuery:
    """One row for each unit in each of its groups: its keys, number of rows and measure's sum."""
    names = context.names
    keys = tuple(Output(names.column(f"k{n}", key.type), key) for n, key in enumerate(rows.keys))
    count = AggregateCall(AggregateFunction.COUNT, (), False, None, BIGINT)
    outputs = [AggregateOutput(names.column("n", BIGINT), count)]
    if rows.measure is not None:
        kind = sum_type(rows.measure.type) or rows.measure.type
        total = AggregateCall(AggregateFunction.SUM, (rows.measure,), False, None, kind)
        outputs.append(AggregateOutput(names.column("s", kind), total))
    shown = (*(key.column.name for key in keys), *(o.column.name for o in outputs))
    return BoundQuery(Aggregate(rows.plan, keys, tuple(outputs)), shown)


def _ladder(value: str, rungs: Rungs, source: str) -> str:
    return (
        f'SELECT rung, count(*) AS "count" FROM'  # noqa: S608 - our own
        f" (SELECT {rungs.number_of('x')} AS rung"
        f" FROM (SELECT CAST({value} AS DOUBLE) AS x FROM {source}) t) t GROUP BY rung"
    )


def _rungs_of(measure: Column) -> Rungs:
    match measure.type:
        case Integer():
            return Rungs(1, 1 + 2 * (_LARGEST_INTEGER.bit_length() - 1))
        case Decimal(scale=scale):
            offset = 1 + 2 * (10**scale).bit_length()
            return Rungs(offset, offset + 2 * (_LARGEST_INTEGER.bit_length() - 1))
        case _:
            last = _DOUBLE_OFFSET + 2 * (_LARGEST_DOUBLE.bit_length() - 1)
            return Rungs(_DOUBLE_OFFSET, last)


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


def _joined(calibration: Calibration, context: Context) -> str:
    """The FROM clause: the table, and those ALONG which its rows are followed, by declared keys."""
    tables = [find_named(context, calibration.table, None)]
    text = quoted_name(tables[0].name)
    for parts in calibration.along:
        table = find_named(context, parts, None)
        on = next(filter(None, (_reference(known, table) for known in tables)), None)
        if on is None:
            raise Refused(
                f"no table before {table.name} has a declared reference to it",
                hint=f"declare `references`, or name the tables in between: ALONG …, {table.name}",
                note="calibrate",
            )
        text += f" JOIN {quoted_name(table.name)} ON {on}"
        tables.append(table)
    return text


def _reference(table: Table | View, other: Table | View) -> str | None:
    """The condition on which rows of `table` lead to those of `other`; None if none is declared."""
    if isinstance(table, View):
        return None
    pairs = [
        (name, column.references.column)
        for name, column in table.columns.items()
        if column.references is not None and column.references.table == other.name
    ][:1]
    if isinstance(table.ownership, EntityUnit):
        hops = [hop for hop in table.ownership.hops[:1] if hop.table == other.name]
        pairs = [pair for hop in hops for pair in hop.pairs] or pairs
    left, right = quoted_name(table.name), quoted_name(other.name)
    on = [f"{left}.{quoted_name(a)} = {right}.{quoted_name(b)}" for a, b in pairs]
    return " AND ".join(on) or None


def _top_level(found: Sequence[Word]) -> list[int]:
    """The indices of the words that stand in no parentheses, behind the first."""
    depth, outside = 0, []
    for index, word in enumerate(found):
        depth += (word.text in _OPENING) - (word.text in _CLOSING)
        if index and not depth:
            outside.append(index)
    return outside


def _parted(found: list[Word]) -> list[list[Word]]:
    """The words between commas."""
    parts: list[list[Word]] = [[]]
    for word in found:
        if word.text == ",":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _name(found: Sequence[Word]) -> tuple[str, ...]:
    parts, signs = found[::2], found[1::2]
    if not 1 <= len(parts) <= 3 or len(parts) == len(signs) or any(s.text != "." for s in signs):
        raise _not_so()
    return tuple(part.name for part in parts)


def _bound(sql: str, context: Context) -> BoundQuery:
    return context.bind_query(parse_query(sql), context.subquery_context(None))


def _not_so() -> SyntaxFault:
    return SyntaxFault("CALIBRATE isn't written so", hint=f"write {CALIBRATE}")
