"""CALIBRATE, part by part, SUGGEST BOUNDS, and their kinds of sums in queries, for servers."""

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

WIDE = (
    """SELECT sum(least(greatest(a, 0), 900)) FROM (
        SELECT patient_id, avg(CAST(cost AS DECIMAL(38,20)) * 2) AS a
        FROM visits GROUP BY patient_id
    ) AS t""",
    """SELECT count(*) FROM (
        SELECT patient_id, sum(CAST(cost AS DECIMAL(38,20)) * 0.9) AS s
        FROM visits GROUP BY patient_id
    ) AS t WHERE s > 400.1234567890123456789""",
)
"""Sums of one unit's decimals of more than 18 digits, as those of a ladder may be."""

STATEMENTS = (*LADDERS, *SUGGESTIONS, *WIDE)


def name(sql: str) -> str:
    """The name of a statement's test."""
    return " ".join(sql.split()).removeprefix("-- ")
