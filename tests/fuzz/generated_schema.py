"""Random schemas with random databases: tables that nothing was written for.

A chain of tables leads from its last one to the entity, by one column or by two together, of the
key's type or of other integers; columns are of any type, with bounds, with values or with neither.
Keys hold or repeat, references dangle, and values are the ends of their types, infinities, NaN,
both zeros, NULL and wide texts.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random

from dpsql.audit.databases.boundary_values import boundary_values, declared_values
from dpsql.audit.databases.unit_ownership import Row, Rows
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Column, Public, Schema, Table
from dpsql.schema.sql_type import Boolean, Date, Double, Integer, Timestamp, Uuid, Varchar

IDENTITIES = ("BIGINT", "INTEGER", "USMALLINT", "UBIGINT", "HUGEINT", "UUID", "VARCHAR")
"""Types of keys: of as many values as any table here has rows."""

SPECS: tuple[tuple[str, str], ...] = (
    ("BOOLEAN", ""),
    ("TINYINT", "bounds: [-3, 3]"),
    ("UTINYINT", "values: [0, 7, 255]"),
    ("SMALLINT", ""),
    ("USMALLINT", "bounds: [0, 65535]"),
    ("INTEGER", "bounds: [-5, 5]"),
    ("INTEGER", "values: [1, 2, 3]"),
    ("UINTEGER", "bounds: [0, 4294967295]"),
    ("BIGINT", "bounds: [-9223372036854775808, 9223372036854775807]"),
    ("BIGINT", "bounds: [0, 100]"),
    ("UBIGINT", "bounds: [0, 18446744073709551615]"),
    ("HUGEINT", "bounds: [-1000000000000000000000000000000, 1000000000000000000000000000000]"),
    ("UHUGEINT", ""),
    ("DECIMAL(4,1)", "bounds: [-1.5, 2]"),
    ("DECIMAL(18,4)", "bounds: [0, 1000]"),
    ("DECIMAL(38,10)", "bounds: [-3, 3]"),
    ("FLOAT", "bounds: [-1, 1]"),
    ("DOUBLE", "bounds: [0, 0.1]"),
    ("DOUBLE", ""),
    ("VARCHAR", "values: [a, A, b]"),
    ("VARCHAR", ""),
    ("DATE", "bounds: [2024-01-01, 2024-02-29]"),
    ("DATE", ""),
    ("TIMESTAMP", "bounds: [2024-01-01, 2024-12-31]"),
    ("UUID", ""),
)

MEASURES = ("DOUBLE", "DOUBLE", "FLOAT", "INTEGER", "UBIGINT", "DECIMAL(18,4)")

WIDE = 10_000
"""A limit that binds nowhere."""

ODD = ("x" * 300, "\U0001f600" * 20, "\u00e9", "e\u0301")

FAR = ("0001-01-01", "9999-12-31", "infinity", "-infinity", "5881580-07-10")


@dataclass(frozen=True)
class Made:
    """A schema, one database of it, and the private tables whose declared keys hold there.

    `repeats`: all that lead from a row to its unit have one key, and only the last one's own holds.
    """

    schema: Schema
    rows: Rows
    holds: frozenset[str]
    text: str
    repeats: bool


def made(random: Random, folder: Path, specs: tuple[tuple[str, str], ...] = SPECS) -> Made:
    """One of all with columns of `specs`; `folder` is where its text is written."""
    repeats = random.random() < 0.5
    text = _text(random, specs, repeats=repeats)
    path = folder / "schema.yaml"
    path.write_text(text, encoding="utf-8")
    schema = load_schema(path)
    rows = _rows(schema, random, repeats=repeats)
    holds = {
        table.name
        for table in schema.tables.values()
        if not isinstance(table.ownership, Public) and _holds(table, rows[table.name])
    }
    return Made(schema, rows, frozenset(holds), text, repeats)


def _text(random: Random, specs: tuple[tuple[str, str], ...], *, repeats: bool) -> str:
    depth = random.choice([3, 3, 4] if repeats else [1, 2, 3, 3, 4, 5])
    kinds = [random.choice(IDENTITIES) for _ in range(depth)]
    # The tables that are named by two columns, and those whose rows say so in other integers.
    double = {p for p in range(1, depth) if random.random() < 0.4}
    upward = [_like(random, kind) for kind in kinds]
    wide = random.random() < (0.1 if repeats else 0.3)
    lines = [
        "dataset: generated",
        "source: generated.duckdb",
        "ledger: generated.ledger",
        f"neighbors: {random.choice(['add_remove', 'change_one'])}",
        "units: {entity: {table: t0, key: k0}}",
        "tables:",
    ]
    for place in range(depth):
        columns = {f"k{place}": f"{{type: {kinds[place]}}}"}
        last = place == depth - 1
        # What others go over has a key. Of the last, it may be of two columns, or none.
        key = "" if last and place and not repeats and random.random() < 0.3 else f"[k{place}]"
        if place in double:
            columns[f"m{place}"] = "{type: INTEGER}"
            key = key and random.choice([f"[k{place}, m{place}]", f"[m{place}, k{place}]"])
        if place:
            columns[f"up{place}"] = f"{{type: {upward[place - 1]}}}"
        if place - 1 in double:
            columns[f"on{place}"] = f"{{type: {random.choice(['INTEGER', 'BIGINT'])}}}"
        # By this one a row names one of those that lead to it, as a sale names its first line.
        if not last and (repeats or random.random() < 0.6):
            columns[f"down{place}"] = f"{{type: {kinds[place + 1]}}}"
        for number in range(random.choice([0, 1, 1, 2, 3])):
            kind, domain = random.choice(specs)
            domain = domain if random.random() < 0.85 else ""
            columns[f"c{place}{number}"] = f'{{type: "{kind}"{", " * bool(domain)}{domain}}}'
        if random.random() < 0.4:
            columns[f"p{place}"] = "{type: INTEGER, references: facts.fact}"
        norm = _norm(random, place, columns) if random.random() < 0.25 else ""
        lines += _table(random, place, key, columns, wide=wide, double=place - 1 in double)
        lines += [norm] * bool(norm)
    lines += [
        "  facts:",
        "    public: true",
        "    key: fact",
        "    columns: {fact: {type: INTEGER}, name: {type: VARCHAR}}",
        "budget: {epsilon: 8, delta: 1.0e-6, accounting: zcdp}",
    ]
    return "\n".join(lines) + "\n"


def _norm(random: Random, place: int, columns: dict[str, str]) -> str:
    """A norm of two or three further `columns`, which it alone bounds."""
    names = [f"n{place}{number}" for number in range(random.choice([2, 2, 3]))]
    columns |= {name: f'{{type: "{random.choice(MEASURES)}"}}' for name in names}
    radius = random.choice([1, 3.5, 100, 1e9])
    return f"    norm: {{columns: [{', '.join(names)}], {random.choice(['l1', 'l2'])}: {radius}}}"


def _like(random: Random, kind: str) -> str:
    """The type of a key, or another of integers, in which numbers are the same."""
    integers = [k for k in IDENTITIES if k not in ("UUID", "VARCHAR")]
    return random.choice(integers) if kind in integers and random.random() < 0.2 else kind


def _table(
    random: Random, place: int, key: str, columns: dict[str, str], *, wide: bool, double: bool
) -> list[str]:
    limits = {
        "groups": random.choice([1, 2, 3, 100]),
        "rows_per_group": random.choice([1, 2, 3, 4, 1000]),
    }
    if random.random() < 0.75:
        limits["rows"] = random.choice([1, 2, 3, 4, 10000])
    limits = dict.fromkeys((*limits, "rows"), WIDE) if wide else limits
    above = place - 1
    unit = f"{{column: up{place}, references: t{above}.k{above}}}" if place else "entity"
    if double:
        to = f"[t{above}.k{above}, t{above}.m{above}]"
        unit = f"{{column: [up{place}, on{place}], references: {to}}}"
    return [
        f"  t{place}:",
        *([f"    key: {key}"] if key else []),
        f"    unit: {unit}",
        f"    limits: {json.dumps(limits)}",
        "    columns:",
        *(f"      {name}: {said}" for name, said in columns.items()),
    ]


def _rows(schema: Schema, random: Random, *, repeats: bool) -> Rows:
    found: Rows = {}
    plain = _mixes(schema)
    *_, last = (t.name for t in schema.tables.values() if not isinstance(t.ownership, Public))
    for table in schema.tables.values():
        if isinstance(table.ownership, Public):
            found[table.name] = [(1, "x"), (2, "x"), (3, None), (4, "y")]
            continue
        count = random.choice([1, 2, 4, 9, 20])
        # Of one or two identities, many rows share theirs.
        of, more = random.choice([1, 2, 4]), random.choice([0, 0, 3, 20])
        if repeats and table.name != "t0":
            # As many as a limit allows, so that what multiplies them passes it.
            limits = schema.tables[last].limits
            count, of = max(2, min(random.choice([2, 3, 6]), limits.rows)), 1
            more = 0
        rows = [_row(table, random, of, plain=plain) for _ in range(count)]
        rows += [random.choice(rows) for _ in range(more)]
        keyed = table.name in ("t0", last) if repeats else random.random() < 0.6
        if table.key is not None and keyed:
            rows = _keyed(table, rows, spread=random.random() < 0.7, plain=plain)
        found[table.name] = rows
    return found


def _row(table: Table, random: Random, of: int, *, plain: bool) -> Row:
    return tuple(_value(column, random, of, plain=plain) for column in table.columns.values())


def _mixes(schema: Schema) -> bool:
    """Some references are of other types than what they reference: its ends are none of theirs."""
    tables = [t for t in schema.tables.values() if not isinstance(t.ownership, Public)]
    return any(
        child.columns[f"up{place}"].type != parent.columns[f"k{place - 1}"].type
        for place, (parent, child) in enumerate(pairwise(tables), start=1)
    )


def _value(column: Column, random: Random, of: int, *, plain: bool) -> object:
    if random.random() < 0.06:
        return None
    if column.name.rstrip("0123456789") in ("k", "up", "down"):
        return _identity(column, random.randrange(of), plain=plain)
    if column.name.rstrip("0123456789") in ("m", "on"):
        return random.randrange(of)
    if column.references is not None:
        return random.choice([1, 2, 3, 999])
    hostile = {Varchar: ODD, Date: FAR, Timestamp: FAR[:4]}.get(type(column.type), ())
    if hostile and random.random() < 0.15:
        return random.choice(hostile)
    value = random.choice([*declared_values(column), *boundary_values(column)])
    if isinstance(column.type, Double) and column.type.bits == 32:
        is_wide = isinstance(value, float) and 3e38 < abs(value) < math.inf
        value = 3e38 if is_wide else value
    # As text, that the type reads: no driver has integers of 128 bits.
    return str(value) if isinstance(column.type, Integer) else value


def _identity(column: Column, number: int, *, plain: bool) -> object:
    """The n-th value of an identity's type; no two are equal, and the first are as odd as any."""
    match column.type:
        case Integer(bits=bits, signed=signed):
            ends = (2 ** (bits - signed) - 1, -(2 ** (bits - 1)) if signed else 0)
            if plain:
                return str(number)
            return str(ends[number] if number < len(ends) else number)
        case Uuid():
            return f"00000000-0000-0000-0000-{number:012d}"
        case Varchar():
            odd = ("", "a", "A", "a ", "\u00e9", "e\u0301")
            return odd[number] if number < len(odd) else f"k{number}"
        case _:
            raise TypeError("no type of keys here")


