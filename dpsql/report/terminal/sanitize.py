"""Text without control characters, which a terminal would act on: values may hold any."""

from __future__ import annotations

from rich.cells import cell_len


def sanitize(text: str) -> str:
    """`text` on one line, with escapes for characters that aren't printable."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text
    )


def sanitize_lines(text: str) -> str:
    """`text` with its line breaks, and escapes for other characters that aren't printable."""
    return "\n".join(map(sanitize, text.split("\n")))


def width(text: str) -> int:
    """How many cells of a terminal `text` takes."""
    return cell_len(text)
