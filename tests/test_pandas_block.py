"""pandas is kept out of processes without data frames, but not of pyspark, which needs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
from dpsql.pandas_block import block_pandas
block_pandas()
import pyarrow as pa
pa.array([1])
print("pandas" in sys.modules)
from pyspark.sql.connect.session import SparkSession
print("pandas" in sys.modules)
"""


def test_arrow_does_without_pandas_and_pyspark_has_it() -> None:
    pytest.importorskip("pyspark")
    words = [sys.executable, "-W", "ignore", "-c", CODE]
    found = subprocess.run(words, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "True"]
