"""Seeded bugs of public rows that are kept or listed, of known constants and listed keys."""

from __future__ import annotations

from mutation.mutants import Mutant

GRAMMAR_MUTANTS = (
    Mutant(
        "a column of listed rows is a key though it repeats",
        "analysis/lineage/functional_dependency.py",
        "if len({row[index] for row in rows}) == len(rows):",
        "if rows:",
    ),
    Mutant(
        "public rows count as kept though they have a partner",
        "bind/proof/unmatched_row_count.py",
        "unmet = _added(ArithmeticOperator.SUBTRACT, self._call_column(self.public, rows), met)",
        "unmet = self._call_column(self.public, rows)",
        "tests/fuzz/test_generated_answers.py",
        "kept",
        fails_by="DuckDB has",
    ),
    Mutant(
        "public rows are counted among which kept ones are",
        "bind/proof/unmatched_public_rows.py",
        "if not unmatched.is_all or not unmatched_rows.can_add(output.call):",
        "if not unmatched_rows.can_add(output.call):",
        about="outer_join",
    ),
    Mutant(
        "kept rows are chosen by whether they have a partner",
        "bind/proof/unmatched_public_rows.py",
        "if not columns(predicate) <= unmatched.independent:",
        "if not columns(predicate):",
    ),
    Mutant(
        "IS DISTINCT FROM is NULL with its operand",
        "analysis/domains/known_values.py",
        "return not (isinstance(expression, Compare) and expression.op in tests)",
        "return bool(tests)",
    ),
    Mutant(
        "one part of an OR that is never true decides it",
        "analysis/domains/known_values.py",
        "return all(never_true(operand, fixed) for operand in operands)",
        "return any(never_true(operand, fixed) for operand in operands)",
    ),
    Mutant(
        "what isn't known to be true is false",
        "analysis/domains/known_values.py",
        "return value is not None and not value.value",
        "return value is None or not value.value",
    ),
    Mutant(
        "the first row of those that tie is told",
        "bind/window/window.py",
        "if call.function not in _AGGREGATES | _QUANTILES:",
        "if not call.function:",
    ),
    Mutant(
        "the sign of a zero is a key's",
        "emit/release/contributions.py",
        "return unsigned(finite(rendered), key.type)",
        "return rendered or unsigned(finite(rendered), key.type)",
        tests="tests/neighbor_search/test_same_bag.py",
        about="group_by",
    ),
    Mutant(
        "the first of one unit's rows is a function of their bag",
        "plan/total_form.py",
        "        case AggregateFunction.COUNT:\n",
        "        case AggregateFunction.COUNT | OpenFunction.FIRST:\n",
    ),
    Mutant(
        "a window in a correlated subquery holds the rows of all who ask",
        "bind/query/select.py",
        "self._windows.partition_by(correlated, self._from.scope.correlated, self._node)",
        "self._windows.partition_by((), self._from.scope.correlated, self._node)",
        "tests/differential/test_differential.py",
        "lateral",
        fails_by="DuckDB has|over private rows of several units",
    ),
    Mutant(
        "DISTINCT in a correlated subquery forgets what it was asked by",
        "bind/query/select.py",
        "shown = self._projected(plan, above.items, correlated)",
        "shown = self._projected(plan, above.items, [])",
        "tests/fuzz/test_generated_answers.py",
        fails_by="DuckDB has",
    ),
    Mutant(
        "what has no rows has a mean",
        "release/columns/released_table.py",
        "there = (groups.statistics[index] > half_width(spreads[index])).astype(np.bool_)",
        "there = (groups.statistics[index] > -(10**9)).astype(np.bool_)",
        "tests/release",
        "few_rows",
        fails_by="AssertionError",
    ),
)
