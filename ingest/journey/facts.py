"""Facts: what single mentions state, before they are joined to events; and which sentences are copied."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from ...kb.kinds import REPEATED, SEVERAL, WHOLE_LIFE
from ...kb.model import Context, DayInterval, Mention, Value, World
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.variants import NEVER_INHERITED, complete
from ..note.read import ReadNote
from ..text.statements import statement
from .copies import Copies, Statement, long_sentences

#: A family written as an enumeration of its members.
_ENUMERATION = re.compile(r"\w\s?[/,&\-]\s?\w|\band\b")
#: The class of documents that are made of what people abstracted.
ABSTRACTION = "abstraction"
#: How far before a finding its sample may be named, in characters.
_REACH_OF_SAMPLE = 700
#: Attributes of the reading of one mention, which say nothing of the event.
_OF_MENTION = frozenset({"spread_site", "exons", "status", "standing", "began", "ended"})


@dataclass(slots=True)
class Fact:
    """One mention's statement. ``note``: position of its note in date order; ``copied``: it repeats an earlier note.

    ``rejected``: a decision went against it; ``world`` is its world where its context alone does not tell it.
    ``end`` is when it ended, where its source says so itself.
    """

    kind: str
    concept: str
    attributes: dict[str, Value]
    context: Context
    day: DayInterval
    mention: Mention
    note: int
    document_class: str
    topic: str
    copied: bool = False
    rejected: bool = False
    world: World | None = None
    tumor: str = ""
    tumor_rule: int = 5
    status: str = ""
    end: DayInterval | None = None
    #: Of what comes again: the how manyeth time it is, from 0.
    episode: int = 0
    mentions: list[str] = field(default_factory=list)


def facts_of(notes: Sequence[ReadNote], concepts: ConceptTable) -> list[Fact]:
    """The facts of a patient's notes (in date order), each variant completed, several exons told apart."""
    copies = Copies()
    facts: list[Fact] = []
    for position, note in enumerate(notes):
        document_class, topic = note.document_class, note.topic
        # What a mention without a concept is nobody knows: it states no fact.
        known = [mention for mention in note.mentions if mention.concept or not mention.unlinked]
        copied = _copied(copies, note.note.text, known)
        for mention in known:
            kind, stated = mention.kind, mention.attributes
            if kind == "birth" or kind in WHOLE_LIFE:
                continue  # They belong to no tumor and have no course: see births.py and persons.py.
            for concept, attributes in _readings(mention, concepts):
                if "status" in stated and (kind == "trial" or document_class == ABSTRACTION):
                    # What a note's wording says of one mention, an abstraction says of the event.
                    attributes["status"] = stated["status"]
                of_genetics = kind == "variant" and document_class == "genetics"
                if of_genetics and _is_inherited(attributes) and not _of_tumor_sample(note.note.text, mention.start):
                    # A genetics clinic reports on blood or saliva unless it says otherwise.
                    attributes.setdefault("origin", "germline")
                facts.append(
                    Fact(
                        kind,
                        concept,
                        attributes,
                        mention.context,
                        mention.day,
                        mention,
                        position,
                        document_class,
                        topic,
                        id(mention) in copied,
                        status=str(stated.get("status", "")),
                        mentions=[mention.mention_id],
                    )
                )
    return facts


def _copied(copies: Copies, text: str, mentions: Sequence[Mention]) -> Set[int]:
    """The identities of the mentions of a note whose statement an earlier sentence made."""
    # What only short sentences state is no copy: nobody asks for it.
    long_ones = long_sentences(text, dict.fromkeys([mention.sentence for mention in mentions]))
    if not long_ones:
        return frozenset()
    said: dict[tuple[int, int], list[Mention]] = {span: [] for span in long_ones}
    for mention in mentions:
        if mention.sentence in said:
            said[mention.sentence].append(mention)
    stated = {span: [statement_of(mention) for mention in made] for span, made in said.items()}
    return {
        id(mention)
        for span, copied in copies.copied_of(long_ones, stated).items()
        for mention, statement in zip(said[span], stated[span], strict=True)
        if statement in copied
    }


def statement_of(mention: Mention) -> Statement:
    """What a mention states, wherever it stands; of what has a value each day, also the day that a date gives it."""
    dated = mention.kind in REPEATED and has_date(mention)
    return (
        mention.kind,
        mention.concept,
        mention.context,
        # A copy need not tell what a result was found on.
        frozenset(item for item in mention.attributes.items() if item[0] not in SEVERAL),
        mention.day if dated else None,
    )


def has_date(mention: Mention) -> bool:
    """Whether a date stands beside it."""
    return bool(mention.cues) and any(cue.rule.startswith("date:") for cue in mention.cues)


def _is_inherited(attributes: Mapping[str, Value]) -> bool:
    """Whether a change may be one of the germline: no fraction of the tumor's cells, no fusion, no gained copies."""
    return "percent" not in attributes and attributes.get("alteration") not in NEVER_INHERITED


def _of_tumor_sample(text: str, position: int) -> bool:
    """Whether the sample that was last named before is one of the tumor."""
    before = max(0, position - _REACH_OF_SAMPLE)
    tumor = max((match.end() for match in statement("tumor_sample").finditer(text, before, position)), default=-1)
    blood = max((match.end() for match in statement("blood_sample").finditer(text, before, position)), default=-1)
    return tumor > blood


def _readings(mention: Mention, concepts: ConceptTable) -> Iterable[tuple[str, dict[str, Value]]]:
    """Concept and attributes of each fact that one mention states: ``CDKN2A/B`` and ``NTRK1-3`` are their members."""
    of_genes = mention.kind == "variant" or "gene" in mention.attributes
    if not of_genes:
        return ((mention.concept, _of_event(mention.attributes)),)
    listed: list[str] = [mention.concept]
    if _ENUMERATION.search(mention.text) and mention.concept in concepts:
        members = concepts.children(mention.concept)
        # "KRAS/NRAS" names two of three; "NTRK1/2/3" and "CDKN2A/B" write but the first in full.
        named = [member for member in members if concepts.name(member).lower() in mention.text.lower()]
        listed += named if len(named) > 1 else members
    return [(concept, attributes) for concept in listed for attributes in _attribute_sets(mention, concepts)]


def _of_event(attributes: Mapping[str, Value]) -> dict[str, Value]:
    """Those that say something of the event."""
    if _OF_MENTION.isdisjoint(attributes):
        return dict(attributes)
    return {name: value for name, value in attributes.items() if name not in _OF_MENTION}


def _attribute_sets(mention: Mention, concepts: ConceptTable) -> Iterable[dict[str, Value]]:
    attributes = _of_event(mention.attributes)
    if mention.kind != "variant":
        yield attributes
        return
    exons = str(mention.attributes.get("exons", "")).split("|")
    if len(exons) > 1:
        for exon in exons:
            yield complete(mention.concept, {**attributes, "exon": float(exon)}, concepts)
    else:
        yield complete(mention.concept, attributes, concepts)
