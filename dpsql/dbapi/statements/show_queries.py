"""SHOW dpsql.queries: what the analyst's own statements cost, from the ledger."""

from __future__ import annotations

import pyarrow as pa

from dpsql.ledger.chain.entry import Charged, Released
from dpsql.report.result.result import Result
from dpsql.schema.model import Schema
from dpsql.schema.sql_type import BIGINT, Double, Timestamp, Varchar
from dpsql.session.compile.loss_conversion import epsilon_of
from dpsql.session.ledger_access import existing_ledger


def own_queries(schema: Schema, analyst: str) -> Result:
    """A row for each charge of `analyst`, in order; of other analysts' nothing is told.

    `epsilon` is what the statement costs asked alone: under zcdp and gdp many cost less than their
    sum.
    """
    with existing_ledger(schema) as ledger:
        entries = () if ledger is None else tuple(ledger.history())
    answered = {e.event.request_id for e in entries if isinstance(e.event, Released)}
    rows = [
        (
            entry.seq,
            entry.at.replace(tzinfo=None),
            float(epsilon_of(schema, charge.loss.amount)),
            float(charge.loss.delta),
            "yes" if charge.request_id in answered else "no",
            charge.query,
        )
        for entry in entries
        if isinstance(charge := entry.event, Charged) and charge.analyst == analyst
    ]
    names = ("entry", "at", "epsilon", "delta", "answered", "statement")
    kinds = (BIGINT, Timestamp(), Double(), Double(), Varchar(), Varchar())
    arrow = (
        pa.int64(),
        pa.timestamp("us"),
        pa.float64(),
        pa.float64(),
        pa.string(),
        pa.string(),
    )
    columns = [pa.array([row[n] for row in rows], kind) for n, kind in enumerate(arrow)]
    return Result(names, kinds, pa.table(columns, names=list(names)))
