"""Conditions on event attributes, decided once for each distinct value and then looked up for each row."""

from __future__ import annotations

import numpy as np

from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales
from ...query_lang import nodes
from .frames import Array, Rows
from .verdicts import verdicts


def satisfied(condition: nodes.Condition | None, rows: Rows, concepts: ConceptTable, scales: Scales) -> Array:
    """For each row, whether its attributes (loaded before) are as the condition says."""
    match condition:
        case None:
            return np.ones(len(rows), dtype=bool)
        case nodes.AllOf(parts):
            return np.logical_and.reduce([satisfied(part, rows, concepts, scales) for part in parts])
        case nodes.AnyOf(parts):
            return np.logical_or.reduce([satisfied(part, rows, concepts, scales) for part in parts])
        case nodes.NotThat(part):
            return ~satisfied(part, rows, concepts, scales)
        case nodes.Documented(attribute):
            return rows.where(attribute, lambda values: [True] * len(values))
    return rows.where(condition.attribute, lambda values: verdicts(condition, values, concepts, scales))
