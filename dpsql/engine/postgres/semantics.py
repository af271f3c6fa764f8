"""What the server computes of a release, and the test of what our SQL means there.

Limits and clamps are proved about SQL with a certain meaning: of numerics that are exact, of texts
that are compared as bytes, of hashes that equal values share. Each function of the list has a claim
here, and so have the rules that no function has. They are run where a connection first computes: a
server that breaks one is only read from.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

from dpsql.engine.postgres.connection import ServerConnection
from dpsql.engine.supported import Supported
from dpsql.errors import SourceFault

_LOG: Final = logging.getLogger("dpsql.engine")

SUPPORTED: Final = Supported(
    dialect="PostgreSQL",
    # Bit sets it doesn't take; of a sidecar it has rows and counts, and no sums of units.
    strategies=frozenset(
        {"SumRows", "SplitByContribution", "AggregateBelowJoin", "CountUnitsFirst", "PerUnit"}
    ),
    functions=frozenset(
        {
            *("ABS", "CEIL", "DIV", "FLOOR", "GREATEST", "LEAST", "MOD", "NULLIF", "ROUND"),
            *("DATE_PART", "DATE_TRUNC", "LEFT", "LENGTH", "STARTS_WITH", "STRPOS", "SUBSTR"),
            *("TRUNC", "BOOL_AND", "BOOL_OR", "COUNT", "MAX", "MIN", "SUM"),
            *("DENSE_RANK", "ROW_NUMBER"),
            *("HASHTEXTEXTENDED", "HASH_RECORD_EXTENDED", "ROW"),
        }
    ),
    types=frozenset(
        {
            *("BIGINT", "BOOLEAN", "DATE", "DOUBLE PRECISION", "INTEGER", "NUMERIC"),
            *("TEXT", "TIMESTAMP"),
        }
    ),
)
"""What a PostgreSQL server computes. All else is computed in DuckDB of rows that are pulled."""


class ServerClaim(NamedTuple):
    """A claim, `about` in words: `expression` over the inputs below is `expected`, as a text."""

    about: str
    expression: str
    expected: str | None


# OFFSET 0 keeps the planner from computing with constants what is to be computed of rows.
_INPUTS: Final = """
(SELECT * FROM (VALUES (
    7::int4, 9223372036854775807::int8, 2.5::numeric, 2.50::numeric, 'NaN'::numeric,
    2.5::float8, 3.5::float8, '-0'::float8, 0::float8, 'NaN'::float8, 'Infinity'::float8,
    'a'::text, 'B'::text, NULL::int4, NULL::text,
    DATE '2024-02-29', DATE 'infinity', TIMESTAMP '2024-02-29 23:59:59.25', true
)) AS v(seven, most, half, padded, nan, near, odd, minus_zero, zero, no_double, inf,
    small, large, nothing, no_text, day, never, moment, yes) OFFSET 0) AS inputs
