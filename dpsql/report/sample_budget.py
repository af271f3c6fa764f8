"""What was spent on a secret sample, as all units lose it: the budget that the schema promises."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpsql.schema.model import Schema


def sample_lines(schema: Schema, spent: Fraction | None = None) -> Iterator[str]:
    """A line on the sample that all amounts are of, if they are; `spent` is the ε spent on it."""
    sample = schema.budget.sample
    if sample is None:
        return
    line = (
        f"of a secret sample, which each unit is in with probability {float(sample.law.rate):g}:"
        f" epsilon = {float(schema.budget.epsilon):.6g} on it is epsilon ="
        f" {float(sample.epsilon):.6g} for all units"
    )
    if sample.delta:
        line += f", delta = {float(schema.budget.delta):.6g} is {float(sample.delta):.6g}"
    if spent:
        line += f"; spent so far: {float(sample.law.epsilon_of_all(spent)):.6g}"
    yield line
