"""Superset from a database's URL to a dashboard, over the wire: run by tests/pgwire/superset/run.

Each step says what was seen; the first that isn't as it should be ends the run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pgwire.shop import Served, command, make, served
from pgwire.superset.chart import COUNT, OTHERS, RAW, SHOWN, Chart
from pgwire.superset.rest import Failed, Superset

ROWS = 40_000
REFRESHES = 10


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--python", help="the one that has playwright")
    given = parser.parse_args()
    superset = Superset(given.url).log_in("admin", "admin")
    for kind in ("dashboard", "chart", "dataset", "database"):
        superset.remove_all(kind)
    with TemporaryDirectory() as name:
        make(Path(name) / "shop", customers=ROWS // 2, orders=ROWS)
        with served(Path(name) / "shop") as server:
            run(superset, server, given.pictures, given.python)


def run(superset: Superset, server: Served, pictures: Path | None, python: str | None) -> None:
    database = connect(superset, server)
    orders = add_datasets(superset, database)
    ask_in_sql_lab(superset, database)
    charts = add_charts(superset, orders)
    dashboard = add_dashboard(superset, "Shop, with differential privacy", charts)
    refresh(superset, server, orders)
    raw = superset.post("chart/", RAW.saved(orders))["id"]
    refused = add_dashboard(superset, "A refused preview", {raw: RAW})
    if pictures is not None:
        taken = Pictures(superset.url, pictures, python or sys.executable)
        taken.take("superset", dashboard, 650)
        before = charges(server)
        taken.take("superset", dashboard, 650)
        assert charges(server) == before
        taken.take("superset_refused", refused, 200)
        say("pictures", "taken; the dashboard's second reading in a browser cost nothing")


@dataclass(frozen=True, slots=True)
class Pictures:
    """Where Superset's pages are photographed to, and by whose playwright."""

    url: str
    folder: Path
    python: str

    def take(self, name: str, dashboard: int, height: int) -> None:
        page = f"{self.url}/superset/dashboard/{dashboard}/?standalone=2"
        words = [self.python, str(Path(__file__).with_name("picture.py")), self.url, page]
        subprocess.run([*words, str(self.folder / f"{name}.png"), str(height)], check=True)


def connect(superset: Superset, server: Served) -> int:
    uri = f"postgresql+psycopg2://alice@127.0.0.1:{server.port}/shop"
    superset.post("database/test_connection/", {"sqlalchemy_uri": uri})
    found = superset.post(
        "database/", {"database_name": "dpsql", "sqlalchemy_uri": uri, "expose_in_sqllab": True}
    )
    number = int(found["id"])
    assert superset.get(f"database/{number}/schemas/")["result"] == ["information_schema", "public"]
    listed = superset.get(f"database/{number}/tables/?q=(schema_name:public)")["result"]
    names = [one["value"] for one in listed]
    assert sorted(names) == ["customers", "orders", "regions"]
    of = superset.get(f"database/{number}/table_metadata/?name=orders&schema=public")
    assert [c["name"] for c in of["columns"]][:4] == ["id", "customer_id", "region_id", "status"]
    say("database", f"connected, with {len(names)} tables; orders has {len(of['columns'])} columns")
    return number


def add_datasets(superset: Superset, database: int) -> int:
    """A physical one, whose number is returned, and a virtual one."""
    found = superset.post(
        "dataset/", {"database": database, "schema": "public", "table_name": "orders"}
    )
    orders = int(found["id"])
    told = superset.get(f"dataset/{orders}")["result"]
    assert {c["column_name"]: c["is_dttm"] for c in told["columns"]}["ts"]
    sql = """SELECT o.status, o.amount, r.name AS region
    FROM orders o JOIN regions r ON o.region_id = r.region_id"""
    virtual = superset.post(
        "dataset/",
        {"database": database, "schema": "public", "table_name": "by region", "sql": sql},
    )["id"]
    told = superset.get(f"dataset/{virtual}")["result"]
    assert [c["column_name"] for c in told["columns"]] == ["status", "amount", "region"]
    chart = Chart("v", "pie", [{"columns": ["region"], "metrics": [COUNT], "row_limit": 100}])
    (answer,) = superset.post("chart/data", chart.context(virtual))["result"]
    assert answer["rowcount"] == 4, answer
    say("datasets", "physical and virtual")
    values = superset.get(f"datasource/table/{orders}/column/status/values/")["result"]
    assert sorted(map(str, values)) == ["None", "cancelled", "new", "paid", "shipped"], values
    say("values of a column", ", ".join(map(str, values)))
    return orders


