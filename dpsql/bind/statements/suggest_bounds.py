"""SUGGEST BOUNDS column FROM table: bounds and limits to declare, as a release that is paid for.

Each unit's lowest and highest value and its number of rows are rounded outwards to powers of two,
and coded as integers. How many units have each code is released, as three histograms; of units with
one row each, as one. A bound is the last power of two that units reach beyond the noise, so that a
sum within it loses about as much as its own noise hides: a quantile cuts off a part of the units,
and where incomes are log-normal(10, 2), one unit in forty has half of all income. The grid
goes from 2^-40 to 2^80 whatever the data are. What is suggested is noisy, and public from then on.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot.tokenizer_core import Token

from dpsql.analysis.lineage.functional_dependency import declared, one_row_per_unit
from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.column_ids import Names
from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.from_clause.table import find_named
from dpsql.bind.scope import quoted_name
from dpsql.bind.statements.own_query import bind_text, computed, quoted_text, with_query
from dpsql.bind.statements.rung_search import NUMBER, end_constant, interval_number
from dpsql.errors import Refused, Span, SyntaxFault, UnknownColumn
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, AggregateOutput
from dpsql.plan.expression import Case, Column, Compare, Comparison, Expression, Literal, When
from dpsql.plan.operator import Aggregate, Plan, Project, Scan
from dpsql.plan.traversal import bottom_up, columns, operators
from dpsql.schema.model import Limits
from dpsql.schema.sql_type import BIGINT, Decimal, Double, Integer
from dpsql.structs import replace

MAX_ROWS = 2**20
"""The grid's end for a unit's rows: beyond any limit that a schema would declare."""

_SMALLEST, _LARGEST = -40, 80
"""The exponents of the grid's ends: what is nearer to 0 counts as 2^-40, and 2^81 isn't on it."""

CERTAIN = 5
"""A number of units of at least so many steps is no noise.

A step is the half-width of its 95 % interval and 1: without the 1, where a large ε makes most noise
0, a draw of 1 would be certain. Noise of Laplace's law is so large with a probability of 1.6e-7, in
any of a histogram's 243 cells of 4e-5 (with 4 steps 8e-4); Gaussian noise is with less than 1e-20.
A bound from such a cell would be wrong by powers of ten.
"""

_SEEN = """
SELECT {code} AS code, count(*) AS units, dp_interval_low(count(*)) AS interval_low
FROM units WHERE {code} IS NOT NULL GROUP BY {code}
"""

_TOP = """
SELECT max({sign} * code) AS top FROM seen WHERE units >= {certain} * (units - interval_low + 1)
"""

_REACHED = """
SELECT {sign} * max(code) AS code FROM (
  SELECT code, code - top + 1 AS steps, row_number() OVER (ORDER BY code) AS position
  FROM (SELECT {sign} * code AS code, interval_low FROM seen) s CROSS JOIN top
  WHERE code >= top AND interval_low > 0) t
WHERE position = steps
"""
"""The last of the codes that follow each other from the top on, all with intervals above 0.

Next to the top one cell is looked at and not all of them, and a power of two too much doubles the
noise of a sum, while it saves what so many units have above the last one.
"""

_SHOWN = """
SELECT {name} AS "column",
  CASE WHEN low.code < 0 THEN -power(2, -low.code - 41) WHEN low.code >= 0 THEN 0 END AS dp_low,
  CASE WHEN high.code > 0 THEN power(2, high.code - 41) WHEN high.code <= 0 THEN 0 END AS dp_high,
  CAST(power(2, n.code) AS BIGINT) AS dp_rows
