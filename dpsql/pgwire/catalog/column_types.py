"""The types of a catalogue query's columns, as PostgreSQL describes them: from the text alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct
from sqlglot import exp

from dpsql.pgwire.catalog.relations import relations, types
from dpsql.pgwire.catalog.return_types import (
    FUNCTIONS,
    LIKE_FIRST,
    RANKED,
    TABLES,
    cast_kind,
    element_type,
    function_name,
    number_kind,
    resolve_unknown,
)
from dpsql.pgwire.codec.oid import TEXT, Column
from dpsql.pgwire.error_response import TooLarge
from dpsql.pgwire.sql.column_labels import label


class _Known(Struct, frozen=True):
    """A column in scope: the name or alias of its table, its own name, and its type in pg_type."""

    table: str
    name: str
    type: str


_MAX_LISTED: Final = 1664
"""PostgreSQL's limit of columns in a SELECT list; each query in WITH could double their number."""

_MAX_IN_SCOPE: Final = 20_000


class _Scope:
    """The columns that an expression can name, those of earlier tables first.

    `ctes` are the columns of WITH queries, as pairs of name and type; `outer` is the scope of the
    query around, None at the top.
    """

    def __init__(
        self, ctes: Mapping[str, tuple[tuple[str, str], ...]], outer: _Scope | None = None
    ) -> None:
        self.columns: list[_Known] = []
        self.ctes = ctes
        self.outer = outer
        self._types: dict[tuple[str, str], str] = {}

    def add(self, known: _Known) -> None:
        """Add a column; of several with the same name, that name means the first."""
        if len(self.columns) >= _MAX_IN_SCOPE:
            raise _too_many()
        self.columns.append(known)
        for table in (known.table, ""):
            self._types.setdefault((table, known.name.lower()), known.type)

    def type_of(self, column: exp.Column) -> str:
        name, table = column.name.lower(), column.table.lower()
        kind = self._types.get((table, name))
        if kind is not None:
            return kind
        if self.outer is not None:
            return self.outer.type_of(column)
        return FUNCTIONS.get(name, "text")


