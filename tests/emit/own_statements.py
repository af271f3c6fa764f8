"""CALIBRATE, part by part, and SUGGEST BOUNDS, for servers."""

from __future__ import annotations

LADDERS = (
    "CALIBRATE visits FOR 1",
    "-- part: groups\nCALIBRATE visits BY doctor_id FOR 1",
    "CALIBRATE visits BY doctor_id FOR 1",
    "-- part: keys\nCALIBRATE visits BY doctor_id FOR 1",
    "-- part: keys\nCALIBRATE visits BY ward, visit_date, cost FOR 1",
    "-- part: shares\nCALIBRATE patients MEASURE weight BY sex FOR 1",
    "CALIBRATE patients MEASURE weight * 3 FOR 1",
    "CALIBRATE visits MEASURE cost * 2 - 7 BY ward FOR 1",
    "CALIBRATE visits MEASURE visit_id FOR 1",
    "CALIBRATE visits MEASURE CAST(visit_id AS HUGEINT) * 3 FOR 1",
    "CALIBRATE visits MEASURE cost * CAST('0.1234567890123456789' AS DECIMAL(20,19)) FOR 1",
    "CALIBRATE visits MEASURE CAST(cost AS DECIMAL(38,20)) BY ward FOR 1",
    "CALIBRATE tests MEASURE score BY ward ALONG visits FOR 1",
)

SUGGESTIONS = (
    "SUGGEST BOUNDS cost FROM visits",
    "SUGGEST BOUNDS visit_id FROM visits",
    "SUGGEST BOUNDS weight FROM patients",
    "SUGGEST BOUNDS score FROM tests",
)

STATEMENTS = (*LADDERS, *SUGGESTIONS)


def name(sql: str) -> str:
    """The name of a statement's test."""
    return sql.replace("\n", " ").removeprefix("-- ")
