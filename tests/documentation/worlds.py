"""The folders in which blocks of pages run."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from documentation.blocks import blocks
from documentation.pages import DOCS, ROOT

PATIENTS, VISITS = 2_000, 6_000


def clinic(folder: Path, tpch: Path) -> None:
    """The tutorial's data, and the schema that it arrives at."""
    clinic_data(folder, tpch)
    (schema,) = (b for b in blocks(DOCS / "tutorial.md") if b.marks.get("file") == "schema.yaml")
    (folder / "schema.yaml").write_text(schema.text, encoding="utf-8")


def clinic_data(folder: Path, _: Path) -> None:
    """The tutorial's data: patients, their visits, and doctors."""
    draw = random.Random(1)
    data = folder / "data"
    data.mkdir()
    people = range(PATIENTS)
    patients = {
        "patient_id": pa.array(people, pa.int64()),
        "age": pa.array([draw.randrange(90) for _ in people], pa.int32()),
        "sex": [draw.choice("FM") for _ in people],
        "city": [draw.choice(["Ulm", "Bonn", "Kiel"]) for _ in people],
    }
    visits = {
        "patient_id": pa.array([draw.choice(people) for _ in range(VISITS)], pa.int64()),
        "doctor_id": pa.array([draw.randrange(4) for _ in range(VISITS)], pa.int64()),
        "cost": pa.array([draw.randrange(900) for _ in range(VISITS)], pa.decimal128(10, 2)),
    }
    doctors = {
        "doctor_id": pa.array(range(4), pa.int64()),
        "name": ["Alder", "Birch", "Cedar", "Elm"],
    }
    for name, columns in {"patients": patients, "visits": visits, "doctors": doctors}.items():
        pq.write_table(pa.table(columns), data / f"{name}.parquet")


def tpch(folder: Path, data: Path) -> None:
    """A clone of the repository with its environment, and TPC-H at scale 0.01."""
    (folder / ".venv").mkdir()
    (folder / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    fixture = folder / "fixtures" / "tpch"
    fixture.mkdir(parents=True)
    for file in (ROOT / "fixtures" / "tpch").glob("*.yaml"):
        (fixture / file.name).write_bytes(file.read_bytes())
    # A page may generate it anew, and other tests read it.
    shutil.copytree(data, fixture / "data")


WORLDS: Final[dict[str, Callable[[Path, Path], None]]] = {
    "clinic": clinic,
    "clinic without a schema": clinic_data,
    "tpch": tpch,
}
