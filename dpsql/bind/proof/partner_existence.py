"""Joins that ask public rows only whether they have a private partner: EXISTS, and NOT EXISTS.

    SELECT d.name FROM doctors d LEFT JOIN visits v ON v.doctor_id = d.doctor_id
    WHERE v.doctor_id IS NULL

keeps the doctors without visits, and so does ANTI JOIN. Nothing else of visits is read, and what a
subquery asks of rows of others is answered by how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from dpsql.bind.context import Context
from dpsql.bind.from_clause.join import SEMI_ANTI
from dpsql.bind.from_clause.table import find_relation
from dpsql.errors import UnknownTable
from dpsql.schema.model import Public, Table

_PLAIN_JOIN = ("this", "on", "using", "side", "kind")
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_PLAIN_TABLE = ("this", "alias", "db", "catalog")


def without_partner_joins(node: exp.Select, context: Context) -> exp.Select:
    """`node`, whose public tables ask by EXISTS where they were joined for that alone."""
    joins = node.args.get("joins") or []
    first = node.args.get("from_")
    if first is None or not any(join.kind in SEMI_ANTI or join.side == "LEFT" for join in joins):
        return node
    before: list[_Source] = []
    for place, source in enumerate([first.this, *(join.this for join in joins)]):
        found = _declared(source, context)
        if found is None:
            return node
        if not found.is_public:
            asked = _tests_absence(node, place - 1, before, found) if before else None
            return node if asked is None else without_partner_joins(asked, context)
        before.append(found)
    return node


@dataclass(frozen=True, slots=True)
class _Source:
    """A declared table in FROM, by the name that it has there."""

    name: str
    table: Table

    @property
    def is_public(self) -> bool:
        return isinstance(self.table.ownership, Public)

    def has(self, column: exp.Column) -> bool:
        """Whether `column` may be one of the table's: one without a table's name, too."""
        if column.table:
            return column.table.casefold() == self.name.casefold()
        return self.knows(column.name)

    def knows(self, name: str) -> bool:
        return any(name.casefold() == known.casefold() for known in self.table.columns)


def _declared(node: exp.Expr, context: Context) -> _Source | None:
    """The table that `node` names, if it is one of the schema and named plainly."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return None
    if any(value for name, value in node.args.items() if name not in _PLAIN_TABLE):
        return None
    alias = node.args.get("alias")
    is_renamed = alias is not None and alias.args.get("columns")
    if is_renamed or (not node.db and node.name.casefold() in context.ctes):
        return None
    try:
        found = find_relation(context, node)
    except UnknownTable:
        return None
    return _Source(node.alias_or_name, found) if isinstance(found, Table) else None


def _tests_absence(
    node: exp.Select, index: int, before: list[_Source], joined: _Source
) -> exp.Select | None:
    """`node` without its join at `index`, if all that it asks is whether there is a partner."""
    join, *later = node.args["joins"][index:]
    condition = _condition(join, before, joined)
    # RIGHT JOIN after it keeps rows that were left out, which WHERE would leave out of its own.
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
    others = [part for part in _parts(where.this) if part != test]
    where.set("this", exp.and_(*others, exp.not_(exists)))
    return changed


def _condition(join: exp.Join, before: list[_Source], joined: _Source) -> exp.Expr | None:
    """When two rows are partners; None if that can't be told from the names that are written."""
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
    """The part of WHERE that says that a column is NULL which no partner has NULL."""
    where = node.args.get("where")
    for test in () if where is None else _parts(where.this):
        if not isinstance(test, exp.Is) or not isinstance(test.expression, exp.Null):
            continue
        column = test.this
        if not isinstance(column, exp.Column) or not joined.has(column):
            continue
        # By USING a name alone is the public row's.
        if column.table or not any(source.knows(column.name) for source in before):
            names = {name.casefold() for name in (*_compared(condition, joined), *_filled(joined))}
            if column.name.casefold() in names:
                return test
    return None


def _compared(condition: exp.Expr, joined: _Source) -> Iterator[str]:
    """Columns of `joined` whose comparison with something is true of each pair of partners."""
    for part in _parts(condition):
        if isinstance(part, _COMPARISONS):
            for side in (part.this, part.expression):
                if isinstance(side, exp.Column) and joined.has(side):
                    yield side.name


def _filled(joined: _Source) -> Iterator[str]:
    """Columns that are declared to have a value in each row."""
    yield from joined.table.key or ()
    yield from (name for name, column in joined.table.columns.items() if not column.nullable)


def _parts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that hold together, themselves and no copies of them."""
    whole = condition.unnest()
    if isinstance(whole, exp.And):
        yield from _parts(whole.left)
        yield from _parts(whole.right)
    else:
        yield whole


def _reads_more(node: exp.Select, join: exp.Join, test: exp.Expr, joined: _Source) -> bool:
    """Whether anything beside the join and `test` may read a column of `joined`."""
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
