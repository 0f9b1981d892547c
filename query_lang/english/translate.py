"""A clinician's sentence to a query: read by steps, checked, told back; or a refusal that says why."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales
from ..errors import QueryError
from ..lint.atoms import Atoms
from ..lint.linter import lint_resolved
from ..nodes import Definition, Query
from ..read_back.query import read_back
from ..render import name_text, render
from ..resolution.now import Today
from ..resolution.resolve import resolve_text
from ..terms import definitions_in
from . import book
from .choice import Choices, Chooser
from .chunks import Chunk, Criterion, Item, Unclear
from .composition import check_words_of_people, composed, framed, of_one_tumor, of_sites
from .facts import combinations, markers, metastases, phrases, positives, settle, sexes
from .features import features, known
from .frame import asserted, check_frame, excluded_before, shouts
from .guards import check_guards
from .lexer import chunks_of
from .molecules import molecular
from .names import Step, another, rest, treatments, tumors
from .senses import check_ambiguous, check_short, meant
from .sentence import Parser
from .spelling import corrected
from .staging import staging
from .whole import whole
from .wording import one_form, phrase_key, tokens_of

_LONGEST_QUESTION: Final = 4_000
_MOST_READINGS: Final = 4

#: How chunks become criteria, in this order.
STEPS: Final[tuple[Step, ...]] = (features, molecular, staging, markers, positives, known, tumors, treatments)


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to understand a question: the query, as tree and text, and what it asks in plain English."""

    query: Query
    text: str
    says: str
    #: The choices that make it this reading and no other.
    choices: Choices = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Translation:
    """What became of a question.

    ``readings``: none if it was declined, one if it is clear, two or more if it is ambiguous. ``unread``: words that
    carry meaning and were not used. ``corrected``: words as written -> as read. ``reason``: why it was declined;
    ``unknown`` when that is for want of words, and not since the question itself is open. ``note``: what to know of an
    answer beside what was understood.
    """

    question: str
    readings: tuple[Reading, ...] = ()
    unread: tuple[str, ...] = ()
    corrected: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    confidence: float = 0.0
    unknown: bool = False
    note: str = ""

    @property
    def query(self) -> Query | None:
        """The query, if there is one reading."""
        return self.readings[0].query if len(self.readings) == 1 else None

    @property
    def text(self) -> str:
        """The query's text; empty if there is not one reading."""
        return self.readings[0].text if len(self.readings) == 1 else ""

    @property
    def abstained(self) -> bool:
        """Whether no single query was found."""
        return len(self.readings) != 1

    @property
    def understood(self) -> str:
        """What the query asks, in plain English, after the words that were corrected; else why there is none."""
        spelled = [f"'{wrong}' is read as '{right}'" for wrong, right in self.corrected]
        lines = [f"({'; '.join(spelled)}.)"] if spelled else []
        if self.readings:
            lines += [reading.says for reading in self.readings[:1]] if len(self.readings) == 1 else []
        return "\n\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """As JSON: understood, unread, readings (two or more when ambiguous), abstained, confidence, reason."""
        several = len(self.readings) > 1
        return {
            "understood": self.understood,
            "unread": list(self.unread),
            "readings": [{"query": one.text, "says": one.says} for one in self.readings] if several else [],
            "abstained": self.abstained,
            "confidence": self.confidence,
            "reason": self.reason,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class House:
    """What a site has settled for its questions: words that it defines, and choices that were made before."""

    definitions: tuple[Definition, ...] = ()
    settled: Choices = field(default_factory=dict)

    @property
    def entries(self) -> dict[str, book.Entry]:
        """The words of the definitions, as phrases that stand for them."""
        return {
            phrase_key(one.name): book.Entry("phrase", "patient", {"query": name_text(one.name)})
            for one in self.definitions
        }


_NO_HOUSE: Final = House()
#: The choice that "both" makes.
_BOTH: Final = ("either of the diseases", "both diseases")


def translate(
    text: str, concepts: ConceptTable, scales: Scales, house: House = _NO_HOUSE, today: Today | None = None
) -> Translation:
    """What ``text`` asks. Never raises for what a user writes: a question that cannot be read is declined.

    Words that ``house`` defines mean what is defined, also where they would be too vague. ``today`` tells the day that
    *now* is.
    """
    if not text.strip():
        return Translation(text, reason="the question is empty")
    if len(text) > _LONGEST_QUESTION:
        return Translation(
            text, reason=f"the question has {len(text):,} characters; at most {_LONGEST_QUESTION:,} are read"
        )
    plain = one_form(text)
    plain, changes = corrected(plain, concepts)
    try:
        readings = _readings(plain, concepts, scales, house, today)
    except Unclear as unclear:
        return Translation(text, (), unclear.words, changes, str(unclear), unknown=unclear.unknown)
    return Translation(text, readings, (), changes, _reason(readings), _confidence(readings, changes))


def _reason(readings: Sequence[Reading]) -> str:
    return "" if len(readings) == 1 else "the question can be read in several ways"


def _confidence(readings: Sequence[Reading], changes: Sequence[tuple[str, str]]) -> float:
    """1 for a question read as written; less for each corrected word; shared among readings."""
    return round(max(0.5, 0.95 ** len(changes)) / max(1, len(readings)), 3)


def _readings(
    text: str, concepts: ConceptTable, scales: Scales, house: House, today: Today | None
) -> tuple[Reading, ...]:
    chunks = chunks_of(text, tokens_of(text), concepts, house.entries)
    chunks = meant(chunks, text, concepts)
    check_short(chunks, text, concepts)
    check_ambiguous(text, chunks)
    items = _items(chunks, concepts)
    settled = {**house.settled, _BOTH: 1} if any(chunk.is_join("both") for chunk in chunks) else house.settled
    waiting: list[tuple[int, ...]] = [()]
    found: dict[str, Reading] = {}
    while waiting:
        chooser = Chooser(waiting.pop(0), settled)
        read = [_chosen(item, chooser) for item in items]
        query = whole(Parser(read, concepts, chooser).read(), concepts)
        waiting += chooser.others()
        reading = replace(_reading(query, concepts, scales, house, today), choices=dict(chooser.taken))
        found.setdefault(reading.text, reading)
        if len(found) > _MOST_READINGS:
            raise Unclear("the question can be read in too many ways; use brackets, or ask in parts")
    return tuple(found.values())


def _chosen(item: Item, chooser: Chooser) -> Item:
    """A criterion that can ask for several things as one of them."""
    if not isinstance(item, Criterion) or not item.readings:
        return item
    return replace(item, query=item.readings[chooser.choose(*item.readings)])


def _items(chunks: Sequence[Chunk], concepts: ConceptTable) -> list[Item]:
    """Chunks to criteria and joining words; Unclear if a word that means something is left over."""
    _check_question(chunks)
    chunks = framed(asserted(excluded_before(_grown_up(chunks))))
    items: list[Item] = phrases(metastases(list(chunks), concepts), concepts)
    for step in STEPS:
        items = step(items, concepts)
    items = sexes(items, concepts)
    items = rest(items, concepts)
    items = of_one_tumor(composed(of_sites(settle(items), concepts), concepts))
    _check_read(items)
    items = another(
        [item for item in items if not (isinstance(item, Chunk) and item.type in ("skip", "basis_used"))], concepts
    )
    items = combinations(items, concepts)
    criteria = [item for item in items if isinstance(item, Criterion) and item.sort != "said"]
    if not criteria:
        raise Unclear("no disease, finding or treatment is named")
    if shouts(chunks) and not any(one.sort == "disease" for one in criteria):
        raise Unclear("'ALL' can be a disease, or every patient: write it out, or 'all'", ("ALL",))
    only = criteria[0]
    if len(criteria) == 1 and only.query in ("'advanced'", "'early stage'"):
        raise Unclear(f"'{only.text}': of which disease", (only.text,))
    if (
        len(criteria) == 1
        and only.kind not in ("ecog", "kps")
        and len(only.text) == 2
        and only.text.isupper()
        and only.text.isalpha()
    ):
        raise Unclear(f"'{only.text}' alone can mean several things; write it out", (only.text,))
    return [item for item in items if not (isinstance(item, Criterion) and item.sort == "said")]


def _check_question(chunks: Sequence[Chunk]) -> None:
    for chunk in chunks:
        if chunk.type == "no_question":
            raise Unclear(f"'{chunk.text}': this does not ask for a cohort of patients", (chunk.text,))
    wide = book.data("words")["too_wide"]["concepts"]
    for chunk in chunks:
        if chunk.type not in ("phrase", "performance") and any(one in wide for one in chunk.ids):
            raise Unclear(f"'{chunk.text}' says no more than a kind of thing: name which", (chunk.text,))
    _check_alternatives(chunks)
    check_frame(chunks)
    check_guards(chunks)
    check_words_of_people(chunks)
    vague = [chunk for chunk in _grown_up(chunks) if chunk.type == "vague"]
    if vague:
        raise Unclear(f"'{vague[0].text}' is too vague: {vague[0].value}", tuple(chunk.text for chunk in vague))


def _grown_up(chunks: Sequence[Chunk]) -> list[Chunk]:
    """``adults over 70``: beside an age, words for people of an age carry nothing."""
    aged = any(chunk.type in ("age", "age_sign", "age_after") for chunk in chunks) or any(
        chunk.type == "comparison" and after.type == "number" for chunk, after in itertools.pairwise(chunks)
    )
    return [
        replace(chunk, type="skip")
        if aged and chunk.type == "vague" and chunk.text.lower() in book.listed("grown")
        else chunk
        for chunk in chunks
    ]


def _check_alternatives(chunks: Sequence[Chunk]) -> None:
    """A word that carries nothing is no alternative to one that does: ``known or suspected``, ``drug or alcohol``."""
    begun = True
    for chunk, following in itertools.pairwise(chunks):
        if chunk.type == "skip":
            if begun and following.is_join("or", "and_or", "slash"):
                raise Unclear(f"what '{chunk.text}' is an alternative to", (chunk.text,))
            continue
        begun = chunk.type == "join" and not chunk.is_join("close")


def _check_read(items: Sequence[Item]) -> None:
    unread = [item for item in items if isinstance(item, Chunk) and item.type not in ("skip", "join")]
    if not unread:
        return
    unknown = [item.text for item in unread if item.type in ("unread", "condition", "number", "date", "unit")]
    if unknown:
        reason = "these words were not understood: " + ", ".join(unknown)
        raise Unclear(reason, tuple(item.text for item in unread), unknown=True)
    first = unread[0]
    hints = {
        "gene": "a gene says no more than its name: say mutation, fusion, amplification or deletion",
        "biomarker": "a marker needs its result: positive, negative, or a number",
        "value": "a result needs its marker",
        "noun": "which gene it is in",
        "adjective": "what it is said of",
        "protein": "which gene the change is in",
        "exon": "which gene the exon is of",
        "feature": "what is asked of it: a number, or that it is there",
        "margin": "what is said of the margin: positive, negative, close, a distance",
        "structure": "what is said of the structure: extending into it, confined to it",
        "site": "what is said of the site: metastases, radiation, a tumor",
    }
    raise Unclear(
        f"'{first.text}': {hints.get(first.type, 'what is asked of it')}", tuple(item.text for item in unread)
    )


def _reading(query: str, concepts: ConceptTable, scales: Scales, house: House, today: Today | None) -> Reading:
    own = house.definitions if any(name_text(one.name) in query for one in house.definitions) else ()
    try:
        resolved = resolve_text(query, concepts, scales, definitions=(*definitions_in(query), *own), today=today)
    except QueryError as error:
        reason = f"the question asks what cannot be asked: {error.args[0].splitlines()[0]}"
        raise Unclear(reason, unknown=True) from error
    text = render(resolved)
    never = [one for one in lint_resolved(resolved, "", Atoms(concepts, scales)) if one.claim.startswith("nobody")]
    if never:
        raise Unclear(f"nobody can be found: {never[0].message}")
    return Reading(resolved, text, read_back(resolved, concepts))
