"""Random queries that read a leaf more than once: a list, a release or a table."""

from __future__ import annotations

from random import Random

_PLACES = ("v.doctor_id", "month(v.visit_date)", "v.doctor_id + 1", "v.cost")


def leaf_query(random: Random) -> str:
    """A query over visits, joined to one leaf under two names, or asking it a third time."""
    name, columns = _leaf(random)
    places = random.sample(_PLACES, 2)
    which = random.choice("ab")
    asked = f"{which}.{random.choice('kn')}"
    kind = random.choice(["JOIN", "JOIN", "JOIN", "LEFT JOIN"])
    joins = " ".join(
        f"{kind} l {alias} ON {alias}.{random.choice(columns)} = {place}"
        for alias, place in zip("ab", places, strict=True)
    )
    condition = random.choice(
        [
            f"{asked} > 1",
            f"{asked} IS NULL",
            "a.n < b.n",
            "NOT (b.k >= a.n)",
            f"EXISTS (SELECT 1 FROM l c WHERE c.k = {random.choice(_PLACES)} AND c.n = {which}.n)",
            f"{random.choice(_PLACES)} IN (SELECT c.n FROM l c WHERE c.k > 1)",
        ]
    )
    call, key = random.choice(["count(*)", f"count({asked})", "sum(v.cost)"]), ""
    where = f" WHERE {condition}"
    if random.random() < 0.3:
        call, where = f"{call} FILTER (WHERE {condition})", ""
    elif random.random() < 0.3:
        key = random.choice([f"CAST({asked} AS INTEGER) % 3 AS g, ", "a.n > b.n AS g, "])
    source = _numbered(random) if random.random() < 0.2 else "visits v"
    tail = " GROUP BY 1" if key else ""
    return f"WITH l AS ({name}) SELECT {key}{call} AS r FROM {source} {joins}{where}{tail}"


def numbered_query(random: Random) -> str:
    """A query over the first visits of each unit, by an order that ties."""
    asked = random.choice(["sum(cost)", "count(*)", "sum(cost + 1)"])
    # Columns that nothing reads break no ties.
    where = random.choice(["ward = 'ER'", "ward <> 'ER'", "doctor_id = 1", "ward > 'F'"])
    return f"SELECT {asked} AS r FROM {_numbered(random)} WHERE {where}"


def _leaf(random: Random) -> tuple[str, tuple[str, ...]]:
    """Rows of two numbers, k and n."""
    rows = ["(1, 2)", "(2, 1)", "(1, 1)", "(3, 2)", "(2, 3)", "(NULL, 1)"]
    some = ", ".join(random.sample(rows, 3))
    kind = random.choice(["INTEGER", "BIGINT", "DOUBLE", "DECIMAL(9,2)"])
    listed = f"SELECT k, CAST(n AS {kind}) AS n FROM (VALUES {some}) t(k, n)"
    released = "SELECT doctor_id AS k, count(*) AS n FROM visits GROUP BY 1"
    found = random.choice(
        [
            listed,
            listed,
            f"SELECT DISTINCT k, n FROM ({listed}) d",
            f"SELECT k, sum(n) AS n FROM ({listed}) d GROUP BY k",
            f"SELECT k, row_number() OVER () AS n FROM ({listed}) d",
            f"SELECT k, n FROM ({listed}) d LIMIT 1",
            f"SELECT k, n FROM ({listed}) d LIMIT 2",
            f"{listed} UNION ALL SELECT doctor_id, region_id FROM doctors",
            "SELECT doctor_id AS k, region_id AS n FROM doctors",
            released,
            released,
            f"{released} ORDER BY n LIMIT 2",
        ]
    )
    return found, ("k", "k", "n")


def _numbered(random: Random) -> str:
    """Visits in an order of their unit's, whose ties other columns break."""
    columns = ["visit_date", "cost", "ward", "doctor_id"]
    random.shuffle(columns)
    order = random.choice(["visit_date", "visit_date", "doctor_id"])
    rows = (
        f"SELECT patient_id, {', '.join(columns)}, row_number() OVER (PARTITION BY patient_id "
        f"ORDER BY {order}) AS z FROM (SELECT patient_id, {', '.join(columns)} FROM visits) y"
    )
    return f"(SELECT * FROM ({rows}) w WHERE z = 1) v"