"""

_WIDE: Final = "CAST(most AS NUMERIC)"
_HASH: Final = "HASH_RECORD_EXTENDED(ROW(CAST(1 AS INTEGER), {}), {})"


def _hash(item: str, seed: str = "5") -> str:
    return _HASH.format(item, seed)


OF_ROWS: Final = (
    ServerClaim("numerics don't overflow", f"{_WIDE} * {_WIDE} + 1", str((2**63 - 1) ** 2 + 1)),
    ServerClaim("numerics are exact", f"{_WIDE} - half", "9223372036854775804.5"),
    ServerClaim("DIV cuts towards zero", "DIV(-CAST(seven AS NUMERIC), 2)", "-3"),
    ServerClaim("DIV is wide", f"DIV({_WIDE} * 12, 13)", str((2**63 - 1) * 12 // 13)),
    ServerClaim("MOD has the sign of the dividend", "MOD(-CAST(seven AS NUMERIC), 2)", "-1"),
    ServerClaim("% has it, too", "-CAST(seven AS NUMERIC) % 2", "-1"),
    ServerClaim("numerics are rounded away from zero", "ROUND(-half, 0)", "-3"),
    ServerClaim("TRUNC cuts towards zero", "TRUNC(-half)", "-2"),
    ServerClaim("FLOOR goes down", "FLOOR(-half)", "-3"),
    ServerClaim("CEIL goes up", "CEIL(-half)", "-2"),
    ServerClaim("ABS of a numeric is one", "ABS(-half)", "2.5"),
    ServerClaim("a double is cast half to even, down", "CAST(near AS BIGINT)", "2"),
    ServerClaim("a double is cast half to even, up", "CAST(odd AS BIGINT)", "4"),
    ServerClaim("a negative double is cast half to even", "CAST(-near AS BIGINT)", "-2"),
    ServerClaim(
        "a double times a power of 2 is exact", "near * CAST('1048576' AS FLOAT8)", "2621440"
    ),
    ServerClaim(
        "doubles show all their digits",
        "CAST('0.1' AS FLOAT8) + CAST('0.2' AS FLOAT8)",
        "0.30000000000000004",
    ),
    ServerClaim("NaN is above infinity", "no_double > inf", "true"),
    ServerClaim("NaN equals itself", "no_double = CAST('NaN' AS FLOAT8)", "true"),
    ServerClaim("NaN of numerics is above all others", f"nan > {_WIDE} AND nan = nan", "true"),
    ServerClaim(
        "-0 equals 0", "minus_zero = zero AND minus_zero + CAST('0' AS FLOAT8) = 0", "true"
    ),
    ServerClaim("-0 and 0 make 0", "minus_zero + CAST('0' AS FLOAT8)", "0"),
    ServerClaim("LEAST skips NULL", "LEAST(nothing, seven)", "7"),
    ServerClaim("GREATEST skips NULL", "GREATEST(nothing, seven)", "7"),
    ServerClaim("GREATEST takes NaN for the largest", "GREATEST(inf, no_double)", "NaN"),
    ServerClaim("NULLIF has NULL for equal values", "NULLIF(half, padded)", None),
    ServerClaim("NULLIF leaves others", "NULLIF(seven, 8)", "7"),
    ServerClaim("a comparison with NULL is NULL", "nothing = seven", None),
    ServerClaim("= NULL isn't IS NULL", "nothing = NULL", None),
    ServerClaim("CASE takes NULL for false", "CASE WHEN nothing = seven THEN 1 ELSE 2 END", "2"),
    ServerClaim(
        "CASE computes what it chooses alone",
        "CASE WHEN seven < 0 THEN seven / (seven - 7) ELSE 1 END",
        "1",
    ),
    ServerClaim("NULL is not distinct from NULL", "nothing IS NOT DISTINCT FROM NULL", "true"),
    ServerClaim("NULL is distinct from a value", "nothing IS NOT DISTINCT FROM seven", "false"),
    ServerClaim("NULL is in no list", "nothing IN (1, 7)", None),
    ServerClaim("texts are ordered as bytes", 'large COLLATE "C" < small COLLATE "C"', "true"),
    ServerClaim(
        "texts are equal as bytes", 'lower(large COLLATE "C") = large COLLATE "C"', "false"
    ),
    ServerClaim("a backslash in a text is one", "LENGTH('\\\\' COLLATE \"C\")", "2"),
    ServerClaim("LENGTH counts characters", "LENGTH(small || U&'\\00E9')", "2"),
    ServerClaim("LEFT cuts at the end", "LEFT('dpsql', 2)", "dp"),
    ServerClaim("SUBSTR counts from 1", "SUBSTR('dpsql', 2, 3)", "psq"),
    ServerClaim("|| joins", "small || 'b'", "ab"),
    ServerClaim("|| with NULL is NULL", "small || no_text", None),
    ServerClaim("a numeric's text has its scale", "ROUND(half, 3)", "2.500"),
    ServerClaim("a day's text is ISO 8601's", "day", "2024-02-29"),
    ServerClaim("a moment's text is, too", "moment", "2024-02-29 23:59:59.25"),
    ServerClaim("a truth value's text", "yes", "true"),
    ServerClaim("STRPOS is 0 where nothing is", "STRPOS('dpsql', small)", "0"),
    ServerClaim("STARTS_WITH compares as bytes", "STARTS_WITH('Ab', small)", "false"),
    ServerClaim("LIKE without an escape", "'a\\b' LIKE 'a\\_' ESCAPE ''", "true"),
    ServerClaim("a day has parts", "DATE_PART('quarter', day)", "1"),
    ServerClaim(
        "weeks begin on Monday", "DATE_TRUNC('week', CAST(day AS TIMESTAMP))", "2024-02-26 00:00:00"
    ),
    ServerClaim("a day less a day is a number", "day - CAST('1970-01-01' AS DATE)", "19782"),
    ServerClaim("infinity is the last day", "never > CAST('5874897-12-31' AS DATE)", "true"),
    ServerClaim("seconds of a moment are exact", "EXTRACT(EPOCH FROM moment)", "1709251199.250000"),
    ServerClaim("a moment's day is its date", "CAST(moment AS DATE)", "2024-02-29"),
    ServerClaim("AND with false is false", "(nothing = seven) AND seven < 0", "false"),
    ServerClaim("a truth value is a number", "CAST(yes AS INTEGER)", "1"),
    ServerClaim(
        "bits are those of 64", "CAST(-1 AS BIGINT) & 9223372036854775807", "9223372036854775807"
    ),
    ServerClaim(
        "a hash depends on its text and seed alone",
        'HASHTEXTEXTENDED(small COLLATE "C", 0) = HASHTEXTEXTENDED(\'a\' COLLATE "C", 0)',
        "true",
    ),
    ServerClaim(
        "a hash depends on all of its seed",
        f"{_hash('seven')} <> {_hash('seven', '4294967301')}",
        "true",
    ),
    ServerClaim(
        "a hash of NULL depends on its seed",
        f"{_hash('nothing')} <> {_hash('nothing', '6')}",
        "true",
    ),
    ServerClaim("a hash depends on its item", f"{_hash('seven')} <> {_hash('nothing')}", "true"),
    ServerClaim("equal numerics have equal hashes", f"{_hash('half')} = {_hash('padded')}", "true"),
    ServerClaim("0 and -0 have equal hashes", f"{_hash('zero')} = {_hash('minus_zero')}", "true"),
    ServerClaim(
        "texts have hashes of their bytes",
        _hash('small COLLATE "C"') + " <> " + _hash('large COLLATE "C"'),
        "true",
    ),
    ServerClaim("nothing is written", "current_setting('transaction_read_only')", "on"),
    ServerClaim(
        "all statements read one version",
        "current_setting('transaction_isolation')",
        "repeatable read",
    ),
    ServerClaim(
        "no schema but the system's is looked into", "current_schemas(true)", "{pg_catalog}"
    ),
)

# Rows 1 to 3, of which the third has NULL; `most` twice makes a sum beyond 64 bits.
_ROWS: Final = """
(SELECT * FROM (VALUES (1, 9223372036854775807::int8, 'b'::text, true),
    (1, 9223372036854775807::int8, 'B'::text, false), (2, NULL::int8, NULL::text, NULL::bool)
) AS v(n, most, word, fact) OFFSET 0) AS rows_
"""

OF_GROUPS: Final = (
    ServerClaim("a sum of numerics is wide", f"SUM({_WIDE})", str(2 * (2**63 - 1))),
    ServerClaim("a sum of distinct ones has each once", f"SUM(DISTINCT {_WIDE})", str(2**63 - 1)),
    ServerClaim("an empty sum is NULL", f"SUM({_WIDE}) FILTER (WHERE n > 5)", None),
    ServerClaim("an empty count is 0", "COUNT(*) FILTER (WHERE n > 5)", "0"),
    ServerClaim("COUNT skips NULL", "COUNT(most)", "2"),
    ServerClaim(
        "COUNT of distinct texts tells cases apart", 'COUNT(DISTINCT word COLLATE "C")', "2"
    ),
    ServerClaim("MIN goes by bytes", 'MIN(word COLLATE "C")', "B"),
    ServerClaim("MAX skips NULL", "MAX(n)", "2"),
    ServerClaim("BOOL_AND skips NULL", "BOOL_AND(fact)", "false"),
    ServerClaim("BOOL_OR skips NULL", "BOOL_OR(fact)", "true"),
    ServerClaim(
        "a condition of an aggregate is asked of each row", "COUNT(*) FILTER (WHERE fact)", "1"
    ),
)

_RANKS: Final = """
SELECT string_agg(CONCAT(r, d), ' ' ORDER BY r) FROM (
    SELECT ROW_NUMBER() OVER (PARTITION BY n ORDER BY most ASC NULLS LAST, word COLLATE "C") AS r,
        DENSE_RANK() OVER (PARTITION BY n ORDER BY most ASC NULLS LAST) AS d
"""
_RANKED: Final = "11 11 21"


def is_proved(server: ServerConnection) -> bool:
    """Whether every claim holds on this connection, within its transaction; tested once."""
    if server.is_proved is None:
        claim = first_false_claim(server)
        server.is_proved = claim is None
        if claim is not None:
            _LOG.warning("the server computes nothing, rows are pulled: not true is that %s", claim)
    return server.is_proved


def first_false_claim(server: ServerConnection) -> str | None:
    """What a claim that doesn't hold is about; None if all hold."""
    server.run("SAVEPOINT claims")
    try:
        for claims, rows in ((OF_ROWS, _INPUTS), (OF_GROUPS, _ROWS)):
            items = ", ".join(
                f"CAST({claim.expression} AS TEXT) AS c{n}" for n, claim in enumerate(claims)
            )
            # The text is made of the constants above alone.
            (values,) = server.rows(f"SELECT {items} FROM {rows}")  # noqa: S608
            for claim, value in zip(claims, values, strict=True):
                if value != claim.expected:
                    return claim.about
        ((ranks,),) = server.rows(f"{_RANKS} FROM {_ROWS}) AS ranks")
    except SourceFault:
        # Else nothing could be read in this transaction any more.
        server.run("ROLLBACK TO SAVEPOINT claims")
        return "every expression of the test is known and total"
    return None if ranks == _RANKED else "ranks are within their partition, NULL last"
