"""Single-line mutations of the analyses and of what they emit: each is a privacy bug.

`old` occurs once in the file; where it is replaced by `new`, `pytest -m bounds` has to fail.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One seeded bug."""

    name: str
    file: str
    old: str
    new: str


MUTANTS = (
    Mutant(
        "the number of rows is left out of the bound of a unit's sum",
        "stability/sensitivity.py",
        "bounds = tuple(partial_bound(s, release.limited) for s in release.terms.statistics)",
        "bounds = tuple(s.magnitude for s in release.terms.statistics)",
    ),
    Mutant(
        "the smaller end of an interval is taken for its magnitude",
        "plan/bounded.py",
        "return max(abs(self.low), abs(self.high))",
        "return min(abs(self.low), abs(self.high))",
    ),
    Mutant(
        "a unit is counted in one group however many it is in",
        "stability/distance.py",
        "return Groups(partials_distance(clamped, units).count, _groups(limit))",
        "return Groups(partials_distance(clamped, units).count, 1)",
    ),
    Mutant(
        "the units of joined tables aren't equated",
        "emit/relation.py",
        "for other in roots[1:]",
        "for other in roots[:0]",
    ),
    Mutant(
        "rows without a unit are kept",
        "emit/relation.py",
        "return select.select(*items, _as(owner, scan.unit), copy=False).where(",
        "return select.select(*items, _as(owner, scan.unit), copy=False) or select.where(",
    ),
    Mutant(
        "declared keys are believed",
        "stability/dependency.py",
        "return not hops and scan.table.key == (column,) and trusted(scan.table)",
        "return not hops and scan.table.key == (column,)",
    ),
    Mutant(
        "a public join partner is taken for unique",
        "stability/dependency.py",
        "if not attached:\n            return False",
        "if not attached:\n            return True",
    ),
    Mutant(
        "partial sums aren't clamped",
        "emit/bounded.py",
        'return within(exp.case(), exp.column(f"s{number}"), integer(low), integer(high))',
        'return exp.column(f"s{number}")',
    ),
    Mutant(
        "values are clamped by their upper end only",
        "emit/term.py",
        "case.when(exp.LT(this=column.copy(), expression=low), low.copy(), copy=False)\n        .when(",
        "case.when(",
    ),
    Mutant(
        "groups beyond the limit are kept",
        "emit/bounded.py",
        "exp.LTE(this=rank, expression=integer(groups)), copy=False",
        "exp.GTE(this=rank, expression=integer(0)), copy=False",
    ),
    Mutant(
        "which groups are kept depends on other units' ids",
        "emit/bounded.py",
        'partition_by=[exp.column("u")]',
        "partition_by=[exp.column(names[0])]",
    ),
    Mutant(
        "WHERE that contradicts the bounds proves a sensitivity of nothing",
        "stability/narrowing.py",
        "return kept if both is None else replace(kept, bounds=both)",
        "return replace(kept, bounds=both or Interval(Fraction(0), Fraction(0)))",
    ),
)
