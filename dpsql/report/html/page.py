"""A whole HTML page that needs nothing else: no script, no font, no image."""

from __future__ import annotations

from typing import Final


def whole_page(title: str, body: str, style: str) -> str:
    """`body` as a page, `style` beside that of all pages; all three are HTML or CSS already."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{_STYLE}{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


_STYLE: Final = """
:root { color-scheme: light dark; --rule: #8886; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-size: .9em; }
th, td { text-align: left; vertical-align: top; padding: .3em .6em; }
td { border-top: 1px solid var(--rule); }
"""
