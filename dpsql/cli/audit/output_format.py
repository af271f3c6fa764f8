"""What an audit found, as people or as programs read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, assert_never

import click

OutputFormat = Literal["text", "json"]


def show(form: OutputFormat, text: str, document: Mapping[str, object]) -> None:
    """Print one of the two."""
    match form:
        case "text":
            click.echo(text)
        case "json":
            click.echo(json.dumps(document))
        case missing:
            assert_never(missing)
