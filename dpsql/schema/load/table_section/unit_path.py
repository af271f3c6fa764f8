"""Whose rows a table's rows are: from the declared unit, along references, to an entity.

A column that references the entity's table is the unit itself, whether or not that table lists its
value. A longer path is followed by joins of base tables, and a row that one of the joins drops has
no unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from dpsql.schema.load.file_format import TableSection, UnitPath, fill
from dpsql.schema.load.yaml_document import Document, DocumentPath
from dpsql.schema.model import EntityUnit, Hop, Ownership, Public, Reference, RowUnit, UnitKind
from dpsql.structs import replace


class UnitDeclaration(Struct, frozen=True):
    """What the schema says of whose rows a table's are: a unit kind, or the first step of a path.

    `kind` is "row", or the kind whose entities the table lists; None for a public table or a path.
    `columns` lead to the unit, each by its one of `references`. `path` is where the file says so.
    """

    path: DocumentPath
    public: bool
    key: tuple[str, ...] | None
    visible: bool = True
    kind: str | None = None
    columns: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    same_unit: tuple[str, ...] = ()

    @property
    def first_hop(self) -> tuple[str, ...]:
        """Key and unit columns, which the table has whether or not it declares them."""
        return tuple(dict.fromkeys((*(self.key or ()), *self.columns, *self.same_unit)))

    @property
    def keyed_by(self) -> tuple[str, ...]:
        """The columns that others may reference: the key, or an entity table's unit column."""
        return self.key or (self.columns if self.kind not in {None, "row"} else ())


def read_unit_declaration(
    document: Document, name: str, section: TableSection, units: Mapping[str, UnitKind]
) -> UnitDeclaration:
    """Read `unit`, `public`, `key`, `same_unit` and `visible` of a table."""
    unit = _declaration(document, name, section, units)
    if section.same_unit is not None and (unit.public or unit.kind == "row"):
        what = "nobody's" if unit.public else "units of their own"
        raise document.error(("tables", name, "same_unit"), f"its rows are {what}", "remove it")
    same = _key(document, ("tables", name), section.same_unit, "same_unit") or ()
    return replace(unit, visible=section.visible, same_unit=same)


def _declaration(
    document: Document, name: str, section: TableSection, units: Mapping[str, UnitKind]
) -> UnitDeclaration:
    path = ("tables", name)
    key = _key(document, path, section.key, "key")
    if section.public:
        if section.unit is not None:
            raise document.error(path, "has a unit and is public", "remove unit, or public")
        if section.limits is not None:
            raise document.error((*path, "limits"), "a public table has no limits", "remove them")
        return UnitDeclaration(path, public=True, key=key)
    at = (*path, "unit")
    match section.unit:
        case None:
            raise document.error(
                path,
                "says neither whose its rows are nor that they are public",
                "add unit: …, or public: true",
            )
        case "row":
            return UnitDeclaration(at, public=False, key=key, kind="row")
        case str() as kind:
            return _entity(document, at, name, key, units, kind)
        case written:
            columns, to = _path_of(document, at, fill(UnitPath, document, at, written))
            return UnitDeclaration(at, public=False, key=key, columns=columns, references=to)


def _path_of(
    document: Document, at: DocumentPath, path: UnitPath
) -> tuple[tuple[str, ...], tuple[Reference, ...]]:
    """A path's first step: its columns, and the columns of one other table that they reference."""
    columns, written = _listed(path.column), _listed(path.references)
    if not columns or len(set(columns)) < len(columns):
        raise document.error((*at, "column"), "not a list of different columns", "name the columns")
    to = tuple(read_reference(document, (*at, "references"), each) for each in written)
    if len(to) != len(columns):
        raise document.error(
            (*at, "references"),
            f"{len(columns)} columns can't reference {len(to)}",
            "name as many on both sides, in the same order",
        )
    if len({each.table for each in to}) > 1:
        raise document.error(
            (*at, "references"), "leads to several tables", "reference the key of one table"
        )
    return columns, to


def _listed(written: str | list[str]) -> tuple[str, ...]:
    return (written,) if isinstance(written, str) else tuple(written)


