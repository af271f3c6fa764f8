"""The success rates of attacks as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpsql.audit.attacks.attacks import AttackReport
from dpsql.audit.attacks.linkage import K
from dpsql.audit.attacks.outcome import Outcome, max_right
from dpsql.audit.attacks.reconstruction import Reconstruction
from dpsql.report.html.template import render

_WIDTH: Final = 720
_ROW, _LABELS = 64, 150
"""Pixels: the height of an attack's two bars, and the x at which bars begin."""

_HEIGHT: Final = 220
"""The height in pixels of the curves of reconstruction."""


def page(report: AttackReport) -> str:
    """Success rates as bars, reconstruction over the number of queries, and both as tables."""
    rebuilt, linked, wide = report.reconstructions, report.linkage, _WIDTH - _LABELS
    right_by_register = (linked.plain, linked.k_anonymous, linked.private)
    return render(
        "attacks.html.j2",
        title="Attacks on plain DuckDB and on dpsql",
        epsilon=f"{float(report.epsilon):g}",
        trials=report.outcomes[0].trials,
        people=rebuilt[0].people,
        width=_WIDTH,
        bar_left=_LABELS,
        bars_height=_ROW * len(report.outcomes),
        bars_most=f"{_LABELS + wide * report.outcomes[0].max_right:.1f}",
        bars=[
            {
                "name": o.name,
                "top": _ROW * number,
                "plain": _bar(o.plain, o),
                "ours": _bar(o.private, o),
            }
            for number, o in enumerate(report.outcomes)
        ],
        k=K,
        linked={
            "plain": _bar(linked.plain, linked),
            "k_anonymous": _bar(linked.k_anonymous, linked),
            "ours": _bar(linked.private, linked),
        },
        linkage=[
            (linked.description,
             *(_percent(n / linked.trials) for n in right_by_register),
             _percent(linked.max_right))
        ],
        outcomes=[
            (o.name, o.description, _percent(o.plain / o.trials), _percent(o.private / o.trials),
             _percent(o.max_right))
            for o in report.outcomes
        ],
        curves_height=_HEIGHT,
        curves_most=f"{_HEIGHT * (1 - max_right(report.epsilon)):.1f}",
        plain_line=_line(rebuilt, [r.plain for r in rebuilt]),
        our_line=_line(rebuilt, [r.private for r in rebuilt]),
        reconstructions=[
            (r.queries, _percent(r.plain / r.people), _percent(r.private / r.people))
            for r in rebuilt
        ],
    )  # fmt: skip


def _bar(right: int, outcome: Outcome) -> str:
    """The length of the bar of `right` guesses."""
    return f"{(_WIDTH - _LABELS) * right / outcome.trials:.1f}"


def _line(report: Sequence[Reconstruction], rights: Sequence[int]) -> str:
    last = max(r.queries for r in report)
    points = (
        f"{_WIDTH * r.queries / last:.1f} {_HEIGHT * (1 - right / r.people):.1f}"
        for r, right in zip(report, rights, strict=True)
    )
    return "M" + " L".join(points)


def _percent(part: float) -> str:
    return f"{part:.1%}"
