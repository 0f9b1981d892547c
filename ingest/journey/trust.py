"""Doubt by surroundings: what the words around a statement and the rest of the record speak against is possible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ...kb.kinds import WEIGHED
from ...kb.model import Polarity
from ..note.read import ReadNote
from ..trust.model import trust_model
from ..trust.signs import Record, Statement
from .bench import Workbench, WorkbenchDecision
from .facts import ABSTRACTION, Fact

RULE: Final = "trust"
#: A note of so few words is about its patient: nothing is pasted in it, and its words tell too little of each other.
_FEWEST: Final = 60


def weigh_trust(bench: Workbench) -> None:
    """A statement that is probably none of this patient, or not so, is uncertain; a decision tells how probable it is.

    The statements of a concept in one place (two genes of an enumeration) are weighed one by one.
    """
    model = trust_model()
    # Facts that people have abstracted were weighed by them.
    read = [fact for fact in bench.facts if not fact.mention.model and fact.document_class != ABSTRACTION]
    long = {at for at, one in enumerate(bench.notes) if len(one.note.text.split(maxsplit=_FEWEST)) > _FEWEST}
    weighed = [fact for fact in read if fact.note in long and fact.kind in WEIGHED and fact.context.really_happened]
    if not weighed:
        return
    statement_of = {id(fact): statement_of_fact(fact) for fact in read}
    record = Record(texts_and_years(bench.notes), list(dict.fromkeys(statement_of.values())))
    stated = list(dict.fromkeys(statement_of[id(fact)] for fact in weighed))
    likely = dict(zip(stated, model.probabilities(record, stated), strict=True))
    for fact in weighed:
        probability = likely[statement_of[id(fact)]]
        if probability < model.doubt:
            fact.context = replace(fact.context, polarity=Polarity.UNCERTAIN)
            why = f"by its surroundings it is a fact of this patient with a probability of {probability:.2f}"
            bench.decisions.append(WorkbenchDecision(RULE, (), (fact,), why))


def texts_and_years(notes: Iterable[ReadNote]) -> list[tuple[str, int]]:
    """What a record is made of: the text of each note and its year, 0 where it has no date."""
    return [(read.note.text, read.note.date.year if read.note.date else 0) for read in notes]


def statement_of_fact(fact: Fact) -> Statement:
    """A fact as it is weighed: stated, if it is told as one of this patient that happened."""
    mention, stated = fact.mention, fact.context.really_happened
    return Statement(
        fact.note, mention.start, mention.end, mention.sentence, fact.kind, fact.concept, stated, len(mention.cues)
    )
