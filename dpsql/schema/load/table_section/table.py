"""One table of a schema file: its columns, key, limits and owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from dpsql.privacy.over_groups import OverGroups
from dpsql.schema.load.file_format import (
    ColumnSection,
    LimitsSection,
    TableSection,
    fill,
)
from dpsql.schema.load.identifiers import check_names, check_stored
from dpsql.schema.load.table_section.column_types import SourceColumns, column_type, is_delimited
from dpsql.schema.load.table_section.hidden_values import read_local_noise, read_response
from dpsql.schema.load.table_section.unit_path import (
    UnitDeclaration,
    check_reference,
    read_reference,
    resolve_units,
)
from dpsql.schema.load.values import read_bounds, read_values
from dpsql.schema.load.yaml_document import Document, DocumentPath
from dpsql.schema.model import (
    Column,
    EntityUnit,
    Limits,
    Reference,
    Table,
)
from dpsql.schema.source_location import ServerSource, Source
from dpsql.schema.sql_type import Double, Integer, SqlType, Uuid, Varchar
from dpsql.structs import replace

_MAX_LIMIT = 1_000_000_000

CALIBRATED: Final = "calibrated"
"""What stands in place of limits where ladders choose them."""

HIGHEST_CALIBRATED: Final = 2**20
"""The highest limit that is chosen where none is declared."""
_MAX_CHARACTERS = 2**30


def read_table(
    document: Document,
    name: str,
    section: TableSection,
    declarations: Mapping[str, UnitDeclaration],
    source: Source | ServerSource,
    source_columns: SourceColumns | None,
) -> Table:
    """Read one table: undeclared key and unit columns first, then columns in the file's order.

    Key and unit columns need no declaration; any other column of a private table exists only if it
    is declared. `source_columns` is None if the source doesn't exist.
    """
    path = ("tables", name)
    if source_columns is not None and name not in source_columns:
        raise document.unknown_key_error(
            path, "the source has no such table", source_columns, "remove the table"
        )
    claim = declarations[name]
    written = section.columns or {}
    implied: dict[str, object] = {
        column: None for column in claim.first_hop if column not in written
    }
    all_written = implied | written
    check_names(document, (*path, "columns"), all_written)
    reader = _Reader(
        document,
        claim,
        is_delimited(source, name),
        None if source_columns is None else source_columns[name],
    )
    columns = {
        column: reader.column((*path, "columns", column), column, data, declarations)
        for column, data in all_written.items()
    }
    stored = {column: data.stored_as for column, data in columns.items()}
    check_stored(document, (*path, "columns"), stored)
    return Table(
        name=name,
        columns=columns,
        ownership=resolve_units(document, name, declarations),
        key=claim.key,
        limits=read_limits(document, (*path, "limits"), section.limits),
        comment=section.comment,
        visible=section.visible,
        rows=section.rows,
        min_rows=section.at_least,
        resized=section.resize,
        same_unit=claim.same_unit,
    )


def check_types(document: Document, tables: Mapping[str, Table]) -> None:
    """Refuse types of keys, references and unit columns that don't compare exactly, or not alike.

    '7' and '07' are one integer and two texts; NaN and -0.0 make floats no identities. Integers of
    two types may be compared with each other.
    """
    for name, table in tables.items():
        for column in table.columns.values():
            path = ("tables", name, "columns", column.name)
            if column.references is not None:
                to = column.references
                _check_alike(document, path, column.type, tables[to.table], to.column)
            if column.name in (table.key or ()) and isinstance(column.type, Double):
                raise document.error(path, "a float is no key", "remove the key, or use a decimal")
        match table.ownership:
            case EntityUnit(hops=hops) as own:
                for first in own.first_hop_columns:
                    kind = table.columns[first].type
                    if not isinstance(kind, Integer | Uuid | Varchar):
                        raise document.error(
                            ("tables", name, "columns", first),
                            f"{kind} does not identify a unit",
                            "use an integer, a uuid or a varchar",
                        )
                for first, key in hops[0].pairs if hops else ():
                    path = ("tables", name, "columns", first)
                    kind = table.columns[first].type
                    _check_alike(document, path, kind, tables[hops[0].table], key)
            case _:
                pass


def _check_alike(
    document: Document, path: DocumentPath, kind: SqlType, table: Table, key: str
) -> None:
    """Refuse to compare a column of type `kind` with `key` of `table` unless their types match.

    They are one type, or integers that fit a third type: no type of DuckDB's holds all of UHUGEINT
    and -1, and comparing these can fail.
    """
    to = table.columns[key].type
    if kind != to and not (
        isinstance(kind, Integer) and isinstance(to, Integer) and kind.mixes(to)
    ):
        raise document.error(
            path, f"is {kind}, but {table.name}.{key} is {to}", "declare one type for both"
        )


class _Reader(Struct, frozen=True):
    """Reads one table's columns; `source_types` are the source's, None if that doesn't exist."""

    document: Document
    declaration: UnitDeclaration
    is_delimited: bool
    source_types: Mapping[str, str] | None

    def column(
        self, path: DocumentPath, name: str, data: object, claims: Mapping[str, UnitDeclaration]
    ) -> Column:
        form = fill(ColumnSection, self.document, path, data)
        references = self._references(path, name, form, claims)
        kind = self._type(path, name, form, identifies=references is not None)
        if form.bounds is not None and form.values is not None:
            raise self.document.error(path, "has bounds and values", "remove one of them")
        bounds, values = form.bounds, form.values
        identifies = self._identifies(name, form)
        noise = read_local_noise(self.document, path, form, kind, identifies=identifies)
        declared = None if noise is None else noise.bounds
        return Column(
            name=name,
            type=kind,
            bounds=declared
            if bounds is None
            else read_bounds(self.document, (*path, "bounds"), kind, bounds),
            values=None
            if values is None
            else read_values(self.document, (*path, "values"), kind, values),
            nullable=form.nullable,
            references=references,
            comment=form.comment,
            response=read_response(self.document, path, form, kind, identifies=identifies),
            max_length=self._max_length(path, form, kind),
            source_name=form.source_name,
            local_noise=noise,
        )

    def _identifies(self, name: str, section: ColumnSection) -> bool:
        """Whether the column's values are nobody's answer: they are public, or lead somewhere."""
        return (
            self.declaration.public
            or name in self.declaration.first_hop
            or section.references is not None
        )

    def _type(
        self, path: DocumentPath, name: str, section: ColumnSection, *, identifies: bool
    ) -> SqlType:
        stored_as = name if section.source_name is None else section.source_name
        at = path if section.source_name is None else (*path, "source_name")
        if self.source_types is not None and stored_as not in self.source_types:
            raise self.document.unknown_key_error(
                at,
                "the source has no such column",
                self.source_types,
                "correct the name, or remove it",
            )
        return column_type(
            self.document,
            path,
            section.type,
            None if self.source_types is None else self.source_types[stored_as],
            is_delimited=self.is_delimited,
            identifies=identifies or name in self.declaration.first_hop,
        )

    def _max_length(self, path: DocumentPath, section: ColumnSection, kind: SqlType) -> int | None:
        """How many characters a text has at most; None if that isn't declared."""
        max_length = section.max_length
        if max_length is None:
            return None
        at = (*path, "max_length")
        if not isinstance(kind, Varchar):
            raise self.document.error(at, "is for text", "write bounds: [least, greatest] instead")
        if section.values is not None:
            raise self.document.error(path, "has max_length and values", "remove max_length")
        if not 1 <= max_length <= _MAX_CHARACTERS:
            raise self.document.error(
                at, "out of range", f"write a number from 1 to {_MAX_CHARACTERS}"
            )
        return max_length

    def _references(
        self,
        path: DocumentPath,
        name: str,
        section: ColumnSection,
        claims: Mapping[str, UnitDeclaration],
    ) -> Reference | None:
        at = (*path, "references")
        # A column that leads to the unit only together with others has no reference of its own.
        alone = self.declaration.columns == (name,) and self.declaration.references
        owner = self.declaration.references[0] if alone else None
        if section.references is None:
            return owner
        to = read_reference(self.document, at, section.references)
        if owner is not None and to != owner:
            raise self.document.error(
                at, f"the unit goes by {owner.table}.{owner.column}", "write the same, or nothing"
            )
        check_reference(self.document, at, (to,), claims)
        return to


def read_limits(document: Document, path: DocumentPath, data: object) -> Limits:
    """Read what one unit may contribute; limits that aren't stated have defaults."""
    form = fill(LimitsSection, document, path, {"calibrated": True} if data == CALIBRATED else data)
    stated = {
        name: limit
        for name in ("groups", "rows_per_group", "rows")
        if (limit := getattr(form, name)) is not None
    }
    for name, limit in stated.items():
        if not 1 <= limit <= _MAX_LIMIT:
            raise document.error(
                (*path, name), "out of range", f"write a number from 1 to {_MAX_LIMIT}"
            )
    over_groups = OverGroups(form.over_groups or OverGroups.SAMPLE)
    declared = frozenset(stated) | ({"over_groups"} if form.over_groups else set())
    if not form.calibrated:
        limits = Limits(declared=declared, over_groups=over_groups)
        return replace(limits, **stated)
    highest = dict.fromkeys(("groups", "rows_per_group", "rows"), HIGHEST_CALIBRATED)
    limits = Limits(declared=declared, calibrated=True, over_groups=over_groups)
    return replace(limits, **highest | stated)
