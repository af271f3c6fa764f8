"""Random statements over public rows that an outer join keeps, and what is asked of them."""

from __future__ import annotations

from random import Random

PUBLIC = ("d.region_id = 1", "d.specialty <> 'eye'", "d.region_id IS NULL", "d.doctor_id > 1")
PRIVATE = ("v.ward = 'ER'", "v.cost > 400", "v.visit_id > 20", "v.ward = 'GP' AND v.cost < 300")
BESIDE = ("v.visit_id IS NULL", "v.cost > 100", "coalesce(v.cost, 0) < 500", "v.ward IS NOT NULL")
KEYS = ("d.specialty", "d.doctor_id", "d.region_id", "d.region_id > 1")
CALLS = (
    "count(*)",
    "count(1)",
    "count(d.region_id)",
    "count(v.visit_id)",
    "sum(d.region_id)",
    "avg(d.region_id)",
    "sum(v.cost)",
    "sum(coalesce(v.cost, 7))",
    "avg(coalesce(v.cost, 0))",
    "sum(CASE WHEN v.visit_id IS NULL THEN 1 ELSE 0 END)",
)


def statement(random: Random) -> str:
    """A statement over doctors, each beside their visits or NULLs."""
    if random.random() < 0.3:
        return _without(random)
    on = "v.doctor_id = d.doctor_id"
    if random.random() < 0.5:
        on += f" AND {random.choice(PRIVATE + PUBLIC)}"
    rows = f"doctors d LEFT JOIN visits v ON {on}"
    keys = list(KEYS)
    roll = random.random()
    if roll < 0.2:
        rows = rows.replace("doctors d", "doctors d JOIN regions r ON r.region_id = d.region_id")
        keys.append("r.region_name")
    elif roll < 0.4:
        rows += f" {random.choice(['LEFT ', ''])}JOIN regions r ON r.region_id = d.region_id"
        keys.append("r.region_name")
    elif roll < 0.5:
        rows += " LEFT JOIN tests t ON t.visit_id = v.visit_id"
    where = f" WHERE {random.choice(PUBLIC)}" if random.random() < 0.3 else ""
    chosen = random.sample(keys, random.choice([0, 1, 1, 2]))
    calls = [_filtered(random, call) for call in random.sample(CALLS, random.choice([1, 2, 3]))]
    if chosen == ["d.doctor_id"]:
        calls.append(random.choice(["any_value(d.specialty)", "min(d.specialty)"]))
    items = [f"{key} AS k{n}" for n, key in enumerate(chosen)]
    items += [f"{call} AS c{n}" for n, call in enumerate(calls)]
    sql = f"SELECT {', '.join(items)} FROM {rows}{where}"
    if chosen:
        sql += f" GROUP BY {', '.join(chosen)}"
        if random.random() < 0.2:
            sql += f" HAVING count(*) > {random.choice([0, 1, 3])}"
    return f"SELECT count(*), sum(c0) FROM ({sql}) AS q" if random.random() < 0.15 else sql


def keeps_all(sql: str) -> bool:
    """Whether all public groups are there, with partners or not."""
    return "LEFT JOIN visits v" in sql and " AS c0" in sql


def _filtered(random: Random, call: str) -> str:
    if random.random() < 0.7:
        return call
    return f"{call} FILTER (WHERE {random.choice(BESIDE + PUBLIC)})"


def _without(random: Random) -> str:
    """Doctors who have a partner, or none."""
    inner = f"v.doctor_id = d.doctor_id AND {random.choice(PRIVATE)}"
    where = f"{random.choice(PUBLIC)} AND " if random.random() < 0.3 else ""
    test = random.choice(["v.visit_id", "v.doctor_id"])
    rows = random.choice(
        [
            f"doctors d LEFT JOIN visits v ON {inner} WHERE {where}{test} IS NULL",
            f"doctors d LEFT JOIN visits v ON {inner} WHERE ({test} IS NULL)",
            f"doctors d ANTI JOIN visits v ON {inner}",
            f"doctors d SEMI JOIN visits v ON {inner}",
            "doctors d ANTI JOIN visits v USING (doctor_id)",
            f"doctors d LEFT JOIN visits v USING (doctor_id) WHERE {where}{test} IS NULL",
        ]
    )
    shown = random.choice(
        [
            "SELECT d.doctor_id, d.specialty FROM {}",
            "SELECT d.* FROM {}",
            "SELECT count(*) AS n, min(d.region_id) AS m FROM {}",
            "SELECT d.specialty, count(*) FROM {} GROUP BY d.specialty",
            "SELECT DISTINCT d.specialty FROM {}",
        ]
    )
    return shown.format(rows)
