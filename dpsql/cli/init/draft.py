"""What is known of tables before their owner decides: names, types and declared keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

TEXT: Final = "text"
SAMPLED: Final = "text of that type"
"""What is found of a column of a CSV file: nothing, or what its first rows have in common."""


@dataclass(frozen=True, slots=True)
class DraftColumn:
    """A column; `type` None where dpsql has no rules for `source_type`, the source's own word.

    `bounds` are those that an owner declared elsewhere, as they are to be written.
    """

    name: str
    type: str | None
    source_type: str = ""
    bounds: tuple[str, str] | None = None
    nullable: bool = True
    references: str | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class DraftTable:
    """A table; `unit` is what is declared elsewhere of its owner, None where it is to be decided.

    `max_rows` is how many rows a unit has at most, where that is declared.
    """

    name: str
    columns: tuple[DraftColumn, ...]
    key: tuple[str, ...] | None = None
    unit: str | None = None
    max_rows: int | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A dataset to be; `units` are kinds that are declared elsewhere, with table and key.

    `origin` says what it was made from, in a comment; `sample` how many rows of each CSV file, if
    any were read. `on_server`: nothing tells the version of its data but its owner.
    """

    dataset: str
    source: str
    origin: str
    tables: tuple[DraftTable, ...]
    units: tuple[tuple[str, str, str], ...] = ()
    sample: int | None = None
    on_server: bool = False
