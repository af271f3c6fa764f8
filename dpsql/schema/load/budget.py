"""Reads what may be spent (budget, per query, by each analyst), and the sizes beside it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from dpsql.engine.read_limit import AnswerLimit
from dpsql.privacy.accounting.loss import Accounting
from dpsql.schema.budget import GDP_SELECTION, Budget, PerQuery
from dpsql.schema.load.file_format import AnalystSection, BudgetSection, PerQuerySection, fill
from dpsql.schema.load.sampling import of_sample
from dpsql.schema.load.yaml_document import Document, DocumentPath
from dpsql.schema.refresh_schedule import RefreshInterval
from dpsql.structs import replace

MIN_EPSILON: Final = Fraction(1, 1_000_000)
MAX_EPSILON: Final = Fraction(64)
LARGE_EPSILON: Final = Fraction(500)
"""The largest ε with `allow_large_epsilon: true`: e^ε is still a double."""
MAX_UNITS: Final = 1000
MAX_RELEASES: Final = 1000
MAX_ROWS: Final = 10**9
MAX_MEGABYTES: Final = 10**6
MIN_DELTA: Final = Fraction(1, 10**18)


def read_budget(document: Document, data: object) -> tuple[Budget, RefreshInterval | None]:
    """Read `budget`, and how often it is refreshed (None: never).

    Accounting is zcdp by default where there is a delta for it, pure where there is none; of a
    sample it is approx by default where there is a delta.
    """
    form = fill(BudgetSection, document, ("budget",), data)
    if form.allow_large_epsilon:
        _check_large(document, form.epsilon)
    else:
        _check_epsilon(document, ("budget", "epsilon"), form.epsilon)
    _check_delta(document, ("budget", "delta"), form.delta)
    with_delta = "zcdp" if form.sample is None else "approx"
    named = form.accounting or (with_delta if form.delta else "pure")
    accounting = Accounting(named)
    if accounting is Accounting.PURE and form.delta:
        raise document.error(
            ("budget", "delta"),
            "a pure budget has no delta",
            "write delta: 0, or another accounting",
        )
    if accounting is not Accounting.PURE and not form.delta:
        raise document.error(
            ("budget",), f"{named} needs a delta above 0", "add delta: 1.0e-6, or accounting: pure"
        )
    every = None if form.refresh is None else RefreshInterval(form.refresh)
    budget = Budget(form.epsilon, form.delta, accounting)
    if form.sample is not None:
        budget = of_sample(document, budget, form.sample)
    if form.calibrators is not None:
        budget = replace(budget, calibrators=tuple(form.calibrators))
    return budget, every


def read_per_query(document: Document, data: object, budget: Budget) -> PerQuery:
    """Read `per_query`: by default a tenth of the budget, and at most all of it.

    A δ that isn't stated is shared out as ε is.
    """
    path = ("per_query",)
    form = fill(PerQuerySection, document, path, data)
    max_epsilon = budget.epsilon if form.max_epsilon is None else form.max_epsilon
    tenth = min(max(budget.epsilon / 10, MIN_EPSILON), max_epsilon)
    epsilon = tenth if form.epsilon is None else form.epsilon
    delta = budget.delta / 10 if form.delta is None else form.delta
    _check_epsilon(document, (*path, "epsilon"), epsilon, budget.epsilon)
    _check_epsilon(document, (*path, "max_epsilon"), max_epsilon, budget.epsilon)
    _check_delta(document, (*path, "delta"), delta)
    if epsilon > max_epsilon:
        raise document.error((*path, "epsilon"), "above max_epsilon", "lower it, or raise that")
    if max_epsilon > budget.epsilon:
        raise document.error(
            (*path, "max_epsilon"), "above budget.epsilon", "no query can spend it: lower it"
        )
    if delta > budget.delta:
        raise document.error(
            (*path, "delta"), "above budget.delta", "no query can spend it: lower it"
        )
    if budget.accounting is Accounting.GDP and delta > budget.delta * GDP_SELECTION:
        raise document.error(
            (*path, "delta"),
            "above the tenth of budget.delta by which a gdp ledger chooses keys",
            f"write {float(budget.delta * GDP_SELECTION):g} or less, or raise budget.delta",
        )
    if budget.delta and not delta:
        raise document.error((*path, "delta"), "is 0", "write a share of budget.delta")
    largest = _largest_answer(document, form)
    return PerQuery(
        epsilon, max_epsilon, delta, is_delta_shared=form.delta is None, largest=largest
    )


def _largest_answer(document: Document, form: PerQuerySection) -> AnswerLimit:
    for key, value, highest in (
        ("max_rows", form.max_rows, MAX_ROWS),
        ("max_megabytes", form.max_megabytes, MAX_MEGABYTES),
    ):
        if not 1 <= value <= highest:
            raise document.error(
                ("per_query", key), "out of range", f"write a number from 1 to {highest:,}"
            )
    return AnswerLimit(form.max_rows, form.max_megabytes * 10**6)


def read_analysts(
    document: Document, data: Mapping[str, object] | None, budget: Budget
) -> Mapping[str, Fraction]:
    """Read `analysts`: the cap, in ε, of each who is named; two names must not look the same."""
    caps: dict[str, Fraction] = {}
    seen: dict[str, str] = {}
    for name, written in (data or {}).items():
        path = ("analysts", name)
        if not (name.isprintable() and name.strip() == name and 1 <= len(name) <= 128):
            raise document.error(path, "not a name", "use 1 to 128 printable characters")
        other = seen.setdefault(unicodedata.normalize("NFKC", name).casefold(), name)
        if other != name:
            raise document.error(path, f"looks like {other}", "rename one of them")
        caps[name] = fill(AnalystSection, document, path, written).epsilon
        _check_epsilon(document, (*path, "epsilon"), caps[name], budget.epsilon)
    return caps


def read_group_size(document: Document, written: int) -> int:
    """Read `group_size`: in how many units neighbouring databases differ at most."""
    if not 1 <= written <= MAX_UNITS:
        raise document.error(
            ("group_size",), "out of range", f"write a number of units from 1 to {MAX_UNITS}"
        )
    return written


def read_releases(document: Document, written: int) -> int:
    """Read `releases`: how many releases and synopses one analyst may keep."""
    if not 0 <= written <= MAX_RELEASES:
        raise document.error(
            ("releases",), "out of range", f"write a number from 0 to {MAX_RELEASES}"
        )
    return written


def _check_epsilon(
    document: Document, path: DocumentPath, epsilon: Fraction, budget: Fraction = MAX_EPSILON
) -> None:
    if not MIN_EPSILON <= epsilon <= max(budget, MAX_EPSILON):
        advice = "write a number from 1e-6 to 64"
        if path == ("budget", "epsilon") and epsilon > MAX_EPSILON:
            advice += ", or allow_large_epsilon: true beside it, which hides hardly anything"
        raise document.error(path, "out of range", advice)


def _check_large(document: Document, epsilon: Fraction) -> None:
    if not MIN_EPSILON <= epsilon <= LARGE_EPSILON:
        advice = f"write a number from 1e-6 to {LARGE_EPSILON}"
        raise document.error(("budget", "epsilon"), "out of range", advice)


def _check_delta(document: Document, path: DocumentPath, delta: Fraction) -> None:
    if delta and not MIN_DELTA <= delta < 1:
        raise document.error(path, "out of range", "write 0, or a number from 1e-18 to below 1")
