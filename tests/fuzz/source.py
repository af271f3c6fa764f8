"""Random FROM clauses over the clinic: joins, derived tables, unions, windows, CTEs."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from fuzz.column import NUMBERS, Column, Kind, Source, listed, renamed, some, table
from fuzz.expression import condition, number

from dpsql.structs import replace

_CHAIN = (("patients", "visits", "patient_id"), ("visits", "tests", "visit_id"))
_JOINS = ("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")


def source(random: Random, depth: int = 2) -> Source:
    """A FROM clause of some shape."""
    shapes: list[Callable[[Random, int], Source]] = [
        _single,
        _single,
        _chain,
        _chain,
        _public,
        _self,
    ]
    if depth:
        shapes += [_derived, _per_unit, _per_unit, _union, _distinct, _window, _cte, _beside]
        shapes.append(_equated)
    return random.choice(shapes)(random, depth)


def _single(random: Random, depth: int) -> Source:
    del depth
    return table(random.choice(["patients", "visits", "visits", "tests", "readings"]), "a")


def _chain(random: Random, depth: int) -> Source:
    """Two or three private tables along their keys."""
    del depth
    first, second, by = random.choice(_CHAIN)
    a, b = table(first, "a"), table(second, "b")
    if random.random() < 0.3:
        a, b = b, a
    more = f" AND {condition(random, b, 1)}" if random.random() < 0.3 else ""
    join = random.choice(_JOINS)
    aliases = (a.text.split()[1], b.text.split()[1])
    text = f"{a.text} {join} {b.text} ON {aliases[0]}.{by} = {aliases[1]}.{by}{more}"
    found = Source(text, a.columns + b.columns)
    if second == "visits" and random.random() < 0.4:
        c = table("tests", "c")
        alias = next(c.text.split(".")[0] for c in found.columns if c.name == "visit_id")
        kind = random.choice(["JOIN", "LEFT JOIN"])
        text = f"{found.text} {kind} {c.text} ON {alias}.visit_id = c.visit_id"
        found = Source(text, found.columns + c.columns)
    return found


def _public(random: Random, depth: int) -> Source:
    """Private rows with their public partners."""
    del depth
    kind = random.choice(["JOIN", "LEFT JOIN"])
    d = table("doctors", "d")
    if random.random() < 0.2:
        a = table(random.choice(["patients", "readings"]), "a")
        on = "a.age = d.region_id" if "patients" in a.text else "a.sensor = d.region_id"
        return replace(a, text=f"{a.text} {kind} {d.text} ON {on}", columns=a.columns + d.columns)
    a = table("visits", "a")
    found = Source(f"{a.text} {kind} {d.text} ON a.doctor_id = d.doctor_id", a.columns + d.columns)
    if random.random() < 0.4:
        r = table("regions", "r")
        join = f"{found.text} {kind} {r.text} ON d.region_id = r.region_id"
        found = Source(join, found.columns + r.columns)
    if random.random() < 0.1:
        r = table("regions", "x")
        found = Source(f"{found.text} CROSS JOIN {r.text}", found.columns + r.columns)
    return found


def _self(random: Random, depth: int) -> Source:
    """Rows beside others of the same unit."""
    del depth
    name = random.choice(["patients", "visits", "tests"])
    a, b = table(name, "a"), table(name, "b")
    by = random.choice([c.name for c in a.columns if c.entity in ("patient", "visit")])
    both = Source("", a.columns + b.columns)
    more = f" AND {condition(random, both, 0)}" if random.random() < 0.4 else ""
    join = random.choice(["JOIN", "LEFT JOIN"])
    return Source(f"{a.text} {join} {b.text} ON a.{by} = b.{by}{more}", a.columns + b.columns)


def _outputs(random: Random, below: Source) -> list[Column]:
    """Some columns, with those that identify the unit."""
    others = [c for c in below.columns if not c.entity]
    return below.identities("patient", "visit")[:2] + some(random, others, 4)


def _derived(random: Random, depth: int) -> Source:
    """A subquery with a computed column."""
    below = source(random, depth - 1)
    outputs = _outputs(random, below)
    computed = number(random, below)
    where = f" WHERE {condition(random, below)}" if random.random() < 0.6 else ""
    text = f"(SELECT {listed(outputs)}, {computed} AS n FROM {below.text}{where}) s"
    columns = (*renamed(below, "s", outputs), Column("s.n", Kind.DECIMAL, ("0", "10")))
    return replace(below, text=text, columns=columns)


def _per_unit(random: Random, depth: int) -> Source:
    """One row for each unit, or for each of its parts."""
    below = source(random, depth - 1)
    keys = below.identities("patient", "visit")
    if not keys:
        return below
    by = [random.choice(keys), *some(random, [c for c in below.columns if c.listed], 1)]
    by = list({c.text: c for c in by}.values())[: random.randint(1, 2)]
    inner = number(random, below, 1)
    calls = [
        random.choice(["count(*)", f"sum({inner})", f"avg({inner})"]),
        random.choice(
            [
                f"max({inner})",
                f"min({inner})",
                "count(*)",
                f"count(DISTINCT {inner})",
                f"sum(DISTINCT {inner})",
                f"median({inner})",
                f"quantile_disc({inner}, 0.5)",
            ]
        ),
    ]
    having = " HAVING count(*) > 1" if random.random() < 0.2 else ""
    where = f" WHERE {condition(random, below, 1)}" if random.random() < 0.4 else ""
    named = ", ".join(f"{call} AS x{n}" for n, call in enumerate(calls))
    grouped = ", ".join(c.text for c in by)
    text = f"(SELECT {listed(by)}, {named} FROM {below.text}{where} GROUP BY {grouped}{having}) g"
    columns = renamed(below, "g", by) + tuple(
        Column(f"g.x{n}", Kind.INTEGER, ("0", "1", "5"), listed=calls[n] == "count(*)")
        for n in range(2)
    )
    return replace(below, text=text, columns=columns)


def _union(random: Random, depth: int) -> Source:
    """Rows of two arms of the same unit."""
    del depth
    arms: list[str] = []
    for name in random.choices(["patients", "visits"], k=2):
        arm = table(name, "a")
        numbers = [c.text for c in arm.of(*NUMBERS)]
        texts = [c.text for c in arm.of(Kind.TEXT)]
        where = f" WHERE {condition(random, arm, 1)}" if random.random() < 0.5 else ""
        arms.append(
            f"SELECT a.patient_id AS k0, {random.choice(texts)} AS k1, "
            f"{random.choice(numbers)} AS k2 FROM {arm.text}{where}"
        )
    kind = random.choice(["UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT"])
    columns = (
        Column("u.k0", Kind.IDENTITY, ("1", "2"), "patient"),
        Column("u.k1", Kind.TEXT, ("'ER'", "'F'")),
        Column("u.k2", Kind.DOUBLE, ("0", "50")),
    )
    return Source(f"({arms[0]} {kind} {arms[1]}) u", columns)


def _distinct(random: Random, depth: int) -> Source:
    """Different rows of each unit."""
    below = source(random, depth - 1)
    outputs = _outputs(random, below)
    text = f"(SELECT DISTINCT {listed(outputs)} FROM {below.text}) t"
    return replace(below, text=text, columns=renamed(below, "t", outputs))


def _window(random: Random, depth: int) -> Source:
    """Rows numbered, or compared with others, within their unit."""
    below = source(random, depth - 1)
    keys = below.identities("patient", "visit")
    if not keys:
        return below
    outputs = _outputs(random, below)
    order = random.choice(list(below.columns)).text
    direction = random.choice(["", " DESC", " NULLS FIRST"])
    over = f"OVER (PARTITION BY {random.choice(keys).text} ORDER BY {order}{direction})"
    inner = number(random, below, 1)
    call = random.choice(
        ["row_number()", "rank()", f"lag({inner})", f"max({inner})", "count(*)", "dense_rank()"]
    )
    text = f"(SELECT {listed(outputs)}, {call} {over} AS w FROM {below.text}) w"
    kept = Column("w.w", Kind.INTEGER, ("1", "2"))
    return replace(below, text=text, columns=(*renamed(below, "w", outputs), kept))


def _cte(random: Random, depth: int) -> Source:
    """A named query, alone or joined to itself on a key of the unit."""
    below = _derived(random, depth)
    inner = below.text.removesuffix(" s")
    columns = below.columns
    cte = f"c{len(below.ctes)} AS {inner}"
    name = cte.split(maxsplit=1)[0]
    if columns[0].entity and random.random() < 0.3:
        other = tuple(replace(c, text=f"o.{c.name}") for c in columns)
        text = f"{name} s JOIN {name} o ON s.k0 = o.k0"
        return replace(below, text=text, columns=columns + other, ctes=(*below.ctes, cte))
    return replace(below, text=f"{name} s", ctes=(*below.ctes, cte))


def _beside(random: Random, depth: int) -> Source:
    """What is known of each unit beside its own table."""
    grouped = _per_unit(random, depth)
    if not grouped.text.endswith(" g") or grouped.columns[0].entity != "patient":
        return grouped
    p = table("patients", "p")
    kind = random.choice(["JOIN", "LEFT JOIN"])
    text = f"{p.text} {kind} {grouped.text} ON p.patient_id = {grouped.columns[0].text}"
    return replace(grouped, text=text, columns=p.columns + grouped.columns)


def _equated(random: Random, depth: int) -> Source:
    """What meets a unit's own row by a double that equals a constant, or one of that row."""
    below = source(random, depth - 1)
    keys = below.identities("patient")
    if not keys:
        return below
    sign = f"CASE WHEN {condition(random, below, 1)} THEN -1 ELSE 1 END"
    size, equal = random.choice(
        [("CAST(0 AS DOUBLE)", "0"), ("CAST(0 AS FLOAT)", "0"), ("n", "p.weight * 0")]
    )
    inner = f"SELECT {keys[0].text} AS k0, {sign} AS sign, CAST(0 AS DOUBLE) * "
    inner += f"({number(random, below, 1)}) AS n FROM {below.text}"
    shown = random.choice(["CAST(s.z AS VARCHAR)", "s.z || ''", "CAST(signbit(s.z) AS VARCHAR)"])
    text = (
        f"(SELECT p.patient_id AS k0, {shown} AS k1, count(*) AS x0 FROM patients p JOIN "
        f"(SELECT k0, sign * {size} AS z FROM ({inner}) i) s "
        f"ON s.k0 = p.patient_id AND s.z = {equal} GROUP BY p.patient_id, {shown}) e"
    )
    columns = (
        Column("e.k0", Kind.IDENTITY, ("1", "2"), "patient"),
        Column("e.k1", Kind.TEXT, ("'0.0'", "'-0.0'", "'nan'")),
        Column("e.x0", Kind.INTEGER, ("1", "2"), listed=True),
    )
    return replace(below, text=text, columns=columns)
