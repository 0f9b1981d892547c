"""The free text of one abstracted fact, read with the lexicon and the patterns of the notes, attributes first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...kb.kinds import CONDITIONS, DRUGS, RESULTS, SPREAD
from ...kb.model import Context, DayInterval, Mention, Note, Polarity, Temporality, Value
from ..note.read import NoteReader
from ..text.statements import statement
from .course_attributes import course_attributes, part_told
from .molecular import MolecularReader
from .pieces import PieceReader
from .places import Place, PlaceReader
from .records import AbstractedFact
from .short_forms import ShortForms
from .structure import (
    ASSERTIONS,
    DEFAULTS,
    KEPT,
    KINDS,
    LEADS,
    TREATMENTS,
    denies,
    in_full,
    leaves_open,
    reason_of,
    standing_of,
)

_MOLECULAR: Final = frozenset({"biomarker", "genomic_variant", "lab"})
_DIGIT: Final = re.compile(r"\d")
_GROUP: Final = re.compile(r"\b(?:IV|I{1,3}|0)[A-D]?[1-3]?\b")
#: A prefix of a TNM category that is written into it (``cN0``).
_PREFIXED: Final = re.compile(r"(?:yp|yc|rp|[cpra])?[TNM]")
_BRACKETS: Final = re.compile(r"\([^()]*\)")
#: Kinds whose result is read, and of which words that deny are mostly that result.
_READ: Final = RESULTS - {"variant", "grade"}
#: Kinds that stand for another where the text names nothing nearer.
_SUBSTITUTES: Final = CONDITIONS | {"procedure"}


@dataclass(frozen=True, slots=True)
class ReadFact:
    """What a fact became: a note of its own, and its mentions; ``resolved`` is yes, kind (only that is known) or no.

    ``tumors`` are those that it names beside what it says ("stage of the cholangiocarcinoma"), concepts; of a diagnosis
    those that it states, for what else it says ("recurrent breast cancer"). ``sentence_tumors`` are those that the
    words name from which it was taken, ``sentence_place`` the one place that they name.
    """

    fact: AbstractedFact
    note: Note
    mentions: tuple[Mention, ...]
    resolved: str
    place: Place = Place()
    tumors: tuple[str, ...] = ()
    sentence_tumors: tuple[str, ...] = ()
    sentence_place: Place = Place()


class FactReader:
    """Reads facts with one ontology; build once."""

    def __init__(self, reader: NoteReader) -> None:
        self._concepts = reader.concepts
        self._pieces = PieceReader(reader)
        self._places = PlaceReader(self._pieces)
        self._molecular = MolecularReader(self._pieces)
        self._short = ShortForms(self._pieces)

    def read(self, patient_id: str, fact: AbstractedFact) -> ReadFact:
        """The fact as mentions of a line of its own."""
        place = self._places.place(fact)
        named = self._places.tumors_named(fact)
        found = self._molecular.findings(fact) if fact.kind in _MOLECULAR else self._findings(fact)
        resolved = "yes"
        if fact.kind == "clinical_trial" and not _took_part(fact):
            # Nothing was given in a trial that was only offered, or that the patient could not enter.
            found = [mention for mention in found if mention.kind == "trial"] or self._by_default(fact, place)
        if not found:
            found, resolved = self._by_default(fact, place), "kind"
        elif fact.kind == "metastasis" and not any(self._is_spread(mention, place) for mention in found):
            # "Recurrence in the omentum" under the heading of metastases is one; so is a site in the attributes.
            found = [*found, *self._by_default(fact, place)]
        elif fact.kind == "radiation" and all(mention.kind in DRUGS for mention in found):
            # Only the drugs that were given with it are named.
            found = [*found, *self._by_default(fact, place)]
        if not found:
            resolved = "no"
        cited = f" of {', '.join(fact.docs)}" if fact.docs else ""
        title = fact.kind.replace("_", " ")
        key = f"fact {fact.number}{cited}" if fact.number else "vital status"
        note = Note(patient_id, key, _line(fact), type="abstraction", title=title)
        placed = [self._places.placed(fact, mention, place) for mention in found]
        mentions = {
            mention.mention_id: mention for mention in (self._settled(fact, mention, note) for mention in placed)
        }
        attribute_text = dict.fromkeys(
            mention.concept
            for mention in self._pieces.mentions(fact.evidence)
            if mention.kind == "diagnosis" and mention.context.really_happened
        )
        stated = [one for one in mentions.values() if one.kind == "diagnosis" and one.context.really_happened]
        named = named or tuple(mention.concept for mention in stated)
        quoted = self._places.only_place(fact.evidence)
        return ReadFact(fact, note, tuple(mentions.values()), resolved, place, named, tuple(attribute_text), quoted)

    def _is_spread(self, mention: Mention, place: Place) -> bool:
        if mention.kind in SPREAD:
            return True
        return not place.site and self._concepts.is_a(mention.concept, "metastatic_disease")

    # --- what the text names ----------------------------------------------------------------------------------------

    def _findings(self, fact: AbstractedFact) -> list[Mention]:
        """The first piece of the text that names something of the fact's kind; attributes from all of it."""
        wanted = KINDS[fact.kind]
        named = self._named(fact, wanted)
        if not named and fact.kind == "histology":
            named = self._short.as_carcinoma(in_full(fact.kind, fact.concept))
        if named:
            return named
        lead = LEADS.get(fact.kind, "")
        whole = in_full(fact.kind, fact.text)
        # A state is told in any of its words; what else a value holds is beside the point of its fact.
        concept = "" if fact.kind == "disease_state" else in_full(fact.kind, fact.concept)
        groups = _GROUP.findall(fact.text) if fact.kind == "stage_group" else []
        # "anatomic IIA, prognostic IIB" are two stages.
        stages = ", ".join(f"stage {group}" for group in groups)
        pieces = (
            *self._pieces_of_attributes(fact),
            stages if len(groups) > 1 else "",
            concept,
            whole,
            f"{lead} {fact.concept}" if lead and fact.concept else "",
            f"{lead} {fact.value}" if lead and self._may_be_led(fact) else "",
            stages if len(groups) == 1 else "",
        )
        for piece in pieces:
            found = [mention for mention in self._pieces.mentions(piece) if mention.kind in wanted]
            if piece != concept and fact.assertion != "absent":
                # What a value denies ("not metaplastic") the fact does not say.
                found = [mention for mention in found if mention.context.polarity is not Polarity.ABSENT]
            if found:
                break
        short = self._short.names(fact.kind, fact.concept or fact.value, wanted, found)
        if not found:
            return short
        found = _without_lesser([*found, *short], wanted)
        return found if piece == whole else _enriched(self._closer(found, whole), self._pieces.mentions(whole))

    def _closer(self, found: Iterable[Mention], text: str) -> list[Mention]:
        """Operations as the rest of the text names them more closely ("resection": "lumpectomy")."""
        done = [one for one in self._pieces.mentions(text) if one.kind == "surgery" and one.context.really_happened]
        closer: list[Mention] = []
        for mention in found:
            is_operation = mention.kind == "surgery" and mention.concept in self._concepts
            below = self._concepts.below(mention.concept) - {mention.concept} if is_operation else ()
            closer += [one for one in done if one.concept in below] or [mention]
        return closer

    def _may_be_led(self, fact: AbstractedFact) -> bool:
        """Whether a value may be what the fact is of: of spread it is where it names a site, or nodes by number."""
        if fact.kind == "metastasis":
            return any(span.kind == "site" for span in self._pieces.names(fact.value))
        return bool(_DIGIT.search(fact.value)) if fact.kind == "lymph_node" else bool(fact.value)

    def _named(self, fact: AbstractedFact, wanted: Sequence[str]) -> list[Mention]:
        """What a diagnosis or histology names, in the order in which it is written or with its head put last.

        Registries write "Carcinoma, squamous cell, NOS" for squamous cell carcinoma.
        """
        if fact.kind not in ("diagnosis", "histology"):
            return []
        text = in_full(fact.kind, fact.concept)
        best: list[Mention] = []
        for piece in (text, *_inverted(text)):
            found = [mention for mention in self._pieces.mentions(piece) if mention.kind in wanted]
            # What the name itself denies ("too small for a diagnosis of carcinoma") is not what it names.
            found = [mention for mention in found if mention.context.polarity is Polarity.PRESENT] or found
            if self._closeness(found) > self._closeness(best):
                best = found
        return self._refined(fact, best) if best else []

    def _closeness(self, found: Iterable[Mention]) -> int:
        """How much the names found say: the deepest tumor among them."""
        return max(
            (len(self._concepts.above(mention.concept)) for mention in found if mention.concept in self._concepts),
            default=0,
        )

    @staticmethod
    def _pieces_of_attributes(fact: AbstractedFact) -> Iterable[str]:
        """Attributes that make a finding by themselves, written as a note would write them."""
        attributes = fact.attributes
        if fact.kind == "tnm":
            prefix = attributes.get("prefix", "")
            parts = []
            for key in ("t", "n", "m"):
                written = attributes.get(key, "")
                if written:
                    written = written if _PREFIXED.match(written) else f"{key.upper()}{written}"
                    # M is hardly ever pathological, and a category may bear a prefix of its own.
                    own = written[0] in "TNM" and prefix and not (key == "m" and prefix.startswith("y"))
                    parts.append(f"{prefix}{written}" if own else written)
            if parts:
                yield " ".join(parts)
        elif fact.kind == "performance_status":
            yield f"{attributes.get('scale') or fact.concept} {fact.value}"
        elif fact.kind == "grade" and "grade" in attributes:
            grade = attributes["grade"]
            for name in (attributes.get("scale", ""), fact.concept):
                if name and not _DIGIT.search(name):
                    yield f"{name} {grade}"
                    yield f"{name} grade {grade}"
            yield f"grade {grade}"
        elif fact.kind == "lymph_node" and {"positive", "examined"} <= attributes.keys():
            yield f"{fact.concept or 'lymph nodes'}: {attributes['positive']}/{attributes['examined']}"

    def _refined(self, fact: AbstractedFact, found: list[Mention]) -> list[Mention]:
        """A tumor as its value names it more closely ("breast cancer": "invasive ductal"), and its grade."""
        value = in_full(fact.kind, fact.value)
        first = next((mention for mention in self._pieces.mentions(value) if mention.kind == "diagnosis"), None)
        first = first or next(iter(self._short.as_carcinoma(value.partition(",")[0])), None)
        found = _without_lesser(
            _enriched(found, self._pieces.mentions(in_full(fact.kind, fact.text))), KINDS[fact.kind]
        )
        refined = []
        for mention in found:
            site = str(mention.attributes.get("site", ""))
            if first is not None and mention.kind == "diagnosis" and first.start <= 2:
                closer = self._pieces.compose(first.concept, site) if site else first.concept
                part = statement("component").search(value)
                if not part and closer != mention.concept and self._concepts.is_a(closer, mention.concept):
                    mention = replace(mention, concept=closer)
            refined.append(mention)
        if any(mention.kind == "diagnosis" for mention in found):
            text = f"grade {grade}" if (grade := fact.attributes.get("grade")) else fact.text
            refined += [mention for mention in self._pieces.mentions(text) if mention.kind == "grade"]
        return refined

    def _by_default(self, fact: AbstractedFact, place: Place) -> list[Mention]:
        """What a fact is by its kind alone; a metastasis is at the site of its attribute."""
        kind, concept = DEFAULTS.get(fact.kind, ("", ""))
        if not kind or denies(fact.kind, fact.text):
            return []
        attributes: dict[str, Value] = {}
        if fact.kind == "metastasis":
            concept = place.site
        elif fact.kind == "biomarker":
            # The marker is none that the ontology has; what was found of it is as if it were any.
            marker = Mention("", 0, 0, "", kind, "", concept)
            result = self._molecular.value(marker, fact.value) or self._molecular.value(
                marker, fact.attributes.get("result", "")
            )
            if not result:
                return []
            attributes["result"] = result
        return [Mention("", 0, len(fact.text), fact.text, kind, "", concept, attributes, source="kind")]

    # --- context and day --------------------------------------------------------------------------------------------

    def _settled(self, fact: AbstractedFact, mention: Mention, note: Note) -> Mention:
        """The mention as a part of the fact's own line, with the context and the day that the abstraction gives."""
        start, end = 0, len(fact.text) or len(note.text)
        at = note.text.find(mention.text) if mention.text else -1
        if 0 <= at <= end:
            start, end = at, at + len(mention.text)
        kept: dict[str, Value] = {}
        # They differ only by how a fact is recorded: the abstraction has said which it is.
        kind = fact.kind if {fact.kind, mention.kind} <= CONDITIONS else mention.kind
        # That the words only mention a treatment says nothing: the abstraction has said whether it was given.
        read = {name: value for name, value in mention.attributes.items() if (name, value) != ("status", "mentioned")}
        for name in KEPT.get(kind, ()):
            if written := fact.attributes.get(name):
                kept[name] = float(written) if written.isdecimal() else written
        return replace(
            mention,
            kind=kind,
            attributes={**read, **kept, **course_attributes(kind, fact, self._pieces)},
            note_id=note.note_id,
            start=start,
            end=end,
            text=note.text[start:end],
            context=self._context(fact, mention),
            day=fact.day or DayInterval(),
            section="",
            sentence=(0, len(fact.text) or len(note.text)),
            cues=(),
        )

    def _context(self, fact: AbstractedFact, mention: Mention) -> Context:
        context = ASSERTIONS[fact.assertion]
        written = fact.attributes
        status = " ".join(filter(None, (written.get("status"), written.get("reason"), written.get("result"))))
        if fact.assertion == "uncertain" and mention.attributes.get("significance") == "vus":
            # A variant of uncertain significance was found for certain.
            return replace(context, polarity=Polarity.PRESENT)
        if context.really_happened and self._in_doubt(fact, mention):
            return replace(context, polarity=Polarity.UNCERTAIN)
        if context.really_happened:
            standing = ""
            if fact.kind in TREATMENTS:
                status_of_value = standing_of(fact.value, absent_only=True) if "status" not in written else ""
                standing = standing_of(written.get("status", "")) or status_of_value
            if fact.kind == "clinical_trial" and not _took_part(fact):
                standing = "planned" if part_told(fact) == "considered" else "absent"
            if standing == "planned":
                return replace(context, temporality=Temporality.PLANNED)
            if standing == "absent" or self._denied(fact, mention):
                context = replace(context, polarity=Polarity.ABSENT)
            elif fact.end is not None:
                context = replace(context, temporality=Temporality.HISTORICAL)
        if context.polarity is Polarity.ABSENT:
            reason = reason_of(status) if status else "none"
            if reason == "none" and fact.kind in TREATMENTS:
                reason = reason_of(fact.value)
            return replace(context, reason=reason)
        if fact.kind in TREATMENTS and context.really_happened:
            reason = reason_of(written.get("status", ""))
            return replace(context, reason=reason if reason in ("discontinued", "completed", "held") else "none")
        return context

    def _in_doubt(self, fact: AbstractedFact, mention: Mention) -> bool:
        """Whether the words leave open what the fact says: a blinded drug, or a histology that is only a component.

        A component in situ stands for itself.
        """
        if fact.kind in TREATMENTS:
            return leaves_open(fact.text)
        # What follows a colon tells of the parts of what stands before it.
        said = next((part for part in re.split(r"[:;]", fact.concept) if mention.text in part), fact.concept)
        is_part = mention.kind == "diagnosis" and statement("component").search(said) is not None
        return is_part and not self._concepts.is_a(mention.concept, "in_situ_neoplasm")

    def _denied(self, fact: AbstractedFact, mention: Mention) -> bool:
        """Whether a fact that is said to be so is itself a denial ("no metastases", "variant not detected")."""
        if mention.kind == "variant":
            result = self._molecular.details(fact.attributes.get("result", ""))
            named = self._concepts.lookup(fact.attributes.get("result", ""), kinds=("value",))
            negative = bool(named) and self._concepts.is_a(named[0], "result_negative") and not result
            return mention.context.polarity is Polarity.ABSENT or (
                negative and mention.attributes.get("alteration") != "copy_gain"
            )
        if mention.kind == "node" and mention.source == "kind":
            return self._pieces.denied(fact.concept, fact.value)
        if mention.kind in _READ:
            return mention.kind == "node" and mention.context.polarity is Polarity.ABSENT
        return any(
            other.context.polarity is Polarity.ABSENT and (other.kind, other.concept) == (mention.kind, mention.concept)
            for other in self._pieces.mentions(fact.concept)
        )


