"""EXPLAIN PRIVACY as HTML: a fragment with its own few styles, for notebooks and web consoles."""

from __future__ import annotations

from dpsql.report.explanation.text_lines import (
    HIDDEN,
    STRATEGIES,
    noise,
    price,
    strategies,
    threshold,
)
from dpsql.report.html.template import render
from dpsql.session.explain.report import PrivacyReport, ReleaseReport


def page(proof: PrivacyReport) -> str:
    """The fragment of HTML, without scripts."""
    return render(
        "explain.html.j2",
        proof=proof,
        price=price(proof.price),
        noise=_noise,
        strategies=strategies,
        strategies_title=STRATEGIES,
        hidden=HIDDEN,
    )


def _noise(release: ReleaseReport) -> list[str]:
    lines = [noise(column) for column in release.noise]
    if release.threshold is None:
        return lines
    return [*lines, threshold(release.threshold, release.threshold_of)]
