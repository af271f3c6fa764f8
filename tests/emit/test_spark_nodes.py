"""Each neutral node on Spark, on values where a slip would show."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal as Number
from fractions import Fraction

import pyarrow as pa
import pytest
from emit import spark_server
from sqlglot import exp

from dpsql.emit.dialect import nodes
from dpsql.emit.dialect.scaled_units import scaled_units
from dpsql.emit.dialect.spark import unit_sum
from dpsql.emit.dialect.spark.interval import in_64_bits, interval
from dpsql.emit.dialect.spark.render import rendered
from dpsql.emit.dialect.unit_total import RUNNING_TOTAL, UNIT_TOTAL
from dpsql.emit.sql.identifier import column_ref, schema_name, with_alias
from dpsql.errors import Refused
from dpsql.plan.bounded_release.column_names import UNIT
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.plan.expression import (
    Arithmetic,
    ArithmeticOperator,
    Call,
    Cast,
    Column,
    Compare,
    Comparison,
    Expression,
    Literal,
)
from dpsql.schema.sql_type import (
    BIGINT,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Uuid,
    Varchar,
)

HUGE = 2**62
X = column_ref("c1")


def values(
    node: exp.Expr, kind: pa.DataType, rows: Sequence[object], salt: str = "1"
) -> list[object]:
    """`node` over a table with the column c1, in the rows' order."""
    table = pa.table({"n": pa.array(range(len(rows))), "c1": pa.array(rows, kind)})
    spark_server.view("nodes", "t", table)
    items = [with_alias(node, "v")]
    is_sum = node.find(nodes.WideSum, nodes.UnitSum, nodes.UnitValueCount) is not None
    select = exp.select(*items, *([] if is_sum else [column_ref("n")]))
    found = spark_server.run(
        rendered(select.from_(exp.Table(this=schema_name("t")))), "nodes", salt
    )
    ordered = found if is_sum else found.sort_by("n")
    answer: list[object] = ordered.column("v").to_pylist()
    return answer


def of_type(kind: SqlType, step: Fraction, low: int, high: int) -> exp.Expr:
    return nodes.as_steps(Discretized(Column(1, "x", kind), step, low, high, 0), X.copy())


def scalar(expression: Expression) -> exp.Expr:
    return nodes.scalar(expression)


def test_sums_are_wide() -> None:
    squares = exp.Mul(this=X.copy(), expression=X.copy())
    assert values(nodes.wide_sum(X.copy()), pa.int64(), [HUGE] * 5) == [5 * HUGE]
    assert values(nodes.wide_sum(squares), pa.int64(), [HUGE] * 4) == [4 * HUGE**2]
    most = Number("999.99")
    assert values(nodes.wide_sum(X.copy()), pa.decimal128(5, 2), [most, most]) == [2 * most]


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (["7.25", "-999999.99", None, "999999.99", "0.01"], Decimal(15, 2)),
        (["0.5", "-0.5", None, "-0.5"], Decimal(2, 1)),
        ([2**30, None, -(2**30), 2**30 - 1], None),
        (["123456789012345678901.5"] * 3, Decimal(22, 1)),
    ],
)
def test_sums_of_a_unit_are_exact(rows: list[str | int | None], kind: Decimal | None) -> None:
    numbers = [None if row is None else Number(row) for row in rows]
    present = [number for number in numbers if number is not None]
    scale = 0 if kind is None else kind.scale
    magnitude = max(int(abs(number) * 10**scale) for number in present)
    arrow = pa.int64() if kind is None else pa.decimal128(kind.precision, kind.scale)
    columns = rows if kind is None else numbers
    assert values(nodes.unit_sum(X.copy(), kind, magnitude), arrow, columns) == [sum(present)]
    count = nodes.unit_value_count(X.copy(), kind, magnitude)
    assert values(count, arrow, columns) == [len(present)]
    assert values(nodes.unit_sum(X.copy(), kind, magnitude), arrow, [None]) == [None]


