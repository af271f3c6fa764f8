"""Seeded bugs of PostgreSQL's dialect; DPSQL_POSTGRES names the server that finds them."""

from __future__ import annotations

from typing import Final

from mutation.mutants import Mutant

_NOTES: Final = "tests/emit/test_postgres_notes.py"
_NODES: Final = "tests/emit/test_postgres_nodes.py"
_VALUES: Final = "tests/emit/test_postgres_totality.py"
_FAILS: Final = "psycopg.errors|AssertionError"

POSTGRES_MUTANTS = (
    Mutant(
        "a unit's sums are scaled in 32 bits",
        "emit/dialect/postgres/lower.py",
        "return operator(this=guard.exact(this), expression=expression)",
        'return operator(this=guard.cast(this, "INTEGER"), expression=expression)',
        _NODES,
        "wide",
        _FAILS,
    ),
    Mutant(
        "sums aren't widened",
        "emit/dialect/postgres/lower.py",
        'return guard.call("SUM", guard.exact(term))',
        'return guard.cast(guard.call("SUM", term), "INTEGER")',
        _NODES,
        "wide",
        _FAILS,
    ),
    Mutant(
        "all groups are kept on the server",
        "emit/dialect/postgres/lower.py",
        "few = exp.LTE(this=exp.Column",
        "few = exp.GTE(this=exp.Column",
        _NOTES,
        "neighbor",
        _FAILS,
    ),
    Mutant(
        "texts are compared as a column's collation has it",
        "emit/dialect/postgres/lower.py",
        "        case Varchar():\n            return byte_order(column)",
        "        case Varchar():\n            return column",
        _NOTES,
        "collation",
        _FAILS,
    ),
    Mutant(
        "NaN is a decimal",
        "emit/dialect/postgres/lower.py",
        "        case Decimal():\n            return guard.finite(column, name)",
        "        case Decimal():\n            return column",
        _NODES,
        "decimals",
        _FAILS,
    ),
    Mutant(
        "a quotient wraps around at 64 bits",
        "emit/dialect/postgres/function.py",
        "return guard.in_range(whole, call.type)",
        'return guard.cast(whole, "BIGINT")',
        _VALUES,
        "True",
        _FAILS,
    ),
    Mutant(
        "what a cast doesn't hold is cast",
        "emit/dialect/postgres/guard.py",
        "return _open_range(value, double(-limit), double(limit))",
        "return value",
        _VALUES,
        "True",
        _FAILS,
    ),
    Mutant(
        "products of doubles next to 0 are computed",
        "emit/dialect/postgres/guard.py",
        "low, high = double(1 / _LARGEST_FACTOR), double(_LARGEST_FACTOR)",
        "low, high = double(0), double(_LARGEST_FACTOR)",
        _VALUES,
        "True",
        _FAILS,
    ),
)
