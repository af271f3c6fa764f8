"""Statements whose expressions have parts in common, of which some values make no number."""

from __future__ import annotations

from random import Random

from fuzz.expression import key, number
from fuzz.source import source

_FORMS = (
    "{e} * 2",
    "{e} * 2 + 1",
    "{e} * 2 * 3",
    "{e} + {e}",
    "({e} + {e}) - 1",
    "abs({e} * 2)",
    "-({e} * 2)",
    "coalesce({e} * 2, 1)",
    "{e} * {e}",
    "{e} * {e} + 7",
    "nullif({e} * {e}, 3)",
)


def sharing(random: Random) -> str:
    """Sums, conditions and keys of one number of each row."""
    found = source(random, 1)
    shared = number(random, found)

    def form() -> str:
        return random.choice(_FORMS).format(e=f"({shared})")

    def call() -> str:
        name = random.choice(["sum", "sum", "sum", "avg", "count", "max", "stddev"])
        asked = f"{name}({form()})"
        return f"{asked} FILTER (WHERE {form()} > 3)" if random.random() < 0.2 else asked

    calls = [call() for _ in range(random.choice([2, 2, 3]))]
    if random.random() < 0.15:
        calls.append(f"corr({form()}, {form()})")
    keys = [random.choice([key(random, found), f"{form()} > 10"])] * (random.random() < 0.5)
    items = [f"{text} AS g{n}" for n, text in enumerate(keys)]
    items += [f"{text} AS r{n}" for n, text in enumerate(calls)]
    where = f" WHERE {form()} <> 5" if random.random() < 0.3 else ""
    by = f" GROUP BY {keys[0]}" if keys else ""
    sql = f"SELECT {', '.join(items)} FROM {found.text}{where}{by}"
    return f"WITH {', '.join(found.ctes)} {sql}" if found.ctes else sql
