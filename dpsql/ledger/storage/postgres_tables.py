"""The tables of a ledger in PostgreSQL."""

from __future__ import annotations

import re
from typing import Final

from dpsql.ledger.amount import DIGITS

FORMAT: Final = 3

NAMED: Final = """
CREATE TABLE named (
  analyst text,
  name text,
  entry bigint NOT NULL REFERENCES entry (seq),
  about text NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (analyst, name)
);
"""

FAILED: Final = """
CREATE TABLE failed (
  key text,
  entry bigint REFERENCES entry (seq),
  PRIMARY KEY (key, entry)
);
"""

# Text of one width compares as numbers do; NULL is no cap, and a CHECK that is NULL holds.
TABLES: Final = f"""
CREATE TABLE format (version bigint NOT NULL);
CREATE TABLE entry (
  seq bigint PRIMARY KEY CHECK (seq > 0),
  hash text NOT NULL CHECK (length(hash) = 64),
  body text NOT NULL
);
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN RAISE EXCEPTION ''the ledger is append-only''; END';
CREATE TRIGGER entry_change BEFORE UPDATE OR DELETE OR TRUNCATE ON entry
  EXECUTE FUNCTION append_only();
CREATE TABLE in_force (
  terms bigint NOT NULL REFERENCES entry (seq),
  summed bigint REFERENCES entry (seq)
);
CREATE TABLE account (
  analyst text PRIMARY KEY,
  spent text COLLATE "C" NOT NULL CHECK (length(spent) = {DIGITS}),
  cap text COLLATE "C" CHECK (length(cap) = {DIGITS}),
  delta text COLLATE "C" NOT NULL CHECK (length(delta) = {DIGITS}),
  delta_cap text COLLATE "C" CHECK (length(delta_cap) = {DIGITS}),
  CHECK (spent <= cap),
  CHECK (delta <= delta_cap)
);
CREATE TABLE request (
  id text PRIMARY KEY,
  charged bigint NOT NULL UNIQUE REFERENCES entry (seq),
  settled bigint UNIQUE REFERENCES entry (seq),
  owner text NOT NULL
);
CREATE INDEX request_open ON request (charged) WHERE settled IS NULL;
CREATE TABLE kept (
  key text PRIMARY KEY,
  released bigint NOT NULL REFERENCES entry (seq)
);
CREATE TABLE seen (
  key text NOT NULL REFERENCES kept (key),
  analyst text NOT NULL,
  entry bigint NOT NULL REFERENCES entry (seq),
  PRIMARY KEY (key, analyst)
);
CREATE TABLE refusal (
  analyst text,
  sqlstate text,
  query text,
  message text NOT NULL,
  times bigint NOT NULL,
  last text NOT NULL,
  PRIMARY KEY (analyst, sqlstate, query)
);
CREATE TABLE answer (
  hash text PRIMARY KEY CHECK (length(hash) = 64),
  bytes bytea NOT NULL
);
{NAMED}{FAILED}"""

NAMES: Final[list[str]] = re.findall(r"CREATE TABLE (\w+)", TABLES)

# How many of the named tables there are, and whether all keep what is written, and show what they
# keep. PostgreSQL's own triggers are those of foreign keys. The schema's owner may drop a table and
# put another in its place.
UNALTERED: Final = """
SELECT count(*), bool_and(
  relkind = 'r' AND relpersistence = 'p' AND NOT relrowsecurity
  AND NOT EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid)
  AND NOT EXISTS (SELECT FROM pg_inherits WHERE c.oid IN (inhrelid, inhparent))
  AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND (tgenabled NOT IN ('O', 'A')
    OR NOT tgisinternal AND (relname, tgname) <> ('entry', 'entry_change')))
  AND (nspowner IN (relowner, datdba) OR rolsuper)
)
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_roles r ON r.oid = nspowner
JOIN pg_database ON datname = current_database()
WHERE nspname = ? AND relname = ANY (?)
"""
