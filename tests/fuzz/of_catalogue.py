"""Calls of PostgreSQL's own functions, operators and casts, generated of its catalogue.

Each is a SELECT of one expression over the table `t` of `pgwire.asked_of_both`, whose types are
those that a dataset's columns can have; its constants are ordinary and hostile ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from fuzz.spoken import ATOMS as SPOKEN

_COLUMNS: Final = {
    "bool": ("b",),
    "int2": ("s",),
    "int4": ("i", "j"),
    "int8": ("n", "id"),
    "float8": ("f",),
    "numeric": ("d",),
    "text": ("t",),
    "date": ("day",),
    "timestamp": ("ts",),
}
_CONSTANTS: Final = {
    "bool": ("true", "false", "NULL::boolean"),
    "int2": ("2::int2", "(-3)::int2", "0::int2", "32767::int2", "NULL::int2"),
    "int4": ("0", "1", "2", "-3", "10", "100", "2147483647", "-2147483648", "NULL::int"),
    "int8": ("0::int8", "7::int8", "-9::int8", "5000000000", "9223372036854775807", "NULL::int8"),
    "float4": ("0.5::float4", "(-2)::float4", "f::float4", "0.1::float4", "16777217::float4"),
    "float8": (
        *(
            "0.5::float8",
            "(-1.5)::float8",
            "2::float8",
            "0::float8",
            "NULL::float8",
            "1e15::float8",
        ),
        *("1e308::float8", "1e-300::float8", "0.1::float8", "(-0.0)::float8", "1e-5::float8"),
    ),
    "numeric": (
        *("1.5", "-0.25", "100.125", "0.0", "2.0", "NULL::numeric", "0.00001", "-1.005", "1e3"),
        *("99999999999999999999.99", "12345678901234567890.123456789"),
    ),
    "text": (
        *(
            "'abc'",
            "'a_b'",
            "''",
            "' pad '",
            "'É'",
            "'A,b,C'",
            "'2024-03-01'",
            "'12'",
            "NULL::text",
        ),
        *(
            "'%'",
            "'_'",
            r"'a\b'",
            "'日本語'",
            "'ß'",
            "'😀x'",
            r"E'\t'",
            r"E'a\nb'",
            "'1e5'",
            "'a''b'",
        ),
    ),
    "varchar": ("'xyz'::varchar", "t::varchar(2)", "''::varchar", "NULL::varchar"),
    "date": ("date '2024-02-29'", "date '1999-12-31'", "date '1582-10-10'", "NULL::date"),
    "timestamp": (
        *("timestamp '2024-01-02 03:04:05.678'", "timestamp '1970-01-01'", "NULL::timestamp"),
        *("timestamp '2000-02-29 23:59:59.999999'", "timestamp '1969-12-31 23:59:59.5'"),
    ),
    "timestamptz": (
        *("timestamptz '2024-05-06 07:08:09+00'", "ts AT TIME ZONE 'UTC'", "NULL::timestamptz"),
        "timestamptz '2024-12-31 23:59:59+05:30'",
    ),
    "interval": (
        *("interval '1 day'", "interval '-90 minutes'", "interval '3 months'", "interval '0'"),
        *("interval '1.5 days'", "interval '25:00:00'", "interval '-1 year 2 mons -3 days'"),
    ),
    "_int4": ("ARRAY[1, 2, 3]", "ARRAY[i, j]", "ARRAY[]::int[]", "'{1,2}'::int[]"),
    "_text": ("ARRAY['a', 'b']", "ARRAY[t, 'z']", "ARRAY[]::text[]", "ARRAY['a b', 'c,d', NULL]"),
}
TYPES: Final = frozenset(_CONSTANTS)
_UNITS: Final = SPOKEN["part"]
_FORMS: Final = SPOKEN["form"]
_PATTERNS: Final = ("'^a'", "'[0-9]+'", r"'\w'", r"'\s'", "'a|b'", "'(a)(.)'", "'[[:alpha:]]+'")
_ARGUMENTS: Final = {
    ("date_part", 0): _UNITS,
    ("extract", 0): _UNITS,
    ("date_trunc", 0): SPOKEN["unit"],
    ("date_trunc", 2): SPOKEN["zone"],
    ("timezone", 0): SPOKEN["zone"],
    **{(name, 1): _PATTERNS for name in (
        *("regexp_match", "regexp_matches", "regexp_replace", "regexp_like", "regexp_count"),
        *("regexp_instr", "regexp_substr", "regexp_split_to_array"),
    )},
    ("to_char", 1): _FORMS,
    ("to_date", 0): ("2024-03-01", "1999-12-31"),
    ("to_date", 1): ("YYYY-MM-DD",),
    ("to_timestamp", 0): ("2024-03-01 05:06", "1999-12-31 23:59"),
    ("to_timestamp", 1): ("YYYY-MM-DD HH24:MI",),
}  # fmt: skip
"""Values of arguments that have words of their own, by the function and the argument's place."""

