"""FROM: tables and joins, with the proof that private rows which meet belong to one unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches

from sqlglot import exp

from dpsql.bind.allow import only, refused
from dpsql.bind.expression import ExpressionBinder
from dpsql.bind.name import Names
from dpsql.bind.parse import span
from dpsql.bind.scope import Relation, Scope
from dpsql.errors import Refused, Span, UnknownTable
from dpsql.plan.columns import output_columns
from dpsql.plan.expression import (
    Column,
    Compare,
    Comparison,
    Expression,
    conjunction,
    conjuncts,
)
from dpsql.plan.operator import Filter, Join, Plan, Scan
from dpsql.plan.tree import columns
from dpsql.schema.model import Public, RowUnit, Schema, Table
from dpsql.schema.type import BIGINT
from dpsql.stability.lineage import (
    Identity,
    Visibility,
    identities,
    private_scans,
    unit_kind,
    visibility,
)


@dataclass(slots=True)
class From:
    """The FROM clause of one SELECT while it is bound: sources, conditions, names."""

    schema: Schema
    names: Names
    scope: Scope = field(default_factory=Scope)
    sources: list[Plan] = field(default_factory=list)
    places: list[Span | None] = field(default_factory=list)
    on: list[Expression] = field(default_factory=list)

    def bind(self, select: exp.Select) -> None:
        """Read FROM and its joins."""
        clause = select.args.get("from_")
        if clause is None:
            raise Refused(
                "a query without FROM", at=span(select), hint="add FROM table", note="select"
            )
        only(clause, "this")
        self._source(clause.this)
        for join in select.args.get("joins") or []:
            self._join(join)

    def filtered(self, predicate: Expression | None) -> Plan:
        """The joined rows that satisfy `predicate`; its join conditions become the join's own."""
        own = () if predicate is None else conjuncts(predicate)
        joining = tuple(p for p in own if self._spans_sources(p))
        rest = tuple(p for p in own if p not in joining)
        on = (*self.on, *joining)
        plan = self.sources[0] if len(self.sources) == 1 else Join(tuple(self.sources), on)
        if isinstance(plan, Join):
            self._check_units(plan)
        elif on:
            rest = (*on, *rest)
        return Filter(plan, conjunction(rest)) if rest else plan

    def _check_units(self, join: Join) -> None:
        """Refuse a join of private sources unless keys prove that rows that meet share a unit.

        The emitted SQL equates the units in any case; without the proof that would change what the
        query means: orders joined on a date would silently lose all pairs of different customers.
        """
        private = [s for s in join.sources if visibility(s) is Visibility.PRIVATE]
        if len(private) < 2:
            return
        kinds = sorted({unit_kind(s) or "" for s in private})
        if len(kinds) > 1 or any(_is_row_unit(s) for s in private):
            raise Refused(
                f"joins rows of different privacy units: {' and '.join(kinds)}",
                at=self.places[self.sources.index(private[-1])],
                hint="join a private table with public ones, or with tables of the same entity",
                note="join",
            )
        tags = {c: i for s in private for c, i in identities(s).items()}
        connected, waiting = [private[0]], private[1:]
        while waiting:
            linked = [
                s for s in waiting if any(_share_unit(join.on, s, c, tags) for c in connected)
            ]
            if not linked:
                raise self._unproved(connected, waiting[0], tags)
            connected += linked
            waiting = [s for s in waiting if s not in linked]

    def _unproved(
        self, connected: list[Plan], source: Plan, tags: dict[Column, frozenset[Identity]]
    ) -> Refused:
        mine = private_scans(source)[0].table.name
        at = self.places[self.sources.index(source)]
        for other in connected:
            for a in output_columns(other):
                for b in output_columns(source):
                    if tags.get(a, frozenset()) & tags.get(b, frozenset()):
                        names = f"{self.scope.qualified(a)} = {self.scope.qualified(b)}"
                        return Refused(
                            f"{mine} is joined on columns that don't determine the privacy unit",
                            at=at,
                            hint=f"add the condition {names}",
                            note="join",
                        )
        return Refused(
            f"{mine} shares no key with the tables it is joined to",
            at=at,
            hint="join through the tables that reference one another",
            note="join",
        )

    def _spans_sources(self, predicate: Expression) -> bool:
        read = columns(predicate)
        return sum(1 for s in self.sources if read & set(output_columns(s))) > 1

    def _source(self, node: exp.Expr) -> None:
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise refused(node, _kind(node), hint="name a table of the schema")
        if node.args.get("db") is not None:
            raise UnknownTable(
                f"there is no table {node.sql(dialect='duckdb')[:80]}",
                at=span(node),
                hint=f"tables: {', '.join(self.schema.tables)}",
            )
        only(node, "this", "alias", "joins")
        alias = node.args.get("alias")
        if alias is not None:
            only(alias, "this")
        table = find_table(self.schema, node.name, span(node))
        scan = self._scan(table)
        name = alias.name if alias is not None else table.name
        by_name = {column.name.casefold(): column for column in scan.columns}
        self.scope.add(Relation(name, by_name), span(node))
        self.sources.append(scan)
        self.places.append(span(node))
        for join in node.args.get("joins") or []:
            self._join(join)

    def _scan(self, table: Table) -> Scan:
        found = tuple(self.names.column(c.name, c.type) for c in table.columns.values())
        unit = None
        if not isinstance(table.ownership, Public):
            unit = self.names.column(f"unit of {table.name}", BIGINT)
        return Scan(table, found, unit)

    def _join(self, node: exp.Join) -> None:
        only(node, "this", "on", "using", "kind", "side")
        side, kind = (node.side or "").upper(), (node.kind or "").upper()
        if side or kind not in ("", "INNER", "CROSS"):
            raise Refused(
                f"{side or kind} JOIN has no rule",
                at=span(node),
                hint="use an inner join: a JOIN b ON a.key = b.key",
                note="join",
            )
        before = list(self.scope.relations)
        self._source(node.this)
        if node.args.get("on") is not None:
            binder = ExpressionBinder(self.scope, _nothing_special)
            self.on += conjuncts(binder.condition(node.args["on"]))
        for name in node.args.get("using") or []:
            self._using(name, before)

    def _using(self, name: exp.Expr, before: list[Relation]) -> None:
        at = span(name)
        left = Scope(before, dict(self.scope.merged)).resolve(name.name, None, at)
        right = Scope(self.scope.relations[len(before) :]).resolve(name.name, None, at)
        binder = ExpressionBinder(self.scope, _nothing_special)
        a, b = binder.unify([left, right], [name, name])
        self.on.append(Compare(Comparison.EQUAL, a, b))
        self.scope.merged[name.name.casefold()] = left


