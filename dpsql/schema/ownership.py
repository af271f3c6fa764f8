"""Whose rows a table's rows are: from the declared unit, along references, to an entity.

One hop: the value of the column is the unit, whether or not its entity is listed. Several hops: the
chain is walked on base tables, and a row whose chain breaks has no unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dpsql.schema.document import Document, Place
from dpsql.schema.form import TableForm, UnitPath, fill
from dpsql.schema.model import EntityUnit, Hop, Ownership, Public, Reference, RowUnit, UnitKind


@dataclass(frozen=True, slots=True)
class Claim:
    """What one table says of its owners: a unit kind by name, or a path's first step."""

    place: Place
    public: bool
    key: tuple[str, ...] | None
    visible: bool = True
    kind: str | None = None
    column: str = ""
    references: Reference | None = None

    @property
    def leads_by(self) -> tuple[str, ...]:
        """The columns that identity takes, declared or not."""
        return (*(self.key or ()), *([self.column] if self.column else []))


def read_claim(
    document: Document, name: str, form: TableForm, units: Mapping[str, UnitKind]
) -> Claim:
    """Read `unit`, `public`, `key` and `visible` of a table."""
    return replace(_claim(document, name, form, units), visible=form.visible)


def _claim(document: Document, name: str, form: TableForm, units: Mapping[str, UnitKind]) -> Claim:
    place = ("tables", name)
    key = _key(document, place, form.key)
    if form.public:
        if form.unit is not None:
            raise document.fault(place, "has a unit and is public", "remove unit, or public")
        if form.limits is not None:
            raise document.fault((*place, "limits"), "a public table has no limits", "remove them")
        return Claim(place, public=True, key=key)
    at = (*place, "unit")
    match form.unit:
        case None:
            raise document.fault(
                place,
                "says neither whose its rows are nor that they are public",
                "add unit: …, or public: true",
            )
        case "row":
            return Claim(at, public=False, key=key, kind="row")
        case str() as kind:
            return _entity(document, at, name, key, units, kind)
        case written:
            path = fill(UnitPath, document, at, written)
            to = read_reference(document, (*at, "references"), path.references)
            return Claim(at, public=False, key=key, column=path.column, references=to)


def _entity(
    document: Document,
    at: Place,
    name: str,
    key: tuple[str, ...] | None,
    units: Mapping[str, UnitKind],
    kind: str,
) -> Claim:
    unit = units.get(kind)
    if unit is None:
        kinds = ", ".join(("row", *units))
        raise document.unknown((*at, kind), "no such unit", units, f"the units are {kinds}")
    if unit.table != name:
        raise document.fault(
            at,
            f"the table of {kind} is {unit.table}",
            f"write unit: {{column: …, references: {unit.table}.{unit.key}}}",
        )
    if key not in {None, (unit.key,)}:
        raise document.fault(
            at, f"the key of {kind} is {unit.key}", f"write key: {unit.key}, or correct units"
        )
    return Claim(at, public=False, key=key, kind=kind, column=unit.key)


def _key(
    document: Document, place: Place, written: str | list[str] | None
) -> tuple[str, ...] | None:
    if written is None:
        return None
    key = (written,) if isinstance(written, str) else tuple(written)
    if not key or len(set(key)) < len(key):
        raise document.fault((*place, "key"), "not a list of different columns", "name the columns")
    return key


def read_reference(document: Document, place: Place, written: str) -> Reference:
    """Read table.column, or schema.table.column."""
    table, _, column = written.rpartition(".")
    if not table or not column or table.count(".") > 1:
        raise document.fault(place, f"{written} is not table.column", "write table.column")
    return Reference(table, column)


def check_reference(
    document: Document, place: Place, to: Reference, claims: Mapping[str, Claim]
) -> None:
    """Refuse a reference that leads elsewhere than to the one-column key of a declared table."""
    target = claims.get(to.table)
    if target is None:
        raise document.unknown(
            (*place, to.table), "no such table", claims, "declare the table, or correct the name"
        )
    key = target.key or ((target.column,) if target.kind not in {None, "row"} else ())
    if (to.column,) != key:
        has = f"the key of {to.table} is {', '.join(key)}" if key else f"{to.table} has no key"
        raise document.fault(
            place, f"{to.table}.{to.column} is not its table's key: {has}", "reference a key"
        )


def own(document: Document, name: str, claims: Mapping[str, Claim]) -> Ownership:
    """Follow the path of table `name` to its entity; `claims` are those of all tables."""
    claim = claims[name]
    if claim.public:
        return Public()
    if claim.kind is not None:
        return RowUnit() if claim.kind == "row" else EntityUnit(claim.kind, (), claim.column)
    hops: list[Hop] = []
    seen = [name]
    while claim.references is not None:
        to = claim.references
        check_reference(document, (*claim.place, "references"), to, claims)
        target = claims[to.table]
        if target.public or target.kind == "row":
            what = "public" if target.public else "of rows that are units themselves"
            raise document.fault(
                claims[name].place,
                f"the path {_path(seen, to.table)} ends in a table {what}, at no entity",
                "reference a table that has, or leads to, one of units",
            )
        if target.kind is not None:
            return EntityUnit(target.kind, tuple(hops), claim.column)
        if to.table in seen:
            raise document.fault(
                claims[name].place,
                f"the path {_path(seen, to.table)} is a cycle",
                "reference a table that leads to one of units",
            )
        hops.append(Hop(claim.column, to.table, to.column, hidden=not target.visible))
        seen.append(to.table)
        claim = target
    raise AssertionError("a claim has a kind, a reference, or is public")


def _path(seen: Iterable[str], last: str) -> str:
    return " → ".join((*seen, last))
