"""Where rows are joined, what may raise reads copies of their columns, or is wide arithmetic.

    list_extract(list_transform([{c1: c1}], lambda r: TRY(ascii(r.c1))), 1)

Where a TRY fails for a vector of rows, DuckDB evaluates it row by row, and leaves what it read of a
column that is constant there with one row. What is computed of joined rows, hash joins, and
windows, which are computed as such, take the number of rows from their first column. Of 3,000 rows
whose `x` is the largest INTEGER, EXISTS found 2 for sum(coalesce(x * x, 2)), and all where one more
row had another value; other statements failed, and all that the database was asked after them. A
lambda reads vectors of its own. Arithmetic of which a wider type holds all results needs no TRY
(`wide_arithmetic`), which takes less than half of the time.

It was seen of rows that a join, EXISTS or a window had before, or that one of these asks for, and
never of rows that are read from one table, filtered, put one below the other and grouped. So these
alone are taken for rows that nothing joins. DuckDB moves conditions and keys of joins through all
SELECTs but not out of what GROUP BY reads, so that a join concerns the SELECTs below it and above
it, up to the next GROUP BY.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlglot import exp

from dpsql.emit.dialect import nodes
from dpsql.emit.dialect.duckdb.attempt.wide_arithmetic import wide_arithmetic
from dpsql.emit.dialect.duckdb.expression import ARITHMETIC
from dpsql.emit.dialect.row_estimate import RowLimit
from dpsql.emit.sql.identifier import column_ref

IS_JOINED: Final = "is_joined"
"""The argument of a neutral node by which what may raise in it reads copies."""

_ATTEMPTING: Final = (
    nodes.Scalar,
    nodes.ExactAggregate,
    nodes.ExactWindow,
    nodes.Steps,
    nodes.SumInSteps,
    nodes.Share,
    nodes.NullIfTooLarge,
    nodes.ReadableKey,
)
"""The neutral nodes in which something may raise; what is unestimated is a clamp, and can't."""

_JOINING: Final = (nodes.ExactWindow, nodes.RowNumber, RowLimit, exp.Window)
"""Parts of a SELECT that DuckDB may compute by a join."""

_ROW: Final = "r"
"""The lambda's name for its columns, of which none is called so: they have numbers."""