def find_table(schema: Schema, name: str, at: Span | None) -> Table:
    """The declared table called `name`; what isn't declared doesn't exist."""
    for table in schema.tables.values():
        if table.name.casefold() == name.casefold():
            return table
    near = get_close_matches(name, schema.tables, n=1)
    hint = f"did you mean {near[0]}?" if near else f"tables: {', '.join(schema.tables)}"
    raise UnknownTable(f"there is no table {name}", at=at, hint=hint)


def _share_unit(
    on: tuple[Expression, ...], left: Plan, right: Plan, tags: dict[Column, frozenset[Identity]]
) -> bool:
    """An equality of two columns that identify the same thing, which has one unit."""
    ours, theirs = set(output_columns(left)), set(output_columns(right))
    return any(
        isinstance(p, Compare)
        and p.op is Comparison.EQUAL
        and isinstance(p.left, Column)
        and isinstance(p.right, Column)
        and ((p.left in ours and p.right in theirs) or (p.left in theirs and p.right in ours))
        and tags.get(p.left, frozenset()) & tags.get(p.right, frozenset())
        for p in on
    )


def _is_row_unit(plan: Plan) -> bool:
    return any(isinstance(s.table.ownership, RowUnit) for s in private_scans(plan))


def _nothing_special(node: exp.Expr) -> Expression | None:
    if isinstance(node, exp.AggFunc):
        raise refused(node, "an aggregate in a join condition")
    return None


def _kind(node: exp.Expr) -> str:
    match node:
        case exp.Subquery():
            return "a subquery in FROM"
        case exp.Table() if isinstance(node.this, exp.Func):
            return f"the table function {node.this.sql_name().lower()}"
        case _:
            return f"{type(node).__name__.lower()} in FROM"
