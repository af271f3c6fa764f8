"""What a column's name refers to: tables, WITH, subqueries, VALUES, series, output names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sqlglot import exp

from dpsql.pgwire.sql.column_labels import label
from dpsql.pgwire.sql.types.pg_type import Kind, common, of_column
from dpsql.pgwire.sql.types.pg_type import series as of_series
from dpsql.schema.model import Schema, Table, View
from dpsql.schema.qualified_name import resolve_name

Column = tuple[str, Kind | None]
Columns = list[Column]


class Missing(LookupError):
    """No column has that name: the binder reports this."""


class Sources:
    """The columns of the sources in FROM; `of` derives the types of expressions."""

    def __init__(self, schema: Schema, of: Callable[[exp.Expr], Kind | None]) -> None:
        self._schema = schema
        self._of = of

    def column(self, node: exp.Column) -> Kind | None:
        """The type of a column, None if it can't be derived; `Missing` if the name is unknown."""
        at: exp.Expr | None = node.parent
        while at is not None:
            kind = self._here(at, node)
            if kind is not None:
                return kind[0]
            at = at.parent
        raise Missing(node.name)

    def knows(self, table: exp.Table) -> bool:
        """Whether `table` is one of the schema's, or a query of WITH."""
        parts = [part for part in (table.catalog, table.db, table.name) if part]
        return _cte(table) is not None or bool(
            resolve_name(self.tables(), parts, self._schema.dataset)
        )

    def tables(self) -> Mapping[str, Table | View]:
        """The schema's tables and views that analysts see, by name."""
        known: dict[str, Table | View] = {**self._schema.tables, **self._schema.views}
        known |= self._schema.visible_tables
        return {name: table for name, table in known.items() if table.visible}

    def has_source(self, node: exp.Column) -> bool:
        """Whether a source that `node` may name is called as the table before its name."""
        return any(_called(source) == node.table.casefold() for source in _around(node))

    def is_row(self, node: exp.Column) -> bool:
        """Whether `node`, a name without a table, is that of a source: its rows as values."""
        return any(_called(source) == node.name.casefold() for source in _around(node))

    def names(self, node: exp.Column) -> list[str]:
        """The names of the columns that `node` may name."""
        table = node.table.casefold()
        sources = (s for s in _around(node) if not table or _called(s) == table)
        return [name for source in sources for name, _ in self._columns(source) or ()]

    def _here(self, at: exp.Expr, node: exp.Column) -> tuple[Kind | None] | None:
        name, table = node.name.casefold(), node.table.casefold()
        if isinstance(at, exp.SetOperation):
            return None if table else _named(self.outputs(at), name)
        if not isinstance(at, exp.Select):
            return None
        kinds: list[Kind | None] = []
        for source in _from(at):
            if table and _called(source) != table:
                continue
            columns = self._columns(source)
            if columns is None:
                return (None,)
            kinds += [kind for column, kind in columns if column.casefold() == name]
        if kinds:
            return (common(kinds),)
        if table:
            return None
        named = (item for item in at.expressions if not item.is_star and label(item) == name)
        outputs = [item for item in named if not _in_scope(node, item)]
        return (self._of(outputs[0]),) if outputs else None

    def outputs(self, query: exp.Expr) -> Columns | None:
        """Names and types of a query's columns; None if they can't be derived."""
        match query:
            case exp.Subquery() | exp.Paren():
                return self.outputs(query.this)
            case exp.SetOperation():
                sides = self.outputs(query.this), self.outputs(query.expression)
                if sides[0] is None or sides[1] is None or len(sides[0]) != len(sides[1]):
                    return None
                return [
                    (name, common((a, b)))
                    for (name, a), (_, b) in zip(sides[0], sides[1], strict=True)
                ]
            case exp.Select():
                return self._selected(query)
            case exp.Values():
                return self._values(query)
            case _:
                return None

    def _selected(self, query: exp.Select) -> Columns | None:
        outputs: Columns = []
        for item in query.expressions:
            if not item.is_star:
                outputs.append((label(item), self._of(item)))
                continue
            table = item.table.casefold() if isinstance(item, exp.Column) else ""
            for source in _from(query):
                if not table or _called(source) == table:
                    columns = self._columns(source)
                    if columns is None:
                        return None
                    outputs += columns
        return outputs

    def _values(self, node: exp.Values) -> Columns | None:
        rows = [
            row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions
        ]
        if len({len(row) for row in rows}) != 1:
            return None
        return [
            (f"column{n}", common(map(self._of, column)))
            for n, column in enumerate(zip(*rows, strict=True), 1)
        ]

    def _columns(self, source: exp.Expr) -> Columns | None:
        columns = self._unnamed(source)
        alias = source.args.get("alias")
        names = [c.name for c in alias.args.get("columns") or []] if alias is not None else []
        if columns is None:
            return None
        if names:
            kinds = [kind for _, kind in columns]
            renamed = list(zip(names, kinds, strict=False))
            return renamed + columns[len(renamed) :]
        if _series(source) is not None and source.alias:
            return [(source.alias, columns[0][1])]
        return columns

    def _unnamed(self, source: exp.Expr) -> Columns | None:
        series = _series(source)
        if series is not None:
            ends = [series.args.get(name) for name in ("start", "end")]
            kind = of_series(self._of(end) for end in ends if end is not None)
            return [("generate_series", kind)]
        match source:
            case exp.Table():
                cte = _cte(source)
                if cte is not None:
                    return self._of_cte(cte)
                parts = (source.catalog, source.db, source.name)
                table = self._schema.resolve(*filter(None, parts))
                if table is None:
                    return None
                return [(name, of_column(c.type)) for name, c in table.columns.items()]
            case exp.Subquery() | exp.Values():
                return self.outputs(source)
            case exp.Lateral():
                return self.outputs(source.this)
            case _:
                return None

    def _of_cte(self, cte: exp.CTE) -> Columns | None:
        columns = self.outputs(cte.this)
        names = [c.name for c in cte.args["alias"].args.get("columns") or []]
        if columns is None or not names:
            return columns
        return [(name, kind) for name, (_, kind) in zip(names, columns, strict=False)] + columns[
            len(names) :
        ]


