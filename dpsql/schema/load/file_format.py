"""What a schema file may say: its sections, their keys, and the kinds of value these take."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Literal, TypeVar, get_args, get_type_hints

import msgspec

from dpsql.schema.load.yaml_document import Document, DocumentPath


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A section: a mapping with known keys."""


class SchemaSection(Section, frozen=True, kw_only=True):
    """The whole file; tables, views, units and analysts are read one by one, with their paths."""

    dataset: str
    source: str
    budget: dict[str, object]
    tables: dict[str, object]
    views: dict[str, object] | None = None
    units: dict[str, object] = {}
    neighbors: Literal["add_remove", "change_one"] = "add_remove"
    group_size: int = 1
    per_query: dict[str, object] | None = None
    analysts: dict[str, object] | None = None
    ledger: str | None = None
    store: Literal["shared", "private"] = "shared"
    releases: int = 20
    version: object = None
    push_down: Literal["auto", "always", "never"] | None = None
    spill: dict[str, object] | None = None


class UnitSection(Section, frozen=True, kw_only=True):
    """A kind of privacy unit."""

    table: str
    key: str


class UnitPath(Section, frozen=True, kw_only=True):
    """The column of a table that leads to its privacy unit, or the columns that together do."""

    column: str | list[str]
    references: str | list[str]


class LimitsSection(Section, frozen=True, kw_only=True):
    """What one unit may contribute."""

    groups: int | None = None
    rows_per_group: int | None = None
    rows: int | None = None
    calibrated: bool = False
    over_groups: Literal["sample", "scale"] | None = None


class TableSection(Section, frozen=True, kw_only=True):
    """A table; `unit` and `public` exclude each other."""

    unit: str | dict[str, object] | None = None
    public: bool = False
    key: str | list[str] | None = None
    same_unit: str | list[str] | None = None
    limits: dict[str, object] | Literal["calibrated"] | None = None
    columns: dict[str, object] | None = None
    comment: str = ""
    time: str | None = None
    rows: int | None = None
    at_least: int | None = None
    resize: int | None = None
    norm: dict[str, object] | None = None
    visible: bool = True
    csv: dict[str, object] | None = None


class NormSection(Section, frozen=True, kw_only=True):
    """What several columns of a row are bounded by together; l1 and l2 exclude each other."""

    columns: list[str]
    l1: Fraction | None = None
    l2: Fraction | None = None


class CsvSection(Section, frozen=True, kw_only=True):
    """How a table's CSV file is written."""

    delimiter: str = ","
    encoding: str = "utf-8"


class SpillSection(Section, frozen=True, kw_only=True):
    """How much disk may be taken by what memory doesn't hold, and where."""

    gigabytes: int
    folder: str | None = None


class ViewSection(Section, frozen=True, kw_only=True):
    """A query that analysts see as a table."""

    query: str
    columns: dict[str, object] | None = None
    limits: dict[str, object] | Literal["calibrated"] | None = None
    comment: str = ""
    visible: bool = True


class ViewColumnSection(Section, frozen=True, kw_only=True):
    """A column of a view; its type follows from the query."""

    bounds: list[object] | None = None
    values: list[object] | None = None
    nullable: bool = True
    comment: str = ""


class ColumnSection(Section, frozen=True, kw_only=True):
    """A column; properties left out are unknown, except a type that the catalogue has."""

    type: str | None = None
    bounds: list[object] | None = None
    values: list[object] | None = None
    max_length: int | None = None
    nullable: bool = True
    references: str | None = None
    comment: str = ""
    randomized_response: dict[str, object] | None = None
    local_noise: dict[str, object] | None = None
    source_name: str | None = None


class ResponseSection(Section, frozen=True, kw_only=True):
    """The ε with which answers were randomised before they reached dpsql."""

    epsilon: Fraction


class LocalNoiseSection(Section, frozen=True, kw_only=True):
    """The ε of the Laplace noise that was added to numbers within `bounds` before they came."""

    epsilon: Fraction
    bounds: list[object]