def mark_joined(
    query: exp.Expr, *, is_joined: bool = False, joined: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Have what may raise in `query` read copies where rows are joined, above it if it `is_joined`.

    The rows of tables that are `joined` are, too. The tables that are read there are returned.
    """
    known: _Known = {}
    _look(query, joined, known)
    read: set[str] = set()
    waiting = [(query, is_joined)]
    while waiting:
        each, is_joined_above = waiting.pop()
        seen = known[id(each)]
        is_joined_here = is_joined_above or seen.is_joined
        if isinstance(each, exp.Table) and is_joined_here:
            read.add(each.name)
        waiting += ((s, is_joined_here and not _is_grouped(s)) for s in seen.sources)
        # What EXISTS asks, and the rows of WITH, which others join.
        waiting += ((other, not _is_grouped(other)) for other in seen.others)
        if is_joined_here:
            for part in seen.attempting:
                part.set(IS_JOINED, True)
    return frozenset(read)


def joins_rows(query: exp.Expr) -> bool:
    """Whether `query` joins rows itself, or has rows that were joined since they were grouped."""
    return _look(query, frozenset(), {})


class _Query(NamedTuple):
    """Whether rows of a query are joined, what it reads, and queries and attempts beside that."""

    is_joined: bool
    sources: list[exp.Expr]
    others: list[exp.Expr]
    attempting: list[exp.Expr]


_Known = dict[int, _Query]


def _look(query: exp.Expr, joined: frozenset[str], known: _Known) -> bool:
    """Whether rows of `query` are joined; it, and all queries within it, are `known` then."""
    sources, waiting = _sources_and_clauses(query)
    others: list[exp.Expr] = []
    attempting: list[exp.Expr] = []
    is_joined = query.name in joined if isinstance(query, exp.Table) else not _is_plain(query)
    while waiting:
        part = waiting.pop()
        is_joined = is_joined or isinstance(part, (exp.Query, *_JOINING))
        if isinstance(part, exp.Query):
            others.append(part)
            continue
        if isinstance(part, _ATTEMPTING):
            attempting.append(part)
        if not isinstance(part, exp.Column):
            waiting += part.iter_expressions()
    for source in (*sources, *others):
        # Of each, so that all are known.
        has_joined = _look(source, joined, known)
        is_joined = is_joined or (has_joined and not _is_grouped(source))
    known[id(query)] = _Query(is_joined, sources, others, attempting)
    return is_joined


def _sources_and_clauses(query: exp.Expr) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """The rows that `query` reads, and all else that it has."""
    if isinstance(query, exp.Table):
        return [], []
    if isinstance(query, exp.Subquery):
        return [query.this], []
    if isinstance(query, exp.SetOperation):
        with_ = query.args.get("with_")
        return [query.this, query.expression], [] if with_ is None else [with_]
    if not isinstance(query, exp.Select):
        return [], [*query.iter_expressions()]
    first, joins = query.args.get("from_"), query.args.get("joins") or []
    sources = [*([] if first is None else [first.this]), *(join.this for join in joins)]
    conditions = [on for join in joins if (on := join.args.get("on")) is not None]
    clauses = (
        part for part in query.iter_expressions() if not isinstance(part, exp.From | exp.Join)
    )
    return sources, [*conditions, *clauses]


def _is_plain(query: exp.Expr) -> bool:
    """Whether `query` puts rows of its sources one below the other, and joins none of them."""
    if isinstance(query, exp.Select):
        return not any(query.args.get(clause) for clause in ("joins", "laterals", "qualify"))
    if isinstance(query, exp.Subquery):
        return True
    return isinstance(query, exp.Union) and query.args.get("distinct") is False


def _is_grouped(query: exp.Expr) -> bool:
    whole = query.this if isinstance(query, exp.Subquery) else query
    return isinstance(whole, exp.Select) and bool(whole.args.get("group"))


def on_copies(value: exp.Expr) -> exp.Expr:
    """`value`, what may raise in which is wide, or reads copies of the rows' columns."""
    root = exp.Paren(this=value)
    attempts = [node for node in root.find_all(exp.Anonymous) if node.name == "TRY"]
    for attempt in attempts:
        if not any(_is_part(attempt, other) for other in attempts) and _columns(attempt):
            wide = _wide(attempt)
            attempt.replace(_reading_copies(attempt.copy()) if wide is None else on_copies(wide))
    whole = root.this
    whole.parent = None
    assert isinstance(whole, exp.Expr)
    return whole


def _wide(attempt: exp.Expr) -> exp.Expr | None:
    """What is attempted, without a TRY, where it is arithmetic that can do without."""
    arithmetic = attempt.args.get(ARITHMETIC)
    return None if arithmetic is None else wide_arithmetic(arithmetic)


def _is_part(node: exp.Expr, whole: exp.Expr) -> bool:
    """Whether `node` is a part of `whole`, and not all of it."""
    above = node.parent
    while above is not None and above is not whole:
        above = above.parent
    return above is not None


def _reading_copies(attempt: exp.Expr) -> exp.Expr:
    columns = _columns(attempt)
    copied = {_field(column): column.copy() for column in columns}
    for column in columns:
        name = exp.Literal.string(_field(column))
        field = exp.Anonymous(this="struct_extract", expressions=[column_ref(_ROW), name])
        column.replace(field)
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(name), expression=column)
        for name, column in copied.items()
    ]
    each = exp.Lambda(this=attempt, expressions=[exp.to_identifier(_ROW)], colon=True)
    rows = exp.Array(expressions=[exp.Struct(expressions=fields)])
    results = exp.Anonymous(this="list_transform", expressions=[rows, each])
    return exp.Anonymous(this="list_extract", expressions=[results, exp.Literal.number(1)])


def _field(column: exp.Column) -> str:
    """The name of a copy: t.n and n may be of two tables."""
    return "_".join(part.name for part in column.parts)


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
