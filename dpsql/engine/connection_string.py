"""PostgreSQL connection strings: what messages may show of one, and settings that it leaves out.

They are split as libpq splits them. A password may have ? and # in it, which end the host for
`urllib`: it would take a part of the password for the host, and show it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import unquote

SERVER: Final = ("postgresql://", "postgres://")
"""How connection strings of PostgreSQL begin."""

_HOST: Final = r"([^:/?@,\[\]]*|\[[^\]]*\])(:\d*)?"
_HOSTS: Final = re.compile(rf"{_HOST}(,{_HOST})*")
_SECRETS: Final = frozenset({"password", "sslpassword"})


class ConnectionString(NamedTuple):
    """scheme://login@hosts/database?query; `login` has its @, and `query` its question mark."""

    scheme: str
    login: str
    hosts: str
    database: str
    query: str

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Each setting of the query as its name, decoded, and its text as it is written."""
        texts = self.query[1:].split("&") if self.query else []
        return tuple((unquote(text.partition("=")[0]), text) for text in texts)


def split(url: str) -> ConnectionString:
    """The parts of a connection string that begins as `SERVER` says."""
    scheme, _, rest = url.partition("://")
    match = re.match(r"[^@/]*@", rest)
    login = match[0] if match else ""
    location, mark, query = rest[len(login) :].partition("?")
    hosts, slash, database = location.partition("/")
    return ConnectionString(scheme, login, hosts, slash + database, mark + query)


def server_name(url: str) -> str:
    """A connection string without the user, the password and the settings in it.

    One that libpq would not connect by may have its password anywhere (a slash in it ends the
    host), and is shown without all of its parts.
    """
    url = url.partition(";")[0] if url.startswith("sc:") else url
    parts = split(url.rstrip("/"))
    if "@" in parts.database + parts.query or not _HOSTS.fullmatch(parts.hosts):
        return f"{parts.scheme}://…"
    return f"{parts.scheme}://{parts.hosts}{parts.database}"


def without_password(url: str) -> str:
    """The connection string as it may be written into a file that others read."""
    parts = split(url)
    user = f"{parts.login[:-1].partition(':')[0]}@" if parts.login else ""
    public = "&".join(text for name, text in parts.settings if name not in _SECRETS)
    mark = "?" if public else ""
    return f"{parts.scheme}://{user}{parts.hosts}{parts.database}{mark}{public}"


def with_settings(url: str, settings: Mapping[str, str]) -> str:
    """The connection string with those of `settings` that it leaves out."""
    parts = split(url)
    own = {name for name, _ in parts.settings}
    more = (f"{name}={value}" for name, value in settings.items() if name not in own)
    query = "&".join([*(text for _, text in parts.settings if text), *more])
    return f"{parts.scheme}://{parts.login}{parts.hosts}{parts.database}?{query}"
