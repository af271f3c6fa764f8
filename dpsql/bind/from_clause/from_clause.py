"""FROM: tables, derived tables, CTEs and joins."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from sqlglot import exp

from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.from_clause.join import (
    SEMI_ANTI,
    correlated_join_error,
    is_parenthesized,
    join_words,
    no_aggregate_in_join,
    semi_join,
    shared_names,
)
from dpsql.bind.from_clause.lateral import bind_lateral, side_of_lateral
from dpsql.bind.from_clause.relation_name import bind_source
from dpsql.bind.from_clause.values_clause import one_row
from dpsql.bind.proof.join_ownership import check_same_unit, outer_join
from dpsql.bind.query.constant_condition import is_false
from dpsql.bind.scope import Merged, Relation, Scope, distinct_names
from dpsql.bind.subquery.scalar_join import with_one_row
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.bind.syntax.parse import span
from dpsql.errors import Span, SyntaxFault
from dpsql.plan.expression import Compare, Comparison, Expression, conjunction, conjuncts
from dpsql.plan.operator import Filter, Join, OuterKind, Output, Plan, Project, Values
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns


class FromClause(Struct):
    """The FROM clause of one SELECT: its sources, their places, and their join conditions `on`.

    `commas`: whether some source is joined by a comma, without a condition.
    """

    context: Context
    scope: Scope
    sources: list[Plan] = field(default_factory=list)
    spans: list[Span | None] = field(default_factory=list)
    commas: bool = False
    on: list[Expression] = field(default_factory=list)

    def bind(self, select: exp.Select) -> None:
        """Read FROM and its joins."""
        clause = select.args.get("from_")
        if clause is None:
            self.sources.append(one_row(self.context))
            self.spans.append(None)
            return
        require_args(clause, "this")
        self._joined(clause.this)
        for join in select.args.get("joins") or []:
            self._join(join)

    def where(self, own: tuple[Expression, ...]) -> Plan:
        """The joined rows that satisfy WHERE's conditions `own`, some of which join sources."""
        if any(is_false(p) for p in own):
            return Values(tuple(c for s in self.sources for c in output_columns(s)), ())
        self._check_around(0)
        joining = tuple(p for p in own if self._spans_sources(p))
        rest = tuple(p for p in own if p not in joining)
        on = (*self.on, *joining)
        plan = self.sources[0] if len(self.sources) == 1 else Join(tuple(self.sources), on)
        if isinstance(plan, Join):
            self._check_units(plan)
        elif on:
            rest = (*on, *rest)
        return Filter(plan, conjunction(rest)) if rest else plan

    def _check_around(self, conditions: int) -> None:
        """Refuse a join condition, from index `conditions` on, on columns of the outer query."""
        readable = {c for source in self.sources for c in output_columns(source)}
        if columns(*self.on[conditions:]) - readable:
            raise correlated_join_error()

    def _check_units(self, join: Join) -> None:
        spans = dict(zip(self.sources, self.spans, strict=True))
        check_same_unit(join, spans, self.scope.qualified)

    def _spans_sources(self, predicate: Expression) -> bool:
        read = columns(predicate)
        return sum(1 for s in self.sources if read & set(output_columns(s))) > 1

    def _joined(self, node: exp.Expr, *, whole: bool = False) -> None:
        self._source(node, whole=whole)
        for join in node.args.get("joins") or []:
            self._join(join)

    def _source(self, node: exp.Expr, *, whole: bool) -> None:
        """Add the source `node`; `whole`: joins in parentheses become one source."""
        if isinstance(node, exp.Subquery):
            if is_parenthesized(node):
                self._grouped(node, whole=whole)
            else:
                self._derived(node)
            return
        if isinstance(node, exp.Lateral):
            self._lateral(node)
            return
        if isinstance(node, exp.Paren):
            require_args(node, "this")
            self._joined(node.this, whole=whole)
            return
        source = bind_source(node, f"subquery_{len(self.sources)}", self.context)
        self._add(node, source.name, source.rows, source.schema)

    def _derived(self, node: exp.Subquery) -> None:
        require_args(node, "this", "alias", "joins", "with_")
        selected = self.context.bind_query(node.this, self.context)
        # A SELECT's column ids are new, so that only its names may be there twice.
        self._add(node, f"subquery_{len(self.sources)}", selected)

    def _lateral(self, node: exp.Lateral) -> None:
        """Add the rows that a subquery has for each row of the sources so far."""
        lateral = bind_lateral(node, self.context.subquery_context(self.scope))
        name = f"subquery_{len(self.sources)}"
        if not lateral.has_one_row:
            self._add(node, name, lateral.rows)
            self.on += lateral.rows.correlated
            return
        self._check_around(0)
        # (a, b, LATERAL c) where c reads a: a's rows multiply those of b alike.
        index = self._only_source_read(lateral.subquery_columns, len(self.sources))
        if index is None:
            self.sources = [self._inner(len(self.sources), tuple(self.on))]
            index, self.spans, self.on = 0, [span(node)], []
        self.sources[index] = with_one_row(node, self.sources[index], lateral.rows, self.context)
        self._name(node, name, lateral.rows.names, lateral.values)

    def _grouped(self, node: exp.Subquery, *, whole: bool) -> None:
        """Add (a JOIN b ON …), whose sources keep their names unless one alias names them all."""
        require_args(node, "this", "joins", "alias")
        inner = FromClause(self.context, Scope(parent=self.scope.parent))
        inner._joined(node.this)
        if node.args.get("alias") is not None:
            self._add(node, node.alias, inner._named_whole(span(node)))
            return
        if inner.commas:
            raise unsupported(node, "a comma in parentheses", "write CROSS JOIN instead of ,")
        self.scope.take(inner.scope, span(node))
        if whole:
            inner._check_around(0)
            inner.sources = [inner._inner(len(inner.sources), tuple(inner.on))]
            inner.spans, inner.on = [span(node)], []
        self.sources += inner.sources
        self.spans += inner.spans
        self.on += inner.on

    def _named_whole(self, at: Span | None) -> BoundQuery:
        """The joined sources as one relation, whose alias hides the names of its sources."""
        resolved = self.scope.expand((), at)
        fresh = self.context.names.column
        outputs = tuple(
            Output(fresh(column.name, column.expression.type), column.expression)
            for column in resolved
        )
        return BoundQuery(
            Project(self.where(()), outputs), tuple(column.name for column in resolved)
        )

    def _add(
        self,
        node: exp.Expr,
        name: str,
        selected: BoundQuery,
        schema: tuple[str, str] | None = None,
    ) -> None:
        """Add a source of the rows `selected`, by its alias, or else by `name`."""
        self._name(node, name, selected.names, selected.columns[: len(selected.names)], schema)
        self.sources.append(selected.plan)
        self.spans.append(span(node))

    def _name(
        self,
        node: exp.Expr,
        name: str,
        names: tuple[str, ...],
        values: Sequence[Expression],
        schema: tuple[str, str] | None = None,
    ) -> None:
        """Put a source in scope under its alias, its columns under theirs.

        `schema` are the catalog and schema of a table, which its alias hides.
        """
        alias = node.args.get("alias")
        if alias is not None:
            require_args(alias, "this", "columns")
            aliases = [column.name for column in alias.args.get("columns") or []]
            if len(aliases) > len(names):
                raise SyntaxFault(
                    f"{alias.name} has {len(names)} columns, and {len(aliases)} are named",
                    at=span(node),
                )
            name, names = alias.name or name, (*aliases, *names[len(aliases) :])
            schema = schema if not alias.name else None
        names = distinct_names(names)
        folded = (shown.casefold() for shown in names)
        by_name = dict(zip(folded, values, strict=True))
        self.scope.add(Relation(name, by_name, names, schema), span(node))

    def _join(self, node: exp.Join) -> None:
        require_args(node, "this", "on", "using", "kind", "side", "method")
        side, kind, method = join_words(node)
        if isinstance(node.this, exp.Lateral):
            side = side_of_lateral(node, side)
        before, earlier, conditions = list(self.scope.relations), len(self.sources), len(self.on)
        merged = dict(self.scope.merged)
        self._joined(node.this, whole=bool(side) or kind in SEMI_ANTI)
        if node.args.get("on") is not None:
            binder = ExpressionBinder(self.scope, no_aggregate_in_join, self.context.parameters)
            self.on += conjuncts(binder.condition(node.args["on"]))
        shared = node.args.get("using") or []
        if method:
            known = Scope(before, dict(self.scope.merged))
            shared = shared_names(known, self.scope.relations[len(before) :], node)
        for name in shared:
            self._using(name, before, side)
        if side or kind in SEMI_ANTI:
            self._check_around(conditions)
        if kind in SEMI_ANTI:
            self._semi_or_anti_join(node, kind, earlier, conditions)
            self.scope.relations[:], self.scope.merged = before, merged
        elif side:
            self._outer(node, side, earlier, conditions)
        elif not kind and not shared and node.args.get("on") is None:
            self.commas = True

    def _semi_or_anti_join(self, node: exp.Join, kind: str, earlier: int, conditions: int) -> None:
        """Keep the rows of the `earlier` first sources that have a partner, or that have none."""
        on = tuple(self.on[conditions:])
        (relation,) = self.sources[earlier:]
        before = tuple(self.on[:conditions])
        # (a, b) SEMI JOIN c ON b.x = c.x: a's rows multiply those of b that stay.
        index = self._only_source_read(on, earlier)
        source = self._inner(earlier, before) if index is None else self.sources[index]
        count = 1 if index is None else earlier
        del self.sources[count:], self.spans[count:]
        self.sources[index or 0] = semi_join(node, kind, source, relation, on, self.context.names)
        self.on = [] if index is None else list(before)

    def _outer(self, node: exp.Join, side: str, earlier: int, conditions: int) -> None:
        """Replace the sources that the condition reads, or all up to here, by an outer join."""
        on, (right,) = tuple(self.on[conditions:]), self.sources[earlier:]
        before = tuple(self.on[:conditions])
        index = self._only_source_read(on, earlier)
        if side == "LEFT" and index is not None:
            # (a, b) LEFT JOIN c ON b.x = c.x: a's rows multiply both sides alike.
            left, waiting = self.sources[index], before
        else:
            if self.commas and side != "LEFT":
                what = f"{side} JOIN after a comma"
                raise unsupported(node, what, "write CROSS JOIN instead of ,")
            index, waiting, left = 0, (), self._inner(earlier, before)
            del self.sources[1:earlier], self.spans[1:earlier]
        if side == "RIGHT":
            left, right = right, left
        kind = OuterKind.FULL if side == "FULL" else OuterKind.LEFT
        qualified = self.scope.qualified
        joined = outer_join(node, kind, left, right, on, self.context.names, qualified)
        self.sources[index], self.spans[index] = joined, span(node)
        del self.sources[-1], self.spans[-1]
        self.on = list(waiting)

    def _only_source_read(self, on: tuple[Expression, ...], count: int) -> int | None:
        """The index of the only one of the first `count` sources that `on` reads; else None."""
        read = columns(*on)
        indices = [n for n, s in enumerate(self.sources[:count]) if read & set(output_columns(s))]
        return indices[0] if len(indices) == 1 else None

    def _inner(self, count: int, on: tuple[Expression, ...]) -> Plan:
        """The first `count` sources as an inner join on `on`."""
        if count == 1:
            return Filter(self.sources[0], conjunction(on)) if on else self.sources[0]
        joined = Join(tuple(self.sources[:count]), on)
        self._check_units(joined)
        return joined

    def _using(self, name: exp.Expr, before: list[Relation], side: str) -> None:
        """Equate the column `name` of both sides; unqualified, it means the preserved side's."""
        at = span(name)
        left = Scope(before, dict(self.scope.merged)).resolve(name.name, (), at)
        right = Scope(self.scope.relations[len(before) :]).resolve(name.name, (), at)
        binder = ExpressionBinder(self.scope, no_aggregate_in_join, self.context.parameters)
        a, b = binder.unify([left, right], [name, name])
        self.on.append(Compare(Comparison.EQUAL, a, b))
        self.scope.merged[name.name.casefold()] = Merged.of(side, (left, right), (a, b))
