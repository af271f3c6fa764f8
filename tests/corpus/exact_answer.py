"""What a statement answers without noise, over the groups that have rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import pyarrow as pa
from corpus.world import World
from grammar.exact import Exact
from grammar.observe import domain_tables
from privacy.seeded import SeededRandomness

from dpsql.emit.relation import emit_plan
from dpsql.engine.duckdb import DuckDBEngine
from dpsql.engine.postprocessing import postprocessing_engine
from dpsql.plan.operator import Plan, Release, Scan
from dpsql.release.column import columns
from dpsql.release.noise import NoisyGroups, privatize
from dpsql.schema.type import SqlType
from dpsql.session.grant import grant
from dpsql.session.prepared import Prepared, PreparedRelease, prepare
from dpsql.stability.chain import sources

Row = tuple[object, ...]


@dataclass(frozen=True)
class Table:
    """An answer: DuckDB's or ours."""

    names: tuple[str, ...]
    types: tuple[SqlType, ...]
    rows: list[Row]