class BudgetSection(Section, frozen=True, kw_only=True):
    """What all analysts together may spend on the dataset."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    accounting: Literal["pure", "approx", "zcdp", "gdp"] | None = None
    refresh: Literal["day", "week", "month", "year"] | None = None
    allow_large_epsilon: bool = False
    sample: Fraction | None = None
    calibrators: list[str] | None = None


class PerQuerySection(Section, frozen=True, kw_only=True):
    """What a query spends by default, and at most, and how large its answer may be."""

    epsilon: Fraction | None = None
    max_epsilon: Fraction | None = None
    delta: Fraction | None = None
    max_rows: int = 10_000_000
    max_megabytes: int = 1_000


class AnalystSection(Section, frozen=True, kw_only=True):
    """An analyst's own cap."""

    epsilon: Fraction


SectionKind = TypeVar("SectionKind", bound=Section)


def fill(
    section: type[SectionKind], document: Document, path: DocumentPath, data: object
) -> SectionKind:
    """Convert `data` at `path` to the class `section`, None to its defaults; or SchemaFault."""
    data = {} if data is None else data
    known = section.__struct_fields__
    if isinstance(data, dict):
        for key in data:
            if key not in known:
                cut = _cut_by_comma(data, key)
                if cut:
                    raise document.error((*path, key), "unknown key", f'quote it: "{cut}"')
                keys = f"the keys here are {', '.join(known)}"
                raise document.unknown_key_error((*path, key), "unknown key", known, keys)
    try:
        return msgspec.convert(data, section, dec_hook=_exact)
    except msgspec.ValidationError as error:
        what, _, inside = str(error).partition(" - at `$")
        steps = _steps(inside.rstrip("`"))
        raise document.error((*path, *steps), *_translated(what, section, steps)) from None


def _cut_by_comma(data: dict[str, object], key: str) -> str:
    """The text that YAML took for a value and the key `key`: {type: decimal(10,2)} has 2)."""
    opened = (v for v in data.values() if isinstance(v, str) and v.count("(") > v.count(")"))
    return f"{next(opened, '')},{key}" if ")" in str(key) else ""


def _exact(kind: type, value: object) -> object:
    """A hook of msgspec for types that it doesn't know: the file's digits become a Fraction."""
    if kind is not Fraction:
        return value
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise TypeError("Expected `number`")
    if isinstance(value, Decimal) and not (value.is_finite() and abs(value.adjusted()) < 5000):
        raise ValueError("Expected `finite number`")
    return Fraction(value)


def _steps(inside: str) -> DocumentPath:
    """The steps of a path as msgspec writes it: .columns[0]."""
    steps: list[str | int] = []
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", inside):
        steps.append(name or int(index))
    return tuple(steps)


def _translated(what: str, section: type[Section], steps: DocumentPath) -> tuple[str, str]:
    """Translate msgspec's message into two of ours: what is wrong, and what to write."""
    missing = re.fullmatch(r"Object missing required field `(\w+)`", what)
    if missing:
        return f"{missing[1]} is missing", f"add {missing[1]}: …"
    choice = re.fullmatch(r"Invalid enum value '?(.*?)'?", what)
    if choice:
        kind = get_type_hints(section)[str(steps[0])]
        values = [word for part in (kind, *get_args(kind)) for word in get_args(part)]
        words = [word for word in values if isinstance(word, str)]
        return f"{choice[1]} is not one of its values", f"write {' or '.join(dict.fromkeys(words))}"
    kinds = re.match(r"Expected `([^`]*)`(?:, got `([^`]*)`)?", what)
    if kinds is None:
        return what.lower(), "see the reference of the schema file"
    wanted = [_KINDS.get(kind, kind) for kind in kinds[1].split(" | ") if kind != "null"]
    got = f"{_KINDS.get(kinds[2], kinds[2])} can't stand here" if kinds[2] else "not a number"
    return got, f"write {' or '.join(wanted)}"


_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "number": "a number",
    "finite number": "a finite number",
    "bool": "true or false",
    "object": "a mapping (key: value)",
    "array": "a list",
    "null": "nothing",
    "date": "a date",
    "datetime": "a timestamp",
}