def test_of_more_rows_than_64_bits_surely_hold_none_has_a_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unit_sum, "_MANY_ROWS", 1)
    monkeypatch.setattr(unit_sum, "_FAST_DIGITS", 19)
    signs = [HUGE - 1, 1 - HUGE, HUGE - 1, 1 - HUGE]  # whose sum is 0 in any order
    for rows, total, count in [
        (signs[:2], 0, 2),
        (signs, None, None),
        (signs[::2] * 2, None, None),
    ]:
        assert values(nodes.unit_sum(X.copy(), None, HUGE - 1), pa.int64(), rows) == [total]
        counted = nodes.unit_value_count(X.copy(), None, HUGE - 1)
        assert values(counted, pa.int64(), rows) == [count]


def test_large_terms_of_a_unit_are_summed_as_decimals() -> None:
    terms = [(None, 2**40), (Decimal(18, 6), 10**10)]
    texts = [rendered(exp.select(nodes.unit_sum(X.copy(), *term))).sql for term in terms]
    assert [text.count("TRY_SUM") for text in texts] == [0, 0]


def test_the_total_of_a_unit_is_of_all_its_groups_and_stands_where_it_is_above_the_limit() -> None:
    rows = [(1, "a", 3), (1, "b", 4), (2, "a", 5), (2, "b", 0), (3, "a", HUGE), (3, "c", HUGE)]
    columns = dict(zip((UNIT, "g0", "s0"), zip(*rows, strict=True), strict=True))
    spark_server.view("totals", "t", pa.table(columns))
    groups = exp.select(*map(column_ref, columns)).from_(exp.Table(this=schema_name("t")))
    items = [column_ref(UNIT), column_ref("g0"), column_ref(UNIT_TOTAL)]
    node = nodes.with_unit_total(groups, items, nodes.wide_sum(column_ref("s0")), 5)
    found = spark_server.run(rendered(node), "totals", "1").to_pylist()
    assert sorted(tuple(row.values()) for row in found) == [
        *((1, group, 7) for group in "ab"),
        *((2, group, None) for group in "ab"),
        *((3, group, 2 * HUGE) for group in "ac"),
    ]


def test_what_is_left_of_units_above_the_limit_depends_on_their_groups_up_to_one() -> None:
    rows = [(1, "b", 4), (1, "a", 3), (1, None, 2), (2, "a", 5), (2, "b", 0)]
    columns = dict(zip((UNIT, "g0", "s0"), zip(*rows, strict=True), strict=True))
    spark_server.view("totals", "upto", pa.table(columns))
    groups = exp.select(*map(column_ref, columns)).from_(exp.Table(this=schema_name("upto")))
    running = exp.Window(
        this=exp.Anonymous(this="sum", expressions=[column_ref("s0")]),
        partition_by=[column_ref(UNIT)],
        order=exp.Order(expressions=[exp.Ordered(this=column_ref("g0"), nulls_first=False)]),
    )
    counted = nodes.wide_sum(column_ref("s0")), running
    both = exp.Add(this=column_ref(UNIT_TOTAL), expression=column_ref(RUNNING_TOTAL))
    scaled = [with_alias(column_ref("k"), "s0")]
    node = scaled_units(groups, [UNIT, "g0"], scaled, with_alias(both, "k"), counted, 5)
    found = spark_server.run(rendered(node), "totals", "1").to_pylist()
    assert sorted(tuple(row.values())[::2] for row in found) == [
        *((1, 9 + upto) for upto in (3, 7, 9)),
        *((2, whole) for whole in (0, 5)),
    ]


