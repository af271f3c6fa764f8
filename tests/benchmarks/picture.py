"""The ratios as bars, in SVG: log scale, plain at the left edge."""

from __future__ import annotations

from math import log2
from typing import Any

COLOURS = {"as it is": "#9aa7b4", "prepared": "#2a7f62"}
WIDTH, LABEL, BAR, MOST = 720, 90, 11, 128


def picture(found: dict[str, Any]) -> str:
    """`found` as `benchmarks.speed` has it."""
    names = list(found["as it is"])
    height = 60 + len(names) * (2 * BAR + 6)
    scale = (WIDTH - LABEL - 60) / log2(MOST)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}">',
        '<g font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        '<text x="10" y="18" font-size="13">private ÷ plain, engine time, TPC-H</text>',
    ]
    for power in range(int(log2(MOST)) + 1):
        x = LABEL + power * scale
        parts.append(f'<line x1="{x}" y1="40" x2="{x}" y2="{height - 8}" stroke="#ddd"/>')
        parts.append(f'<text x="{x}" y="36" text-anchor="middle" fill="#666">{2**power}</text>')
    for place, name in enumerate(names):
        y = 46 + place * (2 * BAR + 6)
        parts.append(f'<text x="{LABEL - 6}" y="{y + BAR + 4}" text-anchor="end">{name}</text>')
        for row, (mode, colour) in enumerate(COLOURS.items()):
            ratio = found[mode][name]["ratio"]
            length = max(1.0, log2(max(1.0, min(MOST, ratio))) * scale)
            top = y + row * BAR
            parts.append(
                f'<rect x="{LABEL}" y="{top}" width="{length:.1f}" height="{BAR - 1}"'
                f' fill="{colour}"/>'
            )
            parts.append(
                f'<text x="{LABEL + length + 4:.1f}" y="{top + BAR - 2}" fill="#333">'
                f"{ratio:.1f}</text>"
            )
    for number, (mode, colour) in enumerate(COLOURS.items()):
        x = WIDTH - 190 + number * 95
        parts.append(f'<rect x="{x}" y="9" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{x + 14}" y="18">{mode}</text>')
    return "\n".join([*parts, "</g></svg>"]) + "\n"
