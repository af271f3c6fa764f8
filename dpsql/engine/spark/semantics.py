"""What Spark computes of a release, and the test of what our SQL means there.

Limits and clamps are proved about SQL with a certain meaning: of decimals that are exact, of texts
that are compared as bytes, of shifts of whole hashes. Each function of the list has a claim here,
and so have the rules that no function has. A server that breaks one isn't opened.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final, NamedTuple

import pyarrow as pa

from dpsql.engine.spark.session import SparkServerSession
from dpsql.engine.supported import Supported
from dpsql.errors import ExecutionFailed, SourceFault

SUPPORTED: Final = Supported(
    dialect="Spark",
    # Bit sets would be shifted in 32 bits, without a word; where units are counted first, their
    # rows are read twice; sidecars have neither sums of units nor ranks.
    strategies=frozenset({"SumRows", "SplitByContribution", "AggregateBelowJoin", "PerUnit"}),
    functions=frozenset(
        {
            *("ABS", "CEIL", "FLOOR", "GREATEST", "LEAST", "RINT", "ROUND", "ISNAN"),
            *("TRY_ADD", "TRY_SUBTRACT", "TRY_MULTIPLY", "TRY_DIVIDE", "TRY_MOD"),
            *("CONCAT", "CONTAINS", "INSTR", "LEFT", "LENGTH", "STARTSWITH", "SUBSTRING"),
            *("TRY_VALIDATE_UTF8", "UNIX_DATE", "UNIX_MICROS"),
            *("YEAR", "QUARTER", "MONTH", "DAY", "WEEKDAY", "HOUR", "MINUTE", "TRUNC"),
            *("BOOL_AND", "BOOL_OR", "COUNT", "MAX", "MIN", "SUM", "TRY_SUM"),
            *("DENSE_RANK", "ROW_NUMBER", "XXHASH64"),
            *("ARRAY", "ELEMENT_AT", "TRANSFORM"),
        }
    ),
    types=frozenset(
        {
            *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "DOUBLE", "STRING"),
            *("DATE", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"),
        }
    ),
    pulls=False,
)
"""What Spark computes. Of rows on Spark, nothing else is computed anywhere."""


class SparkClaim(NamedTuple):
    """A claim, `about` in words: `expression` over the inputs below is `expected`, as a text."""

    about: str
    expression: str
    expected: str | None


_INPUTS: Final = """
(VALUES (
    7, 9223372036854775807L, CAST('2.50' AS DECIMAL(5,2)), CAST(0.5 AS DECIMAL(38,38)),
    CAST('99999999999999999999999999999999999999' AS DECIMAL(38,0)),
    2.5D, 3.5D, -0.0D, 0.0D, DOUBLE('NaN'), DOUBLE('Infinity'), 'a', 'B', CAST(NULL AS INT),
    DATE '2024-02-29', TIMESTAMP_NTZ '2024-02-29 23:59:59.25', true, X'61f0'
)) AS inputs(seven, most, half, part, large, near, odd, minus_zero, zero, nan, inf, small, big,
    nothing, day, moment, yes, bytes)
