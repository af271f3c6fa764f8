"""Addresses of Spark: `sc://host:port`, with settings of Spark Connect, and one of ours.

`sc://host:15002/;folder=s3a://bucket/tpch` reads TABLE.parquet in the folder as TABLE; without it,
tables are the catalog's. `sc://` is a session that Python hands in.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import unquote

from dpsql.engine.connection_string import server_name
from dpsql.errors import SourceFault

SPARK: Final = "sc://"
"""How addresses of Spark Connect begin."""

_FOLDER: Final = "folder"

_PUBLIC: Final = frozenset({_FOLDER, "use_ssl"})
"""Settings that tell nobody's secret; what others a proxy reads, nobody here knows."""

TOKEN: Final = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105 - a name
"""The environment variable in which pyspark looks for the token that an address leaves out."""

_SHARED: Final = frozenset({"session_id"})
"""Settings by which several sessions would be one: views of one release would be another's."""


class Address(NamedTuple):
    """The address that pyspark is given, and the folder of the tables, None for the catalog's."""

    remote: str
    folder: str | None


def read_address(url: str) -> Address:
    """The parts of an address that begins with `sc://`; a SourceFault for one of one session."""
    location, *settings = url.split(";")
    folder = None
    others = []
    for setting in settings:
        name, _, value = setting.partition("=")
        if name.strip().lower() in _SHARED:
            raise SourceFault(
                f"{server_name(url)} names a session", hint=f"remove {name.strip()} from it"
            )
        if name == _FOLDER:
            folder = unquote(value).rstrip("/")
        elif setting:
            others.append(setting)
    remote = ";".join([location.rstrip("/") + "/", *others]) if others else location.rstrip("/")
    return Address(remote, folder)


def has_host(url: str) -> bool:
    """Whether the address names a host: `sc://` is a session that Python hands in."""
    return url.partition(";")[0].removeprefix(SPARK).strip("/") != ""


def without_secrets(url: str) -> str:
    """The address as it may be written into a file that others read: without tokens."""
    location, *settings = url.split(";")
    public = [s for s in settings if s.partition("=")[0].strip().lower() in _PUBLIC]
    return ";".join([location, *public])
