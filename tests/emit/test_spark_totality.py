"""No allowed call, operator, cast or aggregate fails on Spark, whatever its arguments.

Each gives what DuckDB gives. Where a double or a day is in it, hostile values may give NULL.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal as Number
from math import isfinite, isnan

import duckdb
import pyarrow as pa
import pytest
from emit import spark_server
from functions.calls import Case, cases
from functions.hostile import KINDS, MARK, values
from functions.samples import ordinary
from functions.test_hostile_expressions import expressions
from neighbor_search.share import values_in_turn
from sqlglot import exp

from dpsql.emit.dialect.duckdb.render import rendered as duckdb_text
from dpsql.emit.dialect.nodes import scalar, stored_column
from dpsql.emit.dialect.spark.function import FUNCTIONS
from dpsql.emit.dialect.spark.render import rendered
from dpsql.emit.sql.identifier import as_column, column_ref, schema_name, subquery, with_alias
from dpsql.engine.duckdb.lockdown import configure
from dpsql.errors import Refused
from dpsql.plan.bounded_release.server_query import ServerStatement
from dpsql.plan.expression import Arithmetic, Call
from dpsql.plan.expression import Case as CaseWhen
from dpsql.schema.sql_type import (
    BIGINT,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Varchar,
)
from dpsql.structs import replace

_TOGETHER = 25

TURNS = 384
"""Each run tries one, `-m slow` all of them."""


def _tree(some: list[Case]) -> exp.Select:
    """The values of `some`, which have columns of the same types, for all pairs of values."""
    rows = exp.select(*(column_ref(f"c{c.id}") for c in some[0].columns))
    for column in some[0].columns:
        stored = stored_column(column_ref(schema_name("v"), table="t"), column.type)
        table = exp.Table(
            this=schema_name(f"of_{column.type}"), alias=exp.TableAlias(this=exp.to_identifier("t"))
        )
        one = exp.select(as_column(stored, column)).from_(table)
        derived = subquery(one, f"t{column.id}")
        rows = (
            rows.from_(derived)
            if not rows.args.get("from_")
            else rows.join(derived, join_type="cross")
        )
    keys = [column_ref(f"c{c.id}") for c in some[0].columns]
    items = [with_alias(scalar(case.expression), f"v{n}") for n, case in enumerate(some)]
    return exp.select(*keys, *items).from_(subquery(rows, "t"))


def allowed(some: tuple[Case, ...]) -> tuple[Case, ...]:
    """Those over one or two columns that Spark's lists allow."""
    return tuple(case for case in some if 1 <= len(case.columns) <= 2 and _is_allowed(case))


def _is_allowed(case: Case) -> bool:
    try:
        rendered(_tree([case]))
    except Refused:
        return False
    return True


def _alike(tried: tuple[Case, ...]) -> Iterator[list[Case]]:
    def kinds(case: Case) -> list[str]:
        return [f"{column.id} {column.type}" for column in case.columns]

    for _, group in itertools.groupby(sorted(tried, key=kinds), kinds):
        some = list(group)
        yield from (some[n : n + _TOGETHER] for n in range(0, len(some), _TOGETHER))


def _is_held(text: str | None, kind: SqlType) -> bool:
    """Whether Spark has the value: it has no infinite day, and 38 digits."""
    match kind:
        case _ if text is None:
            return True
        case Date() | Timestamp():
            return "infinity" not in text
        case Integer(bits=128):
            return abs(int(text)) < 10**38
        case Decimal(precision=precision, scale=scale) if precision == scale:
            return abs(Number(text)) < 1
        case _:
            return True


def _fill(name: str, texts: Callable[[SqlType], list[str]]) -> duckdb.DuckDBPyConnection:
    """The same values on both engines, and NULL."""
    connection = duckdb.connect(config={"threads": 1})
    configure(connection)
    for kind in KINDS:
        try:
            column = spark_server.arrow_type(kind)
        except Refused:
            continue
        table = f"of_{kind}"
        connection.execute(f'CREATE TABLE "{table}" (v {kind})')
        rows = [(text,) for text in (*texts(kind), None) if _is_held(text, kind)]
        connection.executemany(f'INSERT INTO "{table}" VALUES (?)', rows)
        wide = "DECIMAL(38,0)" if isinstance(kind, Integer) and kind.bits == 128 else "VARCHAR"
        is_plain = not isinstance(kind, Integer) or BIGINT.holds(kind)
        shown = "v" if is_plain and column != pa.string() else f"v::{wide} AS v"
        if isinstance(kind, Integer) and kind.bits == 64 and not kind.signed:
            shown = "v::DECIMAL(38,0) AS v"
        held = connection.sql(f'SELECT {shown} FROM "{table}"').to_arrow_table()
        spark_server.view(name, table, held.cast(pa.schema([("v", column)])))
        if isinstance(kind, Varchar):
            spark_server.view(f"{name} broken", table, _with_broken_texts(held))
        else:
            spark_server.view(f"{name} broken", table, held.cast(pa.schema([("v", column)])))
    return connection


