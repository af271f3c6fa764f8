"""Statements whose clauses rearrange rows and columns: BY NAME, EXCLUDE, DISTINCT ON, COLLATE."""

from __future__ import annotations

from random import Random

_ARMS = {
    "visits": ["cost AS x", "ward AS name", "doctor_id AS d", "visit_date AS y", "NULL AS z"],
    "patients": ["age AS x", "sex AS name", "weight AS w", "city AS z", "NULL AS d"],
}
_READ = ["count(*)", "count(name)", "sum(x)", "count(d)", "count(DISTINCT name)", "max(x)"]


def statement(random: Random) -> str:
    """One of six kinds, each with a unique order wherever an order decides."""
    kinds = [_units_by_name, _groups_by_name, _of_groups, _of_units, _first_rows, _collated]
    return random.choice(kinds)(random)


def _columns(random: Random, table: str) -> str:
    listed = ["patient_id", *random.sample(_ARMS[table], random.randint(2, 5))]
    random.shuffle(listed)
    return ", ".join(listed)


def _units_by_name(random: Random) -> str:
    arms = [f"SELECT {_columns(random, t)} FROM {t}" for t in random.choices([*_ARMS], k=2)]
    kind = random.choice(["UNION ALL", "UNION"])
    read = ", ".join(random.sample(_READ, 2))
    return f"SELECT {read} FROM ({f' {kind} BY NAME '.join(arms)}) t"


def _groups_by_name(random: Random) -> str:
    arms = [
        "SELECT ward AS name, count(*) AS n FROM visits GROUP BY ward",
        "SELECT count(*) AS n, sex FROM patients GROUP BY sex",
        "SELECT sum(cost) AS s, ward AS NAME, count(cost) AS n FROM visits GROUP BY ward",
        "SELECT specialty AS name, doctor_id AS n FROM doctors",
    ]
    kind = random.choice(["UNION ALL", "UNION"])
    return f" {kind} BY NAME ".join(random.sample(arms, random.randint(2, 3)))


def _frame(random: Random, kinds: list[str], excluded: list[str]) -> str:
    kind, first, last = random.choice(kinds), random.randint(0, 2), random.randint(0, 2)
    begin = random.choice(["UNBOUNDED PRECEDING", f"{first} PRECEDING", "CURRENT ROW"])
    end = random.choice(["UNBOUNDED FOLLOWING", f"{last} FOLLOWING", "CURRENT ROW"])
    return f"{kind} BETWEEN {begin} AND {end} EXCLUDE {random.choice(excluded)}"


def _of_groups(random: Random) -> str:
    frame = _frame(
        random, ["ROWS", "RANGE", "GROUPS"], ["CURRENT ROW", "GROUP", "TIES", "NO OTHERS"]
    )
    # d % 2 ties: over whole ties every order of rows has the same sum.
    order = "d" if frame.startswith("ROWS") else random.choice(["d", "d % 2"])
    call = random.choice(["sum(n)", "count(*)", "max(n)", "min(n)"])
    groups = "SELECT doctor_id AS d, count(*) AS n FROM visits GROUP BY doctor_id"
    return f"SELECT d, {call} OVER (ORDER BY {order} {frame}) AS w FROM ({groups}) t"


def _of_units(random: Random) -> str:
    frame = _frame(random, ["ROWS"], ["CURRENT ROW", "NO OTHERS"])
    call = random.choice(["sum(cost)", "count(*)", "max(cost)", "first_value(ward)", "count(ward)"])
    over = f"{call} OVER (PARTITION BY patient_id ORDER BY visit_id {frame})"
    return f"SELECT count(w), count(*) FROM (SELECT {over} AS w FROM visits) t"


def _first_rows(random: Random) -> str:
    on = random.choice(["patient_id", "2", "patient_id, ward", "(patient_id)"])
    items = random.choice(["*", "visit_id, patient_id, cost, ward", "visits.*"])
    order = random.choice(["1", "1 DESC", "visit_id", "patient_id, 1"])
    least = random.randint(1, 3)
    number = "row_number() OVER (PARTITION BY patient_id ORDER BY visit_id DESC)"
    chosen = random.choice(
        ["", f"QUALIFY {number} <= {least}", f"QUALIFY {number} > 1 AND cost > 100"]
    )
    rows = f"SELECT DISTINCT ON ({on}) {items} FROM visits {chosen} ORDER BY {order}"
    return f"SELECT count(*), sum(cost), count(ward) FROM ({rows}) t"


def _collated(random: Random) -> str:
    name = random.choice(["NOCASE", "nocase", '"C"', '"POSIX"'])
    words = random.sample(["er", "ER", "Er", "gp", "GP", "x", "icu"], 2)
    text = random.choice(["ward", "lower(ward)", "coalesce(ward, 'Er')"])
    first, second = sorted(f"'{word}'" for word in words)
    condition = random.choice(
        [
            f"{text} COLLATE {name} = {first}",
            f"{first} <> {text} COLLATE {name}",
            f"{text} COLLATE {name} IN ({first}, {second})",
            f"{text} COLLATE {name} NOT IN ({first}, {second})",
            f"{text} COLLATE {name} BETWEEN {first} AND {second}",
            f"NOT ({text} COLLATE {name} < {second})",
            f"{text} COLLATE {name} IS DISTINCT FROM {first}",
        ]
    )
    return f"SELECT count(*) FROM visits WHERE {condition}"