def _keyed(table: Table, rows: list[Row], *, spread: bool, plain: bool) -> list[Row]:
    """Rows whose key holds: all of them, with keys of their own, or the first of each key."""
    places = [list(table.columns).index(name) for name in table.key or ()]
    (first,) = (n for n in table.key or () if n.startswith("k"))
    place, column = list(table.columns).index(first), table.columns[first]
    whole = [row for row in rows if all(row[at] is not None for at in places if at != place)]
    if spread:
        return [
            (*row[:place], _identity(column, n, plain=plain), *row[place + 1 :])
            for n, row in enumerate(whole)
        ]
    keys = {tuple(row[at] for at in places): row for row in reversed(whole)}
    return [row for key, row in keys.items() if None not in key]


def _holds(table: Table, rows: list[Row]) -> bool:
    if table.key is None:
        return False
    places = [list(table.columns).index(name) for name in table.key]
    keys = [tuple(row[place] for place in places) for row in rows]
    return len({*keys}) == len(keys) and all(None not in key for key in keys)


def is_wide(schema: Schema) -> bool:
    """No declared limit binds."""
    limits = (table.limits for table in schema.tables.values() if table.name != "facts")
    return all(each.groups == WIDE for each in limits)


def sums(column: Column) -> bool:
    """What sums take, if it has bounds."""
    is_number = not isinstance(column.type, Boolean | Varchar | Uuid | Date | Timestamp)
    return is_number and (column.bounds is not None or column.values is not None)


def lists(column: Column) -> bool:
    """What groups are made by; others need a threshold."""
    return (
        column.values is not None
        or column.references is not None
        or isinstance(column.type, Boolean)
        or (isinstance(column.type, Integer) and column.bounds in ((-3, 3), (-5, 5), (0, 100)))
    )


def exact(column: Column) -> bool:
    """Sums of it are those of integers, to the last digit."""
    if not sums(column) or isinstance(column.type, Double) or column.bounds is None:
        return False
    return all(isinstance(end, int | Fraction) and -(2**33) < end < 2**33 for end in column.bounds)
