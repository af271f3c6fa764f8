"""Pairs of statements that differ in one place, or in how they are written."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from random import Random

import sqlglot
from fuzz.leaf import leaf_query, numbered_query
from fuzz.query import query
from sqlglot import exp
from sqlglot.errors import ParseError

Change = Callable[[Random, exp.Expr], None]


def pair(random: Random) -> tuple[str, str]:
    """A statement, and what a change or two make of it; nothing, if they didn't fit."""
    sql, likely = _statement(random)
    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
    except ParseError:
        return sql, sql  # ROLLUP of a condition in parentheses
    one = tree.sql(dialect="duckdb")
    likely(random, tree)
    if random.random() < 0.3:
        random.choice(_CHANGES)(random, tree)
    return one, tree.sql(dialect="duckdb")


def _statement(random: Random) -> tuple[str, Change]:
    """A statement, and a change of it: what reads a leaf twice has the two exchanged, mostly."""
    roll, any_change = random.random(), random.choice(_CHANGES)
    if roll < 0.25:
        return query(random), any_change
    if roll < 0.75:
        return leaf_query(random), random.choice(
            [_exchanged, _exchanged, _exchanged, _listed, any_change]
        )
    return numbered_query(random), random.choice([_columns, _columns, _columns, any_change])


def _some(random: Random, tree: exp.Expr, *kinds: type[exp.Expr]) -> exp.Expr | None:
    found = list(tree.find_all(*kinds))
    return random.choice(found) if found else None


def _other_column(random: Random, tree: exp.Expr) -> None:
    """A column is that of another source, or another one that the statement reads."""
    found = [c for c in tree.find_all(exp.Column) if c.table]
    if not found:
        return
    column = random.choice(found)
    others = [c for c in found if c.name == column.name and c.table != column.table]
    if others:
        column.replace(random.choice(others).copy())
    else:
        column.replace(random.choice(found).copy())


def _exchanged(random: Random, tree: exp.Expr) -> None:
    """Two sources that have columns in common have each other's names, in some part of a SELECT."""
    found = [(s, *names) for s in tree.find_all(exp.Select) for names in _alike(s)]
    if not found:
        return
    select, one, other = random.choice(found)
    joins = select.args.get("joins") or []
    shown: list[exp.Expr | None] = [*select.expressions, select.args.get("where")]
    parts = [*shown, *shown, *shown, select, *joins]
    part = random.choice([p for p in parts if p is not None and _reads(p, one, other)])
    for column in part.find_all(exp.Column):
        if column.table in (one, other):
            column.set("table", exp.to_identifier(other if column.table == one else one))


def _alike(select: exp.Select) -> list[tuple[str, str]]:
    """Pairs of sources of which the same columns are read."""
    read: dict[str, set[str]] = {}
    for column in select.find_all(exp.Column):
        read.setdefault(column.table, set()).add(column.name)
    named = sorted(name for name in read if name)
    return [p for p in itertools.combinations(named, 2) if read[p[0]] & read[p[1]]]


def _reads(part: exp.Expr, *names: str) -> bool:
    return any(column.table in names for column in part.find_all(exp.Column))


def _sides(random: Random, tree: exp.Expr) -> None:
    """The sides of an operator change places."""
    found = _some(random, tree, exp.Binary)
    if found is not None and not isinstance(found, exp.Dot):
        left, right = found.this, found.expression
        found.set("this", right)
        found.set("expression", left)


_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)


def _comparison(random: Random, tree: exp.Expr) -> None:
    found = _some(random, tree, *_COMPARISONS)
    if found is not None:
        made = random.choice(_COMPARISONS)(
            this=found.this.copy(), expression=found.expression.copy()
        )
        found.replace(random.choice([made, exp.paren(made), exp.not_(exp.paren(made))]))


def _negated(random: Random, tree: exp.Expr) -> None:
    """NOT comes, or goes; of a comparison also as its opposite, which is the same."""
    opposite: dict[type[exp.Expr], type[exp.Expr]] = {
        exp.EQ: exp.NEQ,
        exp.LT: exp.GTE,
        exp.GT: exp.LTE,
        exp.LTE: exp.GT,
        exp.GTE: exp.LT,
    }
    found = _some(random, tree, exp.Not, *opposite)
    if isinstance(found, exp.Not):
        found.replace(found.this.copy())
    elif found is not None:
        kind = opposite[type(found)]
        made = kind(this=found.this.copy(), expression=found.expression.copy())
        found.replace(random.choice([exp.not_(exp.paren(made)), exp.not_(exp.paren(found.copy()))]))


_CONSTANTS = ("0", "1", "2", "1.0", "1e0", "TRUE", "NULL", "'1'", "'a'", "-0.0", "-0e0", "3", "0e0")


def _constant(random: Random, tree: exp.Expr) -> None:
    """Another number or text, or the same of another type."""
    found = _some(random, tree, exp.Literal, exp.Boolean)
    if found is None or isinstance(found.parent, exp.DataType | exp.DataTypeParam | exp.Interval):
        return
    same = [f"CAST({found.sql()} AS {kind})" for kind in ("DOUBLE", "DECIMAL(9,2)", "VARCHAR")]
    near = [f"{found.sql()}.0", f"{found.sql()}e0"] if found.is_int else [found.sql().upper()]
    text = random.choice([*_CONSTANTS, *same, *near])
    found.replace(sqlglot.parse_one(text, read="duckdb"))