"""

_WIDE: Final = "CAST(most AS DECIMAL(38,0))"
_HASH: Final = "XXHASH64('salt', CAST({} AS STRING))"

OF_ROWS: Final = (
    SparkClaim("decimals are exact", f"{_WIDE} * {_WIDE}", str((2**63 - 1) ** 2)),
    SparkClaim("their sums are", f"{_WIDE} + {_WIDE}", str(2**64 - 2)),
    SparkClaim("digits after the point stay", "half * half", "6.2500"),
    SparkClaim("TRY_ADD is NULL where it overflows", "TRY_ADD(most, 1L)", None),
    SparkClaim("of decimals, too", "TRY_ADD(large, large)", None),
    SparkClaim("TRY_SUBTRACT is", "TRY_SUBTRACT(-2L, most)", None),
    SparkClaim("TRY_MULTIPLY is", "TRY_MULTIPLY(most, 2L)", None),
    SparkClaim("TRY_MULTIPLY of decimals is", "TRY_MULTIPLY(large, large)", None),
    SparkClaim("TRY_DIVIDE by 0 is NULL", "TRY_DIVIDE(near, zero)", None),
    SparkClaim("by minus 0, too", "TRY_DIVIDE(near, minus_zero)", None),
    SparkClaim("TRY_MOD has the sign of the dividend", "TRY_MOD(-seven, 2)", "-1"),
    SparkClaim("TRY_MOD by 0 is NULL", "TRY_MOD(seven, 0)", None),
    SparkClaim(
        "a multiple is divided exactly",
        "CAST(TRY_DIVIDE(CAST('12345678901234567890123456788' AS DECIMAL(38,0)),"
        " CAST(2 AS DECIMAL(19,0))) AS DECIMAL(38,0))",
        "6172839450617283945061728394",
    ),
    SparkClaim("div cuts toward 0", "-seven div 2", "-3"),
    SparkClaim("% has the sign of the dividend", "-seven % 2", "-1"),
    SparkClaim("& is of 64 bits", "most & 9223372036854775807", str(2**63 - 1)),
    SparkClaim("sums of decimals have ten digits more", f"SUM({_WIDE} + 0)", str(2**63 - 1)),
    SparkClaim("decimals are rounded away from 0", "ROUND(-half, 0)", "-3"),
    SparkClaim("a cast of decimals is, too", "TRY_CAST(-half AS DECIMAL(5,0))", "-3"),
    SparkClaim("FLOOR goes down", "FLOOR(-half)", "-3"),
    SparkClaim("CEIL goes up", "CEIL(-half)", "-2"),
    SparkClaim("RINT is half to even", "CAST(RINT(near) + RINT(odd) AS INT)", "6"),
    SparkClaim(
        "a sum keeps 38 digits",
        "TRY_ADD(large, CAST(-1 AS DECIMAL(38,0)))",
        "99999999999999999999999999999999999998",
    ),
    SparkClaim("a remainder is of 38 digits", "TRY_MOD(large, CAST(7 AS DECIMAL(38,0)))", "1"),
    SparkClaim("ABS has no sign", "ABS(-near)", "2.5"),
    SparkClaim(
        "constants keep their digits", "(-99999999999999999999999999999999999999)", "-" + "9" * 38
    ),
    SparkClaim(
        "0 less a decimal does", "TRY_SUBTRACT(CAST(0 AS DECIMAL(38,0)), large)", "-" + "9" * 38
    ),
    SparkClaim("TRY_CAST is NULL where it doesn't fit", "TRY_CAST(most AS INT)", None),
    SparkClaim("of decimals, too", "TRY_CAST(large AS DECIMAL(20,0))", None),
    SparkClaim("of NaN", "TRY_CAST(nan AS BIGINT)", None),
    SparkClaim("of infinity", "TRY_CAST(inf AS BIGINT)", None),
    SparkClaim("a cast of a double cuts", "TRY_CAST(odd AS BIGINT)", "3"),
    SparkClaim("NaN equals itself", "nan = nan", "true"),
    SparkClaim("NaN is the largest", "nan > inf", "true"),
    SparkClaim("ISNAN", "ISNAN(nan) AND NOT ISNAN(inf)", "true"),
    SparkClaim("NANVL hands on a number", "NANVL(near, nan)", "2.5"),
    SparkClaim("and NaN", "NANVL(nan, CAST('NaN' AS DOUBLE))", "NaN"),
    SparkClaim("0 equals minus 0", "zero = minus_zero", "true"),
    SparkClaim("GREATEST leaves out NULL", "GREATEST(seven, nothing)", "7"),
    SparkClaim("LEAST does, too", "LEAST(seven, nothing)", "7"),
    SparkClaim("texts are compared as bytes", "(big COLLATE UTF8_BINARY) < 'a'", "true"),
    SparkClaim("capitals are others", "(small COLLATE UTF8_BINARY) = 'A'", "false"),
    SparkClaim("texts without a collation are, too", "CAST(small AS STRING) = 'A'", "false"),
    SparkClaim("a space more is another text", "small = 'a '", "false"),
    SparkClaim("IN is equality", "small IN ('A', 'a ') OR big NOT IN ('b', 'B')", "false"),
    SparkClaim("a double's text is exact", "CAST('0.1' AS DOUBLE) + 0.2D", "0.30000000000000004"),
    SparkClaim("BETWEEN has its ends", "seven BETWEEN 7 AND 7", "true"),
    SparkClaim("NULL is NULL", "nothing IS NOT DISTINCT FROM nothing", "true"),
    SparkClaim("and nothing else is", "seven IS DISTINCT FROM nothing", "true"),
    SparkClaim("CASE takes the first", "CASE WHEN nothing > 1 THEN 1 WHEN yes THEN 2 END", "2"),
    SparkClaim("COALESCE does, too", "COALESCE(nothing, seven)", "7"),
    SparkClaim("a code is its character", r"'\u0024\u007bx\u007d\u005c'", "${x}\\"),
    SparkClaim("LIKE takes a backslash before", r"'a\u005c' LIKE '_\u005c\u005c'", "true"),
    SparkClaim("LENGTH counts characters", "LENGTH('ä\U0001f600')", "2"),
    SparkClaim("SUBSTRING counts from 1", "SUBSTRING('abc', 2, 1)", "b"),
    SparkClaim("LEFT", "LEFT('abc', 2)", "ab"),
    SparkClaim("INSTR counts from 1", "INSTR('abc', 'c')", "3"),
    SparkClaim("CONTAINS", "CONTAINS('abc', 'b')", "true"),
    SparkClaim("CONCAT", "CONCAT(small, 'b')", "ab"),
    SparkClaim("CONCAT of NULL is NULL", "CONCAT(small, CAST(nothing AS STRING))", None),
    SparkClaim("a decimal's text has all its digits", "CAST(part AS STRING)", "0.5" + "0" * 37),
    SparkClaim("that of 0, too", "CAST(CAST(zero AS DECIMAL(38,9)) AS STRING)", "0.000000000"),
    SparkClaim("a day's text", "CAST(day AS STRING)", "2024-02-29"),
    SparkClaim("a moment's text", "CAST(moment AS STRING)", "2024-02-29 23:59:59.25"),
    SparkClaim("STARTSWITH", "STARTSWITH('abc', 'ab')", "true"),
    SparkClaim("bytes that aren't UTF-8", "TRY_VALIDATE_UTF8(CAST(bytes AS STRING))", None),
    SparkClaim("UNIX_DATE", "UNIX_DATE(day)", "19782"),
    SparkClaim(
        "moments are by UTC", "UNIX_MICROS(CAST(moment AS TIMESTAMP_LTZ))", "1709251199250000"
    ),
    SparkClaim("YEAR", "YEAR(day)", "2024"),
    SparkClaim("QUARTER", "QUARTER(day)", "1"),
    SparkClaim("MONTH", "MONTH(day)", "2"),
    SparkClaim("DAY", "DAY(day)", "29"),
    SparkClaim("WEEKDAY begins with Monday, 0", "WEEKDAY(day)", "3"),
    SparkClaim("HOUR", "HOUR(moment)", "23"),
    SparkClaim("MINUTE", "MINUTE(moment)", "59"),
    SparkClaim("TRUNC", "TRUNC(day, 'WEEK')", "2024-02-26"),
    SparkClaim(
        "a day's moment", "CAST(day AS TIMESTAMP_NTZ) = TIMESTAMP_NTZ '2024-02-29 00:00:00'", "true"
    ),
    SparkClaim("a moment's day", "CAST(moment AS DATE)", "2024-02-29"),
    SparkClaim(
        "TRANSFORM binds a name", "ELEMENT_AT(TRANSFORM(ARRAY(seven), b -> b + b), 1)", "14"
    ),
    SparkClaim("a hash is of all items", f"{_HASH.format('seven')} = {_HASH.format('8')}", "false"),
    SparkClaim("a hash is of the value", f"{_HASH.format('seven')} = {_HASH.format('7L')}", "true"),
    SparkClaim(
        "the first item is no seed alone", "XXHASH64('a', 'bc') = XXHASH64('ab', 'c')", "false"
    ),
    SparkClaim("a hash has 64 bits", f"{_HASH.format('seven')} & 9223372032559808512 <> 0", "true"),
    SparkClaim("COUNT leaves out NULL", "COUNT(nothing)", "0"),
    SparkClaim("FILTER", "COUNT(*) FILTER (WHERE NOT yes)", "0"),
    SparkClaim("MAX of NaN", "MAX(nan)", "NaN"),
    SparkClaim("MIN", "MIN(seven)", "7"),
    SparkClaim("BOOL_AND", "BOOL_AND(yes)", "true"),
    SparkClaim("BOOL_OR", "BOOL_OR(yes)", "true"),
)
"""Claims about one row; those with aggregates are of a table of that row."""

_RANKS: Final = """
SELECT CONCAT_WS(',', SORT_ARRAY(COLLECT_LIST(CONCAT(k, r, d)))) AS c0 FROM (
    SELECT k, ROW_NUMBER() OVER (PARTITION BY u ORDER BY v ASC NULLS LAST, k ASC NULLS LAST) AS r,
        DENSE_RANK() OVER (PARTITION BY u ORDER BY v ASC NULLS LAST) AS d
    FROM VALUES (1, 'a', NULL), (1, 'b', 1), (1, 'c', 1), (2, 'd', NULL) AS t(u, k, v)
)
"""
_GROUPS: Final = """
SELECT COUNT(*) FROM (
    SELECT k FROM VALUES (0.0D), (-0.0D), (DOUBLE('NaN')), (DOUBLE('NaN')), (NULL) AS t(k)
    GROUP BY k
)
"""
_FIRST_TWO: Final = """
SELECT COUNT(*) FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY u ORDER BY v ASC NULLS LAST) AS r
    FROM VALUES (1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (NULL, 1), (NULL, 2), (NULL, 3) AS t(u, v)
) AS t WHERE r <= 2
"""
_RUNNING: Final = """
SELECT CONCAT_WS(',', SORT_ARRAY(COLLECT_LIST(CAST(s AS STRING)))) AS c0 FROM (
    SELECT SUM(v) OVER (PARTITION BY u ORDER BY k ASC NULLS LAST) AS s
    FROM VALUES (1, 'a', 1), (1, 'b', 10), (1, 'c', 100), (2, 'a', 7) AS t(u, k, v)
)
"""
_NAMES: Final = """
WITH t AS (SELECT 1 AS k), s AS (WITH t AS (SELECT 2 AS k UNION ALL SELECT 3) SELECT k FROM t)
SELECT COUNT(*) * 10 + MAX(j) FROM (SELECT 5 AS k, k AS j, COUNT(*) FROM s GROUP BY k) AS x
"""
_DISTINCT: Final = """
SELECT COUNT(DISTINCT k) * 100 + SUM(DISTINCT k) FROM VALUES (1), (1), (2), (NULL), (NULL) AS t(k)
"""
_TOO_LARGE: Final = """
SELECT COUNT(s) * 10 + COUNT(*) FROM (
    SELECT k, TRY_SUM(v) AS s FROM VALUES (1, 9223372036854775807L), (1, 1L), (2, 5L) AS t(k, v)
    GROUP BY k
)
"""
_SETS: Final = """
SELECT COUNT(*) FROM (
    (SELECT k FROM VALUES (1), (1), (NULL), (NULL) AS a(k) INTERSECT
        SELECT k FROM VALUES (1), (NULL), (3) AS b(k))
    UNION ALL
    (SELECT k FROM VALUES (1), (1), (NULL), (4), (4) AS c(k) EXCEPT SELECT k FROM VALUES (1), (NULL)
        AS d(k))
    UNION ALL (SELECT 5 UNION SELECT 5)
)
"""
_PARTNERS: Final = """
SELECT COUNT(*) * 100 + COUNT(a.k) * 10 + COUNT(b.k) FROM VALUES (1), (2), (NULL) AS a(k)
FULL JOIN VALUES (1), (1), (NULL) AS b(k) ON a.k = b.k
"""
_EXISTS: Final = """
SELECT COUNT(*) * 10 + SUM(k) FROM VALUES (1), (2), (NULL) AS a(k) WHERE NOT EXISTS (
    SELECT 1 FROM VALUES (1, 3), (2, 0) AS b(j, v) WHERE b.j = a.k AND b.v > a.k)
