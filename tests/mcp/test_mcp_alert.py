"""Alerts are paid for by the tool that spends, and then checked and listed for nothing."""

from __future__ import annotations

from pathlib import Path

from assistant import COUNT, Assistant, charges, told

CREATE = "CREATE ALERT busy WHEN count(*) > 100 AS busy FROM staff WITH (epsilon = 0.3)"


def test_an_alert_is_checked_and_listed_for_nothing(company: Path) -> None:
    async def story(assistant: Assistant) -> None:
        made = await assistant.ask("query", sql=CREATE)
        assert 0 < made["cost"]["epsilon"] <= 0.3
        # 100 is thousands of units below what there are: with probability 1e-6 or less it isn't
        # named.
        found = await assistant.ask("query", sql="CHECK ALERT busy")
        assert found["row_count"] == 1
        assert "busy" in found["rows"][0]
        assert found["cost"]["epsilon"] == 0
        again = await assistant.ask("query", sql="CHECK ALERT busy")
        assert again["rows"] == found["rows"]
        assert again["budget"] == made["budget"]
        listed = await assistant.ask("query", sql="SHOW ALERTS")
        names = [column["name"] for column in listed["columns"]]
        (row,) = (dict(zip(names, line, strict=True)) for line in listed["rows"])
        assert (row["name"], row["named"], row["left"]) == ("busy", 1, 0)
        assert row["statement"] == CREATE
        assert listed["cost"] is None
        # Nothing is left for other statements, and the alert is still there.
        assert (await assistant.refusal("query", sql=COUNT))["sqlstate"] == "53400"
        assert (await assistant.ask("query", sql="CHECK ALERT busy"))["rows"] == found["rows"]

    told(story, company, "--max-total", "0.31")
    made, checked = charges(company)
    assert made.loss.amount
    assert not checked.loss.amount


def test_an_alert_is_its_makers_and_isnt_replaced(company: Path) -> None:
    async def make(assistant: Assistant) -> None:
        assert (await assistant.refusal("query", sql="CHECK ALERT busy"))["hint"]
        assert (await assistant.ask("query", sql="SHOW ALERTS"))["rows"] == []
        await assistant.ask("query", sql=CREATE)
        replaced = CREATE.replace("CREATE", "CREATE OR REPLACE")
        assert (await assistant.refusal("query", sql=replaced))["sqlstate"] == "0A000"

    async def look(assistant: Assistant) -> None:
        await assistant.refusal("query", sql="CHECK ALERT busy")
        assert (await assistant.ask("query", sql="SHOW ALERTS"))["rows"] == []

    told(make, company, "--max-total", "2")
    told(look, company, "--analyst", "somebody", "--max-total", "2")
    assert len(charges(company)) == 1
