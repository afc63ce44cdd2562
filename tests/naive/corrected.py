"""Corrected mixtures, said slowly: every event is counted row by row."""

from __future__ import annotations


def matching_rows(rows, present, absent):
    """Return the positions of the rows that hold all present items and no absent one."""
    return [
        position
        for position, row in enumerate(rows)
        if set(present) <= set(row) and not set(absent) & set(row)
    ]


def probability(model, present, absent=()):
    """Return the mean of the frequency of an event and its probability under the base, by name."""
    rows = list(model.transactions)
    seen = len(matching_rows(rows, present, absent))
    expected = model.base.probability(list(present), absent=list(absent))
    return (seen + model.worth * expected) / (len(rows) + model.worth)