def _with_broken_texts(held: pa.Table) -> pa.Table:
    """The same texts, of which some bytes aren't UTF-8."""
    texts = [
        t and t.encode().replace(MARK.encode(), b"\xff\xc3\xfe") for t in held["v"].to_pylist()
    ]
    # Of the first, more bytes seem to follow than there are.
    bytes_ = pa.array([b"ab\xf0", *texts], pa.binary())
    made = pa.Array.from_buffers(pa.string(), len(bytes_), bytes_.buffers())
    return pa.table({"v": made})


def _comparable(value: object) -> object:
    match value:
        case float() if isnan(value):
            return "nan"
        case Number():
            return int(value) if value == value.to_integral_value() else float(value)
        case float():
            return float(f"{value:.12g}")
        case _:
            return value


def _rows(rows: list[tuple[object, ...]], keys: int) -> dict[str, tuple[object, ...]]:
    made = {}
    for row in rows:
        made[repr(tuple(map(_key, row[:keys])))] = tuple(map(_comparable, row[keys:]))
    return made


def _key(value: object) -> object:
    return "nan" if isinstance(value, float) and isnan(value) else str(_comparable(value))


def _check(
    some: list[Case], name: str, connection: duckdb.DuckDBPyConnection, *, hostile: bool
) -> Iterator[str]:
    tree, keys = _tree(some), len(some[0].columns)
    try:
        spark_server.run(_hashed(tree, len(some)), f"{name} broken")
    except Exception as error:  # noqa: BLE001 - whatever the server says
        if len(some) == 1:
            yield f"{some[0].name} fails: {str(error)[:300]}"
            return
        for case in some:
            yield from _check([case], name, connection, hostile=hostile)
        return
    moments = (Date, Timestamp)
    if hostile and any(isinstance(c.type, moments) for c in some[0].columns):
        return  # Python has no such days; that nothing fails is all that is asked
    if any(isinstance(case.expression.type, moments) for case in some) and hostile:
        return
    found = _rows(spark_server.tuples(spark_server.run(rendered(tree), name)), keys)
    expected = _rows(connection.execute(duckdb_text(tree)).fetchall(), keys)
    assert found.keys() == expected.keys()
    for number, case in enumerate(some):
        inexact = hostile and any(isinstance(c.type, Double) for c in case.columns)
        for key, row in expected.items():
            own = found[key][number]
            wider = row[number] is None and _is_exact(case)
            # DuckDB's quotients by what may be 0 are NULL, too, where they are infinite.
            infinite = row[number] is None and isinstance(own, float) and not isfinite(own)
            # Spark's cast takes 2^63 for 2^63 - 1; a clamp does as well.
            largest = row[number] is None and own in (2**63 - 1, 2**31 - 1)
            # Of 38 digits: what has more is NULL.
            value = row[number]
            long = own is None and isinstance(value, int) and abs(value) >= 10**38
            differs = not wider and not infinite and not long and not (hostile and largest)
            if own != row[number] and differs and not (inexact and own is None):
                yield f"{case.name} of {key}: {own!r}, DuckDB {row[number]!r}"
                break


def _hashed(tree: exp.Select, count: int) -> ServerStatement:
    """All values are computed, and none is sent: days may be no Python dates."""
    whole = rendered(tree)
    names = ", ".join(f"`v{n}`" for n in range(count))
    return replace(whole, sql=f"SELECT MAX(XXHASH64({names})) FROM ({whole.sql}) AS t")


def _is_exact(case: Case) -> bool:
    """Arithmetic in decimals: it has values where DuckDB first converts an operand in vain.

    -2^63 % -1 is 0, and 1::BIGINT + 0.5::DECIMAL(38,38) is 1.5.
    """
    match case.expression:
        case Arithmetic(type=Integer() | Decimal()) | Call(function="%"):
            return True
        case CaseWhen(type=Decimal()):
            return True
        case _:
            return False


def _tried(turn: int, turns: int, *, hostile: bool) -> None:
    name = f"{'hostile' if hostile else 'ordinary'} values"
    connection = _FILLED.get(name)
    if connection is None:
        connection = _FILLED[name] = _fill(name, values if hostile else ordinary)
    some = expressions()[turn::turns]
    tried = allowed(some)
    faults = [
        fault for each in _alike(tried) for fault in _check(each, name, connection, hostile=hostile)
    ]
    sys.stdout.write(f"{len(tried)} expressions of {len(some)}\n")
    assert not faults, f"{len(faults)} other values than DuckDB's:\n" + "\n".join(faults)


_FILLED: dict[str, duckdb.DuckDBPyConnection] = {}


@pytest.mark.bounds
@pytest.mark.parametrize("hostile", [True, False])
@pytest.mark.parametrize("turn", values_in_turn(range(TURNS), TURNS))
def test_no_value_fails_and_all_are_duckdbs(*, turn: int, hostile: bool) -> None:
    _tried(turn, TURNS, hostile=hostile)


@pytest.mark.slow
@pytest.mark.parametrize("hostile", [True, False])
def test_no_value_of_any_expression_fails(*, hostile: bool) -> None:
    _tried(0, 1, hostile=hostile)


def test_every_function_of_the_list_is_tried() -> None:
    for name in FUNCTIONS:
        assert any(len(case.columns) <= 2 and _is_allowed(case) for case in cases(name)), name
