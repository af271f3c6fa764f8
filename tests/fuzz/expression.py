"""Random conditions, numbers and group keys over the columns of a FROM."""

from __future__ import annotations

from random import Random

from fuzz.column import NUMBERS, Column, Kind, Source

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")


def condition(random: Random, source: Source, depth: int = 2) -> str:
    """A condition on one row."""
    if depth and random.random() < 0.45:
        left, right = (condition(random, source, depth - 1) for _ in range(2))
        return random.choice(
            [f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})", f"({left}) IS TRUE"]
        )
    return _test(random, random.choice(list(source.columns)), source)


def _test(random: Random, column: Column, source: Source) -> str:
    text, values = column.text, column.values or ("0",)
    value = random.choice(values)
    match column.kind:
        case Kind.BOOLEAN:
            return random.choice(
                [text, f"NOT {text}", f"{text} IS NULL", f"{text} = {value}", f"{text} IS NOT TRUE"]
            )
        case Kind.TEXT:
            return random.choice(
                [
                    f"{text} {random.choice(_COMPARISONS)} {value}",
                    f"{text} IN ({', '.join(values)})",
                    f"{text} NOT IN ({value})",
                    f"{text} LIKE '%{value[1:-1][:1]}%'",
                    f"{text} IS NOT NULL",
                    f"upper({text}) = {value}",
                    f"length({text}) < 3",
                    f"coalesce({text}, 'none') <> {value}",
                ]
            )
        case Kind.DATE:
            return random.choice(
                [
                    f"{text} {random.choice(_COMPARISONS)} {value}",
                    f"{text} BETWEEN {min(values)} AND {max(values)}",
                    f"month({text}) = 6",
                    f"{text} + INTERVAL 1 DAY > {value}",
                    f"{text} IS NULL",
                ]
            )
        case Kind.IDENTITY:
            return random.choice(
                [f"{text} {random.choice(_COMPARISONS)} {value}", f"{text} % 2 = 0"]
            )
        case _:
            other = number(random, source, 1) if random.random() < 0.3 else value
            return random.choice(
                [
                    f"{text} {random.choice(_COMPARISONS)} {other}",
                    f"{text} BETWEEN {value} AND {other}",
                    f"{text} IN ({', '.join(values)})",
                    f"{text} IS NULL",
                    f"abs({text}) > {value}",
                    f"CAST({other} AS VARCHAR) LIKE '-%'",
                    f"signbit(CAST({other} AS DOUBLE))",
                ]
            )


def number(random: Random, source: Source, depth: int = 2) -> str:
    """A number of one row, with bounds that follow from the schema's."""
    columns = source.of(*NUMBERS)
    if not columns:
        return random.choice(["1", "2.5", "-3"])
    text = random.choice(columns).text
    if not depth or random.random() < 0.45:
        return text
    more = number(random, source, depth - 1)
    return random.choice(
        [
            f"{text} + {more}",
            f"{text} - {more}",
            f"{text} * 2",
            f"-({more})",
            f"abs({more})",
            f"coalesce({more}, 1)",
            f"least({text}, {more})",
            f"greatest({text}, 0)",
            f"nullif({text}, 0)",
            f"round({more}, 1)",
            f"CASE WHEN {condition(random, source, 0)} THEN {more} ELSE 0 END",
            f"CASE WHEN {condition(random, source, 0)} THEN {more} END",
            f"CAST({more} AS DOUBLE)",
            f"{text} / 2",
            f"{text} * {more}",
        ]
    )


def key(random: Random, source: Source) -> str:
    """A group key, mostly of finitely many values."""
    columns = [c for c in source.columns if c.kind is not Kind.DOUBLE]
    short = [c for c in columns if c.listed and c.kind is not Kind.DATE]
    roll = random.random()
    if roll < 0.45 and short:
        return random.choice(short).text
    if roll < 0.6:
        return condition(random, source, 1)
    if roll < 0.75:
        return f"CASE WHEN {condition(random, source, 1)} THEN 'a' ELSE 'b' END"
    dates = source.of(Kind.DATE)
    if roll < 0.85 and dates:
        text = random.choice(dates).text
        parts = [f"date_trunc('{unit}', {text})" for unit in ("month", "quarter")]
        return random.choice([*parts, f"month({text})", f"dayofweek({text})", text])
    whole = [c for c in source.of(Kind.INTEGER) if c.listed]
    if roll < 0.93 and whole:
        text = random.choice(whole).text
        return random.choice([f"{text} // 10", f"{text} % 3", f"abs({text})", f"{text} > 3"])
    return random.choice(columns).text if columns else "1"


def aggregate(random: Random, source: Source) -> str:
    """An aggregate of private rows."""
    people = source.identities("patient")
    found = random.choice(
        [
            "count(*)",
            f"count({random.choice(list(source.columns)).text})",
            f"sum({number(random, source)})",
            f"avg({number(random, source)})",
            f"sum({number(random, source)})",
            "sum(1)",
            f"count(DISTINCT {people[0].text})" if people else "count(1)",
            f"sum(CASE WHEN {condition(random, source, 1)} THEN 1 ELSE 0 END)",
        ]
    )
    if random.random() < 0.2:
        found += f" FILTER (WHERE {condition(random, source, 1)})"
    return found
