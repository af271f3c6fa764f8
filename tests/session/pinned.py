"""Statements whose keys are pinned in fixtures/keys/pinned.json, and what these are made of."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from notes.compiler import FIXTURES, prepared, schema_of
from physical.strategies import names_of

from dpsql.engine.sidecar.contents import SidecarCounts
from dpsql.engine.sidecar.contents import _sealed as sealed
from dpsql.engine.source import PostgresSource, ServerTable, SparkSource
from dpsql.plan.bounded_release.estimator import DividedSum, LinearEstimator
from dpsql.plan.bounded_release.key_factors import KeyFactors
from dpsql.plan.expression import And, Literal, Parameter
from dpsql.plan.operator import PublicStatement
from dpsql.privacy.domain import Domain, Interval
from dpsql.schema.model import Schema
from dpsql.schema.source_location import Source
from dpsql.schema.sql_type import BIGINT, Array, Boolean, Uuid
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.digest.canonical_digest import release_digest
from dpsql.session.digest.codec import digested
from dpsql.session.sidecar import _stamp as stamp
from dpsql.structs import replace

PINNED = FIXTURES / "keys" / "pinned.json"

_LIST = "(VALUES (1, 'a'), (2, 'b')) l(i, n)"
_PUBLIC = "SELECT count(*) FROM visits WHERE doctor_id = ({})"
_UNION = "SELECT i FROM (VALUES (1), (2)) a(i) UNION ALL SELECT i FROM (VALUES (3)) b(i)"
_EXCEPT = "SELECT i FROM (VALUES (1), (2)) a(i) EXCEPT SELECT i FROM (VALUES (2)) b(i)"

_EARNED = "SELECT count(*) * price FROM bids WHERE bid >= price"

_BY_UNIT = "SELECT insured, count(*) FROM patients GROUP BY insured"

CLINIC = {
    "a count": "SELECT count(*) FROM visits",
    "a count of a public table's keys": (
        "SELECT specialty, count(*) FROM visits JOIN doctors USING (doctor_id) GROUP BY 1"
    ),
    "listed keys": (
        "SELECT ward, sex, sum(cost) FROM visits JOIN patients USING (patient_id) GROUP BY 1, 2"
    ),
    "units that are scaled to few groups": (
        "SELECT ward, count(*), sum(cost) FROM visits GROUP BY ward"
        " OPTIONS (groups = 2, over_groups = scale)"
    ),
    "keys that a threshold selects": "SELECT city, count(*) FROM patients GROUP BY city",
    "keys that weights of units select": (
        "SELECT visit_id + 0 AS number, sum(cost) FROM visits GROUP BY number"
        " OPTIONS (weighted_keys = on)"
    ),
    "keys by month": "SELECT month(visit_date), count(*) FROM visits GROUP BY 1",
    "conditions": (
        "SELECT count(*) FROM visits WHERE ward IN ('ER', 'GP') AND (cost > 1.5 OR cost IS NULL)"
        " AND visit_date >= DATE '2024-02-01' AND NOT (cost * 2 + 1 < 7) AND cost / 3 > 1e-3"
    ),
    "functions": (
        "SELECT sum(CASE WHEN insured THEN age ELSE -age END), count(*) FILTER (WHERE weight > 50)"
        " FROM patients WHERE lower(city) LIKE 'a%' AND TRY_CAST(city AS INTEGER) > 3"
    ),
    "lengths of time": (
        "SELECT sum(date_diff('week', DATE '2024-01-01', visit_date)) FROM visits"
        " WHERE visit_date + INTERVAL '1 month' > TIMESTAMP '2024-02-01 00:00:01.5'"
    ),
    "a null": "SELECT DISTINCT NULL AS nothing, insured FROM patients",
    "a sum with a cap": (
        "SELECT ward, sum(cost) FROM visits GROUP BY ward OPTIONS (unit_sum = 1500)"
    ),
    "an average": "SELECT avg(age) FROM patients",
    "spreads": "SELECT stddev(weight), var_pop(age) FROM patients",
    "pairs": "SELECT covar_pop(weight, age), regr_slope(weight, age) FROM patients",
    "distinct values": "SELECT count(DISTINCT age), sum(DISTINCT age) FROM patients",
    "distinct units": "SELECT count(DISTINCT patient_id) FROM visits",
    "values that are there": "SELECT count(cost) FROM visits",
    "groups that are there": "SELECT DISTINCT ward FROM visits WHERE cost > 990",
    "quantiles": "SELECT median(weight), quantile_cont(age, 0.25) FROM patients",
    "a mode": "SELECT insured, mode(sex) FROM patients GROUP BY insured",
    "intervals": "SELECT dp_interval_low(sum(cost)), dp_interval_high(sum(cost)) FROM visits",
    "what limits leave out": "SELECT dp_over_limit(count(*)), dp_clipped(sum(cost)) FROM visits",
    "grouping sets": "SELECT ward, count(*) FROM visits GROUP BY ROLLUP (ward)",
    "rows of each unit": (
        "SELECT avg(n) FROM (SELECT patient_id, least(count(*), 9) AS n FROM visits GROUP BY 1) t"
    ),
    "a window of a unit's rows": (
        "SELECT sum(cost) FROM (SELECT *, row_number() OVER (PARTITION BY patient_id"
        " ORDER BY visit_date DESC NULLS LAST) AS n FROM visits) w WHERE n = 1"
    ),
    "a frame": (
        "SELECT count(*) FROM (SELECT sum(cost) OVER (PARTITION BY patient_id ORDER BY visit_id"
        " RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS near FROM visits) t WHERE near > 10"
    ),
    "a list": f"SELECT n, count(*) FROM visits JOIN {_LIST} ON doctor_id = i GROUP BY n",
    "an outer join": "SELECT count(*) FROM visits v LEFT JOIN doctors d USING (doctor_id)"
    " WHERE d.specialty IS DISTINCT FROM 'eye'",
    "rows of both sides": "SELECT count(*) FROM patients p FULL JOIN visits v"
    " ON p.patient_id = v.patient_id WHERE p.age > 3",
    "a mark": "SELECT count(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v"
    " WHERE v.patient_id = p.patient_id AND v.cost > 900)",
    "a union": "SELECT count(*) FROM (SELECT patient_id FROM visits WHERE cost > 9 UNION ALL"
    " SELECT patient_id FROM patients) t",
    "a set operation": f"SELECT count(*) FROM visits WHERE doctor_id IN ({_EXCEPT})",
    "a release that is read": (
        "WITH r AS (SELECT doctor_id AS k, count(*) AS n FROM visits GROUP BY 1)"
        " SELECT count(*) FROM visits v JOIN r ON k = doctor_id WHERE n > 10"
    ),
    "sorted rows as they are written": _PUBLIC.format(
        "SELECT doctor_id FROM doctors ORDER BY region_id DESC NULLS LAST, doctor_id LIMIT 1"
    ),
    "a list as it is written": _PUBLIC.format(f"SELECT first(i) FROM {_LIST}"),
    "a union as it is written": _PUBLIC.format(f"SELECT first(i) FROM ({_UNION}) t"),
    "a set operation as it is written": _PUBLIC.format(f"SELECT any_value(i) FROM ({_EXCEPT}) t"),
    "joins as they are written": _PUBLIC.format(
        "SELECT last(d.doctor_id) FROM doctors d JOIN regions r USING (region_id)"
        " LEFT JOIN (VALUES (1)) x(i) ON x.i = d.doctor_id AND (x.i > 0 OR x.i < -1)"
        " WHERE d.specialty IN ('eye', 'ear')"
    ),
    "a mark as it is written": _PUBLIC.format(
        "SELECT first(doctor_id) FROM doctors WHERE region_id IN (SELECT region_id FROM regions)"
    ),
    "a window as it is written": _PUBLIC.format(
        "SELECT first(n) FROM (SELECT row_number() OVER (ORDER BY specialty) AS n FROM doctors) t"
    ),
    "groups as they are written": _PUBLIC.format(
        "SELECT first(n) FROM (SELECT region_id, count(*) AS n FROM doctors GROUP BY 1 LIMIT 3) t"
    ),
}

_THRESHOLDS = ", ".join(f"count(*) > {number}" for number in range(20))
"""With so many conditions no counts are released."""

STATEMENTS = {
    **{about: ("clinic", sql) for about, sql in CLINIC.items()},
    "keys that the unit determines": ("clinic", _BY_UNIT),
    "a view's declared column": ("school", "SELECT age, count(*) FROM adults GROUP BY age"),
    "the most frequent of listed keys": (
        "auction",
        "SELECT item FROM bids GROUP BY item ORDER BY count(*) DESC LIMIT 1",
    ),
    "counts that a unit moves in one direction": (
        "auction",
        "SELECT count(*) FILTER (WHERE bid > 10), count(*) FILTER (WHERE score > 0) FROM bids",
    ),
    "the first groups above a threshold": (
        "clinic",
        f"ALERT WHEN sum(cost) <= 7, {_THRESHOLDS} FROM visits BY ward LIMIT 2",
    ),
    "an alert that is saved": (
        "clinic",
        "CREATE ALERT busy WHEN count(*) > 500 FROM visits BY ward WITH (epsilon = 1, checks = 9)",
    ),
    "several of the most frequent keys": (
        "clinic",
        "SELECT month(visit_date) FROM visits GROUP BY 1 ORDER BY count(*) DESC LIMIT 2",
    ),
    "the most frequent keys with their counts": (
        "clinic",
        "SELECT month(visit_date), count(*) FROM visits GROUP BY 1 ORDER BY 2 DESC LIMIT 2",
    ),
    "the best of public rows": (
        "auction",
        f"SELECT label FROM offers ORDER BY ({_EARNED}) DESC LIMIT 1",
    ),
    "a mode by permute-and-flip": ("pairs", "SELECT mode(part) FROM people"),
    "one row per unit": ("pairs", "SELECT avg(x), stddev_samp(x) FROM people"),
    "a synopsis": (
        "pairs",
        "CREATE SYNOPSIS parts ON SELECT part, x FROM people WITH (epsilon = 1, rounds = 5)",
    ),
    "a synopsis of sums": (
        "pairs",
        "CREATE SYNOPSIS parts ON SELECT part, sum(x) FROM people WITH (epsilon = 1, rounds = 5)",
    ),
    "a dashboard": (
        "clinic",
        "CREATE DASHBOARD d AS (SELECT sex, count(*) FROM patients GROUP BY 1) WITH (epsilon = 1)",
    ),
    "a decision": ("clinic", "DECIDE AMONG age AS a, 30 AS b FROM patients BY sex"),
    "randomised answers": ("trial", "SELECT drink, count(*) FROM survey GROUP BY ROLLUP (drink)"),
    "the mean of many rows": ("surveys", "SELECT avg(rooms) FROM homes"),
    "rows that are scaled together": ("surveys", "SELECT sum(east), sum(north) FROM walks"),
    "rounded Gaussian noise": ("library", "SELECT title, count(*) FROM loans GROUP BY title"),
    "a sample": ("polls", "SELECT avg(age), count(*), sum(age), median(age) FROM voters"),
    "as many units on both sides": ("trial", "SELECT var_pop(x), stddev(x) FROM sized"),
}
"""What each is about, with its schema and text."""

ORDERS_ON_A_SERVER = ServerTable(
    "sales.orders",
    (("id", "BIGINT"), ("person", "BIGINT")),
    (("person", "whose"),),
    ("id",),
    frozenset({"id", "person"}),
)

VALUES: dict[str, object] = {
    "rare types": (Uuid(), Array(BIGINT)),
    "a whole statement": PublicStatement((), "SELECT 1", ("doctors",), ("",)),
    "conditions": And((Literal(True, Boolean()), Literal(None, Boolean()))),
    "a constant of a generic plan": Parameter(0, BIGINT, Fraction(1)),
    "a sum of groups with caps of their own": DividedSum(
        LinearEstimator(((0, 1),), Fraction(1), BIGINT), KeyFactors(0, (("a", 16), (None, 23)), 256)
    ),
    "a domain": Domain(Interval(Fraction(1), None), (1, "a"), nullable=False),
    "a server": PostgresSource("postgresql://joe:word@host/shop", "7", (ORDERS_ON_A_SERVER,)),
    "a cluster": SparkSource("sc://host/;token=word", "7", (ORDERS_ON_A_SERVER,)),
}
"""Of classes that no statement here has."""

COUNTS = (SidecarCounts("visits", 12, 11, 4), SidecarCounts("doctors", 3, 3, None))


def found() -> dict[str, dict[str, list[str]] | str]:
    """By what each is about, the digests of its releases; and the stamps of sidecars."""
    keys: dict[str, dict[str, list[str]] | str] = {
        about: keys_of(*statement) for about, statement in STATEMENTS.items()
    }
    for name in ("clinic", "parcels", "tpch"):
        keys[f"the sidecar of {name}"] = stamp(elsewhere(schema_of(name)), "data")
    keys |= {f"a value of {about}": digested(value) for about, value in VALUES.items()}
    return keys | {"a sidecar's rows": sealed("stamp", COUNTS)}


def elsewhere(schema: Schema) -> Schema:
    """Its rows are in a file that is nowhere."""
    return replace(schema, source=Source(Path("/nowhere/rows.duckdb"), {}))


def keys_of(schema: str, sql: str) -> dict[str, list[str]]:
    verified = frozenset({"patients"} if sql == _BY_UNIT else ())
    # What is prepared once is never prepared again.
    releases = prepared.__wrapped__(sql, schema, verified).releases
    by_name = {release.name: release for release in releases}
    return {
        "meaning": [_meaning(release, by_name) for release in releases],
        "mechanisms": [digested(release.step.measurement) for release in releases],
        "key": [release.key for release in releases],
    }


def _meaning(release: CompiledRelease, by_name: dict[str, CompiledRelease]) -> str:
    keys = {below: by_name[name].key for below, name in names_of(release).items()}
    return release_digest(release.step.bounded, keys)


if __name__ == "__main__":
    # A key that changes charges everybody again who asks what it is of.
    PINNED.write_text(json.dumps(found(), indent=1) + "\n", encoding="utf-8")