FROM low CROSS JOIN high CROSS JOIN n
"""


def is_suggestion(words: list[Token]) -> bool:
    """Whether the statement begins with SUGGEST BOUNDS."""
    return [word.text.casefold() for word in words[:2]] == ["suggest", "bounds"]


def suggestion(words: list[Token], context: Context) -> BoundQuery:
    """The plan of SUGGEST BOUNDS: one row with noisy bounds of a column and rows of a unit."""
    table, column = _requested_column(words, context)
    values = bind_text(f"SELECT {quoted_name(column)} AS x FROM {quoted_name(table)}", context)  # noqa: S608 - declared names
    codes = computed(values, {"code": _code(*values.columns)}, context)
    grid = bottom_up(_unbounded, codes.plan)
    units = _per_unit(replace(codes, plan=grid), context)
    codes_reached = _codes_reached(units, context, one_row=one_row_per_unit(grid, declared))
    for alias, code in codes_reached.items():
        context = with_query(alias, code, context)
    name = quoted_text(f"{table}.{column}")
    return bind_text(_SHOWN.format(name=name), context)


def _requested_column(words: list[Token], context: Context) -> tuple[str, str]:
    """The declared names of the table or view, and of its column, that the statement names."""
    texts = [word.text for word in words if word.text != ";"]
    if len(texts) != 5 or texts[3].casefold() != "from":
        raise SyntaxFault(
            "SUGGEST BOUNDS isn't written so",
            at=Span(words[0].start, words[-1].end + 1),
            hint="write SUGGEST BOUNDS column FROM table",
        )
    at = Span(words[2].start, words[2].end + 1)
    table = find_named(context, (texts[4],), Span(words[4].start, words[4].end + 1)).name
    own_ids = replace(context, names=Names())
    rows = bind_text(f"SELECT * FROM {quoted_name(table)}", own_ids)  # noqa: S608 - a declared name
    if visibility(rows.plan) is not Visibility.PRIVATE:
        raise Refused(
            f"{table} is public: its bounds are no secret",
            at=at,
            hint=f"SELECT min({texts[2]}), max({texts[2]}) FROM {table}",  # noqa: S608
            note="suggest_bounds",
        )
    for name, column in zip(rows.names, rows.columns, strict=True):
        if name.casefold() == texts[2].casefold():
            if not isinstance(column.type, Integer | Decimal | Double):
                raise Refused(
                    f"{name} is no number",
                    at=at,
                    hint="days and moments have bounds that its owner knows",
                    note="suggest_bounds",
                )
            if _is_randomized(rows.plan, column):
                raise Refused(
                    f"{name} holds randomised answers: its bounds are those of what was asked",
                    at=at,
                    hint=f"ask for sum({name}), or count(*) FILTER (WHERE {name} = …)",
                    note="suggest_bounds",
                )
            return table, name
    raise UnknownColumn(
        f"there is no column {texts[2]} in {table}",
        at=at,
        hint=f"columns: {', '.join(rows.names)}",
    )


def _is_randomized(plan: Plan, column: Column) -> bool:
    """Whether `column` is computed from a column that was randomized before it reached dpsql."""
    parts = list(operators(plan))
    computed = {o.column: o.expression for p in parts if isinstance(p, Project) for o in p.outputs}
    randomized = {
        read
        for part in parts
        if isinstance(part, Scan)
        for read in part.columns
        if part.table.columns[read.name].local_epsilon is not None
    }
    pending, seen = {column}, set[Column]()
    while pending:
        each = pending.pop()
        seen.add(each)
        if each in computed:
            pending |= columns(computed[each]) - seen
    return not randomized.isdisjoint(seen)


def _code(value: Column) -> Expression:
    """The exponent of the first power of two that is as far from 0: k + 41 of 2^k, by its sign.

    So codes are in the order of values. NULL, NaN and what is beyond 2^80 have none.
    """
    exponents = range(_SMALLEST, _LARGEST + 1)
    powers, codes = [Fraction(2) ** k for k in exponents], [k - _SMALLEST + 1 for k in exponents]
    zero = end_constant(value, Fraction(0))
    branches: list[When] = []
    if not (isinstance(value.type, Integer) and not value.type.signed):
        ends = [-power for power in reversed(powers)]
        numbers = [None, *(-code for code in reversed(codes))]
        below = interval_number(value, ends, numbers, closed=False)
        branches.append(When(Compare(Comparison.LESS, value, zero), below))
    branches.append(When(Compare(Comparison.EQUAL, value, zero), Literal(0, NUMBER)))
    above = interval_number(value, powers, [*codes, None], closed=True)
    branches.append(When(Compare(Comparison.GREATER, value, zero), above))
    return Case(tuple(branches), Literal(None, NUMBER), NUMBER)


def _rows_code(count: Column) -> Expression:
    """The exponent of the first power of two that is at least a unit's number of rows."""
    exponents = range(MAX_ROWS.bit_length())
    return interval_number(
        count, [Fraction(2**k) for k in exponents], [*exponents, len(exponents)], closed=True
    )


def _per_unit(codes: BoundQuery, context: Context) -> BoundQuery:
    """Each unit's lowest and highest code, and its rows' code; a row unit is one row."""
    (code,) = codes.columns
    names = context.names

    def output(name: str, function: AggregateFunction) -> AggregateOutput:
        counted = function is AggregateFunction.COUNT
        kind = BIGINT if counted else code.type
        call = AggregateCall(function, () if counted else (code,), False, None, kind)
        return AggregateOutput(names.column(name, kind), call)

    outputs = (
        output("low", AggregateFunction.MIN),
        output("high", AggregateFunction.MAX),
        output("n", AggregateFunction.COUNT),
    )
    # Private rows are grouped by their unit, and here by nothing else.
    names_shown = ("low", "high", "n")
    units = BoundQuery(Aggregate(codes.plan, (), outputs), names_shown)
    low, high, count = units.columns
    return computed(units, {"low": low, "high": high, "n": _rows_code(count)}, context)


def _codes_reached(units: BoundQuery, context: Context, *, one_row: bool) -> dict[str, BoundQuery]:
    """The codes that units reach: one row each, NULL where no code has units beyond the noise."""

    def seen(code: str) -> BoundQuery:
        return bind_text(_SEEN.format(code=code), with_query("units", units, context))

    highs = seen("high")
    if one_row:
        rows = bind_text("SELECT 0 AS code", context)
        return {"low": _reached(highs, -1, context), "high": _reached(highs, 1, context), "n": rows}
    return {
        "low": _reached(seen("low"), -1, context),
        "high": _reached(highs, 1, context),
        "n": _reached(seen("n"), 1, context),
    }


def _reached(seen: BoundQuery, sign: int, context: Context) -> BoundQuery:
    """The highest code that units reach by the histogram `seen`; the lowest, if `sign` is -1."""
    histogram = with_query("seen", seen, context)
    top = bind_text(_TOP.format(sign=sign, certain=CERTAIN), histogram)
    return bind_text(_REACHED.format(sign=sign), with_query("top", top, histogram))


def _unbounded(plan: Plan) -> Plan:
    """`plan` without declared bounds and limits: they are what the suggestions are for."""
    if isinstance(plan, Project):
        return replace(plan, outputs=tuple(replace(o, declared=None) for o in plan.outputs))
    if not isinstance(plan, Scan):
        return plan
    limits = Limits(groups=MAX_ROWS, rows_per_group=MAX_ROWS, rows=MAX_ROWS)
    loose = {
        # The values of a randomized column are its mechanism's, and no suggestion changes them.
        name: column
        if column.local_epsilon is not None
        else replace(column, bounds=None, values=None)
        for name, column in plan.table.columns.items()
    }
    return replace(plan, table=replace(plan.table, limits=limits, columns=loose))
