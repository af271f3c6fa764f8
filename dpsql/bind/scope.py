"""Names → columns, as DuckDB resolves them: without regard to case, aliases hiding table names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Final, Self, TypedDict

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.tokenizer_core import TokenType

from dpsql.bind.syntax.parse import span
from dpsql.errors import AmbiguousColumn, Span, SyntaxFault, UnknownColumn, UnknownTable
from dpsql.plan.expression import Case, Column, Expression, IsNull, When
from dpsql.plan.traversal import columns
from dpsql.schema.qualified_name import MAIN, PUBLIC

_SHOWN: Final = 20
"""Of so many columns all are named where another is asked for."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A named source in FROM and its columns, or what stands for them, by casefolded name."""

    name: str
    columns: dict[str, Expression]
    shown: tuple[str, ...]
    """The columns' names as they were given, in order."""
    around: tuple[str, str] | None = None
    """The catalogue and schema of a table under its own name, casefolded."""

    def is_called(self, parts: Sequence[str]) -> bool:
        """Whether `parts` (table, schema.table, catalog.schema.table) name it."""
        *outer, name = (part.casefold() for part in parts)
        if name != self.name.casefold():
            return False
        spaces = [MAIN if part == PUBLIC else part for part in outer[-1:]]
        whole = (*outer[:-1], *spaces)
        return not outer or (self.around is not None and self.around[2 - len(whole) :] == whole)

    @property
    def named(self) -> list[tuple[str, Expression]]:
        """Names and columns, in order."""
        return [(name, self.columns[name.casefold()]) for name in self.shown]


@dataclass(frozen=True, slots=True)
class Merged:
    """What a name means that USING joined by: `expression`, in the place of `columns`."""

    expression: Expression
    columns: frozenset[Column]

    @classmethod
    def of(
        cls, side: str, both: tuple[Expression, Expression], unified: tuple[Expression, Expression]
    ) -> Self:
        """The value of the side that stays whole; where both do, of whichever row is there."""
        (left, right), (a, b) = both, unified
        either = Case((When(IsNull(a), b),), a, a.type)
        meant = {"FULL": either, "RIGHT": right}.get(side, left)
        return cls(meant, columns(left, right))


@dataclass(frozen=True, slots=True)
class ResolvedColumn:
    """One column that `*` stands for, and the relation that has it."""

    relation: Relation
    name: str
    expression: Expression

    def is_called(self, node: exp.Expr) -> bool:
        """Whether `node`, a name with its table's or without, means it."""
        table = table_of(node) if isinstance(node, exp.Column) else ()
        same = node.name.casefold() == self.name.casefold()
        return same and (not table or self.relation.is_called(table))


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """`names` as a derived table has them: of those that are equal, later ones are numbered.

    SELECT id, v AS id, w AS ID: id, id_1, ID_2.
    """
    taken: dict[str, int] = {}
    found: list[str] = []
    for name in names:
        shown = name
        while shown.casefold() in taken:
            shown = f"{name}_{taken[name.casefold()]}"
            taken[name.casefold()] += 1
        taken[shown.casefold()] = 1
        found.append(shown)
    return tuple(found)


def table_of(node: exp.Column) -> tuple[str, ...]:
    """The parts of the table's name that stand before a column's: none, or up to three."""
    return tuple(part for part in (node.catalog, node.db, node.table) if part)