def columns(tree: exp.Expr, parameters: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns of a query of the catalogue; `parameters` are names of types by number."""
    outputs = _Typing(parameters).query(tree, {}, None)
    listed = types()
    return tuple(
        Column(name, listed[kind].oid if kind in listed and kind != "unknown" else TEXT)
        for name, kind in outputs
    )


def _too_many() -> TooLarge:
    return TooLarge(
        f"a question of the catalogue has at most {_MAX_LISTED:,} columns", hint="ask for fewer"
    )


class _Typing:
    """Derives names and types of columns; `parameters` are names of types by number."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self._parameters = parameters

    def query(
        self, tree: exp.Expr, ctes: Mapping[str, tuple[tuple[str, str], ...]], outer: _Scope | None
    ) -> tuple[tuple[str, str], ...]:
        known = dict(ctes)
        with_ = tree.args.get("with_") or tree.args.get("with")
        for cte in with_.expressions if with_ is not None else ():
            inner = (
                cte.this.this
                if with_ is not None and with_.recursive and isinstance(cte.this, exp.SetOperation)
                else cte.this
            )
            outputs = self.query(inner, known, outer)
            names = [c.name for c in cte.args["alias"].columns]
            known[cte.alias.lower()] = tuple(
                (names[n] if n < len(names) else name, kind)
                for n, (name, kind) in enumerate(outputs)
            )
        match tree:
            case exp.SetOperation():
                left = self.query(tree.this, known, outer)
                right = self.query(tree.expression, known, outer)
                return tuple(
                    (name, other if kind == "unknown" else kind)
                    for (name, kind), (_, other) in zip(left, right, strict=False)
                )
            case exp.Subquery() | exp.Paren():
                return self.query(tree.this, known, outer)
            case exp.Values():
                first = tree.expressions[0]
                items = first.expressions if isinstance(first, exp.Tuple) else [first]
                scope = _Scope(known, outer)
                return tuple((f"column{n}", self.kind(i, scope)) for n, i in enumerate(items, 1))
            case exp.Select():
                return self._select(tree, known, outer)
            case _:
                return ()

    def _select(
        self,
        tree: exp.Select,
        ctes: Mapping[str, tuple[tuple[str, str], ...]],
        outer: _Scope | None,
    ) -> tuple[tuple[str, str], ...]:
        scope = _Scope(ctes, outer)
        from_ = tree.args.get("from_") or tree.args.get("from")
        sources = [] if from_ is None else [from_.this]
        sources += [join.this for join in tree.args.get("joins") or ()]
        sources += tree.args.get("laterals") or ()
        for source in sources:
            for known in list(self._source(source, scope)):
                scope.add(known)
        outputs: list[tuple[str, str]] = []
        for item in tree.expressions:
            if item.is_star:
                table = item.table.lower() if isinstance(item, exp.Column) else ""
                outputs += [
                    (k.name, k.type) for k in scope.columns if not table or k.table == table
                ]
            else:
                outputs.append((label(item), self.kind(item, scope)))
            if len(outputs) > _MAX_LISTED:
                raise _too_many()
        return tuple(outputs)

    def _source(self, source: exp.Expr, scope: _Scope) -> Iterator[_Known]:
        alias = source.alias_or_name.lower()
        names = source.alias_column_names
        if isinstance(source, exp.Table) and not isinstance(source.this, exp.Func):
            listed = self._table(source, scope)
            for join in source.args.get("joins") or ():
                yield from self._source(join.this, scope)
        elif isinstance(source, exp.Subquery | exp.Paren):
            if not isinstance(source.this, exp.Query) or isinstance(source.this, exp.Subquery):
                # Parentheses around a join.
                yield from self._source(source.this, scope)
                for join in source.args.get("joins") or ():
                    yield from self._source(join.this, scope)
                return
            listed = self.query(source.this, scope.ctes, scope)
        else:
            listed = self._function(source, alias, scope)
        for n, (name, kind) in enumerate(listed):
            yield _Known(alias, names[n] if n < len(names) else name, kind)
        if isinstance(source, exp.Subquery):
            for join in source.args.get("joins") or ():
                yield from self._source(join.this, scope)

    def _table(self, source: exp.Table, scope: _Scope) -> tuple[tuple[str, str], ...]:
        name, space = source.name.lower(), source.text("db").lower()
        if not space and name in scope.ctes:
            return scope.ctes[name]
        relation = relations().get((space or "pg_catalog", name))
        return () if relation is None else tuple((a.name, a.type) for a in relation.attributes)

    def _function(self, source: exp.Expr, alias: str, scope: _Scope) -> tuple[tuple[str, str], ...]:
        called = source.this if isinstance(source, exp.Table | exp.Lateral) else source
        while isinstance(called, exp.Dot | exp.Subquery):
            called = called.expression if isinstance(called, exp.Dot) else called.this
        if isinstance(called, exp.Query):
            return self.query(called, scope.ctes, scope)
        if isinstance(called, exp.Values):
            return self.query(called, scope.ctes, scope)
        name = function_name(called)
        if name in TABLES:
            return TABLES[name]
        kind = self.kind(called, scope)
        numbered = source.args.get("ordinality") or source.args.get("offset")
        column = alias or name, kind
        return (column, ("ordinality", "int8")) if numbered else (column,)

    def kind(  # noqa: C901, PLR0911, PLR0912 - one arm for each kind of expression
        self, node: exp.Expr, scope: _Scope
    ) -> str:
        """The name in pg_type of the type of `node`; `unknown` for a quoted constant or NULL."""
        match node:
            case exp.Alias() | exp.Paren() | exp.Collate() | exp.Filter() | exp.Window():
                return self.kind(node.this, scope)
            case exp.Order() | exp.Distinct() | exp.WithinGroup() | exp.Ordered():
                return self.kind(node.this or node.expressions[0], scope)
            case exp.Column():
                return scope.type_of(node)
            case exp.Cast():
                return cast_kind(node.to)
            case exp.Literal():
                return "unknown" if node.is_string else number_kind(node.this)
            case exp.Null():
                return "unknown"
            case exp.Parameter() | exp.Placeholder():
                return self._parameters.get(node.name, "text")
            case exp.Boolean() | exp.Predicate() | exp.Connector() | exp.Not() | exp.Exists():
                return "bool"
            case exp.Operator():
                return "bool" if "~" in node.args["operator"] else self.kind(node.this, scope)
            case exp.Case():
                arms = [arm.args["true"] for arm in node.args["ifs"]]
                default = node.args.get("default")
                return self._first([*([default] if default is not None else []), *arms], scope)
            case exp.Subquery() | exp.Query():
                outputs = self.query(node, scope.ctes, scope)
                return outputs[0][1] if outputs else "text"
            case exp.DPipe() | exp.Concat() | exp.ArrayConcat():
                return "text"
            case exp.Dot():
                return self._dotted(node, scope)
            case exp.Array():
                query = node.expressions[0] if node.expressions else None
                if query is None:
                    return "_text"
                return "_" + resolve_unknown(self.kind(query, scope))
            case exp.Bracket():
                return self._item(node, scope)
            case exp.Neg():
                return self.kind(node.this, scope)
            case exp.Binary() if not isinstance(node, exp.ArrayPosition):
                return self._number(node, scope)
            case exp.Unnest() | exp.Explode():
                inner = node.expressions[0] if node.expressions else node.this
                return element_type(self.kind(inner, scope))
            case exp.Func():
                return self._call(node, scope)
            case _:
                return "text"

    def _dotted(self, node: exp.Dot, scope: _Scope) -> str:
        if isinstance(node.expression, exp.Func):
            return self.kind(node.expression, scope)
        return {"n": "int4", "x": "int2"}.get(node.expression.name.lower(), "text")

    def _item(self, node: exp.Bracket, scope: _Scope) -> str:
        kind = self.kind(node.this, scope)
        return kind if isinstance(node.expressions[0], exp.Slice) else element_type(kind)

    def _call(self, node: exp.Func, scope: _Scope) -> str:
        name = function_name(node)
        arguments = [
            a for a in [node.args.get("this"), *node.expressions] if isinstance(a, exp.Expr)
        ]
        if name in {"array_agg", "arrayagg"}:
            return "_" + resolve_unknown(self.kind(arguments[0], scope))
        if name == "unnest":
            return element_type(self.kind(arguments[0], scope))
        if name in LIKE_FIRST:
            kind = self._first(arguments, scope)
            return "int8" if name == "sum" and kind in {"int2", "int4"} else kind
        return FUNCTIONS.get(name, "text")

    def _number(self, node: exp.Binary, scope: _Scope) -> str:
        kinds = [self.kind(node.this, scope), self.kind(node.expression, scope)]
        known = [k for k in kinds if k in RANKED]
        return max(known, key=RANKED.index) if known else resolve_unknown(kinds[0])

    def _first(self, nodes: list[exp.Expr], scope: _Scope) -> str:
        kinds = [k for k in (self.kind(node, scope) for node in nodes) if k != "unknown"]
        if kinds and all(k in RANKED for k in kinds):
            return max(kinds, key=RANKED.index)
        of_objects = [kind for kind in kinds if kind in {"oid", "regproc"}]
        if of_objects and all(kind in of_objects or kind in RANKED for kind in kinds):
            return min(of_objects)  # PostgreSQL prefers OIDs to numbers
        return kinds[0] if kinds else "text"
