"""The ratios as bars, in SVG: a log scale from an eighth, so that 0.2 is shorter than 1."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2
from typing import Any

COLOURS = {"as it is": "#8795a3", "prepared": "#2f9172"}
"""Seen on white and on black."""

TITLE = "engine time with privacy ÷ without it, TPC-H"
WIDTH, LABEL, BAR = 720, 90, 11
LOWEST, HIGHEST = 1 / 8, 128
STYLE = """<style>
@media(prefers-color-scheme:dark){
text{fill:#ddd}.axis{fill:#999}.grid{stroke:#444}.one{stroke:#ddd}.page{fill:#111}
}
</style>"""
"""Colors on a dark page; those on a light one are attributes, which any program reads."""


def picture(
    found: Mapping[str, Any],
    colours: Mapping[str, str] = COLOURS,
    title: str = TITLE,
    highest: int = HIGHEST,
) -> str:
    """The ratios of `found`, as `benchmarks.speed` has them: a bar of each colour for each name."""
    names = list(found[next(iter(colours))])
    group = len(colours) * BAR + 6
    height = 60 + len(names) * group
    scale = (WIDTH - LABEL - 60) / log2(highest / LOWEST)
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        STYLE,
        '<g font-family="sans-serif" font-size="11" fill="#222">',
        f'<rect class="page" width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="10" y="18" font-size="13">{title}</text>',
    ]
    for power in range(round(log2(LOWEST)), round(log2(highest)) + 1):
        x = LABEL + (power - log2(LOWEST)) * scale
        kind, stroke = ("grid", "#ddd") if power else ("one", "#222")
        label = f"{2**power}×" if power >= 0 else f"1/{2**-power}×"
        parts.append(
            f'<line x1="{x:.1f}" y1="40" x2="{x:.1f}" y2="{height - 8}" class="{kind}"'
            f' stroke="{stroke}"/>'
            f'<text x="{x:.1f}" y="36" text-anchor="middle" class="axis" fill="#666">{label}</text>'
        )
    for place, name in enumerate(names):
        y = 46 + place * group
        parts.append(
            f'<text x="{LABEL - 6}" y="{y + group // 2 + 1}" text-anchor="end">{name}</text>'
        )
        for row, (mode, colour) in enumerate(colours.items()):
            ratio = found[mode].get(name, {}).get("ratio")
            if ratio is None:
                continue
            length = max(1.0, log2(max(LOWEST, min(highest, ratio)) / LOWEST) * scale)
            top = y + row * BAR
            parts.append(
                f'<rect x="{LABEL}" y="{top}" width="{length:.1f}" height="{BAR - 1}"'
                f' fill="{colour}"/>'
                f'<text x="{LABEL + length + 4:.1f}" y="{top + BAR - 2}">{ratio:.1f}</text>'
            )
    for number, (mode, colour) in enumerate(colours.items()):
        x = WIDTH - 95 * (len(colours) - number)
        parts.append(f'<rect x="{x}" y="9" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{x + 14}" y="18">{mode}</text>')
    return "\n".join([*parts, "</g></svg>"]) + "\n"
