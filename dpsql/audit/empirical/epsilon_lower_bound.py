"""A lower bound on the privacy loss, by telling two neighboring databases apart.

The two databases that come closest to the derived bounds answer many times, with real noise. An
event is chosen on some of the answers and counted on the others; the ends of Clopper-Pearson
intervals of its two probabilities bound the loss from below. A bound above the charged loss is, up
to its false-alarm probability, a proof that the promise is broken; one below it proves nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Literal, assert_never

import numpy as np
import pyarrow as pa
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.analysis.local_privacy import local_only
from dpsql.audit.databases.search_space import SearchSpace, Size, compiled, search_space
from dpsql.audit.databases.synthetic_engine import WorldEngine
from dpsql.audit.empirical.answer_sampling import Answers, AnswerSampler, Group, sample_answers
from dpsql.audit.empirical.clopper_pearson import high_end, low_end
from dpsql.audit.noise_likelihood import (
    is_gaussian,
    log_likelihood_ratio,
    loss_of_change,
)
from dpsql.audit.sensitivity.bound_check import cell_changes, changes, rows_moved
from dpsql.audit.sensitivity.exhaustive_audit import Witness, witness
from dpsql.engine.source import DuckDBSource
from dpsql.errors import BadParameter
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.job import Job, Step, run
from dpsql.schema.model import Schema
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import epsilon_of

Scores = NDArray[np.float64]

_NORMAL = NormalDist()
_THRESHOLDS = 200
_ORDERS = (1.001, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0)

_WIDE = 25
"""From this variance on, tails of a discrete Gaussian are those of a continuous one up to 1/500."""

Measure = Literal["epsilon", "mu", "rho"]


class Bound(Struct, frozen=True):
    """What `draws` answers of either database show: the loss is at least `lower`.

    The loss is measured in ε. Where all noise is Gaussian it is in μ, the distance of the two means
    in standard deviations (Dong, Roth & Su 2022), which is √(2ρ); and where Gaussian noise spans
    few integers, whose tails are not those of a Gaussian, in ρ itself. `alpha` is the probability
    that `lower` is above the true loss.
    """

    measure: Measure
    charged: float
    lower: float
    alpha: float
    draws: int

    @property
    def is_broken(self) -> bool:
        """Whether the loss is shown to exceed the charged one."""
        return self.lower > self.charged


class EpsilonAudit(Struct, frozen=True):
    """The bound of each release of a statement, and the databases that were told apart."""

    sql: str
    bounds: tuple[tuple[str, Bound, Witness], ...]


def audit_epsilon(
    sql: str,
    schema: Schema,
    *,
    epsilon: Fraction | None = None,
    draws: int = 10_000,
    alpha: float = 0.05,
    size: Size | None = None,
) -> EpsilonAudit:
    """Bound the loss of every release of `sql` from below; nothing is charged."""
    if draws < 100 or not 0 < alpha < 1:
        raise BadParameter("that is no test", hint="ask for 100 draws or more, and 0 < alpha < 1")
    ready = compiled(sql, schema, epsilon or schema.per_query.epsilon)
    tables: dict[str, pa.Table] = {}
    bounds: list[tuple[str, Bound, Witness]] = []
    for release in ready.releases:
        if local_only(release.step.bounded, schema.neighbor_distance) is not None:
            raise BadParameter(
                f"{release.name} reads randomised answers alone: what hides them was drawn before",
                hint="ask for a column beside them, or of some of the rows: that is charged",
            )
        if release.step.measurement.table_mechanism is not None:
            raise BadParameter(
                f"{release.name} is drawn as a whole: single statistics tell nothing of its loss",
                hint="ask for the sums by round that it is drawn by: dpsql audit sensitivity",
            )
        space = search_space(release.release, schema, schema.neighbors, size or Size())
        pair = worst_pair(release, space, tables)
        drawn = [AnswerSampler.of(release.step, space.worlds, world, tables) for world in pair]
        bound = lower_bound(release.step, drawn, schema, draws, alpha)
        bounds.append((release.name, bound, witness(space, pair)))
        job = Job(DuckDBSource(), (release.step,))
        tables |= run(job, WorldEngine(space.worlds, pair[0]), SystemRandomness(), tables)
    return EpsilonAudit(sql, tuple(bounds))


def worst_pair(
    release: CompiledRelease, space: SearchSpace, tables: dict[str, pa.Table]
) -> tuple[int, int]:
    """The neighbors whose integers lie farthest apart, each measured by its own noise."""
    totals = space.worlds.totals(release, "1", tables)
    cells = space.worlds.histograms(release, "1")
    mechanisms = release.step.measurement.noise

    def distance(pair: tuple[int, int]) -> float:
        one, other = pair
        changed = changes(totals[one], totals[other], len(mechanisms))
        summed = sum(
            loss_of_change(mechanism, change)
            for row in changed
            for change, mechanism in zip(row, mechanisms, strict=True)
        )
        in_cells = sum(
            rows_moved(change)
            for a, b in zip(cells[one], cells[other], strict=True)
            for change in cell_changes(a, b)
        )
        return float(summed) + in_cells

    return max(space.pairs, key=distance)


def lower_bound(
    step: Step, samplers: Sequence[AnswerSampler], schema: Schema, draws: int, alpha: float
) -> Bound:
    """A bound from telling the databases of two samplers apart; `step` has the charged loss."""
    rest, tried = draws - draws // 4, draws // 4
    exact = [drawing.totals() for drawing in samplers]
    keys = sorted({key for totals in exact for key in totals}, key=repr)
    training = [sample_answers(drawing, keys, tried) for drawing in samplers]
    score = _Score(step, keys, exact, training)
    event = _event([score.of(answers) for answers in training], step, schema, alpha)
    lower = event.bound(
        [score.of(sample_answers(drawing, keys, rest)) for drawing in samplers], alpha
    )
    charged, _ = _charged(step, schema)
    return Bound(_measure(step), charged, max(0.0, lower), alpha, rest)


class _Score:
    """Scores answers by the log-likelihood ratio of the first of two databases to the second."""

    def __init__(
        self,
        step: Step,
        keys: Sequence[Group],
        exact: Sequence[dict[Group, tuple[int, ...]]],
        training: Sequence[Answers],
    ) -> None:
        self._mechanisms = step.measurement.noise
        self._exact = exact
        self._keys = keys
        self._training = training

    def of(self, answers: Answers) -> Scores:
        """The score of each answer."""
        score = np.zeros(answers.shown.shape[0])
        for index, key in enumerate(self._keys):
            shown = answers.shown[:, index]
            one, other = (totals.get(key) for totals in self._exact)
            if one is None or other is None:
                # A key that only one of the databases has is scored by how often it is shown.
                score += np.where(shown, self._odds(shown_at=index), 0.0)
                continue
            for integers, a, b, mechanism in zip(
                answers.integers, one, other, self._mechanisms, strict=True
            ):
                score += np.where(
                    shown, log_likelihood_ratio(integers[:, index], a, b, mechanism), 0.0
                )
            for number, chosen in enumerate(answers.choices):
                odds = self._odds_of_cells(number, index)
                score += [odds.get(cell, 0.0) for cell in chosen[:, index].tolist()]
        return score

    def _odds(self, shown_at: int) -> float:
        ours, theirs = (int(answers.shown[:, shown_at].sum()) for answers in self._training)
        return math.log((ours + 1) / (theirs + 1))

    def _odds_of_cells(self, number: int, index: int) -> dict[int, float]:
        ours, theirs = (Counter(t.choices[number][:, index].tolist()) for t in self._training)
        return {c: math.log((ours[c] + 1) / (theirs[c] + 1)) for c in {*ours, *theirs}}


class _Event(Struct, frozen=True):
    """The event that a score is at least `minimum` if `above`, else below it.

    `swapped`: its probability is compared for the second database with the first.
    """

    minimum: float
    above: bool
    swapped: bool
    measure: Measure
    delta: float

    def bound(self, scores: Sequence[Scores], alpha: float) -> float:
        ours, theirs = reversed(scores) if self.swapped else scores
        hits = [int(((s >= self.minimum) == self.above).sum()) for s in (ours, theirs)]
        # Either end is wrong with probability alpha/2.
        often = low_end(hits[0], ours.size, alpha / 2)
        seldom = high_end(hits[1], theirs.size, alpha / 2)
        gain = often - self.delta
        inside = 0 < seldom < gain < 1
        match self.measure:
            case "mu":
                return _NORMAL.inv_cdf(gain) - _NORMAL.inv_cdf(seldom) if inside else 0.0
            case "rho":
                return rho_of_event(often, seldom) if inside else 0.0
            case "epsilon":
                return math.log(gain / seldom) if gain > 0 else -math.inf
            case missing:
                assert_never(missing)


def _event(scores: Sequence[Scores], step: Step, schema: Schema, alpha: float) -> _Event:
    """The event with the largest lower bound on these scores.

    Confidence intervals decide, as for the bound itself: the plain ratio of two rare frequencies is
    large by chance.
    """
    _, delta = _charged(step, schema)
    both = np.unique(np.concatenate(scores))
    some = both[np.linspace(0, both.size - 1, min(both.size, _THRESHOLDS)).astype(int)]
    events = (
        # Just below a score, so that rounding of the sum doesn't separate equal scores.
        _Event(float(minimum) - 1e-9, above, swapped, _measure(step), delta)
        for minimum in some
        for above, swapped in ((True, False), (False, True))
    )
    return max(events, key=lambda event: event.bound(scores, alpha))


def rho_of_event(high: float, low: float) -> float:
    """The smallest ρ under which an event may have these probabilities: max over α of D_α/α.

    (Bun & Steinke 2016, Definition 1.1, and that postprocessing never increases Rényi divergences.)
    """
    return max(
        math.log(
            high * (high / low) ** (order - 1)
            + (1 - high) * ((1 - high) / (1 - low)) ** (order - 1)
        )
        / (order - 1)
        / order
        for order in _ORDERS
    )


def _measure(step: Step) -> Measure:
    mechanisms = step.measurement.mechanisms
    if step.measurement.loss.accounting is Accounting.GDP:
        return "mu"
    if step.measurement.choosers or not all(map(is_gaussian, mechanisms)):
        return "epsilon"
    return "mu" if min(m.variance for m in mechanisms) >= _WIDE else "rho"


def _charged(step: Step, schema: Schema) -> tuple[float, float]:
    """The charged loss in the measure of the bound, and its δ."""
    loss = step.measurement.loss
    if loss.accounting is Accounting.GDP:
        return math.sqrt(loss.amount), float(loss.delta)
    if _measure(step) != "epsilon":
        rho = loss.amount
        if loss.accounting is Accounting.APPROX:
            # The charge is (ε, δ), converted from a ρ that is at most this one.
            rho = rho_of_epsilon(loss.amount, loss.delta)
        return (math.sqrt(2 * rho) if _measure(step) == "mu" else float(rho)), 0.0
    delta = float(loss.delta)
    if loss.accounting is Accounting.ZCDP:
        delta += float(schema.budget.delta / 2)
    return float(epsilon_of(schema, loss.amount)), delta
