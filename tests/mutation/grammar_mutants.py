"""Seeded bugs of public rows that are kept or listed, of known constants and listed keys."""

from __future__ import annotations

from mutation.mutants import Mutant

GRAMMAR_MUTANTS = (
    Mutant(
        "a column of listed rows is a key though it repeats",
        "stability/dependency.py",
        "if len({row[place] for row in rows}) == len(rows):",
        "if rows:",
    ),
    Mutant(
        "kept rows count",
        "bind/kept_row.py",
        "if not _adds_nothing(output.call, kept.fixed):",
        "if output.call.arguments and not _adds_nothing(output.call, kept.fixed):",
    ),
    Mutant(
        "kept rows are chosen by whether they have a partner",
        "bind/kept_row.py",
        "if not columns(predicate) <= kept.plain:",
        "if not columns(predicate):",
    ),
    Mutant(
        "IS DISTINCT FROM is NULL with its operand",
        "stability/constant.py",
        "return not (isinstance(expression, Compare) and expression.op in tests)",
        "return bool(tests)",
    ),
    Mutant(
        "one part of an OR that is never true decides it",
        "stability/constant.py",
        "return all(never_true(operand, fixed) for operand in operands)",
        "return any(never_true(operand, fixed) for operand in operands)",
    ),
    Mutant(
        "what isn't known to be true is false",
        "stability/constant.py",
        "return value is not None and not value.value",
        "return value is None or not value.value",
    ),
    Mutant(
        "the first row of those that tie is told",
        "bind/window.py",
        'if call.function not in _TOTALS | {"min", "max", "count"}:',
        "if not call.function:",
    ),
    Mutant(
        "the sign of a zero is a key's",
        "emit/terms.py",
        "return unsigned(finite(rendered), key.type)",
        "return rendered or unsigned(finite(rendered), key.type)",
        tests="tests/test_same_bag.py",
        about="group_by",
    ),
    Mutant(
        "the first of one unit's rows is a function of their bag",
        "plan/total_form.py",
        "        case AggregateFunction.COUNT:\n",
        "        case AggregateFunction.COUNT | OpenFunction.FIRST:\n",
    ),
)
