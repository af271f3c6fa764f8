"""Random statements about names, scopes, unknown conditions, joins and subqueries over the clinic.

Each has what people write: names that repeat, hide others or stand in quotes, conditions wherever
SQL lets them be unknown, and queries in queries. They ask of their own unit's rows only, so that
most of them are answered.
"""

from __future__ import annotations

from random import Random

from fuzz.clinic_rows import KEYS, NULLABLE, TABLES, Rows, joined, lateral

from dpsql.structs import replace

NAMES = ("a", "b", '"A b"', "n", "cost", "age", "x")
TEXTS = ("'F'", "'ER'", "'GP'", "'scan'", "'x'", "''", "NULL")


def statement(random: Random) -> str:
    """A statement whose answer is aggregated."""
    rows = _rows(random, 2)
    where = f" WHERE {_condition(random, rows, 2)}" if random.random() < 0.7 else ""
    keys = random.sample(_keys(random, rows), random.choice([0, 0, 1, 1, 2]))
    calls = [_call(random, rows) for _ in range(random.choice([1, 1, 2, 3]))]
    names = [random.choice([f"k{n}", '"K e y"', "N", "k"]) for n in range(len(keys))]
    items = [f"{k} AS {name}" for k, name in zip(keys, names, strict=True)]
    items += [f"{call} AS c{n}" for n, call in enumerate(calls)]
    group = f" GROUP BY {', '.join(str(n + 1) for n in range(len(keys)))}" if keys else ""
    having = f" HAVING {random.choice(_HAVING)}" if keys and random.random() < 0.25 else ""
    sql = f"SELECT {', '.join(items)} FROM {rows.text}{where}{group}{having}"
    roll = random.random()
    if roll < 0.12:
        return f"WITH t AS ({sql}) SELECT t.c0, x.* FROM t, (SELECT count(*) AS c0 FROM t) AS x"
    if roll < 0.2:
        return f"SELECT count(*) AS n, sum(c0) AS s FROM ({sql}) AS t"
    if roll < 0.26:
        return f"({sql}) UNION ALL ({sql})"
    if roll < 0.32:
        return f"SELECT *, c0 AS c0 FROM ({sql}) AS t"
    return sql


_HAVING = (
    "count(*) > 2",
    "NOT (count(*) < 3)",
    "count(*) BETWEEN 2 AND 50",
    "(count(*) > 4) IS NOT FALSE",
    "count(*) IN (1, 2, 3, 5, 8) OR count(*) > 9",
)


def _rows(random: Random, depth: int) -> Rows:
    roll = random.random()
    if depth and roll < 0.3:
        return _derived(random, depth)
    if roll < 0.6:
        return joined(random)
    if roll < 0.7:
        return lateral(random)
    table = random.choice(["patients", "visits", "visits", "tests"])
    alias = random.choice(["", " AS v", " a", ' AS "T"'])
    name = alias.split()[-1] if alias else table
    return Rows(f"{table}{alias}", tuple((f"{name}.{c}", k) for c, k in TABLES[table]))


def _derived(random: Random, depth: int) -> Rows:
    """Rows of a query in FROM, with the names that it gives, or one row of each unit."""
    below = _rows(random, depth - 1)
    where = f" WHERE {_condition(random, below, 1)}" if random.random() < 0.5 else ""
    units = below.of("patient")
    if units and random.random() < 0.3:
        unit, call = random.choice(units), _call(random, below, of_unit=True)
        text = f"SELECT {unit} AS p, {call} AS m, count(*) AS n FROM {below.text}{where}"
        grouped = f"({text} GROUP BY {unit}) AS u"
        return Rows(grouped, (("u.p", "patient"), ("m", "number"), ("u.n", "number")))
    kept = random.sample(below.columns, min(len(below.columns), random.choice([2, 3, 4])))
    shown = [(random.choice([*NAMES, f"c{n}"]), name, k) for n, (name, k) in enumerate(kept)]
    text = ", ".join(f"{name} AS {alias}" for alias, name, _ in shown) or "1 AS one"
    names = [a for a, _, _ in shown]
    unique = tuple((f"d.{a}", k) for a, _, k in shown if _folded(names).count(_fold(a)) == 1)
    return Rows(f"(SELECT {text} FROM {below.text}{where}) AS d", unique)


