"""The event model: notes, mentions, events, decisions, and the context and dates that they carry.

Everything here is a frozen value. Identifiers derive from content (see :func:`content_id`), never from a clock
or a counter, so that equal notes give equal knowledge bases.
"""

from __future__ import annotations

import datetime
import enum
import functools
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from .kinds import KIND_TABLE, KINDS
from .units import better_when_higher

#: Concepts whose main attribute is better the higher it is: *worst* is then the lowest. Their values and those of other
#: concepts do not compare.
BETTER_WHEN_HIGHER: Final = frozenset({"kps"}) | better_when_higher()

#: An event attribute: text (a concept id for result, site, laterality …; a scale value such as ``T2b``) or a number.
Value = str | float

#: Days are proleptic Gregorian ordinals (``datetime.date.toordinal``); these bound every interval.
EARLIEST_DAY: Final = datetime.date(1900, 1, 1).toordinal()
LATEST_DAY: Final = datetime.date(2199, 12, 31).toordinal()

#: ``Mention.source`` of what a model proposed begins so; the name of the model follows.
OF_MODEL: Final = "model:"

#: ``Event.tumor`` of an event that belongs to all tumors of its patient (a germline finding), and to none known.
ALL_TUMORS: Final = "*"
NO_TUMOR: Final = ""


def content_id(*parts: object) -> str:
    """A 16-hex-digit identifier that depends on ``parts`` alone (BLAKE2b over their text, unambiguously joined)."""
    return _digest([_piece(str(part)) for part in parts])


def _piece(text: str) -> bytes:
    """A part of an id: its length, then its text."""
    written = text.encode("utf-8", "surrogatepass")
    return len(written).to_bytes(8, "little") + written


def _digest(pieces: Iterable[bytes]) -> str:
    return hashlib.blake2b(b"".join(pieces), digest_size=8).hexdigest()


#: :func:`_piece` of what comes again and again: kinds, concepts, ids of one note and patient, places in a text.
_common = functools.lru_cache(maxsize=16384)(_piece)


@functools.lru_cache(maxsize=16384)
def _number(number: int) -> bytes:
    return _piece(str(number))


def _of_attributes(attributes: Mapping[str, Value]) -> bytes:
    return _piece(str(sorted(attributes.items()))) if attributes else _NO_ATTRIBUTES


_NO_ATTRIBUTES: Final = _piece("[]")
_OF_MENTION: Final = _piece("mention")
_OF_EVENT: Final = _piece("event")


@functools.lru_cache(maxsize=16384)
def _written(context: Context) -> bytes:
    """The piece of what many events share: it is dear to write."""
    return _piece(str(context))


@functools.lru_cache(maxsize=16384)
def _days(low: int, high: int) -> bytes:
    return _piece(str(DayInterval(low, high)))


_NO_DAY: Final = _piece(str(None))
_WORLDS: Final = tuple(_piece(str(number)) for number in range(4))


class Polarity(enum.StrEnum):
    """Whether the text says that the thing is so."""

    PRESENT = "present"
    ABSENT = "absent"
    UNCERTAIN = "uncertain"


class Temporality(enum.StrEnum):
    """When, as the text tells it, the thing holds."""

    CURRENT = "current"
    HISTORICAL = "historical"
    PLANNED = "planned"
    HYPOTHETICAL = "hypothetical"


class Experiencer(enum.StrEnum):
    """Whom the thing concerns."""

    PATIENT = "patient"
    FAMILY = "family"
    OTHER = "other"


#: The values of ``Context.reason``: why a thing did not happen, or stopped.
REASONS: Final = (
    "none",
    "declined",
    "not_tested",
    "never_started",
    "discontinued",
    "completed",
    "held",
    "contraindicated",
    "pending",
    "failed",
    "retracted",
)


@dataclass(frozen=True, slots=True)
class Context:
    """The four-part context of a mention or event: polarity, temporality, experiencer and reason."""

    polarity: Polarity = Polarity.PRESENT
    temporality: Temporality = Temporality.CURRENT
    experiencer: Experiencer = Experiencer.PATIENT
    reason: str = "none"
    #: Whether it is the patient's own present fact, current or historical: what a query admits by default. Kept, since
    #: it is asked for many times of each fact.
    really_happened: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"reason is {self.reason!r}; it is one of {', '.join(REASONS)}")
        object.__setattr__(
            self,
            "really_happened",
            self.experiencer is Experiencer.PATIENT
            and self.polarity is Polarity.PRESENT
            and self.temporality in (Temporality.CURRENT, Temporality.HISTORICAL),
        )

    @property
    def assertion(self) -> str:
        """One word: the first that applies of hypothetical, planned, absent, uncertain, historical, present."""
        if self.temporality in (Temporality.HYPOTHETICAL, Temporality.PLANNED):
            return str(self.temporality)
        if self.polarity is not Polarity.PRESENT:
            return str(self.polarity)
        return "historical" if self.temporality is Temporality.HISTORICAL else "present"


