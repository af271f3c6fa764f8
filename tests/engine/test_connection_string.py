"""A connection string is shown without its password, whatever is in it."""

from __future__ import annotations

import psycopg
import pytest

from dpsql.engine.connection_string import server_name, with_settings, without_password
from dpsql.engine.source import PostgresSource, SparkSource
from dpsql.ledger.storage.backend import Server
from dpsql.schema.source_location import ServerSource

SHOWN = {
    "postgresql://host/shop": "postgresql://host/shop",
    "postgres://joe@host:5433/shop": "postgres://host:5433/shop",
    "postgresql://joe:canary@one:1,two:2/shop": "postgresql://one:1,two:2/shop",
    "postgresql://joe:canary@[::1]:5432/shop?sslmode=require": "postgresql://[::1]:5432/shop",
    "postgresql://joe:canary@/shop?host=/tmp&password=canary": "postgresql:///shop",
    "postgresql://joe:canary@%2Ftmp/shop": "postgresql://%2Ftmp/shop",
    "postgresql://host": "postgresql://host",
    # To libpq these are a part of the password; to urllib they end the host.
    "postgresql://joe:canary#canary@host/shop": "postgresql://host/shop",
    "postgresql://joe:canary?canary@host/shop": "postgresql://host/shop",
    "postgresql://joe:[canary@host/shop": "postgresql://host/shop",
    "postgresql://joe:canary\u2100@host/shop": "postgresql://host/shop",
    # libpq takes what is before the slash for a host, and connects by none of these.
    "postgresql://joe:canary/canary@host/shop": "postgresql://…",
    "postgresql://joe:1/canary@host/shop": "postgresql://…",
    "postgresql://joe:1/2?canary@host/shop": "postgresql://…",
    "postgresql://joe:canary@canary@host/shop": "postgresql://…",
    "postgresql://joe:canary": "postgresql://…",
    "postgresql://joe:canary[/shop": "postgresql://…",
}


@pytest.mark.parametrize("url", SHOWN)
def test_neither_user_nor_password_is_shown(url: str) -> None:
    assert server_name(url) == SHOWN[url]
    for named in (PostgresSource(url), ServerSource(url), Server(url, "d")):
        assert SHOWN[url] in str(named)
        assert "canary" not in str(named) + repr(named)


SPARK = {
    "sc://host": "sc://host",
    "sc://host:15002/": "sc://host:15002",
    "sc://host:15002/;token=canary;folder=s3a://canary": "sc://host:15002",
    "sc://host;token=canary": "sc://host",
    # Spark Connect has no logins, but who wrote one meant it.
    "sc://joe:canary@host:15002/;use_ssl=true": "sc://host:15002",
    "sc://host:15002/?token=canary": "sc://host:15002/",
}


@pytest.mark.parametrize("url", SPARK)
def test_no_setting_of_spark_is_shown(url: str) -> None:
    assert server_name(url) == SPARK[url]
    for named in (SparkSource(url), ServerSource(url)):
        assert SPARK[url] == str(named)
        assert "canary" not in str(named) + repr(named)


def parsed(url: str) -> dict[str, str]:
    return {k: str(v) for k, v in psycopg.conninfo.conninfo_to_dict(url).items()}


READ = [url for url, shown in SHOWN.items() if "…" not in shown]


@pytest.mark.parametrize("url", READ)
def test_a_draft_has_all_but_the_password(url: str) -> None:
    public = without_password(url)
    assert "canary" not in public
    own = parsed(url)
    own.pop("password", None)
    assert parsed(public) == own


@pytest.mark.parametrize("url", READ)
def test_settings_are_added_where_there_are_none(url: str) -> None:
    assert parsed(with_settings(url, {"connect_timeout": "10"})) == {
        **parsed(url),
        "connect_timeout": "10",
    }


def test_settings_of_the_owner_stay() -> None:
    url = "postgresql://host/shop?connect%5Ftimeout=3"
    assert with_settings(url, {"connect_timeout": "10"}) == url
    assert without_password("postgresql://h/d?pass%77ord=canary&a=1") == "postgresql://h/d?a=1"
