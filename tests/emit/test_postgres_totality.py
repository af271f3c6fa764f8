"""No allowed call, operator, cast or aggregate fails on PostgreSQL, whatever its arguments.

Each gives what DuckDB gives. Where a double or a day is in it, hostile values may give NULL.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal as Number
from math import isnan

import duckdb
import psycopg
import pytest
from emit import postgres_server
from functions.calls import Case, cases
from functions.hostile import KINDS, values
from functions.samples import ordinary
from functions.test_hostile_expressions import expressions
from neighbor_search.share import values_in_turn
from sqlglot import exp

from dpsql.emit.dialect.duckdb.render import rendered as duckdb_text
from dpsql.emit.dialect.nodes import scalar, stored_column
from dpsql.emit.dialect.postgres.function import FUNCTIONS
from dpsql.emit.dialect.postgres.render import rendered
from dpsql.emit.sql.identifier import as_column, column_ref, schema_name, subquery, with_alias
from dpsql.engine.duckdb.lockdown import configure
from dpsql.errors import Refused
from dpsql.plan.bounded_release.server_query import ServerStatement
from dpsql.plan.expression import Arithmetic, Call
from dpsql.schema.sql_type import Date, Decimal, Double, Integer, SqlType, Timestamp

_TOGETHER = 25

TURNS = 24


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


def allowed(turn: int) -> tuple[Case, ...]:
    """One in `TURNS` of all expressions over one or two columns that PostgreSQL's lists allow."""
    some = expressions()[turn::TURNS]
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


def _fill(name: str, texts: Callable[[SqlType], list[str]]) -> duckdb.DuckDBPyConnection:
    """The same values on both engines, and NULL."""
    kinds = {f"of_{kind}": kind for kind in KINDS}
    rows = {
        table: [(text,) for text in (*texts(kind), None) if postgres_server.is_held(text, kind)]
        for table, kind in kinds.items()
    }
    postgres_server.create(name, {table: {"v": kind} for table, kind in kinds.items()}, rows)
    connection = duckdb.connect(config={"threads": 1})
    configure(connection)
    for table, kind in kinds.items():
        connection.execute(f'CREATE TABLE "{table}" (v {kind})')
        connection.executemany(f'INSERT INTO "{table}" VALUES (?)', rows[table])
    return connection


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
        answer = postgres_server.run(_counted(tree), name)
    except psycopg.Error as error:
        if len(some) == 1:
            yield f"{some[0].name} fails: {error}"
            return
        for case in some:
            yield from _check([case], name, connection, hostile=hostile)
        return
    del answer
    moments = (Date, Timestamp)
    if hostile and any(isinstance(c.type, moments) for c in some[0].columns):
        return  # Python has no such days; that nothing fails is all that is asked
    if any(isinstance(case.expression.type, moments) for case in some) and hostile:
        return
    found = _rows(postgres_server.run(rendered(tree), name), keys)
    expected = _rows(connection.execute(duckdb_text(tree)).fetchall(), keys)
    assert found.keys() == expected.keys()
    for number, case in enumerate(some):
        inexact = hostile and any(isinstance(c.type, Double) for c in case.columns)
        for key, row in expected.items():
            own = found[key][number]
            wider = row[number] is None and _is_exact(case)
            if own != row[number] and not wider and not (inexact and own is None):
                yield f"{case.name} of {key}: {own!r}, DuckDB {row[number]!r}"
                break


def _counted(tree: exp.Select) -> ServerStatement:
    """All values are read, and none is sent: days may be no Python dates."""
    whole = rendered(tree)
    return ServerStatement(
        f"SELECT COUNT(CAST(t AS TEXT)) FROM ({whole.sql}) AS t", whole.parameters
    )


def _is_exact(case: Case) -> bool:
    """Arithmetic in numeric: it has values where DuckDB first converts an operand in vain.

    -2^63 % -1 is 0, and 1::BIGINT + 0.5::DECIMAL(38,38) is 1.5.
    """
    match case.expression:
        case Arithmetic(type=Integer() | Decimal()) | Call(function="%"):
            return True
        case _:
            return False


@pytest.mark.bounds
@pytest.mark.parametrize("hostile", [True, False])
@pytest.mark.parametrize("turn", values_in_turn(range(TURNS), TURNS))
def test_no_value_fails_and_all_are_duckdbs(*, turn: int, hostile: bool) -> None:
    name = f"{'hostile' if hostile else 'ordinary'} {turn}"
    connection = _fill(name, values if hostile else ordinary)
    tried = allowed(turn)
    faults = [
        fault for some in _alike(tried) for fault in _check(some, name, connection, hostile=hostile)
    ]
    sys.stdout.write(f"{len(tried)} expressions of {len(expressions()[turn::TURNS])}\n")
    assert not faults, "other values than DuckDB's:\n" + "\n".join(faults[:40])


def test_every_function_of_the_list_is_tried() -> None:
    for name in FUNCTIONS:
        assert any(len(case.columns) <= 2 and _is_allowed(case) for case in cases(name)), name
