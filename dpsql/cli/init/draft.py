"""A dataset's tables before their owner has decided on privacy: names, types, declared keys."""

from __future__ import annotations

from enum import Enum
from typing import Final

from msgspec import Struct

from dpsql.engine.source import PLAIN_CSV, CsvForm


class Origin(Enum):
    """Where the tables are."""

    FILES = "files"
    POSTGRES = "postgres"
    SPARK = "spark"


TEXT: Final = "text"
SAMPLED: Final = "text of that type"
"""Source types of a CSV file's column: just text, or text whose first rows have one type."""


class DraftColumn(Struct, frozen=True):
    """A column; `type` is None where dpsql doesn't support `source_type`, the source's type.

    `bounds` are those that an owner has declared elsewhere, as YAML has them. `references` is
    table.column.
    """

    name: str
    type: str | None
    source_type: str = ""
    bounds: tuple[str, str] | None = None
    nullable: bool = True
    references: str | None = None
    comment: str = ""


class DraftTable(Struct, frozen=True):
    """A table; `unit` is the privacy unit that is declared elsewhere, None if it is to be decided.

    `max_rows` is how many rows a unit has at most, None where that isn't declared. `csv` says how a
    CSV file is written. `is_public`: its rows are nobody's; `is_calibrated`: ladders choose limits.
    """

    name: str
    columns: tuple[DraftColumn, ...]
    key: tuple[str, ...] | None = None
    unit: str | None = None
    max_rows: int | None = None
    is_public: bool = False
    is_calibrated: bool = False
    comment: str = ""
    csv: CsvForm = PLAIN_CSV


class Draft(Struct, frozen=True):
    """A dataset's draft.

    `units` are kinds of units that are declared elsewhere, each with its table and key. `origin`
    names what the draft was made from, for a comment. `sample` is how many rows of each
    CSV file were read, None for none. `kind` says what the source is: of what isn't files, only the
    owner can state the data's version.
    """

    dataset: str
    source: str
    origin: str
    tables: tuple[DraftTable, ...]
    units: tuple[tuple[str, str, str], ...] = ()
    sample: int | None = None
    kind: Origin = Origin.FILES
