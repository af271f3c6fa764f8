"""A schema that is edited holds from the next statement on, whatever a connection is amid."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace

import pytest
from pgwire.test_wire_immediate import EXECUTE, SYNC, Client
from pgwire.test_wire_immediate import shop as shop  # noqa: PLC0414 - a fixture
from pgwire.test_wire_turn import message

from dpsql.errors import SourceLocked
from dpsql.pgwire import shared_dataset
from dpsql.pgwire.shared_dataset import Dataset
from dpsql.session.dataset import load_dataset

PUBLIC = "SELECT count(*) FROM regions"
BEGIN, COMMIT = "BEGIN", "COMMIT"
FAILED = b"\0VERROR\0"


def hide_regions(shop: Dataset) -> None:
    """The owner finds that a table should have been nobody's to read."""
    text = shop._path.read_text(encoding="utf-8")
    hidden = text.replace("    public: true\n", "    public: true\n    visible: false\n")
    shop._path.write_text(hidden, encoding="utf-8")


def test_an_open_transaction_is_asked_of_the_schema_as_it_is_now(shop: Dataset) -> None:
    """Whoever doesn't end theirs would read for ever what the owner has taken back."""
    with closing(Client(shop)) as alice:
        alice.waits(BEGIN)
        assert FAILED not in alice.waits(PUBLIC)
        hide_regions(shop)
        assert b"does not exist" in alice.waits(PUBLIC)
        # What follows is ignored, as after any failure in a transaction.
        assert b"C25P02" in alice.waits("SELECT 1")
        alice.waits(COMMIT)
        assert b"does not exist" in alice.waits(PUBLIC)


def test_what_is_set_for_a_transaction_ends_with_it(shop: Dataset) -> None:
    with closing(Client(shop)) as alice:
        alice.waits(BEGIN)
        alice.waits("SET LOCAL dpsql.epsilon = 0.25")
        alice.waits(COMMIT)
        assert b"0.25" not in alice.waits("SHOW dpsql.epsilon")


def test_a_setting_of_an_open_transaction_outlives_the_edit_of_the_schema(shop: Dataset) -> None:
    with closing(Client(shop)) as alice:
        alice.waits(BEGIN)
        alice.waits("SET LOCAL dpsql.epsilon = 0.25")
        hide_regions(shop)
        assert b"0.25" in alice.waits("SHOW dpsql.epsilon")


def test_a_portal_that_was_bound_before_is_run_under_the_schema_as_it_is_now(
    shop: Dataset,
) -> None:
    parse = message("P", b"\0" + PUBLIC.encode() + b"\0\0\0")
    bind = message("B", b"\0\0" + b"\0" * 6)
    with closing(Client(shop)) as alice:
        assert FAILED not in alice.prepares(parse + bind)
        hide_regions(shop)
        assert b"does not exist" in alice.prepares(EXECUTE + SYNC)


def test_a_schema_that_could_not_be_read_for_a_moment_is_read_later(
    shop: Dataset, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Another process may write to the source just then, whose catalogue has the types."""
    clock = SimpleNamespace(time=lambda: 0.0, monotonic=lambda: 0.0)
    monkeypatch.setattr(shared_dataset, "time", clock)
    with closing(Client(shop)) as alice:
        hide_regions(shop)

        def locked(*_: object, **__: object) -> object:
            raise SourceLocked("the source is open for writing in another process")

        monkeypatch.setattr(shared_dataset, "load_dataset", locked)
        for _ in range(3):
            assert FAILED not in alice.waits(PUBLIC)
        monkeypatch.setattr(shared_dataset, "load_dataset", load_dataset)
        assert FAILED not in alice.waits(PUBLIC)
        clock.monotonic = lambda: 31.0
        assert b"does not exist" in alice.waits(PUBLIC)
    assert caplog.text.count("the schema is not read anew") == 1
