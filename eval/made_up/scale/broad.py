"""The shipped ontology with concepts added whose share of made-up patients is set: what measurements ask for.

``made_up_class`` has 10,000 codes below it and as many patients as the single ``made_up_code``; ``made_up_first`` and
``made_up_second`` are of one tumor where a patient has both.
"""

from __future__ import annotations

from typing import Final

from ....kb.ontology.concepts import ConceptRow, ConceptTable

BROAD: Final = "made_up_class"
SINGLE: Final = "made_up_code"
FIRST: Final = "made_up_first"
SECOND: Final = "made_up_second"
BROAD_CODES: Final = 10_000


def code(at: int) -> str:
    """The id of one of the codes of the broad class."""
    return f"made_up_{at:05d}"


def broad_ontology(codes: int = BROAD_CODES) -> ConceptTable:
    """The shipped ontology with the broad class, its codes, the single code, and the first and the second procedure."""
    shipped = ConceptTable.from_files()
    added = [
        ConceptRow(BROAD, "procedure", "made-up class"),
        ConceptRow(SINGLE, "procedure", "made-up code"),
        ConceptRow(FIRST, "procedure", "made-up first procedure"),
        ConceptRow(SECOND, "procedure", "made-up second procedure"),
    ]
    added += [ConceptRow(code(at), "procedure", f"made-up procedure {at}", (BROAD,)) for at in range(codes)]
    return ConceptTable([*shipped.rows(), *added], shipped.value_sets())
