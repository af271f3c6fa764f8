"""One table of a schema file: its columns, key, limits and owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.schema.load.budget import LEAST_EPSILON
from dpsql.schema.load.column_types import Found, column_type, known_type
from dpsql.schema.load.file_format import ColumnForm, LimitsForm, ResponseForm, TableForm, fill
from dpsql.schema.load.identifiers import check_names, check_stored, is_plain
from dpsql.schema.load.unit_path import Claim, check_reference, own, read_reference
from dpsql.schema.load.values import read_bounds, read_values
from dpsql.schema.load.yaml_document import Document, Place
from dpsql.schema.model import (
    Column,
    EntityUnit,
    Limits,
    Neighbors,
    Public,
    Reference,
    RowUnit,
    Source,
    Table,
)
from dpsql.schema.sql_type import Boolean, Double, Integer, SqlType, Uuid, Varchar

_MOST = 1_000_000_000
_MOST_ROWS = 2**40
_MOST_EPSILON = 20
_MOST_CHARACTERS = 2**30


def read_table(
    document: Document,
    name: str,
    form: TableForm,
    claims: Mapping[str, Claim],
    source: Source,
    found: Found | None,
) -> Table:
    """Read one table: what identifies its rows first, then its columns in the order of the file.

    Key and unit columns need no declaration; any other column of a private table exists only if it
    is declared.
    """
    place = ("tables", name)
    if found is not None and name not in found:
        raise document.unknown(place, "the source has no such table", found, "remove the table")
    claim = claims[name]
    written = form.columns or {}
    implied: dict[str, object] = {
        column: None for column in claim.leads_by if column not in written
    }
    all_written = implied | written
    check_names(document, (*place, "columns"), all_written)
    reader = _Reader(
        document, claim, is_delimited(source, name), None if found is None else found[name]
    )
    columns = {
        column: reader.column((*place, "columns", column), column, data, claims)
        for column, data in all_written.items()
    }
    stored = {column: data.stored_as for column, data in columns.items()}
    check_stored(document, (*place, "columns"), stored)
    return Table(
        name=name,
        columns=columns,
        ownership=own(document, name, claims),
        key=claim.key,
        limits=read_limits(document, (*place, "limits"), form.limits),
        comment=form.comment,
        visible=form.visible,
        rows=form.rows,
        same_unit=claim.same_unit,
    )


def check_rows(document: Document, tables: Mapping[str, Table], neighbors: Neighbors) -> None:
    """Refuse a public number of rows where one unit is missing, or may have several of them.

    Neighbours that lack a row have another number of them, and so each tells which it is.
    """
    for name, table in tables.items():
        place = ("tables", name, "rows")
        if table.rows is None:
            continue
        if not isinstance(table.ownership, RowUnit):
            raise document.fault(
                place, "is for tables whose rows are units of their own", "remove it"
            )
        if neighbors is not Neighbors.CHANGE_ONE:
            raise document.fault(
                place,
                "the number of rows is what hides whether a row is there",
                "remove it, or write neighbors: change_one, under which it isn't hidden",
            )
        if not 1 <= table.rows <= _MOST_ROWS:
            raise document.fault(place, "out of range", f"write a number from 1 to {_MOST_ROWS}")


def check_types(document: Document, tables: Mapping[str, Table]) -> None:
    """Identities compare as equal only where their types are one, and where equality is exact.

    '7' and '07' are one integer and two texts; NaN and -0.0 make floats no identities. Integers of
    two types are one number or two.
    """
    for name, table in tables.items():
        for column in table.columns.values():
            place = ("tables", name, "columns", column.name)
            if column.references is not None:
                to = column.references
                _check_alike(document, place, column.type, tables[to.table], to.column)
            if column.name in (table.key or ()) and isinstance(column.type, Double):
                raise document.fault(place, "a float is no key", "remove the key, or use a decimal")
        match table.ownership:
            case EntityUnit(hops=hops) as own:
                for first in own.leads_by:
                    kind = table.columns[first].type
                    if not isinstance(kind, Integer | Uuid | Varchar):
                        raise document.fault(
                            ("tables", name, "columns", first),
                            f"{kind} does not identify a unit",
                            "use an integer, a uuid or a varchar",
                        )
                for first, key in hops[0].pairs if hops else ():
                    place = ("tables", name, "columns", first)
                    kind = table.columns[first].type
                    _check_alike(document, place, kind, tables[hops[0].table], key)
            case _:
                pass


def _check_alike(document: Document, place: Place, kind: SqlType, table: Table, key: str) -> None:
    """Values compare as the same in both types: these are one, or hold integers of a third.

    No type of DuckDB's holds those of a UHUGEINT and -1: comparing them can fail.
    """
    to = table.columns[key].type
    if kind != to and not (
        isinstance(kind, Integer) and isinstance(to, Integer) and kind.mixes(to)
    ):
        raise document.fault(
            place, f"is {kind}, but {table.name}.{key} is {to}", "declare one type for both"
        )


def add_public_columns(
    tables: Mapping[str, Table], source: Source, found: Found | None
) -> Mapping[str, Table]:
    """Offer the undeclared columns of public tables too, as far as they have a name and a type."""
    return {
        name: replace(table, columns=_with_undeclared(table, found[name]))
        if found is not None
        and isinstance(table.ownership, Public)
        and not is_delimited(source, name)
        else table
        for name, table in tables.items()
    }


def is_delimited(source: Source, table: str) -> bool:
    """Tell whether a table's file is CSV, whose columns have no types of their own."""
    return table in source.files and source.files[table].suffix == ".csv"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the columns of one table; `found` are the source's, None while it isn't there."""

    document: Document
    claim: Claim
    is_delimited: bool
    found: Mapping[str, str] | None

    def column(self, place: Place, name: str, data: object, claims: Mapping[str, Claim]) -> Column:
        form = fill(ColumnForm, self.document, place, data)
        references = self._references(place, name, form, claims)
        kind = self._type(place, name, form, identifies=references is not None)
        if form.bounds is not None and form.values is not None:
            raise self.document.fault(place, "has bounds and values", "remove one of them")
        bounds, values = form.bounds, form.values
        return Column(
            name=name,
            type=kind,
            bounds=None
            if bounds is None
            else read_bounds(self.document, (*place, "bounds"), kind, bounds),
            values=None
            if values is None
            else read_values(self.document, (*place, "values"), kind, values),
            nullable=form.nullable,
            references=references,
            comment=form.comment,
            response=self._response(place, name, form, kind),
            max_length=self._max_length(place, form, kind),
            source_name=form.source_name,
        )

    def _type(self, place: Place, name: str, form: ColumnForm, *, identifies: bool) -> SqlType:
        stored_as = name if form.source_name is None else form.source_name
        at = place if form.source_name is None else (*place, "source_name")
        if self.found is not None and stored_as not in self.found:
            raise self.document.unknown(
                at, "the source has no such column", self.found, "correct the name, or remove it"
            )
        return column_type(
            self.document,
            place,
            form.type,
            None if self.found is None else self.found[stored_as],
            is_delimited=self.is_delimited,
            identifies=identifies or name in self.claim.leads_by,
        )

    def _max_length(self, place: Place, form: ColumnForm, kind: SqlType) -> int | None:
        """How long a text is at most; listed values say so themselves."""
        most = form.max_length
        if most is None:
            return None
        at = (*place, "max_length")
        if not isinstance(kind, Varchar):
            raise self.document.fault(at, "is for text", "write bounds: [least, greatest] instead")
        if form.values is not None:
            raise self.document.fault(place, "has max_length and values", "remove max_length")
        if not 1 <= most <= _MOST_CHARACTERS:
            raise self.document.fault(
                at, "out of range", f"write a number from 1 to {_MOST_CHARACTERS}"
            )
        return most

    def _response(
        self, place: Place, name: str, form: ColumnForm, kind: SqlType
    ) -> Fraction | None:
        """How answers were randomised: each is there, and one of several that are listed."""
        if form.randomized_response is None:
            return None
        at = (*place, "randomized_response")
        epsilon = fill(ResponseForm, self.document, at, form.randomized_response).epsilon
        fault = self.document.fault
        if self.claim.public or name in self.claim.leads_by or form.references is not None:
            raise fault(at, "is for private answers, which identify nothing", "remove it")
        if not isinstance(kind, Boolean) and len(form.values or ()) < 2:
            raise fault(at, "is of one of several answers", "list the values: of the column")
        if form.nullable:
            raise fault(at, "a missing answer was not randomised", "write nullable: false")
        if not LEAST_EPSILON <= epsilon <= _MOST_EPSILON:
            raise fault((*at, "epsilon"), "out of range", "write a number from 1e-6 to 20")
        return epsilon

    def _references(
        self, place: Place, name: str, form: ColumnForm, claims: Mapping[str, Claim]
    ) -> Reference | None:
        at = (*place, "references")
        # Of several columns none references anything alone.
        alone = self.claim.columns == (name,) and self.claim.references
        owner = self.claim.references[0] if alone else None
        if form.references is None:
            return owner
        to = read_reference(self.document, at, form.references)
        if owner is not None and to != owner:
            raise self.document.fault(
                at, f"the unit goes by {owner.table}.{owner.column}", "write the same, or nothing"
            )
        check_reference(self.document, at, (to,), claims)
        return to


def read_limits(document: Document, place: Place, data: object) -> Limits:
    """Read what one unit may contribute; what isn't stated is the default."""
    form = fill(LimitsForm, document, place, data)
    stated = {
        name: limit
        for name in ("groups", "rows_per_group", "rows")
        if (limit := getattr(form, name)) is not None
    }
    for name, limit in stated.items():
        if not 1 <= limit <= _MOST:
            raise document.fault(
                (*place, name), "out of range", f"write a number from 1 to {_MOST}"
            )
    return replace(Limits(declared=frozenset(stated)), **stated)


def _with_undeclared(table: Table, found: Mapping[str, str]) -> Mapping[str, Column]:
    columns = dict(table.columns)
    taken = {name.casefold() for c in columns.values() for name in (c.name, c.stored_as)}
    for name, written in found.items():
        kind = known_type(written)
        if kind is not None and is_plain(name) and name.casefold() not in taken:
            columns[name] = Column(name, kind)
            taken.add(name.casefold())
    return columns