class World(enum.IntEnum):
    """In which completions of the record an event exists. Ordered: a higher world implies the lower ones.

    ``NONE``: in no completion (planned, hypothetical, family, absent, retracted): reached only by an explicit context.
    ``POSSIBLE``: in some (uncertain, or a disputed fact that its decision rejects).
    ``BELIEVED``: in the designated completion and some others (a disputed fact that its decision keeps).
    ``CERTAIN``: in every completion.
    """

    NONE = 0
    POSSIBLE = 1
    BELIEVED = 2
    CERTAIN = 3


@dataclass(frozen=True, slots=True, order=True)
class DayInterval:
    """The days, ``low`` to ``high`` inclusive, on one of which a thing happened (ordinals; equal for a known day)."""

    low: int = EARLIEST_DAY
    high: int = LATEST_DAY

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"a day interval runs from low to high, not from {self.low} to {self.high}")

    @property
    def midpoint(self) -> int:
        """The day that the believed world takes (rounded down)."""
        return (self.low + self.high) // 2

    @property
    def known(self) -> bool:
        """False when the text gives no date at all."""
        return self.low > EARLIEST_DAY or self.high < LATEST_DAY


# Notes, mentions and events have no slots, so that each can keep its id: it is asked for many times, and is dear.


@dataclass(frozen=True)
class Note:
    """One dated document of one patient, as it came in. ``(patient_id, doc_id)`` is its key."""

    patient_id: str
    doc_id: str
    # Words of notes stand in no repr: reprs end up in logs and tracebacks.
    text: str = field(repr=False)
    date: datetime.date | None = None
    type: str = ""
    title: str = ""

    @property
    def sha256(self) -> str:
        """Of the text alone, UTF-8: what a proof compares."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @functools.cached_property
    def note_id(self) -> str:
        """Content id of this version of the note: key, text and metadata."""
        return content_id("note", self.patient_id, self.doc_id, self.date, self.type, self.title, self.text)


@dataclass(frozen=True, slots=True)
class Cue:
    """A span that decided a context or attribute, with the name of the rule that read it (offsets into the note)."""

    start: int
    end: int
    rule: str


@dataclass(frozen=True, init=False)
class Mention:
    """A span of a note with its label, concept, attributes and context.

    ``start``/``end`` are character offsets into ``Note.text``. ``source`` names the recogniser and its name or pattern
    (``lexicon:ROS1``, ``pattern:tnm``), or the model that proposed it (``model:NAME``); ``confidence`` is then the
    probability that it gives, and the concept is empty where it could be linked to none. ``sentence`` is the span of
    the sentence around it.
    """

    note_id: str
    start: int
    end: int
    text: str = field(repr=False)
    kind: str
    label: str
    concept: str
    attributes: Mapping[str, Value] = field(default_factory=dict)
    context: Context = Context()
    day: DayInterval = DayInterval()
    source: str = ""
    section: str = ""
    sentence: tuple[int, int] = (0, 0)
    cues: tuple[Cue, ...] = ()
    confidence: float = 1.0

    # As many parameters as the value has fields.
    def __init__(
        self,
        note_id: str,
        start: int,
        end: int,
        text: str,
        kind: str,
        label: str,
        concept: str,
        attributes: Mapping[str, Value] | None = None,
        context: Context = Context(),
        day: DayInterval = DayInterval(),
        source: str = "",
        section: str = "",
        sentence: tuple[int, int] = (0, 0),
        cues: tuple[Cue, ...] = (),
        confidence: float = 1.0,
    ) -> None:
        # What a frozen value is given it takes field by field; a note has many mentions, and these take all at once.
        given = {
            "note_id": note_id,
            "start": start,
            "end": end,
            "text": text,
            "kind": kind,
            "label": label,
            "concept": concept,
            "attributes": {} if attributes is None else attributes,
            "context": context,
            "day": day,
            "source": source,
            "section": section,
            "sentence": sentence,
            "cues": cues,
            "confidence": confidence,
        }
        object.__setattr__(self, "__dict__", given)

    @functools.cached_property
    def mention_id(self) -> str:
        """Content id: note, span, kind, concept and attributes."""
        return _digest(
            (
                _OF_MENTION,
                _common(self.note_id),
                _number(self.start),
                _number(self.end),
                _common(self.kind),
                _common(self.concept),
                _of_attributes(self.attributes),
            )
        )

    @property
    def model(self) -> str:
        """The name of the model that proposed it; empty for what rules read."""
        return self.source[len(OF_MODEL) :] if self.source.startswith(OF_MODEL) else ""

    @property
    def unlinked(self) -> bool:
        """Whether a model proposed it and no concept is known for it: it is found by its words alone."""
        return not self.concept and self.source.startswith(OF_MODEL)


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed edge between two mentions of one note (ids as in :attr:`Mention.mention_id`)."""

    note_id: str
    type: str
    head: str
    tail: str
    rule: str = ""


