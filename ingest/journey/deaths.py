"""Deaths by name alone: what is only called a death, where nobody says that the patient died, is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...kb.model import Polarity
from ..text.statements import statement
from .bench import Workbench, is_dated
from .facts import ABSTRACTION, Fact

#: In documents of these classes a death is one: certificates, and what people wrote down.
_TOLD_AS_SUCH: Final = frozenset({"death", ABSTRACTION})


def doubt_named_deaths(bench: Workbench) -> None:
    """*Risks include infection and, rarely, death*; *preferred place of death*: uncertain, unless a note says in a
    verb, with its date or as a field of a form that the patient died."""
    deaths = [fact for fact in bench.facts if fact.kind == "death" and fact.context.really_happened]
    if all(_is_named_alone(bench, fact) for fact in deaths):
        for fact in deaths:
            fact.context = replace(fact.context, polarity=Polarity.UNCERTAIN)


def _is_named_alone(bench: Workbench, fact: Fact) -> bool:
    text, mention = bench.notes[fact.note].note.text, fact.mention
    return (
        fact.document_class not in _TOLD_AS_SUCH
        and not is_dated(fact)
        and statement("death_by_name").fullmatch(mention.text) is not None
        and statement("death_in_a_form").search(text, *mention.sentence) is None
    )
