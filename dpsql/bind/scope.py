"""Names → columns, as DuckDB resolves them: without regard to case, aliases hiding table names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from sqlglot import exp

from dpsql.errors import AmbiguousColumn, Span, SyntaxFault, UnknownColumn, UnknownTable
from dpsql.plan.expression import Column
from dpsql.schema.qualified import MAIN, PUBLIC


@dataclass(frozen=True, slots=True)
class Relation:
    """A named source in FROM and its columns by casefolded name."""

    name: str
    columns: dict[str, Column]
    shown: tuple[str, ...] = ()
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
    def named(self) -> list[tuple[str, Column]]:
        """Names and columns, in order."""
        shown = self.shown or tuple(column.name for column in self.columns.values())
        return [(name, self.columns[name.casefold()]) for name in shown]


def table_of(node: exp.Column) -> tuple[str, ...]:
    """The parts of the table's name that stand before a column's: none, or up to three."""
    return tuple(part for part in (node.catalog, node.db, node.table) if part)


@dataclass(slots=True)
class Scope:
    """The relations that a SELECT's expressions can name."""

    relations: list[Relation] = field(default_factory=list)
    merged: dict[str, Column] = field(default_factory=dict)
    """Columns joined by USING: unqualified, they mean the left side's."""
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
        for name, column in other.merged.items():
            if Scope(self.relations).knows(name, ()):
                self.merged.pop(name, None)  # it means a column of each
            else:
                self.merged[name] = column
        for relation in other.relations:
            self.add(relation, at)
        self.correlated |= other.correlated

    def resolve(self, name: str, table: Sequence[str], at: Span | None) -> Column:
        """The column that `name` means, or that of `table`, here or in the query around."""
        if self.parent is not None and not self.knows(name, table):
            column = self.parent.resolve(name, table, at)
            self.correlated.add(column)
            return column
        folded = name.casefold()
        if table:
            return self._qualified(folded, table, at)
        if folded in self.merged:
            return self.merged[folded]
        found = [r.columns[folded] for r in self.relations if folded in r.columns]
        if len(found) > 1:
            owners = [self._told(r) for r in self.relations if folded in r.columns]
            raise AmbiguousColumn(
                f"column {name} is ambiguous: {' and '.join(owners)} have it",
                at=at,
                hint=f"write {owners[0]}.{name}",
            )
        if not found:
            raise UnknownColumn(f"there is no column {name}", at=at, hint=self._similar(folded))
        return found[0]

    def knows(self, name: str, table: Sequence[str]) -> bool:
        """A relation of this scope is called `table`, or has a column `name`."""
        if table:
            return any(relation.is_called(table) for relation in self.relations)
        folded = name.casefold()
        return folded in self.merged or any(folded in r.columns for r in self.relations)

    def expand(self, table: Sequence[str], at: Span | None) -> list[tuple[str, Column]]:
        """The columns that `*` or `table.*` means, with their names, in order."""
        if not table:
            seen: list[tuple[str, Column]] = []
            for relation in self.relations:
                for name, column in relation.named:
                    folded = name.casefold()
                    if folded in self.merged and self.merged[folded] != column:
                        continue
                    seen.append((name, column))
            return seen
        return self._relation(table, at).named

    def qualified(self, column: Column) -> str:
        """`table.column`, as the statement can write it."""
        for relation in self.relations:
            if column in relation.columns.values():
                return f"{self._told(relation)}.{column.name}"
        return column.name

    def _told(self, relation: Relation) -> str:
        """A relation's name as the statement can write it, with its schema if another has it."""
        folded = relation.name.casefold()
        several = sum(other.name.casefold() == folded for other in self.relations) > 1
        if relation.around is None or not several:
            return relation.name
        return f"{relation.around[1]}.{relation.name}"

    def _qualified(self, folded: str, table: Sequence[str], at: Span | None) -> Column:
        relation = self._relation(table, at)
        if folded not in relation.columns:
            near = get_close_matches(folded, relation.columns, n=1)
            raise UnknownColumn(
                f"{relation.name} has no column {folded}",
                at=at,
                hint=f"did you mean {relation.name}.{near[0]}?" if near else "",
            )
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
                hint=f"write {' or '.join(map(self._told, found))}",
            )
        names = ", ".join(map(self._told, self.relations))
        raise UnknownTable(
            f"no table {name} in FROM", at=at, hint=f"FROM names {names}" if names else ""
        )

    def _similar(self, folded: str) -> str:
        known = {name: c.name for r in self.relations for name, c in r.columns.items()}
        near = get_close_matches(folded, known, n=1)
        return f"did you mean {known[near[0]]}?" if near else ""
