"""Random aggregates over the tables of a generated schema, and what plain SQL says of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random

from fuzz.generated_schema import Made, exact, lists, sums

from dpsql.schema.model import Column, EntityUnit, Schema, Table


@dataclass(frozen=True)
class Asked:
    """A query, and one of plain SQL whose answer it has without noise, where no limit binds.

    `plain` is None if that takes more than exact integers. The first columns are `keys`.
    """

    sql: str
    plain: str | None
    keys: int


@dataclass(frozen=True)
class _Source:
    """FROM and WHERE, and the columns that are there by the names of their tables."""

    text: str
    columns: tuple[tuple[str, Column], ...]


def query(random: Random, found: Made) -> Asked:
    """One of all."""
    source = _source(random, private_tables(found.schema), often=found.repeats)
    keys = [name for name, column in source.columns if lists(column)]
    keys = random.sample(keys, min(len(keys), random.choice([0, 1, 1, 2])))
    others = [name for name, column in source.columns if not lists(column)]
    unlisted = False
    if others and random.random() < 0.15:
        keys, unlisted = [*keys[:1], random.choice(others)], True
    calls = [_call(random, source) for _ in range(random.choice([1, 2, 3]))]
    where = _where(random, source)
    by = f" GROUP BY {', '.join(keys)}" if keys else ""

    def asked(items: list[str]) -> str:
        return f"SELECT {', '.join([*keys, *items])} FROM {source.text}{where}{by}"

    plain = [exactly for _, exactly in calls if exactly is not None]
    told = len(plain) == len(calls) and not unlisted
    return Asked(asked([c for c, _ in calls]), asked(plain) if told else None, len(keys))


def private_tables(schema: Schema) -> list[Table]:
    return [t for t in schema.tables.values() if isinstance(t.ownership, EntityUnit)]


def _source(random: Random, tables: list[Table], *, often: bool) -> _Source:
    """Some tables of the chain, one next to the other; each may be a derived one."""
    first = random.randrange(len(tables))
    last = min(len(tables) - 1, first + random.choice([0, 0, 1, 1, 1, 2]))
    named = [n for n, table in enumerate(tables[:-1]) if f"down{n}" in table.columns]
    # A row that names one of those that lead to it meets that one alone.
    meets_one = bool(named) and random.random() < (0.7 if often else 0.2)
    if meets_one:
        first = random.choice(named[1:] or named)
        last = first + 1
    chosen = list(range(first, last + 1))
    random.shuffle(chosen)
    if random.random() < 0.1:
        return _with_itself(random, tables[first])
    text, conditions = "", []
    for place in chosen:
        name, alias = tables[place].name, f"a{place}"
        is_derived = random.random() < (0.8 if meets_one and place == last else 0.3)
        shown = f"(SELECT * FROM {name}) {alias}" if is_derived else f"{name} {alias}"
        text += f", {shown}" if text else shown
        if place > first:
            conditions.append(f"a{place}.up{place} = a{place - 1}.k{place - 1}")
            if f"on{place}" in tables[place].columns:
                conditions.append(f"a{place}.on{place} = a{place - 1}.m{place - 1}")
            if f"down{place - 1}" in tables[place - 1].columns and (
                meets_one or random.random() < 0.5
            ):
                conditions.append(f"a{place - 1}.down{place - 1} = a{place}.k{place}")
    columns = [
        (f"a{place}.{column.name}", column)
        for place in chosen
        for column in tables[place].columns.values()
    ]
    references = [name for name, column in columns if column.references is not None]
    facts = [name for name in references if name.split(".")[1].startswith("p")]
    if facts and random.random() < 0.4:
        text += ", facts f"
        conditions.append(f"{random.choice(facts)} = f.fact")
    if conditions:
        text = f"{text} WHERE {' AND '.join(conditions)}"
    return _Source(text, tuple(columns))


def _with_itself(random: Random, table: Table) -> _Source:
    own = table.ownership
    assert isinstance(own, EntityUnit)
    alias = random.choice(["a", "b"])
    columns = tuple((f"{alias}.{column.name}", column) for column in table.columns.values())
    on = " AND ".join(f"a.{by} = b.{by}" for by in own.first_hop_columns)
    return _Source(f"{table.name} a JOIN {table.name} b ON {on}", columns)


def _where(random: Random, source: _Source) -> str:
    if random.random() < 0.6:
        return ""
    name, column = random.choice(source.columns)
    condition = f"{name} IS NOT NULL"
    if column.values is not None and random.random() < 0.7:
        condition = f"{name} <> {_literal(column)}"
    elif sums(column) and random.random() < 0.7:
        condition = f"{name} {random.choice(['>', '<=', '<>'])} 1"
    return f" {'AND' if ' WHERE ' in source.text else 'WHERE'} {condition}"


def _literal(column: Column) -> str:
    assert column.values is not None
    value = column.values[0]
    return f"'{value}'" if isinstance(value, str) else str(value)


def _call(random: Random, source: _Source) -> tuple[str, str | None]:
    """An aggregate, and what plain SQL is asked for it."""
    name, column = random.choice(source.columns)
    added = [each for each in source.columns if sums(each[1])]
    kind = random.choice(["rows", "rows", "values", "distinct", *(["sum", "sum", "other"] * 2)])
    filtered = f" FILTER (WHERE {random.choice(source.columns)[0]} IS NOT NULL)"
    more = filtered if random.random() < 0.15 else ""
    if kind == "distinct":
        return f"count(DISTINCT {name})", None
    if kind == "values":
        return f"count({name}){more}", f"count({name}){more}"
    if kind == "rows" or not added:
        return f"count(*){more}", f"count(*){more}"
    name, column = random.choice(added)
    if kind == "sum":
        clamped = _clamped(name, column)
        return f"sum({name}){more}", None if clamped is None else f"sum({clamped}){more}"
    call = random.choice(["avg({})", "sum({} + 1)", "median({})", "var_pop({})", "sum({0} * {0})"])
    return call.format(name) + more, None


def _clamped(name: str, column: Column) -> str | None:
    """The value within its bounds, in the type that the engine sums exactly."""
    if not exact(column) or column.bounds is None:
        return None
    # A literal of its type: one of another would take the sum to doubles.
    ends = (float(end) if isinstance(end, Fraction) else end for end in column.bounds)
    low, high = (f"CAST('{end}' AS {column.type})" for end in ends)
    return f"CASE WHEN {name} < {low} THEN {low} WHEN {name} > {high} THEN {high} ELSE {name} END"
