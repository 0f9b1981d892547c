"""Who a patient is, as a register holds it (FHIR Patient, OMOP PERSON and DEATH): told as a note of labelled lines.

What a table says of a patient is then read, dated, weighed against other notes and proved as everything else is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Final

from ...kb.ontology.persons import persons

#: What such a note is called.
TYPE: Final = "patient registration"
#: The labels of its lines, by what a register tells, in their order.
_LABELS: Final[Mapping[str, str]] = {
    "sex": "Sex",
    "birth": "Date of birth",
    "race": "Race",
    "ethnicity": "Ethnicity",
}


@functools.cache
def _named() -> Mapping[str, Mapping[str, str]]:
    """Section -> code or word, in small letters -> name, of sexes, races and ethnicities."""
    return {
        section: {
            word.lower(): entry["name"]
            for entry in persons()[section].values()
            for word in (*entry.get("codes", ()), *entry["words"], entry["name"])
        }
        for section in ("sex", "race", "ethnicity")
    }


def name_of(section: str, *codes_or_words: str) -> str:
    """The name of the first of the codes (``OMOP:8532``) or words that mean a value of the section; empty for none."""
    named = _named()[section]
    return next((named[one.strip().lower()] for one in codes_or_words if one.strip().lower() in named), "")


def text_of(told: Mapping[str, str | Iterable[str]]) -> str:
    """The text of such a note: a line for each thing that is told; empty where nothing is."""
    lines: list[str] = []
    for name, label in _LABELS.items():
        values = told.get(name, "")
        for value in dict.fromkeys([values] if isinstance(values, str) else values):
            if value:
                lines.append(f"{label}: {value}")
    if "death" in told:
        lines.append(f"The patient died on {told['death']}." if told["death"] else "The patient has died.")
    return "\n".join(lines)