def _from(select: exp.Select) -> Iterator[exp.Expr]:
    clause = select.args.get("from_")
    if clause is not None:
        yield from _joined(clause.this)
    for join in select.args.get("joins") or []:
        yield from _joined(join.this)


def _joined(source: exp.Expr) -> Iterator[exp.Expr]:
    """`source`, or those of a join in parentheses without an alias; then what is joined to it."""
    is_join = (
        isinstance(source, exp.Subquery)
        and not source.alias
        and not isinstance(source.this, (exp.Select, exp.SetOperation))
    )
    yield from _joined(source.this) if is_join else (source,)
    for join in source.args.get("joins") or []:
        yield from _joined(join.this)


def _around(node: exp.Expr) -> Iterator[exp.Expr]:
    """The sources in FROM of the queries around `node`, from the inside out."""
    at = node.parent
    while at is not None:
        if isinstance(at, exp.Select):
            yield from _from(at)
        at = at.parent


def _called(source: exp.Expr) -> str:
    return (source.alias or source.name).casefold()


def _series(source: exp.Expr) -> exp.Expr | None:
    if isinstance(source, exp.Table) and isinstance(source.this, exp.GenerateSeries):
        return source.this
    return source if isinstance(source, exp.GenerateSeries) else None


def _cte(table: exp.Table) -> exp.CTE | None:
    """The innermost WITH query that a table's name refers to, None if there is none."""
    if table.db:
        return None
    name, at = table.name.casefold(), table.parent
    while at is not None:
        clause = at.args.get("with_")
        for cte in clause.expressions if clause is not None else []:
            if cte.alias.casefold() == name and not _in_scope(table, cte):
                return cte if isinstance(cte, exp.CTE) else None
        at = at.parent
    return None


def _in_scope(node: exp.Expr, outer: exp.Expr) -> bool:
    at: exp.Expr | None = node
    while at is not None and at is not outer:
        at = at.parent
    return at is outer


def _named(columns: Columns | None, name: str) -> tuple[Kind | None] | None:
    if columns is None:
        return (None,)
    kinds = [kind for column, kind in columns if column.casefold() == name]
    return (kinds[0],) if kinds else None
