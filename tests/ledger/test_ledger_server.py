"""A ledger on a server: one budget for all who use it, and an anchor with each of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from ledger.ledger_world import TENTH, Place, charge, terms

from dpsql.errors import BudgetSpent, LedgerFault
from dpsql.ledger.charge import StoredAnswer
from dpsql.ledger.storage.backend import Server
from dpsql.ledger.storage.opening import exists
from dpsql.ledger.storage.postgres import PostgresDatabase, connect_server
from dpsql.structs import replace

NOWHERE = "postgresql://someone:hunter2@127.0.0.1:9/nowhere"


def other(place: Place, name: str) -> Place:
    """The same ledger, as another server uses it."""
    return replace(place, anchor=place.anchor.with_name(f"{name}.anchor"))


def run(place: Place, *statements: str) -> None:
    assert isinstance(place.location, Server)
    with closing(connect_server(place.location)) as database:
        for statement in statements:
            database.run(statement)


def test_two_servers_share_one_budget(server_place: Place) -> None:
    second = other(server_place, "second")
    with server_place.open(terms(1)) as one, second.open(terms(1)) as two:
        for number in range(5):
            one.charge(charge(f"one {number}"))
            two.charge(charge(f"two {number}"))
        for ledger in (one, two):
            with pytest.raises(BudgetSpent):
                ledger.charge(charge("more"))
            ledger.verify()
    # Each has what was charged until its own last look; neither tells another story.
    first, later = sorted((server_place.anchor.read_bytes(), second.anchor.read_bytes()), key=len)
    assert later.startswith(first)


def test_a_restored_server_is_a_rollback_to_whoever_saw_more(server_place: Place) -> None:
    with server_place.open(terms(1)) as ledger:
        ledger.charge(charge(1))
    server_place.drop()
    with pytest.raises(LedgerFault, match="is empty, though its anchor"):
        server_place.open(terms(1))
    with other(server_place, "elsewhere").open(terms(1)) as ledger:
        ledger.charge(charge(2))
    with pytest.raises(LedgerFault, match="has another entry 1 than its anchor"):
        server_place.open(terms(1))


def test_an_anchor_that_was_emptied_is_a_fault(server_place: Place) -> None:
    with server_place.open(terms(1)) as ledger:
        ledger.charge(charge(1))
    server_place.anchor.write_bytes(b"")
    with pytest.raises(LedgerFault, match="is missing or empty"):
        server_place.open(terms(1))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE account SET spent = repeat('0', 36)",
        "DELETE FROM account WHERE analyst <> ''",
        "UPDATE in_force SET summed = 2",
        "DELETE FROM in_force",
        "ALTER TABLE entry DISABLE TRIGGER ALL; DELETE FROM entry WHERE seq = 3",
    ],
)
def test_a_forged_balance_is_refused_at_opening(server_place: Place, statement: str) -> None:
    with server_place.open(terms(1)) as ledger:
        for number in range(3):
            ledger.charge(charge(number))
    run(server_place, "ALTER TABLE request DROP CONSTRAINT request_settled_fkey", statement)
    with pytest.raises(LedgerFault):
        server_place.open(terms(1))


def test_entries_are_append_only(server_place: Place) -> None:
    server_place.open(terms(1)).close()
    for statement in ("UPDATE entry SET body = ''", "DELETE FROM entry", "TRUNCATE entry CASCADE"):
        with pytest.raises(Exception, match="append-only"):
            run(server_place, statement)


def test_a_database_of_something_else_is_no_ledger(server_place: Place) -> None:
    assert isinstance(server_place.location, Server)
    schema = server_place.location.schema
    run(server_place, f'CREATE SCHEMA "{schema}"', f'CREATE TABLE "{schema}".mine (x int)')
    with pytest.raises(LedgerFault, match="is no ledger of dpsql"):
        server_place.open(terms(1))


def test_a_lost_connection_is_a_fault_and_its_charge_is_burned(server_place: Place) -> None:
    with server_place.open(terms(1)) as other_one:
        ledger = other(server_place, "second").open(terms(1))
        receipt = ledger.charge(charge("lost"))
        pid = ledger._chain.database.run("SELECT pg_backend_pid()")[0][0]
        run(server_place, f"SELECT pg_terminate_backend({pid}, 5000)")
        with pytest.raises(LedgerFault, match="can't be reached"):
            ledger.release(receipt, b"answer")
        ledger.close()
        assert other_one.charge(charge("lost")).state.value == "burned"
        assert other_one.balance().spent.amount == TENTH


def unanswered(patch: pytest.MonkeyPatch, after: str, *, ends: bool) -> None:
    """An error comes after the statement that begins so of the next transaction that writes.

    The connection may end with it.
    """
    answered, writing = PostgresDatabase.run, []

    def run(own: PostgresDatabase, query: str, *values: object) -> list[tuple[object, ...]]:
        result = answered(own, query, *values)
        writing.extend([query] * query.startswith("SELECT pg_advisory_xact_lock"))
        if writing and query.startswith(after):
            patch.undo()
            if ends:
                own._db.close()
            own.run("SELECT 1 / 0")
        return result

    patch.setattr(PostgresDatabase, "run", run)


UNKNOWN = "whether it was charged, the ledger's history tells"
AFTER = pytest.mark.parametrize(
    ("after", "ends", "told", "charges"),
    [
        ("SELECT pg_advisory_xact_lock", False, "nothing was charged", 0),
        ("SELECT pg_advisory_xact_lock", True, "nothing was charged", 0),
        ("COMMIT", True, UNKNOWN, 1),
    ],
)


@AFTER
def test_of_a_commit_that_the_server_doesnt_answer_nothing_is_said(
    server_place: Place,
    monkeypatch: pytest.MonkeyPatch,
    after: str,
    ends: bool,
    told: str,
    charges: int,
) -> None:
    with (
        server_place.open(terms(1)) as ledger,
        other(server_place, "second").open(terms(1)) as second,
    ):
        unanswered(monkeypatch, after, ends=ends)
        with pytest.raises(LedgerFault) as error:
            ledger.charge(charge(1))
        assert error.value.charge == told
        assert second.balance().spent.amount == charges * TENTH
        if ends:
            with pytest.raises(LedgerFault) as error:
                ledger.charge(charge(2))
            assert error.value.charge == "nothing was charged"


@AFTER
def test_of_a_first_look_whose_commit_the_server_doesnt_answer_nothing_is_said(
    server_place: Place,
    monkeypatch: pytest.MonkeyPatch,
    after: str,
    ends: bool,
    told: str,
    charges: int,
) -> None:
    kept, ledger = StoredAnswer(f"{1:064x}", b"kept", charge(1).loss), server_place.open(terms(1))
    with other(server_place, "second").open(terms(1)) as second:
        second.release(second.charge(charge(1)), b"answer", [kept])
        unanswered(monkeypatch, after, ends=ends)
        with pytest.raises(LedgerFault) as error:
            ledger.read_answers([kept.key], "bob", None, "policy-1")
        assert error.value.charge == told
        assert second.balance("bob").spent.amount == charges * TENTH
    ledger.close()


@pytest.mark.parametrize(
    ("after", "told", "answers"),
    [
        ("SELECT pg_advisory_xact_lock", "its charge stands, and its answer is lost", 0),
        ("COMMIT", "its charge stands; ask again: its answer may be stored, and is free then", 1),
    ],
)
def test_an_answer_whose_commit_the_server_doesnt_answer_may_be_stored(
    server_place: Place, monkeypatch: pytest.MonkeyPatch, after: str, told: str, answers: int
) -> None:
    kept = StoredAnswer(f"{1:064x}", b"kept", charge(1).loss)
    with (
        server_place.open(terms(1)) as ledger,
        other(server_place, "second").open(terms(1)) as second,
    ):
        receipt = ledger.charge(charge(1))
        ledger.await_disk(receipt)
        unanswered(monkeypatch, after, ends=True)
        with pytest.raises(LedgerFault) as error:
            ledger.release(receipt, b"answer", [kept])
        assert error.value.charge == told
        assert len(second.stored_answers([kept.key])) == answers


def test_commits_wait_for_the_disk(server_place: Place) -> None:
    with server_place.open(terms(1)) as ledger:
        database = ledger._chain.database
        assert isinstance(database, PostgresDatabase)
        assert database.run("SHOW synchronous_commit") == [("on",)]


def test_a_pool_is_refused(server_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """It tells its clients another number than that of the process that it lends to them."""
    psycopg = pytest.importorskip("psycopg")
    monkeypatch.setattr(psycopg.ConnectionInfo, "backend_pid", -1)
    with pytest.raises(LedgerFault, match="is reached through a pool"):
        server_place.open(terms(1))
    monkeypatch.undo()


def test_a_server_that_ends_idle_sessions_leaves_the_ledgers(server_place: Place) -> None:
    url = f"{server_place.url}&options=-c%20idle_session_timeout%3D100"
    with replace(server_place, url=url).open(terms(1)) as ledger:
        time.sleep(0.3)
        assert ledger.charge(charge(1)).fresh


def test_a_server_that_isnt_there_is_a_fault_without_its_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    place = Place(tmp_path, tmp_path / "anchor", NOWHERE, "shop")
    with pytest.raises(
        LedgerFault, match=r"127\.0\.0\.1:9/nowhere \(shop\) can't be reached"
    ) as fault:
        place.open()
    assert "hunter2" not in str(fault.value) + fault.value.hint


def test_a_ledger_exists_as_soon_as_it_was_opened(server_place: Place) -> None:
    assert not exists(server_place.location, server_place.anchor)
    server_place.open(terms(1)).close()
    assert exists(server_place.location, server_place.anchor)


def test_a_server_is_backed_up_by_its_own_means(server_place: Place, tmp_path: Path) -> None:
    with server_place.open(terms(1)) as ledger, pytest.raises(LedgerFault, match="pg_dump"):
        ledger.backup(tmp_path / "copy")


@pytest.mark.parametrize("dataset", ["a", "A", "a-b.c", "x" * 64])
def test_every_dataset_has_a_schema_of_its_own(dataset: str) -> None:
    names = {Server("postgresql://h/d", name).schema for name in (dataset, "a_b", "x" * 63)}
    assert len(names) == 3
    assert all(len(name) <= 63 for name in names)


def test_amounts_are_text_that_compares_as_numbers(server_place: Place) -> None:
    with server_place.open(terms(Fraction(10**6))) as ledger:
        ledger.charge(charge(1, Fraction(999_999)))
        ledger.charge(charge(2, 1))
        assert ledger.balance().left == 0


ALTERED = {
    "an update that a trigger undoes": """
        CREATE FUNCTION undone() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END';
        CREATE TRIGGER undone BEFORE UPDATE ON account FOR EACH ROW EXECUTE FUNCTION undone()""",
    "an entry that may be changed": "ALTER TABLE entry DISABLE TRIGGER entry_change",
    "a request that names no entry": "ALTER TABLE request DISABLE TRIGGER ALL",
    "an update that a rule leaves out": """
        CREATE RULE none AS ON UPDATE TO request DO INSTEAD NOTHING""",
    "rows that a policy hides": """
        ALTER TABLE kept ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
        CREATE POLICY none ON kept USING (false)""",
    "rows of another table": "CREATE TABLE more () INHERITS (account)",
    "rows that a crash takes": "ALTER TABLE seen SET UNLOGGED",
}


@pytest.mark.parametrize("statements", ALTERED.values(), ids=ALTERED)
def test_tables_that_may_not_keep_what_is_written_are_refused(
    server_place: Place, statements: str
) -> None:
    """A balance that is checked as the ledger opens, and is never written then, has no end."""
    with server_place.open(terms(1)) as ledger:
        ledger.charge(charge(1))
    run(server_place, statements)
    altered = pytest.raises(LedgerFault, match="has other tables than it was created with")
    with altered:
        server_place.open(terms(1))
    with altered:
        server_place.as_recorded()


@pytest.fixture
def role(server_place: Place) -> Iterator[Place]:
    """The ledger as a role uses it that has no right yet; its name is the dataset's."""
    name = f"role_{server_place.dataset}"
    with admin(server_place) as own:
        own.execute(f"CREATE ROLE {name} LOGIN")
    yield replace(server_place, url=server_place.url.replace("dpsql@", f"{name}@"))
    with admin(server_place) as own:
        own.execute(f"DROP OWNED BY {name} CASCADE")
        own.execute(f"DROP ROLE {name}")


