"""Random conversations: messages of both protocols in any order, whose answers are public."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from pgwire import raw_wire as w

QUERIES = (
    "SELECT region_id, name FROM regions ORDER BY 1",
    "SELECT name FROM regions WHERE region_id = 2",
    "SELECT 1 AS one, 'x' AS text",
    "VALUES (1), (2), (3)",
    "",
)
WRITTEN = QUERIES[:-1]

WITH_PARAMETERS = (
    "SELECT name FROM regions WHERE region_id > $1 ORDER BY 1",
    "SELECT $1::bigint + 1 AS next",
)
NAMES = ("", "a", "b")
COMMANDS = (
    *("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s", "SAVEPOINT t"),
    *("COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "START TRANSACTION READ ONLY"),
    *("SET application_name = 'x'", "SET LOCAL application_name = 'y'", "SHOW application_name"),
    *("SELECT set_config('application_name', 'z', false)", "RESET ALL", "DISCARD PLANS"),
    *("CLOSE c", "CLOSE ALL", "MOVE 1 IN c", "FETCH 2 FROM c", "FETCH ALL FROM c", "FETCH c"),
    *("FETCH BACKWARD 1 FROM c", "FETCH ABSOLUTE 2 FROM c", "FETCH LAST FROM c", "FETCH 0 FROM c"),
    *("PREPARE a AS SELECT 7 AS seven", "EXECUTE a", "DEALLOCATE a", "DEALLOCATE ALL"),
    *("COPY (SELECT name FROM regions ORDER BY 1) TO STDOUT", "UNLISTEN *"),
    *("COPY (SELECT region_id FROM regions ORDER BY 1) TO STDOUT (FORMAT binary)",),
)
DECLARED = ("SCROLL CURSOR", "BINARY SCROLL CURSOR")


def conversation(random: Random, length: int) -> list[bytes]:
    """What a client sends, each part up to what the server answers with one ReadyForQuery."""
    return [_simple(random) if random.random() < 0.4 else _extended(random) for _ in range(length)]


def _simple(random: Random) -> bytes:
    kinds: tuple[Callable[[Random], str], ...] = (
        lambda r: r.choice(QUERIES),
        lambda r: r.choice(COMMANDS),
        lambda r: r.choice(COMMANDS),
        _declaration,
        lambda _: "SELECT 1 FROM nowhere",
        lambda r: "; ".join(r.choice(WRITTEN) for _ in range(r.randrange(2, 4))),
        lambda r: f"BEGIN; {_declaration(r)}; {r.choice(COMMANDS)}",
    )
    malformed = random.random() < 0.03
    return w.message("Q", b"\xff\0") if malformed else w.query(random.choice(kinds)(random))


def _declaration(random: Random) -> str:
    return f"BEGIN; DECLARE c {random.choice(DECLARED)} FOR {random.choice(WRITTEN)}"


def _extended(random: Random) -> bytes:
    """Some messages, each of which may fail, and a Sync; some messages stray in between."""
    parts = [_part(random) for _ in range(random.randrange(1, 6))]
    return b"".join(parts) + w.SYNC


def _part(random: Random) -> bytes:
    name, portal = random.choice(NAMES), random.choice(NAMES)
    match random.randrange(11):
        case 0 | 1:
            sql = random.choice(WRITTEN if name else QUERIES)
            return w.parse(name, sql) + w.bind(portal, name) + w.execute(portal)
        case 2:
            # Unnamed: an EXECUTE of a SAVEPOINT ends PostgreSQL's connection.
            return w.parse("", random.choice((*WRITTEN, *COMMANDS))) + w.bind(portal, "")
        case 3:
            sql, value = random.choice(WITH_PARAMETERS), random.choice((b"1", b"3", None))
            results = random.choice(((), (0,), (1,), (1, 1)))
            return w.parse(name, sql) + w.bind(portal, name, [value], (), results)
        case 4:
            values = [b"2"] * random.randrange(2)
            return w.bind(portal, name, values, (), random.choice(((), (1,), (0, 1), (1, 1, 1))))
        case 5:
            return w.describe("P", portal)
        case 6:
            return w.describe("S", name)
        case 7 | 8:
            return w.execute(portal, random.choice((0, 1, 2, 4, 9)))
        case 9:
            return w.close(*random.choice((("S", name), ("P", portal))))
        case _:
            stray = (w.FLUSH, w.message("d", b"x"), w.message("c"), w.message("D", b"X\0"))
            return random.choice(stray)
