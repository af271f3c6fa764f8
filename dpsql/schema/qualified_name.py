"""Names of tables with and without a schema, in the sense of SQL, and what each of them means.

`sales.orders` is the table orders of the schema sales. One without a schema is of main, which
PostgreSQL calls public: both names mean one schema. Above the schemas there is one catalogue, the
dataset: `shop.sales.orders`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

MAIN: Final = "main"
"""The schema of names without one, as DuckDB calls it."""

PUBLIC: Final = "public"
"""The same, as PostgreSQL calls it."""


def schema_of(name: str) -> str:
    """The schema of a declared table or view: main if it has none, or public."""
    space, dot, _ = name.rpartition(".")
    return space if dot and space.casefold() != PUBLIC else MAIN


def bare(name: str) -> str:
    """The name of a table within its schema."""
    return name.rpartition(".")[2]


def identity(name: str) -> tuple[str, str]:
    """What tells declared names apart: orders, public.orders and MAIN.Orders are one."""
    return schema_of(name).casefold(), bare(name).casefold()


class QualifiedNames:
    """Declared names, to be asked for many times what is meant by the names of statements."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_bare_name: dict[
            str, dict[str, str]
        ] = {}  # by the table's name those of each schema
        for name in names:
            space, own = identity(name)
            self._by_bare_name.setdefault(own, {})[space] = name

    def resolve(self, parts: Sequence[str], dataset: str) -> tuple[str, ...]:
        """Which of them a statement's `parts` (table, schema.table, …) may mean.

        A name without a schema is looked for in main first, then in all others: several answers are
        an ambiguity, none is an unknown table.
        """
        *around, table = [part.casefold() for part in parts]
        table_in = self._by_bare_name.get(table, {})
        match around:
            case []:
                return (table_in[MAIN],) if MAIN in table_in else tuple(table_in.values())
            case [space]:
                found = table_in.get(MAIN if space == PUBLIC else space)
                if found is None and space == dataset.casefold():
                    found = table_in.get(MAIN)  # catalog.table, as DuckDB has it
            case [catalogue, space] if catalogue == dataset.casefold():
                found = table_in.get(MAIN if space == PUBLIC else space)
            case _:
                found = None
        return () if found is None else (found,)


def resolve_name(names: Iterable[str], parts: Sequence[str], dataset: str) -> tuple[str, ...]:
    """Which of the declared `names` a statement's `parts` may mean, asked once."""
    own = parts[-1].casefold()
    return QualifiedNames(name for name in names if bare(name).casefold() == own).resolve(
        parts, dataset
    )
