"""Seeded bugs by which one person's value decides whether a statement fails, or what is read."""

from __future__ import annotations

from mutation.mutants import Mutant

_EXPRESSIONS = "tests/functions/test_hostile_expressions.py"
_STATEMENTS = "tests/functions/test_hostile_statements.py"
_FAILING_VALUES = "tests/engine/test_parquet_failing_values.py"

TOTALITY_MUTANTS = (
    Mutant(
        "a LIMIT that DuckDB takes all rows to be within is left out",
        "emit/dialect/duckdb/lower.py",
        "RowLimit: lambda count: exp.Subquery(this=exp.select(exp.Literal.number(count))),",
        "RowLimit: lambda count: exp.Literal.number(count),",
        "tests/engine/test_row_estimates.py",
        "limit_of_one_row",
        fails_by="AssertionError|assert ",
    ),
    Mutant(
        "sums over an outer join are added up unchecked",
        "physical/engine_query.py",
        "    guard_sums(select, terms.source)\n",
        "    guard_sums(select.copy(), terms.source)\n",
        "tests/engine/test_row_estimates.py",
        "are_guarded",
        fails_by="AssertionError|assert ",
    ),
    Mutant(
        "days are interpolated by the engine's own conversion",
        "plan/total_form.py",
        "return TotalForm.AS_MOMENTS",
        "return TotalForm.AS_IS",
        _STATEMENTS,
    ),
    Mutant(
        "doubles of a unit are summed as they are, in the order in which they lie",
        "plan/total_form.py",
        "case Double():\n            return TotalForm.IN_STEPS",
        "case Double():\n            return TotalForm.AS_IS",
        "tests/neighbor_search/test_same_bag.py",
        "totality",
    ),
    Mutant(
        "wide integers of a unit are summed as they are",
        "plan/total_form.py",
        "return TotalForm.IN_64_BITS if bits > 32 else TotalForm.AS_IS",
        "return TotalForm.AS_IS",
        _STATEMENTS,
    ),
    Mutant(
        "wide decimals of a unit are summed as they are",
        "plan/total_form.py",
        "return TotalForm.ROUNDED if precision > ROUNDED_TO else TotalForm.AS_IS",
        "return TotalForm.AS_IS",
        _STATEMENTS,
    ),
    Mutant(
        "a private key is cast to the type of its domain",
        "emit/dialect/duckdb/lower.py",
        "return try_cast(key, kind) if is_wide",
        'return exp.TryCast(this=key, to=exp.DataType.build("DECIMAL(38,0)")) if is_wide',
        _STATEMENTS,
    ),
    Mutant(
        "functions are evaluated on the ends of columns",
        "emit/dialect/duckdb/function_call.py",
        "return expression if is_attempt else try_(expression)",
        "return expression",
        _EXPRESSIONS,
    ),
    Mutant(
        "a file's word is taken that it has no NaN",
        "engine/duckdb/table_view.py",
        '"can_have_nan": exp.true()',
        '"can_have_nan": exp.false()',
        "tests/engine/test_file_statistics.py",
    ),
    Mutant(
        "times of a private Parquet file are read",
        "engine/duckdb/catalog.py",
        "if kind in _TIMES:",
        "if False:",
        _FAILING_VALUES,
        "whatever_they_are",
        fails_by="DID NOT RAISE",
    ),
    Mutant(
        "decimals are read in however many bytes",
        "engine/duckdb/catalog.py",
        "and byte_count > bytes_of_decimal(digits)",
        "and False",
        _FAILING_VALUES,
        "no_bytes_fail",
        fails_by="DID NOT RAISE",
    ),
    Mutant(
        "decimals beyond their digits are read as they are",
        "engine/duckdb/table_view.py",
        "if bytes_of_decimal(int(decimal[1])) in (4, 8):",
        "if True:",
        _FAILING_VALUES,
        "is_null",
        fails_by="ExecutionFailed|AssertionError",
    ),
    Mutant(
        "an old writer's word is taken for the largest of its decimals",
        "engine/duckdb/table_view.py",
        "return exp.case().when(column.is_(exp.null()).not_(), column.copy())",
        "return column",
        "tests/engine/test_file_statistics.py",
        "old_writer",
        fails_by="a row decides about others",
    ),
    Mutant(
        "bytes of Parquet that aren't UTF-8 fail",
        "engine/duckdb/table_view.py",
        'exp.Literal.string("replace")',
        'exp.Literal.string("strict")',
        _STATEMENTS,
    ),
    Mutant(
        "bytes of CSV that aren't UTF-8 fail",
        "engine/duckdb/csv.py",
        'return "?" * (fault.end - fault.start), fault.end',
        "raise fault",
        _STATEMENTS,
    ),
    Mutant(
        "a constant of another type takes that of the integers beside it",
        "plan/numeric_types.py",
        "and expression.type == whole_number_type(expression.value)",
        "and expression.type is not None",
        "tests/functions/test_number_types.py",
        about="another_type or truth_value",
        fails_by="AssertionError",
    ),
)
