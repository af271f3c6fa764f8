"""Names → columns, as DuckDB resolves them: without regard to case, aliases hiding table names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Self, TypedDict

from msgspec import Struct, field
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.tokenizer_core import TokenType

from dpsql.bind.syntax.parse import span
from dpsql.errors import AmbiguousColumn, Span, SyntaxFault, UnknownColumn, UnknownTable
from dpsql.near_name import near_name
from dpsql.plan.expression import Case, Column, Expression, IsNull, When
from dpsql.plan.expression_text import describe_value
from dpsql.plan.traversal import columns
from dpsql.schema.qualified_name import MAIN, PUBLIC
from dpsql.structs import replace

_SHOWN: Final = 20
"""A hint for an unknown column names as many columns at most."""


class Relation(Struct, frozen=True):
    """A named source in FROM; `columns` has each column, or its value, by casefolded name."""

    name: str
    columns: dict[str, Expression]
    shown: tuple[str, ...]
    """The names of the columns as written or declared, in order."""
    schema: tuple[str, str] | None = None
    """The catalog and schema of a table without an alias, casefolded; None of other sources."""

    def is_called(self, parts: Sequence[str]) -> bool:
        """Whether `parts` (table, schema.table, catalog.schema.table) name it."""
        *outer, name = (part.casefold() for part in parts)
        if name != self.name.casefold():
            return False
        spaces = [MAIN if part == PUBLIC else part for part in outer[-1:]]
        whole = (*outer[:-1], *spaces)
        return not outer or (self.schema is not None and self.schema[2 - len(whole) :] == whole)

    @property
    def named(self) -> list[tuple[str, Expression]]:
        """Names and columns, in order."""
        return [(name, self.columns[name.casefold()]) for name in self.shown]


class Merged(Struct, frozen=True):
    """The meaning of a name of USING without a table: `expression`, for the equal `columns`."""

    expression: Expression
    columns: frozenset[Column]

    @classmethod
    def of(
        cls, side: str, both: tuple[Expression, Expression], unified: tuple[Expression, Expression]
    ) -> Self:
        """The value of the side that the join preserves; of FULL JOIN, of whichever row is there.

        `both` are the two sides' columns, `unified` the same converted to one type.
        """
        (left, right), (a, b) = both, unified
        either = Case((When(IsNull(a), b),), a, a.type)
        meant = {"FULL": either, "RIGHT": right}.get(side, left)
        return cls(meant, columns(left, right))


class ResolvedColumn(Struct, frozen=True):
    """One column that `*` stands for, and the relation that has it."""

    relation: Relation
    name: str
    expression: Expression

    def is_called(self, node: exp.Expr) -> bool:
        """Whether `node`, a name with or without its table's, means this column."""
        table = table_of(node) if isinstance(node, exp.Column) else ()
        same = node.name.casefold() == self.name.casefold()
        return same and (not table or self.relation.is_called(table))


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """`names` as a derived table has them: of equal names, later ones are numbered.

    SELECT id, v AS id, w AS ID: id, id_1, ID_2.
    """
    taken: dict[str, int] = {}
    distinct: list[str] = []
    for name in names:
        shown = name
        while shown.casefold() in taken:
            shown = f"{name}_{taken[name.casefold()]}"
            taken[name.casefold()] += 1
        taken[shown.casefold()] = 1
        distinct.append(shown)
    return tuple(distinct)


def table_of(node: exp.Column) -> tuple[str, ...]:
    """The parts of the table's name that stand before a column's: none, or up to three."""
    return tuple(part for part in (node.catalog, node.db, node.table) if part)


