"""The start-up test of what our SQL means on this version of the engine.

Stability is proved about SQL with a certain meaning, and that meaning has changed between versions
(in DuckDB 1.5 `x // 0` is NULL, in 2.0 an error unless a setting says otherwise). So the meaning is
tested when an engine is opened, after the lock and on a cursor, as statements run: once a process
for the same settings as the cursor has them, since its DuckDB stays the one that was loaded. What
an engine may do besides is asked of each.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa

from dpsql.engine.duckdb.lockdown import SEMANTIC_SETTINGS
from dpsql.errors import OperationalError

MAJOR: Final = "2"


class SemanticsCheck(NamedTuple):
    """A claim, `about` in words: `expression` over the inputs below has the value `expected`."""

    about: str
    expression: str
    expected: object


# Inputs are columns, not constants: a constant is folded by the optimizer's code, not the engine's.
_INPUTS: Final = """
(VALUES (7, -7, 0, 2.5::DOUBLE, 3.5::DOUBLE, -2.5::DOUBLE, 'nan'::DOUBLE, 'inf'::DOUBLE,
         9223372036854775807::BIGINT, 'x', NULL::INTEGER, -0.0::DOUBLE))
AS inputs(seven, minus_seven, zero, half, odd_half, minus_half, nan, inf, most, letter, nothing,
          minus_zero)
