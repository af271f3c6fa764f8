"""EXPLAIN PRIVACY as text, line by line; HTML has some of the lines, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpsql.analysis.plan_text import aligned
from dpsql.privacy.mechanisms.residual_gaussian import RESIDUAL_NOISE
from dpsql.session.answer.answer import ColumnPrivacy
from dpsql.session.explain.report import OperatorLine, Price, PrivacyReport, ReleaseReport

HIDDEN: Final = "not shown: it names tables that are hidden"
STRATEGIES: Final = "strategies: the same integers, in so many passes over the rows"


def paragraphs(report: PrivacyReport, *, sql: bool) -> Iterator[str]:
    """The explanation, a paragraph at a time; `sql` adds the SQL that the engine would run."""
    yield _tree(report.operators)
    for release in report.releases:
        yield "\n".join(_release(release, sql=sql))
    if sql:
        yield "\n".join(["the answer, of what was released", *_indented(_pretty(report.finish))])
    if report.totals:
        yield "\n".join(["totals", *(f"  {note}" for note in report.totals)])
    if report.notes:
        yield "\n".join(["notes", *(f"  {note}" for note in report.notes)])
    yield "\n".join(price(report.price))
    if report.advice:
        yield "\n".join(["to get less noise for it", *(f"  {hint}" for hint in report.advice)])


def noise(column: ColumnPrivacy) -> str:
    """Mechanism, scale and expected error of one column."""
    if column.rank_error is not None:
        off = f"{column.rank_error:.6g} rows"
        return f"{column.name}: {column.mechanism}; with 95 %, its rank is off by {off} at most"
    if column.regret is not None:
        return f"{column.name}: {column.mechanism}; expected regret {column.regret:.6g} at most"
    if column.score_error is not None:
        off = f"off the best by {column.score_error:.6g} at most"
        return f"{column.name}: {column.mechanism}; with 95 %, its score is {off}"
    if column.threshold_error is not None:
        off = f"off its threshold by {column.threshold_error:.6g} at most"
        return f"{column.name}: {column.mechanism}; with 95 %, what is compared is {off}"
    width = "depends on the count" if column.half_width is None else f"± {column.half_width:.6g}"
    if column.half_width is None and column.mechanism == RESIDUAL_NOISE:
        width = "is each chart's, as told above"
    line = f"{column.name}: {column.mechanism}, scale {column.scale:.6g}; 95 % error {width}"
    bias = column.bias
    if bias is None:
        return line
    interval = f"{bias.low:.3g} to {bias.high:.3g} with 90 %"
    return f"{line}; bias {bias.expected:.3g}, {interval}, by what limits leave out"


def threshold(number: int, of: str) -> str:
    """The line that tells from how many units, or rows, on a group's key is released."""
    return f"a key appears when its noisy number of {of} is {number} or more"


def strategies(release: ReleaseReport) -> list[str]:
    """What each strategy that applies is estimated to cost, the one that is run first."""
    run, *others = (f"{line.name}: {line.passes:.3g}" for line in release.strategies)
    return [f"{run} (this one is run)", *others]


def price(price_of: Price | None) -> list[str]:
    """Lines on a statement's cost and the odds that follow; None if no private table is read."""
    if price_of is None:
        return ["cost: nothing, no private table is read"]
    cost = f"cost: epsilon = {price_of.epsilon:.6g}"
    if price_of.delta:
        cost += f", delta = {price_of.delta:.6g}"
    if price_of.rho is not None:
        cost += f" (rho = {price_of.rho:.6g})"
    if price_of.mu is not None:
        cost += f" (mu = {price_of.mu:.6g})"
    if price_of.selection_delta and not (price_of.rho is None and price_of.mu is None):
        cost += f", of it delta = {price_of.selection_delta:.6g} for the choice of keys"
    odds = (
        f"odds: what anyone concludes about one unit becomes at most {price_of.odds:.3g} times"
        " (e^epsilon) likelier or less likely"
    )
    if price_of.delta and price_of.of_all is None:
        odds += f", up to delta = {price_of.delta:.2g}"
    lines = [f"{cost}, in a {price_of.accounting} ledger; neighbours: {price_of.neighbors}", odds]
    if price_of.of_all is not None:
        lines.insert(
            1,
            f"of the sample: to all units it is epsilon = {price_of.of_all:.6g} if nothing else is"
            " asked, and more where much was spent before",
        )
    if price_of.said:
        lines.insert(
            1,
            f"beside it: epsilon = {price_of.said:.6g} of answers that were randomised before they"
            " came; it is lost once, however often they are asked for, and in no ledger",
        )
    return lines


def _release(release: ReleaseReport, *, sql: bool) -> Iterator[str]:
    yield f"{release.name}:"
    yield from _indented(_tree(release.operators))
    yield "  limits"
    yield from (f"    {note}" for note in release.limits)
    yield "  sensitivity: what one unit changes in a group, in as many groups as above"
    for line in release.sensitivities:
        yield f"    {line.claim}"
        yield from (f"      {origin}" for origin in line.origins)
    yield "  noise"
    yield from (f"    {noise(column)}" for column in release.noise)
    if release.threshold is not None:
        yield f"    {threshold(release.threshold, release.threshold_of)}"
    if release.strategies:
        yield f"  {STRATEGIES}"
        yield from (f"    {line}" for line in strategies(release))
    if sql:
        yield "  what the engine runs"
        yield from (f"  {line}" for line in _indented(_pretty(release.sql)))


def _tree(lines: tuple[OperatorLine, ...]) -> str:
    return aligned([(line.depth, line.operator, line.distance) for line in lines])


def _pretty(sql: str) -> str:
    """The engine's SQL, one clause a line; `HIDDEN` where it would name hidden tables."""
    if not sql:
        return HIDDEN
    import sqlglot  # noqa: PLC0415 - only who asks for SQL needs it

    try:
        return sqlglot.transpile(sql, read="duckdb", write="duckdb", pretty=True)[0]
    except sqlglot.errors.SqlglotError:
        return sql  # an analyst's own text, which runs as it is written


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.split("\n")]
