"""Random queries over the clinic, from a grammar of what ought to be answered."""

from __future__ import annotations

from random import Random

from fuzz.column import Source
from fuzz.expression import aggregate, condition, key
from fuzz.source import source


def query(random: Random) -> str:
    """A query with aggregates, keys, conditions and what may stand above a release."""
    found = source(random)
    where = _where(random, found)
    keys = [key(random, found) for _ in range(random.choice([0, 0, 1, 1, 1, 2]))]
    calls = [aggregate(random, found) for _ in range(random.choice([1, 1, 2, 3]))]
    if keys and random.random() < 0.1:
        calls = []
    items = [f"{k} AS g{n}" for n, k in enumerate(keys)]
    items += [f"{call} AS r{n}" for n, call in enumerate(calls)]
    sql = f"SELECT {', '.join(items)} FROM {found.text}{where}{_grouping(random, keys)}"
    if calls and random.random() < 0.15:
        sql += f" HAVING {calls[0]} > {random.choice(['0', '1', '2.5'])}"
    if random.random() < 0.15:
        sql += " ORDER BY 1 LIMIT 3"
    elif calls and random.random() < 0.1:
        sql = f"SELECT max(r0) AS most, count(*) AS n FROM ({sql}) z"
    return f"WITH {', '.join(found.ctes)} {sql}" if found.ctes else sql


def _grouping(random: Random, keys: list[str]) -> str:
    if not keys:
        return ""
    roll = random.random()
    if roll < 0.08:
        return f" GROUP BY ROLLUP ({', '.join(keys)})"
    if roll < 0.12:
        return f" GROUP BY CUBE ({', '.join(keys)})"
    if roll < 0.4:
        return f" GROUP BY {', '.join(str(n + 1) for n in range(len(keys)))}"
    return f" GROUP BY {', '.join(keys)}"


def _where(random: Random, found: Source) -> str:
    parts: list[str] = []
    if random.random() < 0.55:
        parts.append(condition(random, found))
    if random.random() < 0.3:
        parts.append(_subquery(random, found))
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def _subquery(random: Random, found: Source) -> str:
    """A question to other rows of the same unit, to public ones, or to a release."""
    people, visits = found.identities("patient"), found.identities("visit")
    asked = random.choice(["patient", "visit", "doctor", "released", "average"])
    inner = source(random, 0)
    own = inner.identities("patient")
    more = f" WHERE {condition(random, inner, 1)}" if random.random() < 0.5 else ""
    negated = random.choice(["", "NOT "])
    if asked == "patient" and people and own:
        outer = random.choice(people).text
        text = f"SELECT {own[0].text} FROM {inner.text}{more}"
        if random.random() < 0.5:
            return f"{outer} {negated}IN ({text})"
        alone = inner.text.replace(" a", " i").replace("a.", "i.")
        if " " in alone.replace(" i", "", 1):
            return f"{outer} IN ({text})"
        return f"{negated}EXISTS (SELECT 1 FROM {alone} WHERE i.patient_id = {outer})"
    if asked == "visit" and visits:
        score = random.choice(["score > 0", "kind = 'scan'", "score IS NULL"])
        outer = visits[0].text
        if random.random() < 0.5:
            return f"{outer} {negated}IN (SELECT visit_id FROM tests WHERE {score})"
        return f"{negated}EXISTS (SELECT 1 FROM tests i WHERE i.visit_id = {outer} AND {score})"
    doctors = found.identities("doctor")
    if asked == "doctor" and doctors:
        some = "SELECT doctor_id FROM doctors WHERE specialty = 'surgery'"
        if random.random() < 0.5:
            some = "SELECT doctor_id FROM visits GROUP BY doctor_id ORDER BY count(*) DESC LIMIT 2"
        return f"{doctors[0].text} {negated}IN ({some})"
    if asked == "average" and people:
        return (
            f"(SELECT sum(i.cost) FROM visits i WHERE i.patient_id = {people[0].text}) > "
            f"{random.choice(['0', '50'])}"
        )
    return f"{random.choice(['1', '50.5'])} < (SELECT avg(age) FROM patients)"