@dataclass(frozen=True, init=False)
class Event:
    """One thing that happened (or did not) to one patient, with the mentions that justify it.

    ``day`` is when it began; ``end`` when it ended, None when the record does not say. ``tumor`` is a tumor id,
    ``ALL_TUMORS`` or ``NO_TUMOR``; ``tumor_rule`` the linkage rule (1–5) that chose it, 0 for the tumor's own root.
    ``evidence`` holds mention ids, the strongest first; ``sources`` counts independent (not copied) notes.
    ``anchors`` is the chain of readings that gave the date, e.g. ``("explicit:3/4/19", "note:2019-03-04")``.
    """

    patient_id: str
    kind: str
    concept: str
    day: DayInterval = DayInterval()
    end: DayInterval | None = None
    attributes: Mapping[str, Value] = field(default_factory=dict)
    context: Context = Context()
    world: World = World.CERTAIN
    tumor: str = NO_TUMOR
    tumor_rule: int = 5
    evidence: tuple[str, ...] = ()
    sources: int = 1
    anchors: tuple[str, ...] = ()
    confidence: float = 1.0

    # As many parameters as the value has fields.
    def __init__(
        self,
        patient_id: str,
        kind: str,
        concept: str,
        day: DayInterval = DayInterval(),
        end: DayInterval | None = None,
        attributes: Mapping[str, Value] | None = None,
        context: Context = Context(),
        world: World = World.CERTAIN,
        tumor: str = NO_TUMOR,
        tumor_rule: int = 5,
        evidence: tuple[str, ...] = (),
        sources: int = 1,
        anchors: tuple[str, ...] = (),
        confidence: float = 1.0,
    ) -> None:
        if kind not in KIND_TABLE:
            raise ValueError(f"event kind is {kind!r}; it is one of {', '.join(KINDS)}")
        if world > World.NONE and not context.really_happened:
            if context.temporality in (Temporality.PLANNED, Temporality.HYPOTHETICAL):
                raise ValueError("a planned or hypothetical event is in no world")
            if context.experiencer is not Experiencer.PATIENT:
                raise ValueError("an event of a relative is in no world")
        # All at once, as a mention.
        given = {
            "patient_id": patient_id,
            "kind": kind,
            "concept": concept,
            "day": day,
            "end": end,
            "attributes": {} if attributes is None else attributes,
            "context": context,
            "world": world,
            "tumor": tumor,
            "tumor_rule": tumor_rule,
            "evidence": evidence,
            "sources": sources,
            "anchors": anchors,
            "confidence": confidence,
        }
        object.__setattr__(self, "__dict__", given)

    @functools.cached_property
    def event_id(self) -> str:
        """Content id over everything that a query can see and the evidence."""
        return _digest(
            (
                _OF_EVENT,
                _common(self.patient_id),
                _common(self.kind),
                _common(self.concept),
                _days(self.day.low, self.day.high),
                _NO_DAY if self.end is None else _days(self.end.low, self.end.high),
                _of_attributes(self.attributes),
                _written(self.context),
                _WORLDS[self.world],
                _common(self.tumor),
                _piece(str(self.evidence)),
            )
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """A recorded resolution of a conflict: what is believed, what is not, by which rule, on which evidence."""

    patient_id: str
    rule: str
    believed: tuple[str, ...]
    rejected: tuple[str, ...]
    explanation: str

    @property
    def decision_id(self) -> str:
        """Content id."""
        return content_id("decision", self.patient_id, self.rule, self.believed, self.rejected)


@dataclass(frozen=True, slots=True)
class Journey:
    """All that is known of one patient after longitudinal reasoning; what one patient's ingest hands to the store."""

    patient_id: str
    notes: tuple[Note, ...] = ()
    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    events: tuple[Event, ...] = ()
    decisions: tuple[Decision, ...] = ()
