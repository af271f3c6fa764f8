"""What DuckDB may look rows up by: in it, what may raise reads copies of the rows' columns.

    k = list_extract(list_transform([{c1: c1}], lambda r: TRY(r.c1 + r.c1)), 1)

Where a TRY fails for a vector of rows, DuckDB evaluates it row by row, and leaves what it read of a
column that is constant there with one row. A hash join, as which it computes some windows, too,
takes that for the number of rows: of 9,000 rows whose `x` is the largest INTEGER 5 met one `ON k =
coalesce(x + x, 1)`, and with another value in one more row 812. A lambda reads vectors of its own.

A condition above a SELECT is moved into it: `e = k` above one that joins rows and computes `e` is a
condition by which they are joined. So what a condition above compares is written like a key.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.duckdb.expression import emit_expression
from dpsql.emit.sql.identifier import column_ref
from dpsql.plan.expression import Expression

_COMPARISONS: Final = (
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
)

_ROW: Final = "r"
"""The lambda's name for its columns, of which none is called so: they have numbers."""


def emit_value(expression: Expression, *, is_key: bool = False) -> exp.Expr:
    """What is computed of rows, by which they may be looked up if it `is_key`."""
    return emit_key(expression) if is_key else emit_expression(expression)


def emit_condition(expression: Expression) -> exp.Expr:
    """A condition on rows, which may be those of several tables."""
    root = exp.Paren(this=emit_expression(expression))
    if not _attempts(root):
        return _unwrapped(root)
    for comparison in list(root.find_all(*_COMPARISONS)):
        sides = (comparison.this, comparison.expression)
        if all(_columns(side) for side in sides):
            _copy_columns(comparison)
    return _unwrapped(root)


def emit_key(expression: Expression) -> exp.Expr:
    """A key by which rows may be looked up: of a join, of a window's partitions, of their order."""
    return on_copies(emit_expression(expression))


def on_copies(value: exp.Expr) -> exp.Expr:
    """`value`, what may raise in which reads copies of the rows' columns."""
    root = exp.Paren(this=value)
    _copy_columns(root)
    return _unwrapped(root)


def _unwrapped(root: exp.Paren) -> exp.Expr:
    whole = root.this
    whole.parent = None
    assert isinstance(whole, exp.Expr)
    return whole


def _copy_columns(tree: exp.Expr) -> None:
    """Have each TRY within `tree` read copies of the columns that it reads."""
    attempts = _attempts(tree)
    for attempt in attempts:
        if not any(_is_part(attempt, other) for other in attempts) and _columns(attempt):
            attempt.replace(_reading_copies(attempt.copy()))


def _attempts(tree: exp.Expr) -> list[exp.Anonymous]:
    return [node for node in tree.find_all(exp.Anonymous) if node.name == "TRY"]


def _is_part(node: exp.Expr, whole: exp.Expr) -> bool:
    """Whether `node` is a part of `whole`, and not all of it."""
    above = node.parent
    while above is not None and above is not whole:
        above = above.parent
    return above is not None


def _reading_copies(attempt: exp.Expr) -> exp.Expr:
    columns = _columns(attempt)
    names = dict.fromkeys(column.name for column in columns)
    for column in columns:
        name = exp.Literal.string(column.name)
        field = exp.Anonymous(this="struct_extract", expressions=[column_ref(_ROW), name])
        column.replace(field)
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(name), expression=column_ref(name)) for name in names
    ]
    each = exp.Lambda(this=attempt, expressions=[exp.to_identifier(_ROW)], colon=True)
    rows = exp.Array(expressions=[exp.Struct(expressions=fields)])
    results = exp.Anonymous(this="list_transform", expressions=[rows, each])
    return exp.Anonymous(this="list_extract", expressions=[results, exp.Literal.number(1)])


def _columns(tree: exp.Expr) -> list[exp.Column]:
    """The columns of rows that `tree` reads; not what a lambda binds."""
    return [column for column in tree.find_all(exp.Column) if not _is_bound(column)]


def _is_bound(column: exp.Column) -> bool:
    binding = column.find_ancestor(exp.Lambda)
    while binding is not None:
        if any(name.name == column.name for name in binding.expressions):
            return True
        binding = binding.find_ancestor(exp.Lambda)
    return False
