"""Treatments: which mentions mean that one was given, and which drugs a regimen brings along."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...kb.kinds import OPERATIONS, TREATMENTS
from ...kb.model import Polarity
from ...kb.ontology.regimens import shipped_components
from .bench import Workbench, is_dated, is_own
from .facts import Fact

#: Sections that list what was really given or done.
_RECORD_SECTIONS: Final = frozenset(
    {"medications", "oncologic_history", "past_medical_history", "past_surgical_history", "procedure", "specimen"}
)
#: Sections of a report of imaging that tell what is seen.
_SEEN_SECTIONS: Final = frozenset({"findings", "imaging", "impression"})
#: What only a course that was given has: cycles, where it stands, when it began or ended.
_OF_A_COURSE: Final = frozenset({"cycles", "standing", "began", "ended"})
#: What tells of a course that was given even where a report only repeats the history.
_DATED_COURSE: Final = frozenset({"began", "ended", "fractions"})


def weigh_treatments(bench: Workbench) -> None:
    """A treatment merely mentioned was given only if something supports it; else it stays possible.

    Support: a clear statement elsewhere that it (or a drug below it) was given; a medication list or history; a dose, a
    past date, cycles or what became of it beside it; the report of the operation or of its specimen. A record that says
    it was never started or was declined outweighs any mere mention.
    """
    stated: set[str] = set()
    refused: set[str] = set()
    for fact in bench.facts:
        if fact.document_class == "payer" and fact.status == "given":
            fact.status = "mentioned"  # A payer writes of what was asked for.
        if fact.kind in TREATMENTS and is_own(fact) and fact.concept:
            if fact.status == "given" and fact.context.really_happened:
                stated |= bench.concepts.above(fact.concept)
            elif fact.context.reason in ("declined", "never_started"):
                refused.add(fact.concept)
    for fact in bench.facts:
        if fact.kind not in TREATMENTS or fact.status not in ("", "mentioned") or not fact.context.really_happened:
            continue
        if fact.concept in stated:
            continue
        if (fact.concept in refused and not _is_dated_course(fact)) or not _supported(fact):
            fact.context = replace(fact.context, polarity=Polarity.UNCERTAIN)


def _is_dated_course(fact: Fact) -> bool:
    """Whether a day stands beside its cycles, or its begin or end: what was refused at another time was given then."""
    return is_dated(fact) and not _OF_A_COURSE.isdisjoint(fact.mention.attributes)


def _supported(fact: Fact) -> bool:
    if fact.kind in OPERATIONS:
        return (
            fact.document_class in ("operative", "pathology")
            or is_dated(fact)
            or fact.mention.section in _RECORD_SECTIONS
            # An image shows what was done: "changes of right mastectomy", "lower cervical fusion".
            or (fact.kind == "surgery" and fact.document_class == "imaging" and fact.mention.section in _SEEN_SECTIONS)
        )
    if fact.document_class in ("pathology", "imaging") and not _DATED_COURSE.isdisjoint(fact.mention.attributes):
        return True
    if fact.document_class in ("molecular", "genetics", "pathology", "imaging", "payer"):
        return False
    in_course = not _OF_A_COURSE.isdisjoint(fact.mention.attributes)
    return fact.mention.section in _RECORD_SECTIONS or "dose" in fact.attributes or in_course or is_dated(fact)


def give_components(bench: Workbench) -> None:
    """A regimen given, planned or declined is its drugs given, planned or declined; their events cite the regimen."""
    components = shipped_components()
    added = []
    for fact in bench.facts:
        if fact.kind != "regimen":
            continue
        for above in bench.concepts.above(fact.concept) if fact.concept in bench.concepts else ():
            for component in components.get(above, ()):
                if not component.optional:
                    added.append(
                        replace(
                            fact,
                            kind="medication",
                            concept=component.drug,
                            attributes={**fact.attributes, "regimen": fact.concept},
                        )
                    )
    bench.facts += added
