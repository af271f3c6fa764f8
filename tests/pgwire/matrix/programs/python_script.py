"""The script on standard input, and how each Python program prints what a client answers."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any

warnings.simplefilter("ignore")
Values = list[Any]
Rows = tuple[Sequence[str], Iterable[Iterable[object]]]
OWN_QUERY = "SELECT region_id, name FROM regions ORDER BY 1"


def value(word: str) -> int | float | str:
    kinds: dict[str, Callable[[str], int | float | str]] = {"i": int, "f": float, "t": str}
    return kinds[word[0]](word[2:])


def script() -> Iterable[tuple[str, str, Values]]:
    for line in sys.stdin.read().splitlines():
        name, sql, *words = line.split("\t")
        yield name, sql, list(map(value, words))


def inlined(sql: str, values: Values) -> str:
    """The statement of clients that have no parameters of the server's."""
    for n, v in enumerate(values, 1):
        text = "'" + v.replace("'", "''") + "'" if isinstance(v, str) else str(v)
        sql = sql.replace(f"${n}", text)
    return sql


def renamed(sql: str, values: Values, place: str) -> str:
    return re.sub(r"\$\d", place, sql.replace("%", "%%")) if values else sql


def state(error: BaseException) -> str:
    """The SQLSTATE, by whichever name the client has it."""
    seen: BaseException | None = error
    while seen is not None:
        for attribute in ("sqlstate", "pgcode"):
            if getattr(seen, attribute, None):
                return str(getattr(seen, attribute))
        original = getattr(seen, "orig", None)
        seen = original if isinstance(original, BaseException) else seen.__cause__
    words = error.args[0] if error.args else ""
    if isinstance(words, dict):
        return str(words.get("C"))
    found = re.search(r"SqlState\(E(\w{5})\)|^\[?'?\(?'?([0-9A-Z]{5})'?\b", str(error))
    return next(filter(None, found.groups())) if found else f"refused {type(error).__name__}"


def shown(v: object) -> str:
    return r"\N" if v is None else str(v).replace("\n", r"\n")


def printed(answer: Rows | None) -> None:
    if answer is None:
        return
    names, rows = answer
    sys.stdout.write("-- " + "|".join(map(str, names)) + "\n")
    for row in rows:
        sys.stdout.write("|".join(map(shown, row)) + "\n")


def tried(name: str, ask: Callable[[], Rows | None]) -> None:
    sys.stdout.write(f"== {name}\n")
    try:
        printed(ask())
    except Exception as error:  # noqa: BLE001 - each client has classes of its own
        sys.stdout.write(f"!! {state(error)}\n")


def tried_of(name: str, names: Sequence[str], rows: Callable[..., Any], *arguments: Any) -> None:
    """Prints the rows that a client's own function gives for the arguments."""
    tried(name, lambda: (names, rows(*arguments)))


def by_cursor(connection: Any, place: str, *, kinds: bool = True) -> None:
    """The script by a connection of PEP 249."""

    def ask(sql: str, values: Values) -> Rows | None:
        cursor = connection.cursor()
        try:
            cursor.execute(*([renamed(sql, values, place), values] if values else [sql]))
            if cursor.description is None:
                return None
            names = [f"{c[0]} {c[1]}" if kinds else c[0] for c in cursor.description]
            return names, cursor.fetchall()
        finally:
            cursor.close()

    for name, sql, values in script():
        tried(name, partial(ask, sql, values))


async def tried_later(name: str, answer: Awaitable[Rows | None]) -> None:
    try:
        found: Rows | None = await answer
        error: Exception | None = None
    except Exception as raised:  # noqa: BLE001 - the same
        found, error = None, raised
    if error is None:
        tried(name, lambda: found)
    else:
        sys.stdout.write(f"== {name}\n!! {state(error)}\n")


def by_frames(read: Callable[[str], Rows]) -> None:
    for name, sql, values in script():
        if sql.startswith(("SELECT", "WITH")):
            written = inlined(sql, values)
            tried(name, partial(read, written))


def run(clients: Callable[[str], Callable[[str, int, str, str], None]]) -> None:
    """Run the client that the first argument names; the others are its addresses."""
    client, host, port, user, database = sys.argv[1:]
    clients(client)(host, int(port), user, database)