def _order(random: Random, tree: exp.Expr) -> None:
    """Two parts of a list change places: of SELECT, VALUES, IN, GROUP BY, ORDER BY, arguments."""
    kinds = (exp.Select, exp.Values, exp.In, exp.Group, exp.Order, exp.Tuple, exp.Coalesce)
    lists = [n for n in tree.find_all(*kinds) if len(n.expressions) > 1]
    if lists:
        node = random.choice(lists)
        parts = [part.copy() for part in node.expressions]
        one, other = random.sample(range(len(parts)), 2)
        parts[one], parts[other] = parts[other], parts[one]
        node.set("expressions", parts)


def _listed(random: Random, tree: exp.Expr) -> None:
    """The rows of VALUES come in another order."""
    found = _some(random, tree, exp.Values)
    if found is not None:
        parts = [part.copy() for part in found.expressions]
        random.shuffle(parts)
        found.set("expressions", parts)


def _columns(random: Random, tree: exp.Expr) -> None:
    """The columns of a subquery come in another order."""
    found = [s.this for s in tree.find_all(exp.Subquery) if isinstance(s.this, exp.Select)]
    if found:
        select = random.choice(found)
        parts = [part.copy() for part in select.expressions]
        random.shuffle(parts)
        select.set("expressions", parts)


def _arms(random: Random, tree: exp.Expr) -> None:
    """The sources of a join, or the arms of a union, change places, or another kind comes."""
    found = _some(random, tree, exp.SetOperation, exp.Join)
    if isinstance(found, exp.SetOperation):
        left, right = found.this, found.expression
        if random.random() < 0.3:
            right = left.copy()
        found.set("this", right)
        found.set("expression", left)
    elif isinstance(found, exp.Join):
        if random.random() < 0.4:
            found.set("side", random.choice(["LEFT", "FULL", "RIGHT", None]))
            return
        from_ = found.parent.args.get("from_") if found.parent is not None else None
        if from_ is not None and not found.side:
            one, other = from_.this.copy(), found.this.copy()
            from_.set("this", other)
            found.set("this", one)


def _filters(random: Random, tree: exp.Expr) -> None:
    """Conditions go from one place to another: WHERE to FILTER or ON, or they go."""
    found = _some(random, tree, exp.Where)
    if found is None:
        return
    condition, select = found.this.copy(), found.parent
    roll = random.random()
    if isinstance(select, exp.Select) and roll < 0.7:
        calls = [c for e in select.expressions for c in e.find_all(exp.Count, exp.Sum)]
        joins = [j for j in select.args.get("joins") or [] if j.args.get("on")]
        select.set("where", None)
        if calls and roll < 0.35:
            call = random.choice(calls)
            call.replace(exp.Filter(this=call.copy(), expression=exp.Where(this=condition)))
        elif joins:
            join = random.choice(joins)
            join.set("on", exp.and_(join.args["on"].copy(), condition))
    elif isinstance(found.this, exp.And):
        found.set("this", random.choice([condition.this, condition.expression]).copy())


def _window(random: Random, tree: exp.Expr) -> None:
    found = _some(random, tree, exp.Ordered)
    if found is not None:
        found.set("desc", not found.args.get("desc"))
        found.set("nulls_first", random.random() < 0.5)


def _distinctness(random: Random, tree: exp.Expr) -> None:
    found = _some(random, tree, exp.Select, exp.Count, exp.Sum, exp.Union)
    if isinstance(found, exp.Union):
        found.set("distinct", not found.args.get("distinct"))
    elif isinstance(found, exp.Select):
        found.set("distinct", None if found.args.get("distinct") else exp.Distinct())
    elif found is not None and found.this is not None and not isinstance(found.this, exp.Star):
        inner = found.this.copy()
        plain = inner.expressions[0] if isinstance(inner, exp.Distinct) else None
        found.set("this", plain or exp.Distinct(expressions=[inner]))


def _copied(random: Random, tree: exp.Expr) -> None:
    """A part of the statement stands in the place of another of its kind."""
    kinds = random.choice([(exp.Condition,), (exp.AggFunc,), (exp.Literal,), (exp.Subquery,)])
    found = [n for n in tree.find_all(*kinds) if n.parent is not None]
    if len(found) > 1:
        one, other = random.sample(found, 2)
        if not any(one is part for part in other.walk()):
            one.replace(other.copy())


def _limit(random: Random, tree: exp.Expr) -> None:
    """A subquery has other rows: the first few, or other ones."""
    found = _some(random, tree, exp.Limit, exp.Subquery)
    if isinstance(found, exp.Limit):
        found.set("expression", exp.Literal.number(random.choice([1, 2, 3])))
    elif isinstance(found, exp.Subquery) and isinstance(found.this, exp.Select):
        found.this.limit(random.choice([1, 2]), copy=False)


_CHANGES: tuple[Change, ...] = (
    _other_column,
    _other_column,
    _exchanged,
    _exchanged,
    _exchanged,
    _sides,
    _sides,
    _comparison,
    _negated,
    _negated,
    _constant,
    _constant,
    _order,
    _order,
    _order,
    _columns,
    _columns,
    _arms,
    _arms,
    _filters,
    _window,
    _distinctness,
    _copied,
    _limit,
)