"""
_JOINED: Final = """
SELECT COUNT(b.v) FROM VALUES (1), (2), (NULL) AS a(k)
LEFT JOIN VALUES (1, 5), (NULL, 6) AS b(k, v) ON a.k IS NOT DISTINCT FROM b.k
"""

_FOLDING: Final = ",".join(
    f"org.apache.spark.sql.catalyst.optimizer.{rule}"
    for rule in ("ConvertToLocalRelation", "ConstantFolding")
)

OF_STATEMENTS: Final = (
    SparkClaim("ranks are by unit, and NULL comes last", _RANKS, "a32,b11,c21,d11"),
    SparkClaim("equal values are one group", _GROUPS, "3"),
    SparkClaim("a row without a partner has NULL", _JOINED, "2"),
    SparkClaim("no more rows of a unit are kept", _FIRST_TWO, "5"),
    SparkClaim("a running sum ends with its row", _RUNNING, "1,11,111,7"),
    SparkClaim("names are those of what is read", _NAMES, "23"),
    SparkClaim("TRY_SUM is NULL where it overflows", _TOO_LARGE, "12"),
    SparkClaim("DISTINCT counts NULL nowhere", _DISTINCT, "203"),
    SparkClaim("sets have NULL once", _SETS, "4"),
    SparkClaim("FULL JOIN keeps both sides", _PARTNERS, "532"),
    SparkClaim("EXISTS is of each row", _EXISTS, "22"),
)


def check_semantics(session: SparkServerSession) -> None:
    """Run every claim; a `SourceFault` names the first that doesn't hold.

    As rows are computed with: else the optimizer would compute with constants, by other code.
    """
    session.set("spark.sql.optimizer.excludedRules", _FOLDING)
    for claims, sql in _statements():
        rows = _answered(session, sql)
        for claim, column in zip(claims, rows.columns, strict=True):
            if column.to_pylist() != [claim.expected]:
                raise SourceFault(
                    f"this Spark computes otherwise: {claim.about}",
                    hint="ask for Spark 4.1 or later, or for the rows as files",
                )


def _answered(session: SparkServerSession, sql: str) -> pa.Table:
    with suppress(ExecutionFailed):
        return session.rows(sql)
    raise SourceFault(
        "this Spark doesn't compute what releases need", hint="Spark 4.1 or later does"
    )


def _statements() -> list[tuple[tuple[SparkClaim, ...], str]]:
    aggregates = ("COUNT(", "MAX(", "MIN(", "BOOL_", "SUM(")
    of_all = tuple(claim for claim in OF_ROWS if claim.expression.startswith(aggregates))
    of_one = tuple(claim for claim in OF_ROWS if claim not in of_all)
    statements = [(claims, _select(claims)) for claims in (of_one, of_all)]
    for claim in OF_STATEMENTS:
        text = f"SELECT CAST(({claim.expression}) AS STRING) AS c0"
        statements.append(((claim,), text))
    return statements


def _select(claims: tuple[SparkClaim, ...]) -> str:
    items = (f"CAST({c.expression} AS STRING) AS c{number}" for number, c in enumerate(claims))
    return f"SELECT {', '.join(items)} FROM {_INPUTS}"  # noqa: S608 - of constants