def _fold(name: str) -> str:
    return name.strip('"').casefold()


def _folded(names: list[str]) -> list[str]:
    return [_fold(name) for name in names]


def _keys(random: Random, rows: Rows) -> list[str]:
    listed = ("sex", "ward", "kind")
    found = [c for c in rows.of("text") if c.rpartition(".")[2] in listed]
    found += rows.of("truth", "doctor")
    # A key asks no subquery: that is refused, with a derived table to write instead.
    found.append(f"({_condition(random, rows, 1)})")
    found.append(f"CASE WHEN {_condition(random, rows, 1)} THEN 'yes' ELSE 'no' END")
    return found


def _call(random: Random, rows: Rows, *, of_unit: bool = False) -> str:
    numbers = [c for c in rows.of("number") if c.rpartition(".")[2] in ("age", "cost", "score")]
    calls = ["count(*)", f"count({random.choice([*dict(rows.columns), '1'])})"]
    if numbers:
        number = random.choice(numbers)
        calls += [f"sum({number})", f"sum({number})"]
        if of_unit:
            calls += [f"max({number})", f"min({number})"]
    units = rows.of("patient")
    if units and not of_unit:
        calls.append(f"count(DISTINCT {random.choice(units)})")
    calls.append(f"sum(CASE WHEN {_condition(random, rows, 1)} THEN 1 ELSE 0 END)")
    found = random.choice(calls)
    if not of_unit and random.random() < 0.25:
        found += f" FILTER (WHERE {_condition(random, rows, 1)})"
    return found


def _condition(random: Random, rows: Rows, depth: int) -> str:
    """A condition that may be true, false or unknown."""
    if not depth or random.random() < 0.3:
        return _atom(random, rows)
    one = _condition(random, rows, depth - 1)
    roll = random.random()
    if roll < 0.35:
        other = _condition(random, rows, depth - 1)
        return random.choice(["({} AND {})", "({} OR {})"]).format(one, other)
    wrapped = random.choice(
        [
            "NOT ({})",
            "({}) IS TRUE",
            "({}) IS NOT TRUE",
            "({}) IS FALSE",
            "({}) IS NULL",
            "({}) IS NOT NULL",
            "({}) = FALSE",
            "({}) <> TRUE",
            "coalesce({}, TRUE)",
            "NOT coalesce({}, FALSE)",
            "CASE WHEN {} THEN FALSE ELSE TRUE END",
            "({}) IS DISTINCT FROM TRUE",
            "({}) IN (TRUE, NULL)",
        ]
    )
    return wrapped.format(one)


def _atom(random: Random, rows: Rows) -> str:
    choices = [_of_text(random, c) for c in rows.of("text")]
    choices += [_of_number(random, c) for c in rows.of("number")]
    choices += rows.of("truth")
    if rows.depth < 2:
        inner = replace(rows, depth=rows.depth + 1)
        choices += [_asked_doctors(random, inner, c) for c in rows.of("doctor")]
        keys = [(c, k) for c, k in rows.columns if k.removesuffix(NULLABLE) in KEYS]
        choices += [_asked(random, inner, c, k) for c, k in keys]
    return random.choice(choices or ["1 = 1"])


def _of_text(random: Random, name: str) -> str:
    one, other = random.choice(TEXTS), random.choice(TEXTS)
    return random.choice(
        [
            f"{name} = {one}",
            f"{name} <> {one}",
            f"{name} IN ({one}, {other})",
            f"{name} NOT IN ({one}, {other})",
            f"{name} IS NULL",
            f"{name} LIKE 'E%'",
            f"{name} IS DISTINCT FROM {one}",
            f"{name} IN (SELECT specialty FROM doctors)",
            f"{name} NOT IN (SELECT region_name FROM regions)",
        ]
    )


def _of_number(random: Random, name: str) -> str:
    number = random.choice(["0", "2", "30.5", "100", "NULL"])
    return random.choice(
        [
            f"{name} > {number}",
            f"{name} <= {number}",
            f"{name} = {number}",
            f"{name} BETWEEN 1 AND {number}",
            f"{name} NOT BETWEEN {number} AND 50",
            f"{name} IN (1, {number})",
            f"nullif({name}, 2) IS NULL",
            f"{name} > ALL (SELECT doctor_id FROM doctors)",
            f"{name} < ANY (SELECT region_id FROM regions)",
        ]
    )


