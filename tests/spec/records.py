"""What must hold of a record that is written as a table: it is one that reading could have made."""

from __future__ import annotations

from cohortium.kb.kinds import BETWEEN_VALUES, KINDS
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.query_lang.vocabulary import KIND_WORDS
from tests.generated.record_tables import NOTE, rows

#: Kinds of which the concept may be of any kind of concept.
OF_ANY_CONCEPT = ("death", "trial")


def unlike_a_reading(table: str, concepts: ConceptTable) -> list[str]:
    """What no reading would make: kinds, concepts and attributes that are not known, or do not fit each other."""
    found: list[str] = []
    for cells in rows(table) if table else ():
        kind, concept = cells.get("kind", ""), cells.get("concept", "")
        if not kind or kind == NOTE:
            continue
        if kind not in KINDS:
            found.append(f"no kind: {cells}")
            continue
        words = KIND_WORDS[kind]
        if concept and kind not in OF_ANY_CONCEPT and _kind_of(concept, concepts) not in words.concepts:
            found.append(f"no concept of the kind: {cells}")
        for pair in filter(None, cells.get("attributes", "").split(",")):
            name, _, value = (text.strip() for text in pair.partition("="))
            type_ = words.attributes.get(name)
            if type_ is None or not value:
                found.append(f"no attribute of the kind: {pair.strip()} in {cells}")
            elif str(type_).startswith("concept:"):
                told = {f"concept:{_kind_of(one.strip(), concepts)}" for one in value.split(BETWEEN_VALUES)}
                if told != {type_}:
                    found.append(f"no value of the attribute: {pair.strip()} in {cells}")
    return found


def _kind_of(concept: str, concepts: ConceptTable) -> str:
    try:
        return concepts.get(concept).kind
    except KeyError:
        return ""