@dataclass(slots=True)
class Scope:
    """The relations that a SELECT's expressions can name."""

    relations: list[Relation] = field(default_factory=list)
    merged: dict[str, Merged] = field(default_factory=dict)
    """Names that USING joined by, casefolded, where they stand without a table."""
    parent: Scope | None = None
    """The scope of the query around this one, for names that mean nothing here."""
    correlated: set[Column] = field(default_factory=set)
    """The columns that were found there."""

    def add(self, relation: Relation, at: Span | None) -> None:
        """Put `relation` in scope; its name must be new."""
        folded = relation.name.casefold()
        same = (other for other in self.relations if other.name.casefold() == folded)
        # sales.orders and hr.orders are told apart by their schemas.
        if any(None in (r.around, relation.around) or r.around == relation.around for r in same):
            raise SyntaxFault(
                f"table name {relation.name} stands twice in FROM",
                at=at,
                hint=f"give one of them an alias: {relation.name} AS {relation.name}_2",
            )
        self.relations.append(relation)

    def take(self, other: Scope, at: Span | None) -> None:
        """Put the relations of `other` in scope, with the names that mean one column of theirs."""
        for name, merged in other.merged.items():
            if Scope(self.relations).knows(name, ()):
                self.merged.pop(name, None)  # it means a column of each
            else:
                self.merged[name] = merged
        for relation in other.relations:
            self.add(relation, at)
        self.correlated |= other.correlated

    def resolve(self, name: str, table: Sequence[str], at: Span | None) -> Expression:
        """What `name` means, or the column of `table`, here or in the query around."""
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
        having = [r for r in self.relations if folded in r.columns]
        found = [r.columns[folded] for r in having]
        if len(found) > 1:
            owners = [self._candidates(r) for r in having]
            raise AmbiguousColumn(
                f"column {name} is ambiguous: {' and '.join(owners)} have it",
                at=at,
                hint=f"write {owners[0]}.{name}",
            )
        if not found:
            every = (shown for relation in self.relations for shown in relation.shown)
            what = f"there is no column {name}"
            raise UnknownColumn(what, at=at, **near_columns(folded, every))
        return found[0]

    def knows(self, name: str, table: Sequence[str]) -> bool:
        """A relation of this scope is called `table`, or has a column `name`."""
        if table:
            return any(relation.is_called(table) for relation in self.relations)
        folded = name.casefold()
        return folded in self.merged or any(folded in r.columns for r in self.relations)

    def expand(
        self, table: Sequence[str], at: Span | None, without: Sequence[exp.Expr] = ()
    ) -> list[ResolvedColumn]:
        """The columns that `*` or `table.*` means, in order, but for those named in `without`.

        By `*`, merged ones are there once.
        """
        relations = [self._relation(table, at)] if table else self.relations
        every = [ResolvedColumn(r, name, column) for r in relations for name, column in r.named]
        for left_out in without:
            kept = [one for one in every if not one.is_called(left_out)]
            if len(kept) == len(every):
                what = f"there is no column {left_out.sql()} among those of *"
                near = near_columns(left_out.name, (one.name for one in every))
                raise UnknownColumn(what, at=span(left_out), **near)
            every = kept
        if table:
            return every
        found: list[ResolvedColumn] = []
        hidden: set[Expression] = set()
        for one in every:
            merged = self.merged.get(one.name.casefold())
            if merged is None or one.expression not in merged.columns:
                found.append(one)
            elif one.expression not in hidden:
                found.append(replace(one, expression=merged.expression))
                hidden |= merged.columns
        return found

    def qualified(self, column: Column) -> str:
        """`table.column`, as the statement can write it."""
        for relation in self.relations:
            if column in relation.columns.values():
                return f"{self._candidates(relation)}.{column.name}"
        return column.name

    def _candidates(self, relation: Relation) -> str:
        """A relation's name as the statement can write it, with its schema if another has it."""
        folded = relation.name.casefold()
        several = sum(other.name.casefold() == folded for other in self.relations) > 1
        if relation.around is None or not several:
            return relation.name
        return f"{relation.around[1]}.{relation.name}"

    def _qualified(self, folded: str, table: Sequence[str], at: Span | None) -> Expression:
        relation = self._relation(table, at)
        if folded not in relation.columns:
            near = near_columns(folded, relation.shown, f"{relation.name}.")
            raise UnknownColumn(f"{relation.name} has no column {folded}", at=at, **near)
        return relation.columns[folded]

    def _relation(self, table: Sequence[str], at: Span | None) -> Relation:
        found = [relation for relation in self.relations if relation.is_called(table)]
        if len(found) == 1:
            return found[0]
        name = ".".join(table)
        if found:
            raise UnknownTable(
                f"{name} is in FROM more than once",
                at=at,
                hint=f"write {' or '.join(map(self._candidates, found))}",
            )
        names = ", ".join(map(self._candidates, self.relations))
        raise UnknownTable(
            f"no table {name} in FROM", at=at, hint=f"FROM names {names}" if names else ""
        )


class Advice(TypedDict):
    """What an error says to write instead, and what of it can be written as it is."""

    hint: str
    fix: str


def near_columns(name: str, there: Iterable[str], of: str = "") -> Advice:
    """Which of the columns that are `there` may be meant by `name`, or the first of them all.

    What is meant is written behind `of`, its table and a dot.
    """
    known = {column.casefold(): column for column in there}
    near = get_close_matches(name.casefold(), known, n=1)
    if near:
        meant = f"{of}{quoted_name(known[near[0]])}"
        return Advice(hint=f"did you mean {meant}?", fix=meant)
    more = ", …" if len(known) > _SHOWN else ""
    return Advice(
        hint=f"columns: {', '.join(list(known.values())[:_SHOWN])}{more}" if known else "", fix=""
    )


def quoted_name(name: str) -> str:
    """`name` as a statement can write it: between quotes, unless it is a plain word."""
    words = DuckDB().tokenize(name) if name.isidentifier() else []
    is_plain = len(words) == 1 and words[0].token_type is TokenType.VAR
    return name if is_plain else exp.to_identifier(name, quoted=True).sql(dialect="duckdb")