def _entity(
    document: Document,
    at: DocumentPath,
    name: str,
    key: tuple[str, ...] | None,
    units: Mapping[str, UnitKind],
    kind: str,
) -> UnitDeclaration:
    unit = units.get(kind)
    if unit is None:
        fix = f"the units are {', '.join(('row', *units))}"
        if not units:
            fix = f"declare it, units: {{{kind}: {{table: {name}, key: …}}}}, or write row"
        raise document.unknown_key_error((*at, kind), "no such unit", units, fix)
    if unit.table != name:
        raise document.error(
            at,
            f"the table of {kind} is {unit.table}",
            f"write unit: {{column: …, references: {unit.table}.{unit.key}}}",
        )
    if key not in {None, (unit.key,)}:
        raise document.error(
            at, f"the key of {kind} is {unit.key}", f"write key: {unit.key}, or correct units"
        )
    return UnitDeclaration(at, public=False, key=key, kind=kind, columns=(unit.key,))


def _key(
    document: Document, path: DocumentPath, written: str | list[str] | None, name: str
) -> tuple[str, ...] | None:
    if written is None:
        return None
    key = _listed(written)
    if not key or len(set(key)) < len(key):
        raise document.error((*path, name), "not a list of different columns", "name the columns")
    return key


def read_reference(document: Document, path: DocumentPath, written: str) -> Reference:
    """Read table.column, or schema.table.column."""
    table, _, column = written.rpartition(".")
    if not table or not column or table.count(".") > 1:
        raise document.error(path, f"{written} is not table.column", "write table.column")
    return Reference(table, column)


def check_reference(
    document: Document,
    path: DocumentPath,
    to: tuple[Reference, ...],
    declarations: Mapping[str, UnitDeclaration],
) -> None:
    """Refuse references `to` one table that isn't declared, or to columns that aren't its key."""
    table = to[0].table
    target = declarations.get(table)
    if target is None:
        raise document.unknown_key_error(
            (*path, table), "no such table", declarations, "declare the table, or correct the name"
        )
    key, referenced = target.keyed_by, [each.column for each in to]
    if sorted(referenced) != sorted(key):
        has = f"the key of {table} is {', '.join(key)}" if key else f"{table} has no key"
        is_one = len(referenced) == 1
        what = f"{table}.{referenced[0]} is" if is_one else f"{', '.join(referenced)} are"
        raise document.error(
            path,
            f"{what} not {'its' if is_one else 'their'} table's key: {has}",
            "reference a key",
        )


def resolve_units(
    document: Document, name: str, declarations: Mapping[str, UnitDeclaration]
) -> Ownership:
    """Whose rows table `name` has, by following its path; `declarations` are those of all tables.

    Raises SchemaFault for a path that is a cycle, or doesn't end at an entity.
    """
    claim = declarations[name]
    if claim.public:
        return Public()
    if claim.kind is not None:
        return RowUnit() if claim.kind == "row" else EntityUnit(claim.kind, (), claim.columns[0])
    hops: list[Hop] = []
    seen = [name]
    while claim.references:
        check_reference(document, (*claim.path, "references"), claim.references, declarations)
        table = claim.references[0].table
        target = declarations[table]
        if target.public or target.kind == "row":
            what = "a public table" if target.public else "rows that are units themselves"
            raise document.error(
                declarations[name].path,
                f"the path {_path(seen, table)} ends in {what}, at no entity",
                "reference a table that has, or leads to, one of units",
            )
        if target.kind is not None:
            return EntityUnit(target.kind, tuple(hops), claim.columns[0])
        if table in seen:
            raise document.error(
                declarations[name].path,
                f"the path {_path(seen, table)} is a cycle",
                "reference a table that leads to one of units",
            )
        by = {to.column: column for column, to in zip(claim.columns, claim.references, strict=True)}
        key = target.keyed_by
        columns = tuple(by[column] for column in key)
        same = target.same_unit if set(target.same_unit) <= set(key) else ()
        hops.append(Hop(columns, table, key, not target.visible, same))
        seen.append(table)
        claim = target
    raise AssertionError("a claim has a kind, a reference, or is public")


def _path(seen: Iterable[str], last: str) -> str:
    return " → ".join((*seen, last))
