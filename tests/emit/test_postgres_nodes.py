"""Each neutral node on a PostgreSQL server, on values where a slip would show."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from emit import postgres_server
from sqlglot import exp

from dpsql.emit.dialect import nodes
from dpsql.emit.dialect.postgres.render import rendered
from dpsql.emit.sql.identifier import column_ref, schema_name, with_alias
from dpsql.errors import Refused
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.plan.expression import Column
from dpsql.schema.sql_type import (
    BIGINT,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Uuid,
)

HUGE = 2**62


def values(
    node: exp.Expr,
    column: str,
    rows: Sequence[str | None],
    salt: str = "1",
    *,
    read_as: str = "x",
) -> list[object]:
    """`node` over a table whose column has a type by PostgreSQL's name, in the rows' order.

    Its name is `read_as`.
    """
    server = postgres_server.server()
    schema = postgres_server.own("nodes")
    server.execute(f'DROP TABLE IF EXISTS "{schema}".t'.encode())
    server.execute(f'CREATE TABLE "{schema}".t (n serial, {read_as} {column})'.encode())
    for row in rows:
        insert = f'INSERT INTO "{schema}".t ({read_as}) VALUES (CAST($1 AS {column}))'
        server.execute(insert.encode(), [row])
    select = exp.select(with_alias(node, "v")).from_(exp.Table(this=schema_name("t")))
    if not node.find(nodes.WideSum):
        select = select.order_by(exp.Ordered(this=column_ref("n")))
    return [value for (value,) in postgres_server.run(rendered(select), "nodes", salt)]


X = column_ref("x")


def of_type(kind: SqlType, step: Fraction, low: int, high: int) -> exp.Expr:
    return nodes.as_steps(Discretized(Column(1, "x", kind), step, low, high, 0), X.copy())


def test_sums_are_wide() -> None:
    rows: list[str | None] = [str(HUGE)] * 5
    assert values(nodes.wide_sum(X.copy()), "bigint", rows) == [5 * HUGE]
    squares = exp.Mul(this=X.copy(), expression=X.copy())
    assert values(nodes.wide_sum(squares), "bigint", rows) == [5 * HUGE**2]
    assert values(
        nodes.wide_sum(exp.Mul(this=X.copy(), expression=X.copy())), "integer", ["100000"]
    ) == [10**10]


def test_quotients_go_toward_0_and_are_wide() -> None:
    half = nodes.quotient(X.copy(), nodes.integer(2))
    assert values(half, "bigint", ["-7", "7", str(-(2**63))]) == [-3, 3, -HUGE]
    product = exp.Paren(this=exp.Mul(this=X.copy(), expression=nodes.integer(12)))
    share = nodes.quotient(product, nodes.integer(13))
    assert values(share, "bigint", [str(HUGE), str(-HUGE)]) == [HUGE * 12 // 13, -(HUGE * 12 // 13)]
    least = nodes.quotient(X.copy(), nodes.integer(-1))
    assert values(least, "bigint", [str(-(2**63))]) == [2**63]


def test_hashes_are_a_function_of_all_items_and_the_salt_and_not_negative() -> None:
    rows: list[str | None] = [str(number) for number in range(200)]
    one = values(nodes.keyed_hash([X]), "bigint", rows)
    assert one == values(nodes.keyed_hash([X]), "bigint", rows)
    assert len(set(one)) == 200
    assert all(isinstance(h, int) and h >= 0 for h in one)
    assert max(h for h in one if isinstance(h, int)) > 2**60
    others = [
        values(nodes.keyed_hash([X]), "bigint", rows, salt="2"),
        values(nodes.keyed_hash([X, X]), "bigint", rows),
        values(nodes.keyed_hash([X, nodes.constant(None, BIGINT)]), "bigint", rows),
    ]
    assert all(len({*one, *other}) == 400 for other in others)
    few = values(nodes.keyed_hash([X], 8), "bigint", rows)
    assert set(few) == set(range(8))
    texts = ["a", "b", "", None, "x" * 100_000]
    assert len(set(values(nodes.keyed_hash([X]), "text", texts))) == 5


@pytest.mark.parametrize(
    ("column", "alike"),
    [("numeric", ["1", "1.0", "1.00"]), ("double precision", ["0", "-0"]), ("text", ["a", "a"])],
)
def test_equal_values_have_equal_hashes(column: str, alike: list[str | None]) -> None:
    """1.0 and 1.00 are one group, which has the digits of whichever row comes first."""
    for items in ([X], [nodes.constant(None, BIGINT), X]):
        assert len(set(values(nodes.keyed_hash(items), column, alike))) == 1


def test_steps_of_doubles_are_clamped_first_and_rounded_half_to_even() -> None:
    node = of_type(Double(), Fraction(1, 2), -10, 10)
    rows = ["NaN", "Infinity", "-Infinity", "1e308", "-1e308", "5e-324", "-5e-324", "-0", None]
    rows += ["0.25", "0.75", "1.25", "-0.25", "-0.75"]
    expected = [None, 10, -10, 10, -10, 0, 0, 0, None, 0, 2, 2, 0, -2]
    assert values(node, "double precision", rows) == expected
    coarse = of_type(Double(), Fraction(1000), -10, 10)
    assert values(coarse, "double precision", ["5e-324", "-2.3e-308", "1500"]) == [0, 0, 2]


def test_steps_of_infinite_days_are_duckdbs_and_moments_have_none() -> None:
    days = of_type(Date(), Fraction(1), 0, 30000)
    assert values(days, "date", ["infinity", "-infinity", "1970-01-02", "5874897-12-31"]) == [
        *[2**31 - 1, -(2**31 - 1), 1],
        2145042905,
    ]
    moments = of_type(Timestamp(), Fraction(1), 0, 10**15)
    rows = ["infinity", "-infinity", "1970-01-01 00:00:01.5", "294276-12-31 23:59:59", None]
    assert values(moments, "timestamp", rows) == [None, None, 1_500_000, None, None]


def test_steps_of_decimals_and_integers() -> None:
    fine = of_type(Decimal(38, 2), Fraction(1, 100), -(10**9), 10**9)
    assert values(fine, "numeric(38,2)", ["1.25", "-0.01", "9" * 36]) == [
        125,
        -1,
        int("9" * 36 + "00"),
    ]
    rounded = of_type(Decimal(10, 2), Fraction(1, 10), -(10**9), 10**9)
    assert values(rounded, "numeric(10,2)", ["1.25", "-1.25", "1.24"]) == [13, -13, 12]
    coarse = of_type(Integer(64), Fraction(10), -(10**9), 10**9)
    assert values(coarse, "bigint", ["-19", "19", str(2**63 - 1)]) == [-1, 1, (2**63 - 1) // 10]
    wide = of_type(Integer(64, signed=False), Fraction(1), 0, 10**9)
    assert values(wide, "numeric(39)", ["0", str(2**63), str(2**63 - 1)]) == [0, None, 2**63 - 1]


def test_sums_in_steps_are_exact() -> None:
    node = nodes.sum_in_steps(X.copy(), Decimal(38, 6), 10**9, has_few_rows=False)
    assert values(node, "numeric", ["0.000001", None, "-12345678901234567890.123456"]) == [
        *[1, 0],
        -12345678901234567890123456,
    ]


def test_keys_that_clients_cannot_read_are_none() -> None:
    days = nodes.readable_key(Column(1, "x", Date()))
    days.set("key", X.copy())
    assert values(days, "date", ["infinity", "10000-01-01"]) == [None, None]
    doubles = nodes.readable_key(Column(1, "x", Double()))
    doubles.set("key", X.copy())
    shown = values(doubles, "double precision", ["NaN", "Infinity", "-0", "1"])
    assert [str(value) for value in shown] == ["None", "None", "0.0", "1.0"]


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (nodes.row_number(), "a number of a row"),
        (nodes.stored_column(X.copy(), Uuid()), "the type UUID"),
        (nodes.stored_column(X.copy(), Double(32)), "the type FLOAT"),
        (nodes.stored_column(X.copy(), BIGINT, is_saved=True), "a released table"),
        (exp.Anonymous(this="pg_sleep", expressions=[nodes.integer(1)]), "pg_sleep"),
        (exp.IntDiv(this=X.copy(), expression=nodes.integer(1)), "IntDiv"),
        (exp.TryCast(this=X.copy(), to=exp.DataType.build("INT")), "TryCast"),
        (exp.BitwiseLeftShift(this=X.copy(), expression=nodes.integer(1)), "BitwiseLeftShift"),
    ],
)
def test_what_is_on_no_list_is_refused_by_its_name(node: exp.Expr, name: str) -> None:
    with pytest.raises(Refused, match=f"{name}.* is not computed on PostgreSQL"):
        rendered(exp.select(node))
