"""Seeded bugs of Spark's dialect; DPSQL_SPARK names the Connect server that finds them."""

from __future__ import annotations

from typing import Final

from mutation.mutants import Mutant

_NOTES: Final = "tests/emit/test_spark_notes.py"
_NODES: Final = "tests/emit/test_spark_nodes.py"
_VALUES: Final = "tests/emit/test_spark_totality.py"
_FAILS: Final = "pyspark.errors|AssertionError"

SPARK_MUTANTS = (
    Mutant(
        "a unit's sums are scaled in 64 bits, whatever they are",
        "emit/dialect/spark/interval.py",
        "if any(abs(end) > _LARGEST for end in (*one, *other, *ends)):",
        "if False:",
        _NODES,
        "64_bits",
        _FAILS,
    ),
    Mutant(
        "arithmetic of releases isn't widened",
        "emit/dialect/spark/lower.py",
        "return operator(this=guard.exact(this), expression=guard.exact(expression))",
        "return operator(this=this, expression=expression)",
        _NODES,
        "wide",
        _FAILS,
    ),
    Mutant(
        "sums aren't widened",
        "emit/dialect/spark/lower.py",
        'return guard.call("SUM", _widened(term))',
        'return guard.call("SUM", term)',
        _NODES,
        "wide",
        _FAILS,
    ),
    Mutant(
        "a quotient is cut to 64 bits",
        "emit/dialect/spark/guard.py",
        'return exact(call("TRY_DIVIDE", multiple, by))',
        "return exp.Paren(this=exp.IntDiv(this=exp.Paren(this=multiple), expression=by))",
        _NODES,
        "quotients",
        _FAILS,
    ),
    Mutant(
        "arithmetic loses its TRY",
        "emit/dialect/spark/expression.py",
        'ArithmeticOperator.MULTIPLY: "TRY_MULTIPLY",',
        'ArithmeticOperator.MULTIPLY: "TRY_ADD",',
        _NODES,
        "overflow",
        _FAILS,
    ),
    Mutant(
        "a cast loses its TRY",
        "emit/dialect/spark/guard.py",
        "    return exp.TryCast(",
        "    return exp.Cast(",
        _NODES,
        "overflow",
        _FAILS,
    ),
    Mutant(
        "texts are compared as a column's collation has it",
        "emit/dialect/spark/lower.py",
        "return _by_bytes(column) if isinstance(kind, Varchar) else column",
        "return column",
        _NODES,
        "collation",
        _FAILS,
    ),
    Mutant(
        "NaN is a number of steps",
        "emit/dialect/spark/steps.py",
        "nan = exp.case().when(is_nan(column.copy()), exp.null(), copy=False)",
        "nan = exp.case().when(exp.false(), exp.null(), copy=False)",
        _NODES,
        "doubles",
        _FAILS,
    ),
    Mutant(
        "NULL is left out of a hash",
        "emit/dialect/spark/lower.py",
        "for item in items\n    )",
        "for item in items\n        if not isinstance(item, exp.Null)\n    )",
        _NODES,
        "hashes",
        _FAILS,
    ),
    Mutant(
        "numbers of several types are compared as Spark does",
        "emit/dialect/spark/expression.py",
        "if whole + scale <= guard.WIDE:",
        "if whole <= guard.WIDE:",
        _NODES,
        "several_types",
        "Error",
    ),
    Mutant(
        "all groups are kept on Spark",
        "emit/dialect/spark/lower.py",
        "few = exp.LTE(this=column_ref",
        "few = exp.GTE(this=column_ref",
        _NOTES,
        "neighbor",
        _FAILS,
    ),
    Mutant(
        "a double is cut to an integer",
        "emit/dialect/spark/expression.py",
        'whole = guard.try_cast(guard.call("RINT", value), "BIGINT")',
        'whole = guard.try_cast(value, "BIGINT")',
        _VALUES,
        "False",
        _FAILS,
    ),
)
