"""Inverted names: ``liposarcoma, dedifferentiated`` and ``carcinoma, ductal, invasive`` as registries write."""

from __future__ import annotations

import re
from functools import lru_cache

from ...kb.ontology.concepts import ConceptTable
from ..text.frame import Span

#: What stands behind the comma: one to three words.
_BEHIND = re.compile(r"[ ]?[,(][ ]{0,2}(?P<words>[A-Za-z][A-Za-z\-]{1,24}(?:[ ][A-Za-z\-]{2,24}){0,2})")
_MOST_MODIFIERS = 3
_CANCER = "malignant_neoplasm"


def turn_round(text: str, span: Span, concepts: ConceptTable, never: frozenset[str]) -> None:
    """Give a diagnosis the narrower concept that its name has with the words behind the comma put first.

    ``never``: words that mean different tumors in different organs.
    """
    name = text[span.start : span.end]
    end = span.end
    for _ in range(_MOST_MODIFIERS):
        match = _BEHIND.match(text, end)
        if match is None or (span.concept == _CANCER and text[match.start() : match.start("words")].strip() == "("):
            return  # "Cancer (liver, lung)" names the places where it is now.
        words = match["words"].split(" ")
        for count in range(len(words), 0, -1):
            modifier = " ".join(words[:count])
            if modifier.lower() in never:
                continue
            found, longer = _named(modifier, name, span.concept, concepts, whole=count == len(words))
            if found:
                end = match.start("words") + len(modifier)
                span.concept, name = found, longer
                span.helpers.append((match.start("words"), end, "inverted name"))
                break
        else:
            return


@lru_cache(maxsize=8192)
def _named(modifier: str, name: str, concept: str, concepts: ConceptTable, whole: bool) -> tuple[str, str]:
    """The tumor below ``concept`` of that name, and the name; what is *in situ* is below another branch."""
    for longer in (f"{modifier} {name}", f"{name} {modifier}"):
        for found in concepts.lookup(longer, kinds=("tumor",)):
            in_situ = whole and "situ" in modifier and concepts.is_a(found, "in_situ_neoplasm")
            if found != concept and (concepts.is_a(found, concept) or in_situ):
                return found, longer
    return "", ""
