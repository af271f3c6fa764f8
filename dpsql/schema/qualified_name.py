"""Names of tables with and without a schema, in the sense of SQL, and which table a name means.

`sales.orders` is the table orders of the schema sales. A name without a schema is of main, which
PostgreSQL calls public: main and public are one schema. Above the schemas there is one catalogue,
the dataset: `shop.sales.orders`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

MAIN: Final = "main"
"""The schema of names without one, as DuckDB calls it."""

PUBLIC: Final = "public"
"""The same schema, as PostgreSQL calls it."""


def schema_of(name: str) -> str:
    """The schema in the name of a declared table or view; main if it names none, or public."""
    space, dot, _ = name.rpartition(".")
    return space if dot and space.casefold() != PUBLIC else MAIN


def bare(name: str) -> str:
    """The name of a table within its schema."""
    return name.rpartition(".")[2]


def identity(name: str) -> tuple[str, str]:
    """Folded schema and table, equal for names of one table: orders, public.orders, MAIN.Orders."""
    return schema_of(name).casefold(), bare(name).casefold()


class QualifiedNames:
    """Declared names, indexed to resolve the names that statements write."""

    def __init__(self, names: Iterable[str]) -> None:
        # For each folded name of a table: the declared name in each folded schema.
        self._by_bare_name: dict[str, dict[str, str]] = {}
        for name in names:
            space, own = identity(name)
            self._by_bare_name.setdefault(own, {})[space] = name

    def resolve(self, parts: Sequence[str], dataset: str) -> tuple[str, ...]:
        """The declared names that a statement's `parts` (table, schema.table, …) may mean.

        A name without a schema is looked up in main first, then in all other schemas. Several names
        are an ambiguity, none is an unknown table.
        """
        *around, table = [part.casefold() for part in parts]
        table_in = self._by_bare_name.get(table, {})
        match around:
            case []:
                return (table_in[MAIN],) if MAIN in table_in else tuple(table_in.values())
            case [space]:
                declared = table_in.get(MAIN if space == PUBLIC else space)
                if declared is None and space == dataset.casefold():
                    declared = table_in.get(MAIN)  # catalog.table, as DuckDB has it
            case [catalogue, space] if catalogue == dataset.casefold():
                declared = table_in.get(MAIN if space == PUBLIC else space)
            case _:
                declared = None
        return () if declared is None else (declared,)


def resolve_name(names: Iterable[str], parts: Sequence[str], dataset: str) -> tuple[str, ...]:
    """The declared `names` that a statement's `parts` may mean; for a single lookup."""
    own = parts[-1].casefold()
    return QualifiedNames(name for name in names if bare(name).casefold() == own).resolve(
        parts, dataset
    )