"""

OF_LOCKS: Final = (
    SemanticsCheck("nothing can be set", "current_setting('lock_configuration')", True),
    SemanticsCheck("nothing outside is read", "current_setting('enable_external_access')", False),
    SemanticsCheck(
        "nothing is spilled in clear",
        "current_setting('temp_directory') = '' OR current_setting('temp_file_encryption')",
        True,
    ),
)

OF_ROWS: Final = (
    SemanticsCheck("integers divide to a double", "seven / 2", 3.5),
    SemanticsCheck("division by zero is infinite", "seven / zero", math.inf),
    SemanticsCheck("zero by zero is NaN", "isnan(zero / zero)", True),
    SemanticsCheck("// cuts towards zero", "minus_seven // 2", -3),
    SemanticsCheck("% has the sign of the dividend", "minus_seven % 2", -1),
    SemanticsCheck("// by zero is NULL", "seven // zero", None),
    SemanticsCheck("% by zero is NULL", "seven % zero", None),
    SemanticsCheck("a double is cast half to even, down", "half::BIGINT", 2),
    SemanticsCheck("a double is cast half to even, up", "odd_half::BIGINT", 4),
    SemanticsCheck("a negative double is cast half to even", "minus_half::BIGINT", -2),
    SemanticsCheck("NaN is above infinity", "nan > inf", True),
    SemanticsCheck("NaN equals itself", "nan = nan", True),
    SemanticsCheck("-0.0 equals 0.0", "minus_zero = 0", True),
    SemanticsCheck("least skips NULL", "least(seven, nothing)", 7),
    SemanticsCheck("greatest skips NULL", "greatest(nothing, seven)", 7),
    SemanticsCheck("greatest takes NaN for the largest", "isnan(greatest(inf, nan))", True),
    SemanticsCheck("TRY makes an overflow NULL", "TRY(most + 1)", None),
    SemanticsCheck(
        "so it is where two of them share it", "coalesce(TRY(most * 2), TRY(most * 2 + 1))", None
    ),
    SemanticsCheck("TRY_CAST makes a failure NULL", "TRY_CAST(letter AS INTEGER)", None),
    SemanticsCheck("TRY_CAST makes NaN NULL", "TRY_CAST(nan AS BIGINT)", None),
    SemanticsCheck("TRY_CAST makes out of range NULL", "TRY_CAST(inf AS BIGINT)", None),
    # In 2.0.0 an internal error ended the database of whoever printed it, inside of TRY, too.
    SemanticsCheck(
        "the first moment has a text", "TRY_CAST(make_timestamp(-most - 1) AS TEXT) IS NULL", False
    ),
    SemanticsCheck("NULL is not distinct from NULL", "nothing IS NOT DISTINCT FROM NULL", True),
    SemanticsCheck("NULL is distinct from a value", "nothing IS NOT DISTINCT FROM seven", False),
    SemanticsCheck("comparison with NULL is NULL", "nothing = seven", None),
    SemanticsCheck("CASE takes NULL for false", "CASE WHEN nothing = seven THEN 1 ELSE 2 END", 2),
    SemanticsCheck("text is compared as bytes", "letter = 'X' OR letter < 'X'", False),
    SemanticsCheck(
        "hash depends on its arguments alone", "hash(letter, seven) = hash('x', 7)", True
    ),
    SemanticsCheck(
        "equal values have equal hashes", "hash(minus_zero, seven) = hash(0::DOUBLE, 7)", True
    ),
    SemanticsCheck(
        "128 bits hold 127 places", "bit_count(CAST('5' AS INT128) << (seven + 117))", 2
    ),
    SemanticsCheck(
        "a shift drops lower places", "bit_count((CAST('5' AS INT128) << 124) >> (seven + 118))", 1
    ),
    SemanticsCheck("hash is 64 bits", "typeof(hash(letter))", "UBIGINT"),
)

OF_GROUPS: Final = (
    SemanticsCheck("a sum of BIGINT is HUGEINT", "typeof(sum(most))", "HUGEINT"),
    SemanticsCheck("an empty sum is NULL", "sum(most) FILTER (WHERE zero = 1)", None),
    SemanticsCheck("an empty count is 0", "count(*) FILTER (WHERE nothing = 1)", 0),
    SemanticsCheck(
        "a set has each place once", "bit_count(bit_or(CAST('1' AS INT128) << seven))", 1
    ),
    SemanticsCheck("TRY works inside an aggregate", "sum(TRY(most + 1))", None),
)

_WIDE = "SELECT sum(n) AS total FROM (VALUES (9223372036854775807), (9223372036854775807)) AS t(n)"
_WIDE_TOTAL: Final = decimal.Decimal(2 * (2**63 - 1))

_SETTINGS: Final = tuple(f"current_setting('{name}')" for name in SEMANTIC_SETTINGS)

_held: Final[set[tuple[object, ...]]] = set()
"""Values of `_SETTINGS` with the claims that were seen to hold under them in this process."""


def check_semantics(cursor: duckdb.DuckDBPyConnection) -> None:
    """Raises OperationalError unless every claim holds on this cursor, and the version is known."""
    if duckdb.__version__.partition(".")[0] != MAJOR:
        raise _refused(f"only versions {MAJOR}.x are known")
    failed = _first_false_claim(cursor)
    if failed is not None:
        raise _refused(f"it breaks the claim: {failed}")


def _first_false_claim(cursor: duckdb.DuckDBPyConnection) -> str | None:
    try:
        locks = [claim.expression for claim in OF_LOCKS]
        values = _values(cursor, [*locks, *_SETTINGS])
        if (about := _false_claim(OF_LOCKS, values[: len(locks)])) is not None:
            return about
        claimed = *values[len(locks) :], OF_ROWS, OF_GROUPS
        if claimed in _held:
            return None
        for claims in (OF_ROWS, OF_GROUPS):
            values = _values(cursor, [claim.expression for claim in claims])
            if (about := _false_claim(claims, values)) is not None:
                return about
        total = cursor.sql(_WIDE).to_arrow_table()["total"]
    except duckdb.Error:
        return "every expression of the test is known and total"
    if total.type != pa.decimal128(38, 0) or total[0].as_py() != _WIDE_TOTAL:
        return "a HUGEINT sum comes out exactly through Arrow"
    _held.add(claimed)
    return None


def _false_claim(claims: Sequence[SemanticsCheck], values: Sequence[object]) -> str | None:
    for claim, value in zip(claims, values, strict=True):
        if value != claim.expected or type(value) is not type(claim.expected):
            return claim.about
    return None


def _values(cursor: duckdb.DuckDBPyConnection, expressions: Sequence[str]) -> Sequence[object]:
    items = ", ".join(f"{expression} AS c{index}" for index, expression in enumerate(expressions))
    # The text is made of the constants above alone.
    # `execute` binds it once, `sql` twice.
    [row] = cursor.execute(f"SELECT {items} FROM {_INPUTS}").fetchall()  # noqa: S608
    return tuple(row)


def _refused(why: str) -> OperationalError:
    return OperationalError(
        f"DuckDB {duckdb.__version__} is refused: {why}",
        hint="install a release of DuckDB that dpsql was tested with",
    )