def _took_part(fact: AbstractedFact) -> bool:
    """Whether the patient entered a trial; one of which nothing is said was entered, if the fact is so."""
    return fact.assertion == "present" and part_told(fact) in ("", "enrolled", "completed")


def _line(fact: AbstractedFact) -> str:
    """The fact as the note that it becomes: its text, its attributes, and the words that it was taken from."""
    attribute_text = "; ".join(f"{key.replace('_', ' ')} {value}" for key, value in fact.attributes.items())
    line = fact.text + (f" ({attribute_text})" if attribute_text else "")
    if fact.assertion != "present":
        line += f" [{fact.assertion}]"
    return f"{line}\n{fact.evidence}" if fact.evidence else line


def _inverted(text: str) -> Iterable[str]:
    """A name whose head comes first with the head put last, by the first modifier and by each alone."""
    head, *modifiers = [part.strip() for part in _BRACKETS.sub("", text).split(",")]
    for modifier in modifiers:
        if modifier and len(modifier.split()) <= 4:
            yield f"{modifier} {head}"


def _without_lesser(found: list[Mention], wanted: Sequence[str]) -> list[Mention]:
    """Where the usual kind of the fact is among them, the kinds that are only its substitutes give way."""
    if wanted[0] in _SUBSTITUTES:
        return found
    main = [mention for mention in found if mention.kind == wanted[0]]
    return [mention for mention in found if mention.kind not in _SUBSTITUTES or mention in main] if main else found


def _enriched(found: Iterable[Mention], whole: Sequence[Mention]) -> list[Mention]:
    """Mentions with the attributes that the whole text gives to the same thing."""
    enriched = []
    for mention in found:
        same = next((one for one in whole if (one.kind, one.concept) == (mention.kind, mention.concept)), None)
        attributes = {**same.attributes, **mention.attributes} if same else mention.attributes
        enriched.append(replace(mention, attributes=attributes))
    return enriched