class Scope(Struct):
    """The relations whose columns a SELECT's expressions can name."""

    relations: list[Relation] = field(default_factory=list)
    merged: dict[str, Merged] = field(default_factory=dict)
    """The meaning of each name of USING without a table, by casefolded name."""
    parent: Scope | None = None
    """The scope of the outer query, for names that are unknown here; None without one."""
    correlated: set[Column] = field(default_factory=set)
    """The columns of the outer query that names have been resolved to."""

    def add(self, relation: Relation, at: Span | None) -> None:
        """Put `relation` in scope; its name must be new."""
        folded = relation.name.casefold()
        same = (other for other in self.relations if other.name.casefold() == folded)
        # sales.orders and hr.orders are told apart by their schemas.
        if any(None in (r.schema, relation.schema) or r.schema == relation.schema for r in same):
            raise SyntaxFault(
                f"table name {relation.name} stands twice in FROM",
                at=at,
                hint=f"give one of them an alias: {relation.name} AS {relation.name}_2",
            )
        self.relations.append(relation)

    def take(self, other: Scope, at: Span | None) -> None:
        """Put the relations of `other` in scope, with its meanings of names of USING."""
        for name, merged in other.merged.items():
            if Scope(self.relations).knows(name, ()):
                self.merged.pop(name, None)  # ambiguous: both scopes have it
            else:
                self.merged[name] = merged
        for relation in other.relations:
            self.add(relation, at)
        self.correlated |= other.correlated

    def column(self, node: exp.Column) -> Expression:
        """The column that `node` names, as `resolve` finds it."""
        try:
            return self.resolve(node.name, table_of(node), span(node))
        except UnknownColumn as error:
            advice = or_text(Advice(hint=error.hint, fix=error.fix), node)
            error.hint, error.fix = advice["hint"], advice["fix"]
            raise

    def resolve(self, name: str, table: Sequence[str], at: Span | None) -> Expression:
        """The column `name`, of the relation `table` if it isn't empty, here or in the outer query.

        Raises UnknownTable, UnknownColumn or AmbiguousColumn.
        """
        if self.parent is not None and not self.knows(name, table):
            outer = self.parent.resolve(name, table, at)
            self.correlated |= columns(outer)
            return outer
        folded = name.casefold()
        if table:
            return self._qualified(folded, table, at)
        merged = self.merged.get(folded)
        if merged is not None:
            return merged.expression
        relations = [r for r in self.relations if folded in r.columns]
        matches = [r.columns[folded] for r in relations]
        if len(matches) > 1:
            owners = [self._unambiguous_name(r) for r in relations]
            raise AmbiguousColumn(
                f"column {name} is ambiguous: {' and '.join(owners)} have it",
                at=at,
                hint=f"write {owners[0]}.{name}",
            )
        if not matches:
            every = (shown for relation in self.relations for shown in relation.shown)
            what = f"there is no column {name}"
            raise UnknownColumn(what, at=at, **near_columns(folded, every))
        return matches[0]

    def knows(self, name: str, table: Sequence[str]) -> bool:
        """Whether a relation is called `table`, or, if that is empty, has a column `name`."""
        if table:
            return any(relation.is_called(table) for relation in self.relations)
        folded = name.casefold()
        return folded in self.merged or any(folded in r.columns for r in self.relations)

    def expand(
        self, table: Sequence[str], at: Span | None, without: Sequence[exp.Expr] = ()
    ) -> list[ResolvedColumn]:
        """The columns that `*` or `table.*` means, in order, but for those named in `without`.

        `*` has a column of USING once.
        """
        relations = [self._relation(table, at)] if table else self.relations
        every = [ResolvedColumn(r, name, value) for r in relations for name, value in r.named]
        for left_out in without:
            remaining = [column for column in every if not column.is_called(left_out)]
            if len(remaining) == len(every):
                what = f"there is no column {left_out.sql()} among those of *"
                near = near_columns(left_out.name, (column.name for column in every))
                raise UnknownColumn(what, at=span(left_out), **near)
            every = remaining
        if table:
            return every
        expanded: list[ResolvedColumn] = []
        hidden: set[Expression] = set()
        for column in every:
            merged = self.merged.get(column.name.casefold())
            if merged is None or column.expression not in merged.columns:
                expanded.append(column)
            elif column.expression not in hidden:
                expanded.append(replace(column, expression=merged.expression))
                hidden |= merged.columns
        return expanded

    def qualified(self, column: Column) -> str:
        """`table.column`, as the statement can write it."""
        for relation in self.relations:
            if column in relation.columns.values():
                return f"{self._unambiguous_name(relation)}.{column.name}"
        return column.name

    def _unambiguous_name(self, relation: Relation) -> str:
        """A relation's name, with its schema's if another relation in scope has the same name."""
        folded = relation.name.casefold()
        several = sum(other.name.casefold() == folded for other in self.relations) > 1
        if relation.schema is None or not several:
            return relation.name
        return f"{relation.schema[1]}.{relation.name}"

    def _qualified(self, folded: str, table: Sequence[str], at: Span | None) -> Expression:
        relation = self._relation(table, at)
        if folded not in relation.columns:
            near = near_columns(folded, relation.shown, f"{relation.name}.")
            raise UnknownColumn(f"{relation.name} has no column {folded}", at=at, **near)
        return relation.columns[folded]

    def _relation(self, table: Sequence[str], at: Span | None) -> Relation:
        relations = [relation for relation in self.relations if relation.is_called(table)]
        if len(relations) == 1:
            return relations[0]
        name = ".".join(table)
        if relations:
            raise UnknownTable(
                f"{name} is in FROM more than once",
                at=at,
                hint=f"write {' or '.join(map(self._unambiguous_name, relations))}",
            )
        names = ", ".join(map(self._unambiguous_name, self.relations))
        raise UnknownTable(
            f"no table {name} in FROM", at=at, hint=f"FROM names {names}" if names else ""
        )


class Advice(TypedDict):
    """An error's hint, and its fix: the text that corrects the statement, empty if unknown."""

    hint: str
    fix: str


def near_columns(name: str, names: Iterable[str], of: str = "") -> Advice:
    """Advice to write the one of `names` that is nearest to `name`, or else the first of them.

    `of` is written before it: the name of its table and a dot, or nothing.
    """
    known = {column.casefold(): column for column in names}
    if near := near_name(name, known.values()):
        meant = f"{of}{quoted_name(near)}"
        return Advice(hint=f"did you mean {meant}?", fix=meant)
    more = ", …" if len(known) > _SHOWN else ""
    return Advice(
        hint=f"columns: {', '.join(list(known.values())[:_SHOWN])}{more}" if known else "", fix=""
    )


def or_text(advice: Advice, column: exp.Column) -> Advice:
    """`advice`, or where no name is near, that a text stands between other quotes than `column`."""
    if advice["fix"] or column.table or not column.this.quoted:
        return advice
    text = describe_value(column.name)
    return Advice(hint=f"double quotes are those of names: {text} is a text", fix=text)


def quoted_name(name: str) -> str:
    """`name` as a statement can write it: between quotes, unless it is a plain word."""
    words = DuckDB().tokenize(name) if name.isidentifier() else []
    is_plain = len(words) == 1 and words[0].token_type is TokenType.VAR
    return name if is_plain else exp.to_identifier(name, quoted=True).sql(dialect="duckdb")
