"""The report of an audit, as text for people or as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, assert_never

import click

OutputFormat = Literal["text", "json"]


def show(form: OutputFormat, text: str, document: Mapping[str, object]) -> None:
    """Print `text`, or `document` as JSON, by `form`."""
    match form:
        case "text":
            click.echo(text)
        case "json":
            click.echo(json.dumps(document))
        case missing:
            assert_never(missing)
