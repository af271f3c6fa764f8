"""Columns whose values people hid before they were collected: by other answers, or by noise."""

from __future__ import annotations

from fractions import Fraction

from dpsql.privacy.mechanisms.local_noise import LocalNoise
from dpsql.schema.load.budget import MIN_EPSILON
from dpsql.schema.load.file_format import ColumnSection, LocalNoiseSection, ResponseSection, fill
from dpsql.schema.load.values import read_bounds
from dpsql.schema.load.yaml_document import Document, DocumentPath
from dpsql.schema.sql_type import Boolean, Double, SqlType

_MAX_EPSILON = 20


def read_response(
    document: Document,
    path: DocumentPath,
    section: ColumnSection,
    kind: SqlType,
    *,
    identifies: bool,
) -> Fraction | None:
    """The ε with which answers were randomised; each must be one of several listed values."""
    if section.randomized_response is None:
        return None
    at = (*path, "randomized_response")
    epsilon = fill(ResponseSection, document, at, section.randomized_response).epsilon
    if not identifies and not isinstance(kind, Boolean) and len(section.values or ()) < 2:
        raise document.error(at, "is of one of several answers", "list the values: of the column")
    _check(document, at, section, epsilon, identifies=identifies)
    return epsilon


def read_local_noise(
    document: Document,
    path: DocumentPath,
    section: ColumnSection,
    kind: SqlType,
    *,
    identifies: bool,
) -> LocalNoise | None:
    """The noise that was added to the column's numbers, each by whom it is of."""
    if section.local_noise is None:
        return None
    at = (*path, "local_noise")
    form = fill(LocalNoiseSection, document, at, section.local_noise)
    _check(document, at, section, form.epsilon, identifies=identifies)
    if not isinstance(kind, Double):
        raise document.error(at, "noisy numbers are of type double", "write type: double")
    for other in ("bounds", "values", "randomized_response"):
        if getattr(section, other) is not None:
            raise document.error(
                (*path, other),
                "isn't that of noisy numbers",
                "remove it: local_noise has the bounds of the numbers before noise",
            )
    low, high = read_bounds(document, (*at, "bounds"), kind, form.bounds)
    if not isinstance(low, Fraction) or not isinstance(high, Fraction) or low == high:
        raise document.error(
            (*at, "bounds"), "of one number nothing is to hide", "write two numbers"
        )
    return LocalNoise(form.epsilon, low, high)


def _check(
    document: Document,
    at: DocumentPath,
    section: ColumnSection,
    epsilon: Fraction,
    *,
    identifies: bool,
) -> None:
    """Refuse what is no private value of each row, or was hidden too little to count."""
    if identifies:
        raise document.error(at, "is for private answers, which identify nothing", "remove it")
    if section.nullable:
        raise document.error(at, "a missing answer was not randomised", "write nullable: false")
    if not MIN_EPSILON <= epsilon <= _MAX_EPSILON:
        raise document.error((*at, "epsilon"), "out of range", "write a number from 1e-6 to 20")
