"""Local times are those of the time zone database, and PostgreSQL's where a change repeats them."""

from __future__ import annotations

import datetime as dt
import os
from fractions import Fraction
from random import Random
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from data.database import attached
from functions.calls import bind
from sqlglot import parse_one

from dpsql.emit.dialect.duckdb.expression import emit_expression
from dpsql.plan.time_zone.zone_names import UTC, zone_named
from dpsql.plan.time_zone.zone_rules import LAST_LISTED_YEAR, rules_of
from dpsql.plan.time_zone.zone_shift import ZoneShift, shift_between
from dpsql.privacy.domain import Interval, coordinate
from dpsql.schema.sql_type import Timestamp

ZONES = (
    *("Europe/Berlin", "Europe/Dublin", "America/New_York", "America/Santiago", "Asia/Kathmandu"),
    *("Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "Antarctica/Troll", "Etc/GMT+5"),
)
EPOCH = dt.datetime.fromisoformat("1970-01-01")
AROUND = (-86400, -7200, -3600, -1800, -1, 0, 1, 1799, 1800, 3599, 3600, 7200, 43200, 86400)
NEW_YEARS = ("2037-01-01", "2037-12-31", "2038-01-01", "2100-12-31", "2104-01-01")


def shift(source: str, target: str) -> ZoneShift:
    found = shift_between(source, target)
    assert found is not None
    return found


def moments(between: ZoneShift) -> list[dt.datetime]:
    """Around all changes, listed and not, and in all years from 1900 to 2400."""
    random = Random(2026)
    days = ("03-27", "04-03", "10-28", "11-04")
    late = [f"{year}-{day}" for year in range(2036, 2062) for day in days]
    known = [dt.datetime.fromisoformat(day) - EPOCH for day in (*late, *NEW_YEARS)]
    seconds = [*between.starts, *(int(since.total_seconds()) for since in known)]
    near = {second + more for second in seconds for more in AROUND}
    far = {random.randrange(-2_208_988_800, 13_569_465_600) for _ in range(500)}
    return [EPOCH + dt.timedelta(seconds=s) for s in sorted(near | far) if s > -60_000_000_000]


@pytest.mark.parametrize("zone", ZONES)
def test_local_time_is_that_of_the_database(zone: str) -> None:
    between, rules = shift(UTC, zone), ZoneInfo(zone)
    first = dt.datetime.fromisoformat("1900-01-01")
    for moment in moments(between):
        if moment > first:
            local = moment.replace(tzinfo=dt.UTC).astimezone(rules).replace(tzinfo=None)
            assert between.shifted(moment) == local


@pytest.mark.parametrize("zone", ZONES)
def test_a_local_time_that_is_there_is_found_again(zone: str) -> None:
    """And one that a change repeats is the later of the two."""
    there, back = shift(UTC, zone), shift(zone, UTC)
    for moment in moments(there):
        local = there.shifted(moment)
        again = back.shifted(local)
        assert there.shifted(again) == local
        assert again >= moment


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("zone", ZONES)
def test_duckdb_computes_the_same(zone: str, backwards: bool) -> None:
    zones = (zone, UTC) if backwards else (UTC, zone)
    between = shift(*zones)
    given = moments(between)
    call = f"convert_timezone('{zones[0]}', '{zones[1]}', m)"
    emitted = emit_expression(bind(parse_one(call, dialect="duckdb"), {"m": Timestamp()})[0])
    with attached() as connection:
        connection.register("given", pa.table({"c0": pa.array(given, pa.timestamp("us"))}))
        rows = connection.execute(f"SELECT {emitted.sql('duckdb')} FROM given").fetchall()
    assert [moment for (moment,) in rows] == [between.shifted(moment) for moment in given]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("zone", ZONES)
def test_an_interval_has_all_of_its_local_times(zone: str, backwards: bool) -> None:
    between = shift(*((zone, UTC) if backwards else (UTC, zone)))
    random, given = Random(7), moments(between)
    for _ in range(300):
        first = random.randrange(len(given))
        some = given[first : first + random.randrange(1, 40)]
        ends = [coordinate(moment) for moment in (some[0], some[-1])]
        image = between.image(Interval(*ends))
        for moment in some:
            local = coordinate(between.shifted(moment))
            assert local is not None
            assert local in image
        assert image.ends is not None
        assert ends[0] is not None
        assert abs(image.ends[0] - ends[0]) <= Fraction(26 * 3600 * 10**6)


def test_postgresql_says_the_same() -> None:
    psycopg = pytest.importorskip("psycopg")
    if "DPSQL_POSTGRES" not in os.environ:
        pytest.skip("DPSQL_POSTGRES names no server")
    with psycopg.connect(os.environ["DPSQL_POSTGRES"]) as connection:
        for zone in ZONES:
            for source, target in ((UTC, zone), (zone, UTC)):
                between = shift(source, target)
                given = moments(between)
                rows = connection.execute(
                    "SELECT x AT TIME ZONE %s AT TIME ZONE %s FROM unnest(%s::timestamp[])"
                    " WITH ORDINALITY AS u(x, n) ORDER BY n",
                    (source, target, given),
                ).fetchall()
                assert [moment for (moment,) in rows] == [between.shifted(m) for m in given], zone


def test_changes_up_to_a_year_are_listed_one_by_one() -> None:
    """Whether the machine's files list them or have the rule for them."""
    for zone in ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe"):
        rules = rules_of(zone)
        assert rules is not None
        assert rules.daylight is not None
        assert (EPOCH + dt.timedelta(seconds=rules.changes[-1].at)).year == LAST_LISTED_YEAR


@pytest.mark.parametrize(
    ("name", "zone"),
    [
        ("europe/BERLIN", "Europe/Berlin"),
        ("Etc/UTC", UTC),
        ("gmt", UTC),
        ("Z", UTC),
        ("CET", None),
        ("EST5EDT", None),
        ("+02:00", None),
        ("Europe/../Europe/Berlin", None),
        ("/etc/passwd", None),
        ("", None),
    ],
)
def test_names_of_zones(name: str, zone: str | None) -> None:
    assert zone_named(name) == zone
