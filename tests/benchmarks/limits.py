"""How much longer prepared answers take where limits bind for few units, or for many.

    PYTHONPATH=.:tests python -m benchmarks.limits FOLDER [--runs 5] [--only Q1,clerk] [--json FILE]

FOLDER is that of `benchmarks.speed`. Each query is asked of TPC-H under limits that bind for none
of the customers, for about a tenth of them, and for half; of columns that may hold NULL or not; and
with grouping keys whose values the schema lists, or not. A ratio is of what the engine takes, after
`dpsql prepare`, to what the same text takes without privacy, by the processor's time: medians of
runs in turns.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from benchmarks.shapes import SHAPES
from benchmarks.speed import measure, schema_over

from dpsql.engine.opening import open_engine
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.schema.verify import record_path
from dpsql.session.sidecar import open_source, prepare_source, sidecar_path

BOUND: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    "none": {
        "orders": {"groups": 50, "rows_per_group": 50},
        "lineitem": {"groups": 200, "rows_per_group": 200},
    },
    "a tenth": {
        "orders": {"groups": 23, "rows_per_group": 8},
        "lineitem": {"groups": 45, "rows_per_group": 52},
    },
    "half": {
        "orders": {"groups": 14, "rows_per_group": 5},
        "lineitem": {"groups": 10, "rows_per_group": 30},
    },
}
"""Limits by the share of the customers that they bind: at scale 1 one who orders has a median of 14
orders, 5 of one priority, and 29 lines of one flag; a tenth has more than 23, 8 and 52. `rows` is
not declared. Ten groups of lines bind nearly all by month, and by part."""

DEFAULT = ",".join([*SHAPES, "Q1"])


@dataclass(frozen=True)
class Variant:
    """One schema: limits that bind for `bound`, `nullable` columns, keys that are `listed`."""

    bound: str
    nullable: bool
    listed: bool

    @property
    def name(self) -> str:
        """As a row is called."""
        nulls = "NULLs" if self.nullable else "no NULLs"
        return f"{self.bound}, {nulls}, {'listed' if self.listed else 'not listed'}"

    def applied(self, document: dict[str, Any]) -> dict[str, Any]:
        """The schema file `document`, changed."""
        for name, limits in BOUND[self.bound].items():
            document["tables"][name]["limits"] = dict(limits)
        for table in document["tables"].values():
            for column in table["columns"].values():
                if self.nullable:
                    column.pop("nullable", None)
                if not self.listed:
                    column.pop("values", None)
        return document


def variants(bound: str) -> Iterator[Variant]:
    """The schemas of these limits: of one sidecar, which holds no lists, and orders by limits."""
    for nullable, listed in product((False, True), (True, False)):
        yield Variant(bound, nullable, listed)


def main() -> None:
    """Measure, and print a table."""
    arguments = _arguments()
    found: dict[str, dict[str, float]] = {}
    with TemporaryDirectory() as name:
        text = schema_over(arguments.folder, Path(name)).path.read_text(encoding="utf-8")
        for bound in BOUND:
            prepared: Schema | None = None
            for number, variant in enumerate(variants(bound)):
                changed = variant.applied(yaml.safe_load(text))
                # A ledger of its own: one that was opened with lists holds the owner to them.
                changed["dataset"] = f"{bound.replace(' ', '_')}_{number}"
                path = Path(name) / f"{changed['dataset']}.yaml"
                path.write_text(yaml.safe_dump(changed, sort_keys=False), encoding="utf-8")
                schema = load_schema(path)
                prepared = _prepare(schema, prepared)
                with open_source(schema) as engine:
                    ratios = measure(
                        schema, engine, arguments.runs, arguments.only, clock=time.process_time
                    )
                found[variant.name] = {r.name: r.ratio for r in ratios}
                sys.stdout.write(f"{variant.name}: {json.dumps(found[variant.name])}\n")
    sys.stdout.write(table(found))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def table(found: Mapping[str, Mapping[str, float]]) -> str:
    """In Markdown, a row for each schema."""
    names = list(next(iter(found.values())))
    lines = [f"| limits bind | {' | '.join(names)} |", "| --- |" + " ---: |" * len(names)]
    lines += [
        f"| {variant} | {' | '.join(f'{ratios[name]:.1f}' for name in names)} |"
        for variant, ratios in found.items()
    ]
    return "\n".join([*lines, ""])


def _prepare(schema: Schema, prepared: Schema | None) -> Schema:
    """The first of a kind is prepared; to another its files are copied."""
    if prepared is None:
        with open_engine(engine_source(schema)) as engine:
            prepare_source(schema, engine)
        return schema
    for path in (sidecar_path, record_path):
        path(schema).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path(prepared), path(schema))
    return prepared


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default=DEFAULT, help="names of queries, as in Q1,clerk")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(sys.argv[1:])


if __name__ == "__main__":
    main()