_SIGNATURES: Final = """
SELECT p.proname, array(SELECT typname FROM unnest(p.proargtypes) WITH ORDINALITY a(oid, n)
  JOIN pg_type t ON t.oid = a.oid ORDER BY n), r.typname
FROM pg_proc p JOIN pg_type r ON r.oid = p.prorettype
WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset
  AND p.provolatile IN ('i', 's') AND p.pronargs > 0 AND p.provariadic = 0
  AND NOT EXISTS (SELECT 1 FROM pg_operator o WHERE o.oprcode = p.oid)
  AND NOT EXISTS (SELECT 1 FROM pg_cast c WHERE c.castfunc = p.oid AND p.proname = r.typname)
  AND NOT EXISTS (SELECT 1 FROM pg_aggregate a WHERE p.oid IN (aggtransfn, aggfinalfn,
    aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn))
  AND NOT EXISTS (SELECT 1 FROM pg_amproc m WHERE m.amproc = p.oid)
  AND NOT EXISTS (SELECT 1 FROM pg_type t WHERE p.oid IN (t.typinput, t.typoutput, t.typreceive,
    t.typsend, t.typmodin, t.typmodout))
  AND obj_description(p.oid, 'pg_proc') NOT LIKE 'implementation of%'
ORDER BY p.oid
"""
_OPERATORS: Final = """
SELECT o.oprname, CASE WHEN l.typname IS NULL THEN ARRAY[r.typname::text]
  ELSE ARRAY[l.typname::text, r.typname::text] END, t.typname
FROM pg_operator o LEFT JOIN pg_type l ON l.oid = o.oprleft JOIN pg_type r ON r.oid = o.oprright
JOIN pg_type t ON t.oid = o.oprresult ORDER BY o.oid
"""
_CASTS: Final = """
SELECT s.typname, t.typname FROM pg_cast c JOIN pg_type s ON s.oid = c.castsource
JOIN pg_type t ON t.oid = c.casttarget ORDER BY c.oid
"""


@dataclass(frozen=True, slots=True)
class Call:
    """A function, an operator or a cast: its name, and the types of its arguments."""

    kind: str
    name: str
    arguments: tuple[str, ...]


def calls(connection: Any) -> list[Call]:
    """What the catalogue of a real PostgreSQL has over `TYPES`."""
    found = [
        Call(kind, name, tuple(arguments))
        for kind, sql in (("function", _SIGNATURES), ("operator", _OPERATORS))
        for name, arguments, result in connection.execute(sql).fetchall()
        if {*arguments, result} <= TYPES
    ]
    casts = connection.execute(_CASTS).fetchall()
    texts = [(kind, "text") for kind in TYPES] + [("text", kind) for kind in TYPES]
    for source, target in [*casts, *texts]:
        if {source, target} <= TYPES and source != target:
            found.append(Call("cast", target.replace("_int4", "int4[]").replace("_text", "text[]"),
                              (source,)))  # fmt: skip
    return found


def statement(random: Random, known: Sequence[Call]) -> tuple[Call, str]:
    """A call and a SELECT of it; half of the arguments are columns."""
    call = random.choice(known)
    values = [_argument(random, call, n, kind) for n, kind in enumerate(call.arguments)]
    match call.kind:
        case "function" if call.name == "extract":
            written = f"extract({values[0].strip(chr(39))} FROM {values[1]})"
        case "function":
            written = f"{call.name}({', '.join(values)})"
        case "cast":
            written = f"({values[0]})::{call.name}"
        case _ if len(values) == 1:
            written = f"({call.name} ({values[0]}))"
        case _:
            written = f"({values[0]}) {call.name} ({values[1]})"
    return call, f"SELECT id, {written} AS c FROM t ORDER BY id"


def _argument(random: Random, call: Call, place: int, kind: str) -> str:
    words = _ARGUMENTS.get((call.name, place))
    if words is not None and kind == "text":
        word = random.choice(words)
        return word if word.startswith("'") else f"'{word}'"
    if kind in _COLUMNS and random.random() < 0.5:
        return random.choice(_COLUMNS[kind])
    return random.choice(_CONSTANTS[kind])