def ask_in_sql_lab(superset: Superset, database: int) -> None:
    def ask(sql: str) -> Any:
        asked = {"database_id": database, "sql": sql, "schema": "public", "runAsync": False}
        return superset.post("sqllab/execute/", asked)

    found = ask("SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY n DESC")
    assert found["status"] == "success"
    assert len(found["data"]) == 5
    try:
        ask("SELECT * FROM orders")
    except Failed as error:
        told = json.loads(error.body)["errors"][0]["message"]
        assert "HINT:  aggregate over units: SELECT count(*) FROM orders" in told, told
    else:
        raise AssertionError
    say("SQL Lab", "an answer, and a refusal with its hint")


def add_charts(superset: Superset, dataset: int) -> dict[int, Chart]:
    charts = {}
    for chart in (*SHOWN, *OTHERS):
        number = superset.post("chart/", chart.saved(dataset))["id"]
        answers = superset.post("chart/data", chart.context(dataset))["result"]
        assert all(a["status"] == "success" and a["rowcount"] for a in answers), answers
        charts[number] = chart
    kinds = {chart.kind for chart in charts.values()}
    assert len(kinds) >= 20
    say("charts", f"{len(charts)} answered, of {len(kinds)} types")
    return charts


def add_dashboard(superset: Superset, title: str, charts: dict[int, Chart]) -> int:
    number = int(superset.post("dashboard/", {"dashboard_title": title})["id"])
    shown = [(n, chart) for n, chart in charts.items() if chart is RAW or chart in SHOWN]
    width = 12 if len(shown) == 1 else 3
    per_row = 12 // width
    rows = [shown[n : n + per_row] for n in range(0, len(shown), per_row)]
    position: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "ROOT_ID": {"type": "ROOT", "id": "ROOT_ID", "children": ["GRID_ID"]},
        "GRID_ID": {
            "type": "GRID",
            "id": "GRID_ID",
            "children": [f"ROW-{n}" for n in range(len(rows))],
            "parents": ["ROOT_ID"],
        },
        "HEADER_ID": {"type": "HEADER", "id": "HEADER_ID", "meta": {"text": title}},
    }
    for n, row in enumerate(rows):
        position[f"ROW-{n}"] = {
            "type": "ROW",
            "id": f"ROW-{n}",
            "children": [f"CHART-{c}" for c, _ in row],
            "parents": ["ROOT_ID", "GRID_ID"],
            "meta": {"background": "BACKGROUND_TRANSPARENT"},
        }
        for c, chart in row:
            position[f"CHART-{c}"] = {
                "type": "CHART",
                "id": f"CHART-{c}",
                "children": [],
                "parents": ["ROOT_ID", "GRID_ID", f"ROW-{n}"],
                "meta": {"chartId": c, "width": width, "height": 38, "sliceName": chart.name},
            }
            superset.put(f"chart/{c}", {"dashboards": [number]})
    superset.put(f"dashboard/{number}", {"position_json": json.dumps(position), "published": True})
    return number


def refresh(superset: Superset, server: Served, dataset: int) -> None:
    """A dashboard's charts, asked anew past Superset's cache: nothing is charged again."""
    before = charges(server)
    seen = []
    for _ in range(REFRESHES):
        found = [superset.post("chart/data", chart.context(dataset)) for chart in SHOWN]
        seen.append([answer["data"] for one in found for answer in one["result"]])
    assert all(again == seen[0] for again in seen)
    assert charges(server) == before
    say("dashboard", f"{len(SHOWN)} charts refreshed {REFRESHES} times, charged once each")


def charges(server: Served) -> int:
    told = command(server.folder, "budget", str(server.schema), "--format", "json").stdout
    return sum(entry["outcome"] == "answered" for entry in json.loads(told))


def say(step: str, what: str) -> None:
    sys.stdout.write(f"{step}: {what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
