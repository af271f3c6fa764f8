"""Every entry's own usage, bound over columns of every type that it takes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import duckdb
from sqlglot import exp, parse_one

from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.scope import Relation, Scope
from dpsql.emit.dialect.duckdb.expression import emit_expression
from dpsql.engine.duckdb.lockdown import configure
from dpsql.errors import DataError, Refused, TypeFault
from dpsql.plan.expression import Column, Expression
from dpsql.plan.functions import FUNCTIONS
from dpsql.plan.functions.function import Function
from dpsql.schema.sql_type import (
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Uuid,
    Varchar,
)

TYPES: tuple[SqlType, ...] = (
    Boolean(),
    *(Integer(bits, signed) for signed in (True, False) for bits in (8, 16, 32, 64, 128)),
    Double(32),
    Double(64),
    Decimal(4, 1),
    Decimal(18, 3),
    Decimal(18, 0),
    Decimal(38, 10),
    Varchar(),
    Date(),
    Timestamp(),
    Uuid(),
)

FEWER: tuple[SqlType, ...] = (
    Boolean(),
    Integer(8),
    Integer(32),
    Integer(128),
    Integer(64, signed=False),
    Double(32),
    Double(64),
    Decimal(18, 3),
    Varchar(),
    Date(),
    Timestamp(),
)
"""The types of two columns together: all pairs of numbers have a test of their own."""

FEWEST: tuple[SqlType, ...] = (Integer(32), Double(64), Varchar(), Date(), Timestamp())
"""The types of three columns together."""

# Other arities and forms of a function, beside the usage that its entry shows.
MORE: dict[str, tuple[str, ...]] = {
    "round": ("round(x)", "round(x, 0)", "round(x, -1)", "round(x, 3)"),
    "trunc": ("trunc(x)", "trunc(x, 0)", "trunc(x, -1)"),
    "log": ("log(3, x)", "log(x, y)"),
    "power": ("x ** y", "x ^ 2", "power(2, y)"),
    "%": ("x % y", "mod(x, 3)", "x % -7"),
    "//": ("x // y", "7 // x"),
    "gcd": ("gcd(x, y)",),
    "lcm": ("lcm(x, y)",),
    "&": ("x & y",),
    "|": ("x | y",),
    "xor": ("xor(x, y)",),
    "<<": ("x << y",),
    ">>": ("x >> y",),
    "greatest": ("greatest(a, b, a)", "greatest(a, a)"),
    "least": ("least(a, b, a)", "least(a, a)"),
    "atan2": ("atan2(x, 2)",),
    "trim": ("trim(text)", "trim(text, text)"),
    "ltrim": ("ltrim(text)", "trim(LEADING 'x' FROM text)"),
    "rtrim": ("rtrim(text)", "trim(TRAILING FROM text)"),
    "left": ("left(text, -2)",),
    "right": ("right(text, -2)",),
    "chr": ("chr(n)",),
    "substring": ("substring(text, 2)", "substring(text, -3, 2)", "substr(text, 0, 2)"),
    "split_part": ("split_part(text, text, -1)",),
    "contains": ("contains(text, text)",),
    "starts_with": ("text ^@ 'a'",),
    "strpos": ("strpos(text, text)", "position('a' IN text)"),
    "||": ("a || b", "'x' || a", "left(a, 3) || left(b, 2)"),
    "concat": ("concat(a)", "concat(a, b)"),
    "concat_ws": ("concat_ws(text, a, b)",),
    "like": ("text NOT LIKE '_b%'", "text ~~ 'a'"),
    "ilike": ("text NOT ILIKE 'B%'",),
    "like_escape": ("text NOT LIKE 'a!%!!' ESCAPE '!'", "text LIKE 'a%' ESCAPE ''"),
    "ilike_escape": ("text NOT ILIKE 'B#_%' ESCAPE '#'",),
    "regexp_matches": ("regexp_matches(text, 'A', 'i')", "text ~ 'a.*'", "text !~* 'b'"),
    "regexp_full_match": ("regexp_full_match(text, 'A', 'i')", "text SIMILAR TO 'a.*'"),
    "json_extract_string": ("text ->> 'a'", "text ->> '$.a.\"b c\"[2]'"),
    "regexp_extract": ("regexp_extract(text, 'a')", "regexp_extract(text, '(A)b', 1, 'i')"),
    "regexp_replace": ("regexp_replace(text, '(a)', '[\\1]')",),
    "epoch": ("extract(epoch FROM moment)", "date_part('epoch', moment)"),
    "dayofweek": ("extract(dow FROM moment)", "datepart('weekday', moment)"),
    "date_trunc": (
        "date_trunc('millennium', moment)",
        "date_trunc('quarter', moment)",
        "date_trunc('week', moment)",
        "date_trunc('minute', moment)",
        "date_trunc('microsecond', moment)",
        "date_trunc('month', moment::DATE)",
    ),
    "time_bucket": (
        "time_bucket(INTERVAL '7 days', moment)",
        "time_bucket(INTERVAL '5 months', moment)",
        "time_bucket(INTERVAL '36 hours', moment, INTERVAL '1 hour')",
        "time_bucket('300.000s', moment)",
        "time_bucket(INTERVAL '1 week', day, DATE '2024-01-02')",
    ),
    "strftime": ("strftime(moment, '%H:%M')", "strftime(moment, '%A %-d %B %y, %j')"),
    "+": ("1 + day", "day + n"),
    "-": ("day - a",),
    "date_add": (
        "moment - INTERVAL '1 year 3 days'",
        "INTERVAL 90 MINUTE + moment",
        "moment + INTERVAL '15 minutes' * x",
        "moment + to_days(n)",
        "moment + 2.5 * INTERVAL '1 month'",
        "date_add(day, INTERVAL 3 WEEK)",
    ),
    "date_diff": ("date_diff('month', a, b)", "datediff('week', DATE '2024-01-01', moment)"),
    "date_sub": ("date_sub('month', a, b)", "datesub('hour', moment, TIMESTAMP '2024-01-01')"),
    "make_date": ("make_date(n, 2, 29)", "make_date(2024, n, n)"),
    "make_timestamp": ("make_timestamp(n)", "make_timestamp(2024, 1, 1, n, 0, x)"),
    "to_timestamp": ("to_timestamp(x)",),
    "convert_timezone": (
        "convert_timezone('Australia/Lord_Howe', 'UTC', moment)",
        "convert_timezone('UTC', 'UTC', moment)",
        "moment AT TIME ZONE 'UTC' AT TIME ZONE 'America/New_York'",
    ),
    "epoch_ms": ("epoch_ms(n)",),
}


@dataclass(frozen=True)
class Case:
    """A usage over columns of given types, bound."""

    entry: Function
    sql: str
    columns: tuple[Column, ...]
    expression: Expression

    @property
    def emitted(self) -> str:
        """The total form, over columns c0, c1 …"""
        return emit_expression(self.expression).sql(dialect="duckdb")

    @property
    def raw(self) -> str:
        """What was written, over the same columns."""
        text = self.sql
        for column in self.columns:
            text = re.sub(rf"\b{column.name}\b(?!')", f"c{column.id}", text)
        return text

    @property
    def name(self) -> str:
        kinds = ", ".join(f"{c.name} {c.type}" for c in self.columns)
        return f"{self.sql} [{kinds}]"


def usages(entry: Function) -> tuple[str, ...]:
    """Calls of `entry`, in several forms."""
    return (entry.usage, *MORE.get(entry.name, ()))


def bind(tree: exp.Expr, types: Mapping[str, SqlType]) -> tuple[Expression, tuple[Column, ...]]:
    """`tree` over columns of `types`."""
    columns = tuple(Column(i, name, kind) for i, (name, kind) in enumerate(types.items()))
    relation = Relation("t", {c.name: c for c in columns}, tuple(c.name for c in columns))
    binder = ExpressionBinder(Scope([relation]), lambda _: None)
    return binder.bind(tree), columns


@cache
def cases(name: str) -> tuple[Case, ...]:
    """Every usage of the function over every types of its columns that it takes."""
    entry = FUNCTIONS[name]
    return tuple(case for sql in usages(entry) for case in _cases(entry, sql))


def _cases(entry: Function, sql: str) -> Iterator[Case]:
    tree = parse_one(sql, dialect="duckdb")
    names = sorted({column.name for column in tree.find_all(exp.Column)})
    among = (TYPES, TYPES, FEWER, FEWEST)[len(names)]
    for kinds in itertools.product(among, repeat=len(names)):
        try:
            expression, columns = bind(tree, dict(zip(names, kinds, strict=True)))
        except (TypeFault, DataError, Refused):
            continue
        yield Case(entry, sql, columns, expression)


@cache
def engine() -> duckdb.DuckDBPyConnection:
    """An engine that means by SQL what ours do."""
    connection = duckdb.connect(config={"threads": 1})
    configure(connection)
    return connection
