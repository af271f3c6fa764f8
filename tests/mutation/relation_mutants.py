"""Seeded bugs of neighbour relations: units that are replaced, and groups of them."""

from __future__ import annotations

from mutation.mutants import Mutant

RELATION_MUTANTS = (
    Mutant(
        "a replaced unit stays in its groups",
        "analysis/sensitivity.py",
        "norm = _norm(groups, release, units, squared=squared, times=2)",
        "norm = _norm(groups, release, units, squared=squared, times=2 if squared else 1)",
    ),
    Mutant(
        "a replaced unit stays in its groups, squared",
        "analysis/sensitivity.py",
        "norm = _norm(groups, release, units, squared=squared, times=2)",
        "norm = _norm(groups, release, units, squared=squared, times=1 if squared else 2)",
    ),
    Mutant(
        "a replaced value is as if removed",
        "analysis/sensitivity.py",
        "widths = [high - low for low, high in (",
        "widths = [max(-low, high) for low, high in (",
    ),
    Mutant(
        "a group of replaced units is one",
        "analysis/sensitivity.py",
        "units, groups = changed.units // 2, changed.groups_per_unit",
        "units, groups = min(changed.units, 1), changed.groups_per_unit",
    ),
    Mutant(
        "groups that not all units can be in are all there are",
        "analysis/sensitivity.py",
        "return isinstance(limit, ByDomain)",
        "return not isinstance(limit, ByDomain)",
    ),
    Mutant(
        "a number of rows is believed",
        "emit/release/pairwise_deviations.py",
        "others = exp.Paren(this=exp.Sub(this=count.copy(), expression=integer(1)))",
        "others = integer(declared - 1)",
    ),
    Mutant(
        "squared differences are bounded for one pair",
        "plan/bounded_release/statistic.py",
        "return 0, (rows - 1) * (value.high - value.low) ** 2",
        "return 0, (value.high - value.low) ** 2",
    ),
    Mutant(
        "a row that is asked for by its own key is of the unit that asks",
        "analysis/lineage/same_unit_conditions.py",
        "            return _lookup_keys(source)\n",
        "            return _row_keys(source)\n",
        about="subqueries",
    ),
    Mutant(
        "a zero is printed with its sign",
        "emit/dialect/duckdb/function_call.py",
        "text = try_cast(exp.Paren(this=unsigned(number, kind)), Varchar())",
        "text = try_cast(number, Varchar())",
        about="equality",
    ),
    Mutant(
        "NaN is printed with its sign",
        "emit/dialect/duckdb/function_call.py",
        'return exp.Anonymous(this="replace", expressions=[text, signed, plain])',
        "return text or signed or plain",
        "tests/functions/test_equal_values.py",
        fails_by=r"assert \['a \|\| b",
    ),
    Mutant(
        "the sign of a zero is tested",
        "emit/dialect/duckdb/function_call.py",
        "return exp.Paren(this=exp.LT(this=arguments[0], expression=exp.Literal.number(0)))",
        "return exp.Anonymous(this=name, expressions=arguments)",
        about="equality",
    ),
    Mutant(
        "an angle is told by the sign of a zero",
        "emit/dialect/duckdb/function_call.py",
        "expressions=[unsigned(a, Double()) for a in arguments]",
        "expressions=arguments",
        "tests/functions/test_equal_values.py",
        fails_by=r"AssertionError: assert \['atan2",
    ),
    Mutant(
        "a row is of who has a part of its key",
        "emit/relation/scan_and_join.py",
        "for name, key in hop.pairs",
        "for name, key in hop.pairs[:1]",
        "tests/neighbor_search/test_bounds_hold.py",
        "foreign_keys",
    ),
    Mutant(
        "a part of a key tells whose the rows are that are asked for",
        "analysis/lineage/same_unit_conditions.py",
        "own.identity == lookup.identity\n        and all(",
        "own.identity == lookup.identity\n        and any(",
        "tests/neighbor_search/test_bounds_hold.py",
        "foreign_keys",
    ),
    Mutant(
        "rows that tie for a rank are one",
        "analysis/lineage/row_number.py",
        'return (source, call.partition) if call.function == "row_number" else None',
        "return (source, call.partition)",
        "tests/differential/test_differential.py",
        fails_by="DuckDB has",
    ),
    Mutant(
        "the first row of any partition is its unit's only one",
        "analysis/lineage/functional_dependency.py",
        "        all(is_determined(key, unit_determined_columns(numbered",
        "        any(is_determined(key, unit_determined_columns(numbered",
        "tests/differential/test_differential.py",
        fails_by="DuckDB has",
    ),
)
