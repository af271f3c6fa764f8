"""The Palmer penguins whose measurements are complete: 333 of 344, 146 of them Adelie."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_TYPES = {
    "species": pa.string(),
    "island": pa.string(),
    "bill_length_mm": pa.float64(),
    "bill_depth_mm": pa.float64(),
    "flipper_length_mm": pa.int32(),
    "body_mass_g": pa.int32(),
    "sex": pa.string(),
    "year": pa.int32(),
}


def generate(folder: Path) -> Path:
    """Write penguins.parquet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it imports pkg_resources, which setuptools deprecates
        import palmerpenguins

        rows = palmerpenguins.load_penguins().dropna()
    columns = {name: pa.array(list(rows[name])).cast(kind) for name, kind in _TYPES.items()}
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), folder / "penguins.parquet")
    return folder
