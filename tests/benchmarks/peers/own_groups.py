"""dpsql's counts and sums by group, end to end, with limits from ladders out of the same ε.

A tenth of all that is spent is the ladders'. The schema says nothing of how many rows or groups a
unit has, nor of how large values are.
"""

from __future__ import annotations

import json
import os
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.peers.group_questions import ANSWERS, DELTA, EPSILON, Answer, GroupQuestion
from benchmarks.peers.own_sums import OF_LADDER
from privacy.seeded import SeededRandomness

from dpsql.session.ladders.draw_ladders import LadderSpec
from dpsql.session.session import Session

SCHEMA: Final = """\
dataset: asked
source: {source}
units:
  owner: {{table: asked, key: id}}
tables:
  asked:
    unit: owner
    limits: calibrated
    columns:
      id: {{type: bigint}}
      k: {{type: varchar, nullable: false{values}}}
      v: {{type: double, nullable: false}}
budget: {{epsilon: {epsilon}, delta: {delta}, accounting: approx}}
per_query: {{epsilon: {epsilon}}}
"""


def own_answers(folder: Path, question: GroupQuestion) -> list[Answer]:
    """One answer for each run: with a ledger, ladders and noise of its own."""
    return [_answer(folder, question, run) for run in range(ANSWERS)]


def _answer(folder: Path, question: GroupQuestion, run: int) -> Answer:
    randomness = SeededRandomness(f"{question.name}, {run}")
    measure = "" if question.highest is None else "MEASURE v "
    of_ladders = Fraction(str(EPSILON)) * OF_LADDER
    own = float(Fraction(str(EPSILON)) - of_ladders)
    with TemporaryDirectory() as state:
        os.environ["DPSQL_STATE"] = state
        path = Path(state) / "schema.yaml"
        path.write_text(schema_text(folder, question), encoding="utf-8")
        with closing(Session(path, epsilon=str(own), randomness=randomness)) as session:
            statements = [f"CALIBRATE asked {measure}BY k"]
            if question.highest is None and question.values is not None:
                statements.append("CALIBRATE asked")  # of rows in all of few groups
            for sql in statements:
                session.calibrate(LadderSpec(sql, sql, of_ladders / len(statements)))
            answer = session.query(f"SELECT k, {question.aggregate} FROM asked GROUP BY k")
            keys, values = (answer.table.column(place).to_pylist() for place in (0, 1))
    return {key: float(value) for key, value in zip(keys, values, strict=True)}


def schema_text(folder: Path, question: GroupQuestion) -> str:
    """The schema of a question's table."""
    values = "" if question.values is None else f", values: {json.dumps(question.values)}"
    return SCHEMA.format(
        source=(folder / question.file).parent, values=values, epsilon=EPSILON, delta=DELTA
    )
