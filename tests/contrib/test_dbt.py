"""dbt builds a release through contrib/dbt, tests it, and pays once. `.ci/dbt` installs it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from contrib.builder import ROOT
from pgwire.shop import Served, command, served

DBT = os.environ.get("DPSQL_DBT", "")

PROJECT = """\
name: shop
version: 0.1.0
profile: shop
flags: {send_anonymous_usage_stats: false}
"""
PROFILE = """\
shop:
  target: dev
  outputs:
    dev: {{type: postgres, host: 127.0.0.1, port: {port}, user: alice, password: "", threads: 1,
          dbname: {dataset}, schema: public, sslmode: disable}}
"""
MODEL = """\
{{ config(materialized='dp_release', epsilon=0.5) }}
SELECT status, count(*) AS orders FROM orders GROUP BY status
"""
TESTS = """\
models:
  - name: by_status
    columns:
      - name: orders
        data_tests:
          - dp_within: {low: 0, high: 1000000, error: 100000}
          - dp_within: {name: too_narrow, low: -9000000, high: -8000000, error: 1}
          - dp_noisy: {error: 0.5, part: 0.5}
"""


def build(project: Path) -> dict[str, str]:
    """What became of each model and test, by name."""
    ran = subprocess.run(
        [DBT, "build", "--profiles-dir", str(project)],
        cwd=project,
        env=os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    results = project / "target" / "run_results.json"
    assert results.exists(), ran.stdout + ran.stderr
    told = json.loads(results.read_text("utf-8"))["results"]
    return {one["unique_id"].split(".")[2]: one["status"] for one in told}


def spent(server: Served) -> int:
    """How many charges the ledger has."""
    told = command(server.folder, "budget", str(server.schema), "--format", "json").stdout
    return sum(entry["outcome"] == "answered" for entry in json.loads(told))


@pytest.mark.skipif(not DBT, reason=".ci/dbt installs dbt, and runs this")
def test_dbt_builds_a_release_once_and_its_tests_know_noise(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for folder in ("models", "macros"):
        (project / folder).mkdir(parents=True)
    for macro in (ROOT / "contrib" / "dbt" / "macros").iterdir():
        (project / "macros" / macro.name).write_text(macro.read_text("utf-8"), "utf-8")
    (project / "dbt_project.yml").write_text(PROJECT)
    (project / "models" / "by_status.sql").write_text(MODEL)
    (project / "models" / "schema.yml").write_text(TESTS)
    with served(tmp_path / "shop") as server:
        (project / "profiles.yml").write_text(
            PROFILE.format(port=server.port, dataset=server.dataset)
        )
        first = build(project)
        charges = spent(server)
        again = build(project)
        assert spent(server) == charges == 1
    assert first == again
    assert first.pop("too_narrow") == "fail"
    assert first.pop("by_status") == "success"
    assert set(first.values()) == {"pass"}
    assert len(first) == 2
