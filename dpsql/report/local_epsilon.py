"""What randomised answers lose by themselves: it is beside the promise of every ledger."""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.schema.model import Schema
from dpsql.schema.randomized_response_loss import LocalLoss, local_losses


def local_epsilon_lines(schema: Schema) -> Iterator[str]:
    """A line for each table whose answers are shown without noise, with what is promised then."""
    for said in local_losses(schema):
        yield (
            f"beside it, in no ledger: answers of {said.table} were randomised with epsilon ="
            f" {_sum(said)}, lost once if they are asked for; of its rows all that is answered"
            f" stays within epsilon {float(schema.budget.epsilon + said.epsilon):g}"
        )


def _sum(losses: LocalLoss) -> str:
    parts = " + ".join(f"{float(epsilon):g} ({name})" for name, epsilon in losses.columns)
    if losses.units > 1:
        parts = f"{losses.units} * ({parts})"
    total = f"{float(losses.epsilon):g}"
    return parts if len(losses.columns) == losses.units == 1 else f"{parts} = {total}"