def test_quotients_go_toward_0_and_are_wide() -> None:
    product = exp.Paren(this=exp.Mul(this=X.copy(), expression=nodes.integer(12)))
    share = nodes.quotient(product, nodes.integer(13))
    least = -(2**63)
    expected = [HUGE * 12 // 13, -(HUGE * 12 // 13), 2**63 * 12 // -13 + 1, -6]
    assert values(share, pa.int64(), [HUGE, -HUGE, least, -7]) == expected
    half = nodes.quotient(product.copy(), nodes.integer(2))
    assert values(half, pa.int64(), [HUGE, -HUGE]) == [6 * HUGE, -6 * HUGE]


def test_what_is_small_is_computed_in_64_bits() -> None:
    small = nodes.narrow(X.copy(), 0, 2**30 - 1)
    order = exp.Mod(this=small, expression=nodes.integer(16002))
    text = rendered(exp.select(nodes.quotient(order, nodes.integer(126)))).sql
    assert "DECIMAL" not in text
    assert values(nodes.quotient(order, nodes.integer(126)), pa.int64(), [2**30 - 1]) == [
        (2**30 - 1) % 16002 // 126
    ]
    largest = exp.Literal.number(2**62)
    assert interval(largest) == (2**62, 2**62)
    assert in_64_bits(exp.Add, largest, largest) is None
    assert in_64_bits(exp.Mul, largest, exp.Literal.number(2)) is None
    minus = exp.Paren(this=exp.Neg(this=exp.Literal.number(7)))
    assert in_64_bits(exp.Mod, minus, exp.Literal.number(2)) is None


def test_hashes_are_a_function_of_all_items_and_the_salt_and_not_negative() -> None:
    rows = list(range(200))
    one = values(nodes.keyed_hash([X]), pa.int64(), rows)
    assert one == values(nodes.keyed_hash([X]), pa.int32(), rows)
    assert len(set(one)) == 200
    assert all(isinstance(h, int) and h >= 0 for h in one)
    assert max(h for h in one if isinstance(h, int)) > 2**60
    others = [
        values(nodes.keyed_hash([X]), pa.int64(), rows, salt="2"),
        values(nodes.keyed_hash([X, X]), pa.int64(), rows),
        values(nodes.keyed_hash([X, exp.Null()]), pa.int64(), rows),
    ]
    assert all(len({*one, *other}) == 400 for other in others)
    assert set(values(nodes.keyed_hash([X], 8), pa.int64(), rows)) == set(range(8))


def test_steps_of_doubles_are_clamped_first_and_rounded_half_to_even() -> None:
    node = of_type(Double(), Fraction(1, 2), -10, 10)
    inf, nan = float("inf"), float("nan")
    rows = [nan, inf, -inf, 1e308, -1e308, 5e-324, -0.0, None, 0.25, 0.75, 1.25, -0.25, -0.75]
    expected = [None, 10, -10, 10, -10, 0, 0, None, 0, 2, 2, 0, -2]
    assert values(node, pa.float64(), rows) == expected


def test_steps_of_days_and_moments() -> None:
    days = of_type(Date(), Fraction(1), 0, 30000)
    assert values(days, pa.date32(), [dt.date(1970, 1, 2), None]) == [1, None]
    moments = of_type(Timestamp(), Fraction(1), 0, 10**15)
    rows = [2**63 - 1, -(2**63), 1_500_000, None]
    assert values(moments, pa.timestamp("us"), rows) == rows


def test_steps_of_decimals_and_integers() -> None:
    fine = of_type(Decimal(38, 2), Fraction(1, 100), -(10**9), 10**9)
    rows = [Number("1.25"), Number("-0.01"), Number("9" * 36)]
    assert values(fine, pa.decimal128(38, 2), rows) == [125, -1, 10**9]
    rounded = of_type(Decimal(10, 2), Fraction(1, 10), -(10**9), 10**9)
    some = [Number("1.25"), Number("-1.25"), Number("1.24")]
    assert values(rounded, pa.decimal128(10, 2), some) == [13, -13, 12]
    coarse = of_type(Integer(64), Fraction(10), -(10**9), 10**9)
    assert values(coarse, pa.int64(), [-19, 19, 2**63 - 1]) == [-1, 1, (2**63 - 1) // 10]


def test_sums_in_steps_are_exact() -> None:
    node = nodes.sum_in_steps(X.copy(), Decimal(38, 6), 10**9, has_few_rows=False)
    rows = [Number("0.000001"), None, Number("-12345678901234567890123456789012.123456")]
    expected = [1, 0, -12345678901234567890123456789012123456]
    assert values(node, pa.decimal128(38, 6), rows) == expected


def test_keys_that_clients_cannot_read_are_none() -> None:
    doubles = nodes.readable_key(Column(1, "x", Double()))
    shown = values(doubles, pa.float64(), [float("nan"), float("inf"), -0.0, 1.0])
    assert [str(value) for value in shown] == ["None", "None", "0.0", "1.0"]
    days = nodes.readable_key(Column(1, "x", Date()))
    assert values(days, pa.date32(), [2**31 - 1, -(2**31), 0]) == [None, None, dt.date(1970, 1, 1)]


def test_numbers_of_several_types_are_compared_as_they_are() -> None:
    """Spark takes 1 for 0.5, where the two have 38 digits before the point, and after it."""
    left, right = Column(1, "x", Decimal(38, 0)), Literal(Fraction(1, 2), Decimal(38, 38))
    with pytest.raises(Refused, match="a comparison of"):
        rendered(exp.select(scalar(Compare(Comparison.EQUAL, left, right))))
    half = Literal(Fraction(1, 2), Decimal(18, 17))
    equal = Compare(Comparison.EQUAL, Column(1, "x", Decimal(20, 0)), half)
    assert values(scalar(equal), pa.decimal128(20, 0), [1, 0]) == [False, False]


def test_overflow_is_none() -> None:
    x = Column(1, "x", BIGINT)
    twice = Arithmetic(ArithmeticOperator.MULTIPLY, x, Literal(2, BIGINT), BIGINT)
    nested = Arithmetic(ArithmeticOperator.ADD, twice, x, BIGINT)
    assert values(scalar(nested), pa.int64(), [2**62, 1, -(2**63)]) == [None, 3, None]
    narrower = Cast(x, Integer(8))
    assert values(scalar(narrower), pa.int64(), [127, 128, -128, -129]) == [127, None, -128, None]


def test_texts_of_a_collation_are_others_if_their_bytes_are() -> None:
    session = spark_server.session("collations")
    rows = "VALUES ('ER'), ('er'), ('er') AS v(v)"
    session.sql(f"SELECT v COLLATE UTF8_LCASE AS v FROM {rows}").createOrReplaceTempView("t")
    text = nodes.stored_column(column_ref(schema_name("v")), Varchar())
    select = exp.select(with_alias(text, "k"), with_alias(exp.Count(this=exp.Star()), "n"))
    grouped = select.from_(exp.Table(this=schema_name("t"))).group_by(text.copy())
    found = spark_server.tuples(spark_server.run(rendered(grouped), "collations"))
    assert sorted(found, key=str) == [("ER", 1), ("er", 2)]


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (nodes.row_number(), "a number of a row"),
        (nodes.stored_column(X.copy(), Uuid()), "the type UUID"),
        (nodes.stored_column(X.copy(), Double(32)), "the type FLOAT"),
        (nodes.stored_column(X.copy(), Integer(16, signed=False)), "the type USMALLINT"),
        (nodes.stored_column(X.copy(), BIGINT, is_saved=True), "a released table"),
        (exp.Anonymous(this="java_method", expressions=[nodes.integer(1)]), "java_method"),
        (exp.BitwiseLeftShift(this=X.copy(), expression=nodes.integer(1)), "BitwiseLeftShift"),
        (exp.select(X.copy()).limit(1).subquery("t"), "LIMIT below a release"),
        (
            nodes.scalar(
                Call(
                    "//",
                    (Column(1, "x", BIGINT), Literal(-1, BIGINT)),
                    BIGINT,
                )
            ),
            "// of BIGINT, BIGINT",
        ),
    ],
)
def test_what_is_on_no_list_is_refused_by_its_name(node: exp.Expr, name: str) -> None:
    with pytest.raises(Refused, match=f"{name}.* is not computed on Spark"):
        rendered(exp.select(node))


def test_texts_are_written_by_their_codes() -> None:
    text = rendered(exp.select(nodes.constant("it's ${x} \\ \U0001f600", Varchar()))).sql
    assert text == r"SELECT 'it\u0027s \u0024\u007bx\u007d \u005c \U0001f600'"