def admin(place: Place) -> Any:
    return pytest.importorskip("psycopg").connect(place.url, autocommit=True)


def test_a_role_needs_a_schema_or_the_right_to_create_it(server_place: Place, role: Place) -> None:
    may_not = pytest.raises(LedgerFault, match="may not be used")
    name = f"role_{server_place.dataset}"
    assert isinstance(role.location, Server)
    schema = role.location.schema
    with admin(server_place) as own:
        with may_not:
            role.open(terms(1))
        own.execute(f'CREATE SCHEMA "{schema}"')
        with may_not:
            role.open(terms(1))
        own.execute(f'GRANT USAGE, CREATE ON SCHEMA "{schema}" TO {name}')
        role.open(terms(1)).close()
        own.execute(f'REVOKE CREATE ON SCHEMA "{schema}" FROM {name}')
        with role.open(terms(1)) as ledger:
            assert ledger.charge(charge(1)).fresh


def test_another_server_s_role_needs_rights_on_the_tables_alone(
    server_place: Place, role: Place
) -> None:
    server_place.open(terms(1)).close()
    name = f"role_{server_place.dataset}"
    assert isinstance(role.location, Server)
    schema = role.location.schema
    with admin(server_place) as own:
        with pytest.raises(LedgerFault, match="may not be used"):
            role.open(terms(1))
        own.execute(f'GRANT USAGE ON SCHEMA "{schema}" TO {name}')
        own.execute(
            f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{schema}" TO {name}'
        )
        with role.open(terms(1)) as ledger:
            assert ledger.charge(charge(1)).fresh


def test_a_schema_of_somebody_else_is_refused(server_place: Place, role: Place) -> None:
    """Its owner may drop the tables in it, and make others."""
    assert isinstance(role.location, Server)
    schema, own = role.location.schema, f"own_{server_place.dataset}"
    with admin(server_place) as trusted, admin(role) as hostile:
        trusted.execute(f"CREATE ROLE {own} LOGIN")
        trusted.execute(f"GRANT CREATE ON DATABASE postgres TO role_{server_place.dataset}")
        try:
            hostile.execute(f'CREATE SCHEMA "{schema}"')
            hostile.execute(f'GRANT ALL ON SCHEMA "{schema}" TO PUBLIC')
            with pytest.raises(LedgerFault, match="has other tables than it was created with"):
                replace(role, url=server_place.url.replace("dpsql@", f"{own}@")).open(terms(1))
            assert not exists(server_place.location, server_place.anchor)
        finally:
            trusted.execute(f"DROP ROLE {own}")
