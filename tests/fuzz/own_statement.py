"""Random statements of dpsql's own over the tables of a generated schema."""

from __future__ import annotations

from random import Random

from fuzz.generated_query import private_tables
from fuzz.generated_schema import Made, lists, sums

from dpsql.schema.model import Column, Table

LOSSES = ("0.1", "0.5", "2")


def own_statement(random: Random, found: Made) -> str:
    """One of CALIBRATE, SUGGEST BOUNDS, ALERT, DECIDE, CREATE SYNOPSIS and CREATE DASHBOARD."""
    tables = private_tables(found.schema)
    grouped = [table for table in tables if any(map(lists, _of_rows(table)))]
    table = random.choice(grouped if grouped and random.random() < 0.8 else tables)
    written = (_calibrate, _suggest_bounds, _alert, _decide, _synopsis, _dashboard)
    return random.choice(written)(random, table)


def _calibrate(random: Random, table: Table) -> str:
    columns = _of_rows(table)
    measure = f" MEASURE {_number(random, columns)}" if columns and random.random() < 0.7 else ""
    by = random.sample(columns, min(len(columns), random.choice([0, 1, 1, 2])))
    keys = f" BY {', '.join(column.name for column in by)}" if by else ""
    return f"CALIBRATE {table.name}{measure}{keys} FOR {random.choice(LOSSES)}"


def _suggest_bounds(random: Random, table: Table) -> str:
    column = random.choice([*table.columns.values()])
    return f"SUGGEST BOUNDS {column.name} FROM {table.name}"


def _alert(random: Random, table: Table) -> str:
    columns = _of_rows(table)
    conditions = [
        f"{_summed(random, columns)} {random.choice(['>', '>=', '<', '<='])}"
        f" {random.choice(['0', '2', '-3.5', '1e30'])}"
        for _ in range(random.choice([1, 2, 3]))
    ]
    limit = random.choice(["", " LIMIT 2"])
    return f"ALERT WHEN {', '.join(conditions)} FROM {table.name}{_by(random, columns)}{limit}"


def _decide(random: Random, table: Table) -> str:
    columns = _of_rows(table)
    experts = [f"{_number(random, columns)} AS e{n}" for n in range(random.choice([2, 3]))]
    by = _by(random, columns) or f" BY {next(iter(table.columns))}"
    return f"DECIDE AMONG {', '.join(experts)} FROM {table.name}{by}"


def _synopsis(random: Random, table: Table) -> str:
    listed = [column.name for column in _of_rows(table) if lists(column)]
    keys = random.sample(listed, min(len(listed), 2)) or [next(iter(table.columns))]
    sums = [_summed(random, _of_rows(table))] if random.random() < 0.4 else []
    query = f"SELECT {', '.join([*keys, *sums])} FROM {table.name}"
    return f"CREATE OR REPLACE SYNOPSIS kept ON {query} WITH (epsilon = {random.choice(LOSSES)})"


def _dashboard(random: Random, table: Table) -> str:
    columns = _of_rows(table)
    listed = [column.name for column in columns if lists(column)]
    charts: list[str] = []
    for _ in range(random.choice([1, 2, 3])):
        keys = random.sample(listed, min(len(listed), random.choice([1, 1, 2])))
        by = f" GROUP BY {', '.join(keys)}" if keys else ""
        items = ", ".join([*keys, _summed(random, columns)])
        charts.append(f"SELECT {items} FROM {table.name}{by}")
    return (
        f"CREATE OR REPLACE DASHBOARD kept AS ({'; '.join(charts)})"
        f" WITH (epsilon = {random.choice(LOSSES)})"
    )


def _of_rows(table: Table) -> list[Column]:
    """The columns that aren't what rows are told apart, or joined, by."""
    return [column for column in table.columns.values() if column.name[0] in "cpn"]


def _number(random: Random, columns: list[Column]) -> str:
    numbers = [column.name for column in columns if sums(column)]
    if not numbers or random.random() < 0.1:
        return random.choice(["1", "0.5", *(column.name for column in columns)])
    name = random.choice(numbers)
    return random.choice([name, name, f"-{name}", f"{name} * 2", f"coalesce({name}, 1)"])


def _summed(random: Random, columns: list[Column]) -> str:
    call = "count(*)"
    if columns and random.random() < 0.7:
        counted = f"count({random.choice(columns).name})"
        call = random.choice([counted, f"sum({_number(random, columns)})"])
    if columns and random.random() < 0.2:
        return f"{call} FILTER (WHERE {random.choice(columns).name} IS NOT NULL)"
    return call


def _by(random: Random, columns: list[Column]) -> str:
    listed = [column.name for column in columns if lists(column)]
    return f" BY {random.choice(listed)}" if listed and random.random() < 0.8 else ""
