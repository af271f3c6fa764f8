"""A small clinic: doctors are public, patients and visits aren't, one public table is hidden."""

from __future__ import annotations

from pathlib import Path

from data.database import attached

SCHEMA = """\
dataset: clinic
source: hospital_7731.duckdb
units: {patient: {table: patients, key: pid}}
tables:
  patients:
    unit: patient
    key: pid
    columns: {pid: {type: bigint}, age: {type: integer, bounds: [0, 120]}}
  visits:
    unit: {column: pid, references: patients.pid}
    columns: {pid: {type: bigint}, doc: {type: integer, references: docs.id}}
  docs:
    public: true
    key: id
    columns:
      {id: {type: integer}, name: {type: varchar}, spec: {type: varchar}, fee: {type: double}}
  sites.wards: {public: true, columns: {ward: {type: varchar}, beds: {type: integer}}}
  wide: {public: true, columns: {text: {type: varchar}}}
  kinds:
    public: true
    columns:
      id: {type: uuid}
      much: {type: hugeint}
      price: {type: "decimal(38,2)"}
      at: {type: timestamp}
      on: {type: date}
      is: {type: boolean}
      part: {type: float}
  unsigned: {public: true, columns: {big: {type: uhugeint}}}
  codes: {public: true, visible: false, columns: {code: {type: integer}}}
views:
  eyes: {query: "SELECT id, fee, code FROM docs, codes WHERE spec = 'eye'"}
  spans: {query: "SELECT id, NULL AS nothing FROM docs"}
  today: {query: "SELECT id, current_date AS day FROM docs"}
  ages: {query: "SELECT count(*) AS n FROM patients"}
budget: {epsilon: 60, delta: 1.0e-6}
"""

ROWS = """
CREATE TABLE patients AS SELECT i AS pid, 20 + i::INT AS age FROM range(50) t(i);
CREATE TABLE visits AS SELECT i % 50 AS pid, 1 + (i % 8)::INT AS doc FROM range(200) t(i);
CREATE TABLE docs AS SELECT i::INT AS id, 'd' || i % 4 AS name, ['eye', 'ear'][1 + i % 2] AS spec,
  (i * 10)::DOUBLE AS fee FROM range(1, 9) t(i);
CREATE SCHEMA sites;
CREATE TABLE sites.wards AS SELECT 'w' || i AS ward, i::INT AS beds FROM range(3) t(i);
CREATE TABLE wide AS SELECT repeat('x', 1_000_000) AS text FROM range(80);
CREATE TABLE kinds AS SELECT '7a1c9b1e-0000-4000-8000-000000000000'::UUID AS id,
  -99999999999999999999999999999999999999::HUGEINT AS much,
  12.5::DECIMAL(38,2) AS price, TIMESTAMP '2024-01-01 10:00:00.000001' AS at,
  DATE '99999-01-01' AS on, TRUE AS is, 'nan'::FLOAT AS part;
CREATE TABLE unsigned AS SELECT 340282366920938463463374607431768211455 AS big;
CREATE TABLE codes AS SELECT 77123 AS code;
"""


def made(folder: Path) -> Path:
    """Its schema, beside its rows."""
    with attached(folder / "hospital_7731.duckdb") as connection:
        connection.execute(ROWS)
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return folder / "schema.yaml"