def _asked_doctors(random: Random, rows: Rows, name: str) -> str:
    """A question to public rows."""
    g = f"g{rows.depth}"
    known = ((f"{g}.specialty", "text"), (f"{g}.region_id", "number"))
    own = _condition(random, Rows("", known, rows.depth), 1)
    return random.choice(
        [
            f"{name} IN (SELECT doctor_id FROM doctors {g} WHERE {own})",
            f"{name} NOT IN (SELECT region_id FROM doctors {g} WHERE {own})",
            f"EXISTS (SELECT 1 FROM doctors {g} WHERE {g}.doctor_id = {name} AND {own})",
            f"(SELECT max(region_id) FROM doctors {g} WHERE {g}.doctor_id = {name}) > 1",
        ]
    )


def _asked(random: Random, rows: Rows, name: str, kind: str) -> str:
    """A question to other rows of the same unit; of NULL it is unknown whether any are there."""
    g = f"g{rows.depth}"
    table, key = {
        "patient": ("visits", "patient_id"),
        "visit": ("tests", "visit_id"),
        "test": ("tests", "test_id"),
    }[kind.removesuffix(NULLABLE)]
    inner = Rows("", tuple((f"{g}.{c}", k) for c, k in TABLES[table]), rows.depth)
    own = f"{g}.{key} > 0" if kind.endswith(NULLABLE) else _condition(random, inner, 1)
    number = {"visits": "cost", "tests": "score"}[table]
    negated = random.choice(["", "NOT "])
    most = f"(SELECT max({g}.{number}) FROM {table} {g} WHERE {own} AND {name} = {g}.{key})"
    single, text = {"visits": ("visit_id", "ward"), "tests": ("test_id", "kind")}[table]
    asked = f"FROM {table} {g} WHERE {g}.{key} = {name}{_more(random, rows, g, number, text)}"
    order = f"ORDER BY {g}.{number}, {g}.{single}"
    return random.choice(
        [
            f"{name} {negated}IN (SELECT {key} FROM {table} {g} WHERE {own})",
            f"{negated}EXISTS (SELECT 1 FROM {table} {g} WHERE {g}.{key} = {name} AND {own})",
            f"(SELECT count(*) FROM {table} {g} WHERE {g}.{key} = {name} AND {own}) > 0",
            f"(SELECT sum({g}.{number}) FROM {table} {g} WHERE {g}.{key} = {name}) > 3",
            f"{most} IS NULL",
            f"{name} = ANY (SELECT {key} FROM {table} {g} WHERE {own})",
            f"{name} <> ALL (SELECT {key} FROM {table} {g} WHERE {own})",
            f"{negated}EXISTS (SELECT DISTINCT {g}.{number} {asked})",
            f"{name} {negated}IN (SELECT DISTINCT {g}.{key} {asked})",
            f"{negated}EXISTS (SELECT 1 {asked} QUALIFY row_number() OVER ({order}) = 2)",
            f"(SELECT {g}.{number} {asked} {order} LIMIT 1) > 3",
            f"(SELECT {g}.{number} AS m {asked} ORDER BY 1 DESC, {g}.{single} LIMIT 1) > 3",
            f"(SELECT {g}.{text} AS cost {asked} ORDER BY cost, {g}.{single} LIMIT 1) = 'ER'",
            f"(SELECT count(DISTINCT {g}.{text}) {asked}) > 1",
            f"{negated}EXISTS (SELECT {g}.{text} {asked} GROUP BY {g}.{text} HAVING count(*) > 1)",
            f"'ER' IN (SELECT max({g}.{text}) OVER (PARTITION BY {g}.{text}) {asked})",
        ]
    )


def _more(random: Random, rows: Rows, inner: str, number: str, text: str) -> str:
    """A further condition on what is asked for, which the row that asks may decide."""
    choices = ["", "", f" AND {inner}.{number} > 2"]
    choices += [f" AND {inner}.{number} {op} {c}" for c in rows.of("number") for op in "=<"]
    choices += [f" AND {inner}.{text} = {c}" for c in rows.of("text")]
    return random.choice(choices)
