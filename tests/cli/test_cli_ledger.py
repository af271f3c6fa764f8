"""The owner's day: ledgers are verified, amended, backed up, moved and shared."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from cli.cli_run import Run
from narrowed import ledger_file

from dpsql.dbapi.connect import connect
from dpsql.errors import BudgetSpent, LedgerFault
from dpsql.ledger.chain.entry import Amended
from dpsql.schema.load.load import load_schema
from dpsql.session.ledger_access import recorded_ledger

COUNT = "SELECT count(*) FROM penguins WHERE body_mass_g > {}"


def ask(run: Run, schema: Path, number: int = 0, epsilon: float = 0.1) -> int:
    return run("query", schema, COUNT.format(number), "--epsilon", epsilon).code


def edited(schema: Path, old: str, new: str) -> None:
    text = schema.read_text()
    assert old in text
    schema.write_text(text.replace(old, new))


@pytest.fixture
def small(penguins: Path) -> Path:
    """Penguins with a budget for four queries, one analyst capped."""
    text = re.sub(r"(?m)^budget:.*$", "budget: {epsilon: 0.4}", penguins.read_text())
    text = re.sub(r"(?m)^per_query:.*$", "per_query: {epsilon: 0.1}", text)
    penguins.write_text(text + "analysts: {alice: {epsilon: 0.2}}\n")
    return penguins


def test_verify_says_what_is_in_order(run: Run, small: Path) -> None:
    assert ask(run, small) == 0
    ended = run("ledger", "verify", small)
    assert (ended.code, ended.err) == (0, "")
    assert "ledger.db: in order\n3 entries, the last with hash " in ended.out
    assert "spent: epsilon = 0.1; 1 answer kept\n" in ended.out


def test_verify_holds_the_ledger_to_receipts(run: Run, small: Path, tmp_path: Path) -> None:
    with connect(small) as connection:
        connection.execute(COUNT.format(1))
        home = ledger_file(load_schema(small)).parent.parent
        state = shutil.copytree(home, tmp_path / "older")
        privacy = connection.execute(COUNT.format(2)).privacy
    assert privacy is not None
    receipt = privacy.receipt
    ended = run("ledger", "verify", small, "--receipt", receipt)
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "receipts held: 1")
    shutil.rmtree(home)
    shutil.copytree(state, home)
    ended = run("ledger", "verify", small, "--receipt", receipt)
    assert ended.code == 1
    assert "doesn't hold the receipt of entry" in ended.err


@pytest.mark.parametrize("receipt", ["", "1", "0:" + "a" * 64, "1:xyz", "x:" + "a" * 64])
def test_what_is_no_receipt_is_refused(run: Run, small: Path, receipt: str) -> None:
    assert ask(run, small) == 0
    ended = run("ledger", "verify", small, "--receipt", receipt)
    assert ended.code == 1
    assert "sqlstate: 22023" in ended.err


def test_a_raised_budget_is_refused_until_its_owner_amends(run: Run, small: Path) -> None:
    assert [ask(run, small, number) for number in range(5)] == [0, 0, 0, 0, 3]
    edited(small, "budget: {epsilon: 0.4}", "budget: {epsilon: 0.6}")
    ended = run("query", small, COUNT.format(9))
    assert ended.code == 1
    assert "hint: the owner can agree to them with `dpsql ledger amend`" in ended.err
    shown = run("ledger", "amend", small)
    assert shown.code == 1
    assert "looser: budget.epsilon was 0.4, now 0.6\n" in shown.out
    assert "nothing was changed" in shown.err
    assert ask(run, small, 9) == 1
    ended = run("ledger", "amend", small, "--reason", "one more survey")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "amended")
    assert [ask(run, small, number) for number in range(10, 13)] == [0, 0, 3]
    with recorded_ledger(load_schema(small)) as ledger:
        (amended,) = [e.event for e in ledger.history() if isinstance(e.event, Amended)]
        assert amended.reason == "one more survey"
        ledger.verify()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "alice: {epsilon: 0.2}",
            "alice: {epsilon: 0.3}",
            "analyst alice had a cap of epsilon 0.2",
        ),
        (
            "analysts: {alice: {epsilon: 0.2}}",
            "",
            "analyst alice had a cap of epsilon 0.2, now none",
        ),
        ("unit: row", "public: true", "the rows of penguins were owned otherwise"),
    ],
    ids=["a raised cap", "no cap", "another owner"],
)
def test_a_looser_schema_is_refused_with_its_hint(
    run: Run, small: Path, old: str, new: str, words: str
) -> None:
    assert ask(run, small) == 0
    edited(small, old, new)
    ended = run("query", small, COUNT.format(1) if "public" not in new else "SELECT 1")
    if "public" in new:
        ended = run("budget", small)
    assert ended.code == 1
    assert words in ended.err
    hint = re.search(r"hint: the owner can agree: dpsql (ledger amend .*) --reason", ended.err)
    assert hint
    assert run(*hint[1].split(), "--reason", "agreed").code == 0
    assert run("budget", small).code == 0


def test_a_stricter_schema_needs_nobody(run: Run, small: Path) -> None:
    assert ask(run, small) == 0
    edited(small, "alice: {epsilon: 0.2}", "alice: {epsilon: 0.1}")
    edited(small, "budget: {epsilon: 0.4}", "budget: {epsilon: 0.2}")
    assert [ask(run, small, number) for number in (1, 2)] == [0, 3]


def test_an_amendment_of_nothing_is_none(run: Run, small: Path) -> None:
    assert ask(run, small) == 0
    ended = run("ledger", "amend", small, "--reason", "why not")
    assert (ended.code, ended.out) == (
        0,
        "nothing to amend: the ledger holds what the schema says\n",
    )


def test_another_promise_is_never_amended(run: Run, small: Path) -> None:
    assert ask(run, small) == 0
    edited(small, "budget: {epsilon: 0.4}", "budget: {epsilon: 0.4, delta: 1e-6}")
    ended = run("ledger", "amend", small, "--reason", "better accounting")
    assert ended.code == 1
    assert "accounting is pure, not zcdp" in ended.err


@pytest.mark.parametrize("command", [["verify"], ["amend", "--reason", "x"]])
def test_a_ledger_that_isnt_there_has_no_owner(run: Run, small: Path, command: list[str]) -> None:
    ended = run("ledger", command[0], small, *command[1:])
    assert ended.code == 1
    assert "doesn't exist" in ended.err
    assert not ledger_file(load_schema(small)).exists()


def test_two_copies_of_a_schema_share_one_budget(run: Run, small: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "copy.yaml"
    copy.parent.mkdir()
    shutil.copy(small, copy)
    codes = [ask(run, schema, number) for number, schema in enumerate([small, copy] * 3)]
    assert codes == [0, 0, 0, 0, 3, 3]
    # And one answer: what was asked of the one is answered again through the other.
    (first,) = {run("query", schema, COUNT.format(0)).out for schema in (small, copy)}
    assert first


def test_a_live_ledger_is_backed_up_and_moved(run: Run, small: Path, tmp_path: Path) -> None:
    target = tmp_path / "backups" / "ledger.db"
    with connect(small) as connection:
        connection.execute(COUNT.format(1))
        ended = run("ledger", "backup", small, target)
        assert ended.code == 0, ended.err
    assert target.stat().st_mode & 0o777 == 0o600
    original = small.read_text()
    edited(small, "dataset:", f"ledger: {json.dumps(str(target))}\ndataset:")
    assert load_schema(small).ledger == target
    answers = [run("query", small, COUNT.format(number)) for number in (1, 2, 3, 4, 5)]
    assert [ended.code for ended in answers] == [0, 0, 0, 0, 3]
    assert "answered before" in answers[0].err
    assert run("ledger", "verify", small).code == 0
    # The one that was left behind is no second budget.
    small.write_text(original)
    ended = run("query", small, COUNT.format(6))
    assert ended.code == 1
    assert "was rolled back" in ended.err


def test_an_old_backup_is_refused_and_the_newest_is_taken(
    run: Run, small: Path, tmp_path: Path
) -> None:
    ledger = ledger_file(load_schema(small))
    for number in range(2):
        assert ask(run, small, number) == 0
        assert run("ledger", "backup", small, tmp_path / f"backup {number}").code == 0
    ledger.unlink()
    shutil.copy(tmp_path / "backup 0", ledger)
    ended = run("query", small, COUNT.format(7))
    assert ended.code == 1
    assert "was rolled back" in ended.err
    shutil.copy(tmp_path / "backup 1", ledger)
    assert [ask(run, small, number) for number in (2, 3, 4)] == [0, 0, 3]


def test_a_backup_overwrites_nothing(run: Run, small: Path, tmp_path: Path) -> None:
    assert ask(run, small) == 0
    target = tmp_path / "taken"
    target.write_text("mine")
    target.chmod(0o600)
    ended = run("ledger", "backup", small, target)
    assert ended.code == 1
    assert target.read_text() == "mine"


def test_a_connection_refuses_a_looser_schema_as_well(small: Path) -> None:
    with connect(small) as connection:
        connection.execute(COUNT.format(1))
    edited(small, "budget: {epsilon: 0.4}", "budget: {epsilon: 4}")
    with connect(small) as connection:
        with pytest.raises(LedgerFault, match="stricter terms"):
            connection.execute(COUNT.format(2))
        with pytest.raises(LedgerFault):
            assert connection.budget
    edited(small, "budget: {epsilon: 4}", "budget: {epsilon: 0.1}")
    with connect(small) as connection, pytest.raises(BudgetSpent):
        connection.execute(COUNT.format(2))
