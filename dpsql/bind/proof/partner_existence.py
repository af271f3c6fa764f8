"""Joins that only test public rows for a private partner, rewritten as EXISTS and NOT EXISTS.

    SELECT d.name FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id
    WHERE v.doctor_id IS NULL

keeps the doctors without visits, and so does ANTI JOIN. Nothing else of visits is read, so that a
noisy count of each doctor's visits answers it, as `subquery.private_existence` does for EXISTS.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.context import Context
from dpsql.bind.from_clause.join import SEMI_ANTI
from dpsql.bind.from_clause.table import find_relation
from dpsql.bind.syntax.conjuncts import conjuncts
from dpsql.errors import UnknownTable
from dpsql.schema.model import Public, Table

_PLAIN_JOIN = ("this", "on", "using", "side", "kind")
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_PLAIN_TABLE = ("this", "alias", "db", "catalog")


def without_partner_joins(node: exp.Select, context: Context) -> exp.Select:
    """`node` with EXISTS in WHERE for each join that only tests public rows for a partner."""
    joins = node.args.get("joins") or []
    first = node.args.get("from_")
    if first is None or not any(join.kind in SEMI_ANTI or join.side == "LEFT" for join in joins):
        return node
    before: list[_Source] = []
    for index, source in enumerate([first.this, *(join.this for join in joins)]):
        table = _declared(source, context)
        if table is None:
            return node
        if not table.is_public:
            rewritten = _with_existence(node, index - 1, before, table) if before else None
            return node if rewritten is None else without_partner_joins(rewritten, context)
        before.append(table)
    return node


class _Source(Struct, frozen=True):
    """A declared table in FROM, by the name that it has there."""

    name: str
    table: Table

    @property
    def is_public(self) -> bool:
        return isinstance(self.table.ownership, Public)

    def has(self, column: exp.Column) -> bool:
        """Whether `column`, which may stand without its table, can be one of this table."""
        if column.table:
            return column.table.casefold() == self.name.casefold()
        return self.knows(column.name)

    def knows(self, name: str) -> bool:
        return any(name.casefold() == known.casefold() for known in self.table.columns)


def _declared(node: exp.Expr, context: Context) -> _Source | None:
    """The table of the schema that `node` names without further clauses; None for anything else."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return None
    if any(value for name, value in node.args.items() if name not in _PLAIN_TABLE):
        return None
    alias = node.args.get("alias")
    is_renamed = alias is not None and alias.args.get("columns")
    if is_renamed or (not node.db and node.name.casefold() in context.ctes):
        return None
    try:
        relation = find_relation(context, node)
    except UnknownTable:
        return None
    return _Source(node.alias_or_name, relation) if isinstance(relation, Table) else None


def _with_existence(
    node: exp.Select, index: int, before: list[_Source], joined: _Source
) -> exp.Select | None:
    """`node` with its join at `index` as EXISTS or NOT EXISTS; None if the join does more.

    `joined` is the private table of that join, `before` are the public ones on its left.
    """
    join, *later = node.args["joins"][index:]
    condition = _condition(join, before, joined)
    # RIGHT JOIN after SEMI JOIN keeps rows of its own side, which EXISTS in WHERE would drop.
    is_last = not any(other.side in ("RIGHT", "FULL") for other in later)
    if condition is None or (join.kind in SEMI_ANTI and not is_last):
        return None
    changed = node.copy()
    del changed.args["joins"][index]
    query = exp.select("1").from_(join.this.copy()).where(condition)
    exists: exp.Expr = exp.Exists(this=query)
    if join.kind in SEMI_ANTI:
        exists = exp.not_(exists) if join.kind == "ANTI" else exists
        return changed.where(exists, copy=False)
    test = _absence(node, condition, before, joined)
    if join.side != "LEFT" or test is None or _reads_more(node, join, test, joined):
        return None
    where = changed.args["where"]
    others = [part for part in conjuncts(where.this) if part != test]
    where.set("this", exp.and_(*others, exp.not_(exists)))
    return changed


def _condition(join: exp.Join, before: list[_Source], joined: _Source) -> exp.Expr | None:
    """The join's condition, with USING written out; None if it isn't of that form."""
    if any(value for name, value in join.args.items() if name not in _PLAIN_JOIN):
        return None
    parts: list[exp.Expr] = [] if join.args.get("on") is None else [join.args["on"].copy()]
    for shared in join.args.get("using") or []:
        owners = [source for source in before if source.knows(shared.name)]
        if len(owners) != 1:
            return None
        sides = (exp.column(shared.copy(), table=s.name, quoted=True) for s in (owners[0], joined))
        parts.append(exp.EQ(this=next(sides), expression=next(sides)))
    return exp.and_(*parts) if parts else None


def _absence(
    node: exp.Select, condition: exp.Expr, before: list[_Source], joined: _Source
) -> exp.Expr | None:
    """The conjunct `c IS NULL` of WHERE whose column `c` no partner has NULL; None without one."""
    where = node.args.get("where")
    for test in () if where is None else conjuncts(where.this):
        if not isinstance(test, exp.Is) or not isinstance(test.expression, exp.Null):
            continue
        column = test.this
        if not isinstance(column, exp.Column) or not joined.has(column):
            continue
        # A name of USING without a table is the public row's column.
        if column.table or not any(source.knows(column.name) for source in before):
            not_null = (*_compared(condition, joined), *_declared_not_null(joined))
            names = {name.casefold() for name in not_null}
            if column.name.casefold() in names:
                return test
    return None


def _compared(condition: exp.Expr, joined: _Source) -> Iterator[str]:
    """The columns of `joined` that `condition` compares: no partner has them NULL."""
    for part in conjuncts(condition):
        if isinstance(part, _COMPARISONS):
            for side in (part.this, part.expression):
                if isinstance(side, exp.Column) and joined.has(side):
                    yield side.name


def _declared_not_null(joined: _Source) -> Iterator[str]:
    """The columns that are declared to have a value in each row."""
    yield from joined.table.key or ()
    yield from (name for name, column in joined.table.columns.items() if not column.nullable)


def _reads_more(node: exp.Select, join: exp.Join, test: exp.Expr, joined: _Source) -> bool:
    """Whether a part of `node` other than `join` and `test` may read a column of `joined`."""
    known = {id(c) for part in (join, test) for c in part.find_all(exp.Column)}
    if any(isinstance(star.parent, exp.Select) for star in node.find_all(exp.Star)):
        return True
    shared = {name.name.casefold() for name in join.args.get("using") or []}
    return any(
        joined.has(column)
        for column in node.find_all(exp.Column)
        # A name that both sides share is the value of the public one.
        if id(column) not in known and (column.table or column.name.casefold() not in shared)
    )
