"""What clients write doesn't act on the operator's terminal, whatever of it is logged."""

from __future__ import annotations

import io
import logging
from contextlib import suppress
from pathlib import Path

import psycopg
from pgwire.shop import served

from dpsql.cli.log import VisibleFormatter

ESCAPE = "\x1b]0;owned\x07\x9b2J"


def test_a_clients_escapes_do_not_reach_the_terminal(tmp_path: Path) -> None:
    statements = [
        f'SELECT pg_whatever(oid) AS "{ESCAPE}" FROM pg_class',
        f"SELECT '{ESCAPE}', (SELECT 1 FROM nothing) FROM pg_class",
        f'SELECT "{ESCAPE}"',
    ]
    with served(tmp_path) as server:
        for sql in statements:
            with suppress(psycopg.Error), psycopg.connect(server.dsn) as connection:
                connection.execute(sql.encode(), prepare=False)
        with suppress(psycopg.Error):
            psycopg.connect(server.dsn, user=ESCAPE).close()
    log = (tmp_path / "log").read_text()
    assert not [sign for sign in log if not sign.isprintable() and sign != "\n"]


def test_whatever_is_logged_is_made_visible() -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(VisibleFormatter("%(levelname)s %(message)s"))
    logger = logging.getLogger("a test's own")
    logger.addHandler(handler)
    try:
        int(ESCAPE)
    except ValueError:
        logger.exception("fault of %s", ESCAPE)
    finally:
        logger.removeHandler(handler)
    assert "fault of \\x1b]0;owned\\x07\\x9b2J\n" in written.getvalue()
    assert not [sign for sign in written.getvalue() if not sign.isprintable() and sign != "\n"]
