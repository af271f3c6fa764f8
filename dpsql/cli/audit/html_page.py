"""What attacks achieved as one HTML page that needs nothing else: no script, no font, no image."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dpsql.audit.attacks.attacks import AttackReport, Outcome, max_right
from dpsql.audit.attacks.reconstruction import Reconstruction
from dpsql.report.html.page import whole_page

_ATTACKS = """Each attack guesses a fair coin about one person, {trials} times over, and may spend
ε = {epsilon} in all on a guess. A guess without a look is right half of the time; whatever is
asked, differential privacy allows no more than the dashed line, on average. The people are made
up."""

_REBUILT = """A secret of each of {people} people, from counts over random subsets and a linear
programme (Dinur &amp; Nissim 2003). All counts together cost ε = {epsilon}, however many there
are."""

_WIDTH, _HEIGHT, _ROW, _LABELS = 720, 220, 64, 150


def page(report: AttackReport) -> str:
    """Success rates as bars, reconstruction over the number of queries, and both as tables."""
    epsilon = f"{float(report.epsilon):g}"
    trials = report.outcomes[0].trials
    people = report.reconstructions[0].people
    body = "\n".join(
        [
            "<h1>Attacks on plain DuckDB and on dpsql</h1>",
            f"<p>{_ATTACKS.format(trials=trials, epsilon=epsilon)}</p>",
            "<h2>Guesses that were right</h2>",
            _bars(report.outcomes),
            _outcomes(report.outcomes),
            "<h2>Secrets reconstructed</h2>",
            f"<p>{_REBUILT.format(people=people, epsilon=epsilon)}</p>",
            _curves(report.reconstructions, max_right(report.epsilon)),
            _reconstructions(report.reconstructions),
        ]
    )
    return whole_page("Attacks on plain DuckDB and on dpsql", body, _STYLE)


def _bars(outcomes: Sequence[Outcome]) -> str:
    height, wide = _ROW * len(outcomes), _WIDTH - _LABELS
    parts = []
    for place, outcome in enumerate(outcomes):
        top = place * _ROW
        parts.append(f'<text x="0" y="{top + 36}">{escape(outcome.name)}</text>')
        for kind, right, at in (("plain", outcome.plain, 12), ("ours", outcome.private, 34)):
            width = wide * right / outcome.trials
            parts.append(
                f'<rect class="{kind}" x="{_LABELS}" y="{top + at}" width="{width:.1f}" '
                'height="18"/>'
            )
    line = _LABELS + wide * outcomes[0].max_right
    parts.append(f'<path class="most" d="M{line:.1f} 0 V{height}"/>')
    label = "bars of success rates: DuckDB above, dpsql below, and the most that is allowed"
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{label}">'
        f"{''.join(parts)}</svg>{_LEGEND}"
    )


def _curves(report: Sequence[Reconstruction], largest: float) -> str:
    last = max(r.queries for r in report)

    def line(rights: Sequence[int]) -> str:
        places = [
            f"{_WIDTH * r.queries / last:.1f} {_HEIGHT * (1 - right / r.people):.1f}"
            for r, right in zip(report, rights, strict=True)
        ]
        return "M" + " L".join(places)

    plain, ours = line([r.plain for r in report]), line([r.private for r in report])
    level = _HEIGHT * (1 - largest)
    return (
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'aria-label="secrets that are right, over the number of counts">'
        f'<path class="plain line" d="{plain}"/><path class="ours line" d="{ours}"/>'
        f'<path class="most" d="M0 {level:.1f} H{_WIDTH}"/></svg>{_LEGEND}'
    )


def _outcomes(outcomes: Sequence[Outcome]) -> str:
    rows = [
        (o.name, o.description, f"{o.plain / o.trials:.1%}", f"{o.private / o.trials:.1%}",
         f"{o.max_right:.1%}")
        for o in outcomes
    ]  # fmt: skip
    return _table(("attack", "what is guessed", "DuckDB", "dpsql", "at most, on average"), rows)


def _reconstructions(report: Sequence[Reconstruction]) -> str:
    rows = [
        (str(r.queries), f"{r.plain / r.people:.1%}", f"{r.private / r.people:.1%}") for r in report
    ]
    return _table(("counts", "DuckDB", "dpsql"), rows)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in headings)
    lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    return "<table>\n" + "\n".join(f"<tr>{line}</tr>" for line in (head, *lines)) + "\n</table>"


_LEGEND = (
    '<p class="legend"><span class="plain">■</span> DuckDB <span class="ours">■</span> dpsql '
    '<span class="limit">┆</span> the most that the loss allows, on average</p>'
)

_STYLE = """
:root { --plain: #b3541e; --ours: #1769aa; }
svg { width: 100%; } svg text { font-size: 14px; fill: currentColor; }
.plot { border-bottom: 1px solid var(--rule); border-left: 1px solid var(--rule); }
rect.plain { fill: var(--plain); } rect.ours { fill: var(--ours); }
.line { fill: none; stroke-width: 2; } .plain.line { stroke: var(--plain); }
.ours.line { stroke: var(--ours); }
.most { fill: none; stroke: currentColor; stroke-dasharray: 4 4; }
.legend .plain { color: var(--plain); } .legend .ours { color: var(--ours); }
"""
