"""The loss of answers that were randomised before they came: it comes on top of every ledger's."""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.schema.model import Schema
from dpsql.schema.randomized_response_loss import LocalLoss, local_losses


def local_epsilon_lines(schema: Schema) -> Iterator[str]:
    """A line for each table with randomised answers: their ε, and the total with the budget's ε."""
    for loss in local_losses(schema):
        yield (
            f"beside it, in no ledger: answers of {loss.table} were randomised with epsilon ="
            f" {_sum(loss)}, lost once if they are asked for; of its rows all that is answered"
            f" stays within epsilon {float(schema.budget.epsilon + loss.epsilon):g}"
        )


def _sum(losses: LocalLoss) -> str:
    parts = " + ".join(f"{float(epsilon):g} ({name})" for name, epsilon in losses.columns)
    if losses.units > 1:
        parts = f"{losses.units} * ({parts})"
    total = f"{float(losses.epsilon):g}"
    return parts if len(losses.columns) == losses.units == 1 else f"{parts} = {total}"
