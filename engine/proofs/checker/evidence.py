"""Notes and mentions of a proof against the tables and the notes themselves: hashes, spans, names, cues, days."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ....kb.kinds import COURSES, OF_OTHER_NAMES, RESULTS, TREATMENTS, WHOLE_LIFE
from ....kb.model import EARLIEST_DAY, LATEST_DAY, Context, Cue, DayInterval, Mention, Note
from ....kb.ontology.concepts import ConceptTable
from ....kb.ontology.normal_forms import normal_form, squashed
from . import days
from .faults import Findings
from .models import WITHOUT_MODEL, Models
from .record import Record, StoredNote
from .scans import words_as_read
from .words import CueRule, FoundCue, folded, known_rules, rule_holds, shipped_words, words_of

#: Cues that another word may outweigh where a treatment was given.
_WEIGHED: Final = ("negation", "hypothetical", "condition")
#: Cues that more words end than others.
_ENDED: Final = frozenset({"negation", "uncertainty", "never_given", "declined"})
#: What the line of an abstracted fact says of its assertion, unless it is present.
_ASSERTED: Final = re.compile(r"\[(absent|uncertain|planned|hypothetical|family|historical|possible)\]\s*(?:\n|$)")
_LONGEST_NAME: Final = 60
_MALIGNANT: Final = "malignant_neoplasm"
#: A question mark may stand so far behind what it doubts.
_TO_QUESTION: Final = 25
#: Clause ends that the reader may have taken for the end of a cue's reach.
_PARTED: Final = re.compile(r"[;:\n]|\.\s|,")


def dated(day: DayInterval) -> list[str | None]:
    """An interval as a proof writes it."""
    return [
        None if one in (EARLIEST_DAY, LATEST_DAY) else datetime.date.fromordinal(one).isoformat()
        for one in (day.low, day.high)
    ]


def context_cells(context: Context) -> dict[str, str]:
    """A context as a proof writes it."""
    return {
        "polarity": str(context.polarity),
        "temporality": str(context.temporality),
        "experiencer": str(context.experiencer),
        "reason": context.reason,
    }


def _shares(name: str, words: str) -> bool:
    """Whether a name stands in the words, or shares one with them."""
    if not words:
        return False
    wanted, surface = squashed(normal_form(name)), squashed(normal_form(words[:_LONGEST_NAME]))
    return wanted in surface or surface in wanted or bool(set(folded(name)) & set(folded(words)))


def _fault_of_cue(cue: Cue, text: str, note: Note) -> str:
    """Why a cue's rule does not read these words; empty if it does."""
    rule, _, name = cue.rule.partition(":")
    if rule in ("lexicon", "abbreviation"):
        same = squashed(normal_form(name)) in squashed(normal_form(text)) or text.startswith(name)
        return "" if same else "the words at a cue's place are not the name that it gives"
    if rule == "definition":
        letters = [letter for letter in name.lower() if letter.isalnum()]
        return "" if text and text[0].lower() == letters[0] else "no definition of the short form"
    if cue.rule in shipped_words().by_name:
        found = shipped_words().phrases.get(folded(text), ())
        is_cue = any(one.name == cue.rule for one in found)
        return "" if is_cue else f"the words at its place are no cue of {cue.rule!r}"
    if cue.rule == "question_mark":
        text = note.text[cue.start : cue.end + _TO_QUESTION]
    holds = rule_holds("cue", cue.rule, text)
    if holds is None:
        return f"no rule of reading is called {cue.rule!r}"
    return "" if holds else f"{cue.rule!r} does not read the words at its place"


@dataclass(frozen=True, slots=True)
class EvidenceCheck:
    """The checks of one patient's notes and mentions. ``reread``: the mentions as reading the notes again gives them,
    None where that was not done; ``of_facts``: the notes are lines of an abstraction; ``models``: what the manifest
    says of the model that read along."""

    record: Record
    concepts: ConceptTable
    findings: Findings
    of_facts: bool = False
    reread: Mapping[str, Mention] | None = None
    models: Models = Models()

    def needs_reading(self, what: str) -> None:
        """What only reading the notes again can tell is left unchecked where that was not done."""
        if self.reread is None:
            self.findings.cannot(what)

    def differing(self, stated: Mapping[str, Any], found: Mapping[str, Any], check: str) -> None:
        """Each field that the proof tells otherwise than the tables have it."""
        for name in sorted({*stated, *found}):
            if stated.get(name) != found.get(name):
                part = {"date": "note", "sha256": "note", "start": "span", "end": "span", "text": "span"}.get(
                    name, check
                )
                self.findings.fault(part, f"the proof and the knowledge base differ in {name}")

    # --- notes ------------------------------------------------------------------------------------------------------

    def note(self, note_id: str, stated: Mapping[str, Any]) -> None:
        """One note of the proof."""
        stored = self.record.notes.get(note_id)
        if stored is None:
            self.findings.fault("note", "the knowledge base holds no such note of this patient")
            return
        note = stored.note
        self.differing(
            stated,
            {
                "doc_id": note.doc_id,
                "date": None if note.date is None else note.date.isoformat(),
                "type": note.type,
                "title": note.title,
                "length": len(note.text),
                "sha256": stored.sha256,
            },
            "note",
        )
        self.findings.require(stored.status == "current", "note", "a later version has superseded the note")
        self.findings.require(note.sha256 == stored.sha256, "note", "the note's text has another hash")
        self.findings.require(note.note_id == stored.note_id, "note", "the note's id is not that of its content")

    # --- mentions ---------------------------------------------------------------------------------------------------

    def mention(self, mention_id: str, stated: Mapping[str, Any], relied: bool) -> None:
        """One mention of the proof; ``relied``: an event that is so in the proof's world rests on it."""
        mention = self.record.mentions.get(mention_id)
        if mention is None:
            self.findings.fault("event", "the knowledge base holds no such mention of this patient")
            return
        stored = self.record.notes.get(mention.note_id)
        self.differing(stated, self._as_stated(mention, stored), "mention")
        if stored is None:
            self.findings.fault("note", "the mention's note is not there")
            return
        note = stored.note
        spans = [("mention", mention.start, mention.end), *(("cue", cue.start, cue.end) for cue in mention.cues)]
        for what, start, end in spans:
            inside = 0 <= start <= end <= len(note.text) and (start < end or what == "cue" or not mention.text)
            if not self.findings.require(
                inside, "span" if what == "mention" else "cue", f"a {what} lies outside the note"
            ):
                return
        self.findings.require(
            note.text[mention.start : mention.end] == mention.text, "span", "the note has other words at this place"
        )
        first, last = mention.sentence
        self.findings.require(
            0 <= first <= mention.start and mention.end <= max(last, mention.end) <= len(note.text),
            "span",
            "the mention lies outside its sentence",
        )
        self.findings.require(mention.mention_id == mention_id, "mention", "its id is not that of its content")
        if mention.model:
            self.models.check(mention, self.concepts, self.findings)
        else:
            self._name(mention)
        for cue in mention.cues:
            self._cue(mention, cue, note)
        if self.of_facts:
            self._asserted(mention, note)
            return
        self._day(mention, note)
        self._reread(mention_id, mention)
        if relied and mention.context.really_happened:
            self._contradicted(mention)
            self._uncited(mention, note)

    def _as_stated(self, mention: Mention, stored: StoredNote | None) -> dict[str, Any]:
        text = "" if stored is None else stored.note.text
        proposed = {"probability": mention.confidence} if mention.model else {}
        return {
            **proposed,
            "note": mention.note_id,
            "start": mention.start,
            "end": mention.end,
            "text": mention.text,
            "kind": mention.kind,
            "concept": mention.concept,
            "attributes": dict(mention.attributes),
            "context": context_cells(mention.context),
            "day": dated(mention.day),
            "dated_by": self._dated_by(mention, stored),
            "source": mention.source,
            "section": mention.section,
            "sentence": list(mention.sentence),
            "cues": [
                {"start": cue.start, "end": cue.end, "rule": cue.rule, "text": text[cue.start : cue.end]}
                for cue in mention.cues
            ],
        }

    @staticmethod
    def _dated_by(mention: Mention, stored: StoredNote | None) -> str:
        for position, cue in enumerate(mention.cues):
            if cue.rule.startswith("date:"):
                return f"cue {position}"
        return "note" if mention.day.known and stored is not None and stored.note.date is not None else "nothing"

    def _reread(self, mention_id: str, mention: Mention) -> None:
        if self.reread is None:
            return
        again = self.reread.get(mention_id)
        if again is None and mention.model and not self.models.at_hand:
            self.findings.cannot(WITHOUT_MODEL)
        elif again is None:
            self.findings.fault("reading", "reading the notes again gives no such mention")
        elif again != mention:
            for name in ("context", "day", "cues", "source", "section", "sentence", "text", "label", "confidence"):
                if getattr(again, name) != getattr(mention, name):
                    self.findings.fault("reading", f"reading the note again gives the mention another {name}")

    # --- words ------------------------------------------------------------------------------------------------------

    def _name(self, mention: Mention) -> None:
        """Surface to concept: a name of the ontology, a short form that the note defines, or a named pattern."""
        rule, _, name = mention.source.partition(":")
        if rule == "lexicon" and name:
            self._lexicon_name(mention, name)
        elif rule == "abbreviation":
            self.findings.require(
                squashed(normal_form(name)) == squashed(normal_form(mention.text)), "name", "the short form is another"
            )
            of_definition = [cue for cue in mention.cues if cue.rule == f"definition:{name}"]
            if of_definition and mention.concept:
                stored = self.record.notes[mention.note_id].note.text
                self._named(mention, stored[of_definition[0].start : of_definition[0].end])
        elif self.of_facts:
            self.findings.cannot(
                "what facts tell by their kind or attributes, and by patterns, is held against no words"
            )
        else:
            holds = rule_holds("source", mention.source, mention.text)
            if holds is False:
                holds = rule_holds("source", mention.source, self._as_read(mention))
            if holds is None:
                self.findings.fault("name", f"no rule of reading is called {mention.source!r}")
            elif not holds:
                self.findings.fault("name", f"{mention.source!r} does not read these words")
            elif mention.source in known_rules()["named"]["sources"] and mention.kind == "metastasis":
                words = (mention.text, self._as_read(mention))
                named = any(self._is_part(mention.concept, one) for one in words)
                self.findings.require(named, "name", "no name of the place stands in these words")
            else:
                self._whole_name(mention)

    def _whole_name(self, mention: Mention) -> None:
        """What a field names with a word left out (*Histologic type: invasive lobular*) is named with that word."""
        left_out = known_rules()["left_out"].get(mention.source, ())
        names = [f"{words} {word}" for words in (mention.text, self._as_read(mention)) for word in left_out]
        if names:
            self._named(mention, next((name for name in names if self.concepts.lookup(name)), names[0]))

    def _as_read(self, mention: Mention) -> str:
        note = self.record.notes[mention.note_id].note
        return words_as_read(note, mention.start, mention.end, self.concepts)

    def _lexicon_name(self, mention: Mention, name: str) -> None:
        if not (_shares(name, mention.text) or _shares(name, self._as_read(mention))):
            # A list that shares a word ("chemo and RT") may lie apart from the name that was looked up.
            self.needs_reading("a name that was looked up does not stand in the mention's words")
        self._named(mention, name)

    def _named(self, mention: Mention, name: str) -> None:
        """Whether the name is one of the concept, of one above it, or of what an attribute says it was made of."""
        if not mention.concept:
            return
        known = set(self.concepts.lookup(name))
        related = set(self.concepts.above(mention.concept)) if mention.concept in self.concepts else {mention.concept}
        related |= {str(mention.attributes[key]) for key in ("morphology", "gene", "site") if key in mention.attributes}
        if known & related or self._is_part(mention.concept, name):
            return
        if mention.kind == "diagnosis" and any(
            self.is_cancer_there(mention.concept, one, str(mention.attributes.get("site", ""))) for one in known
        ):
            return
        if known and (mention.kind in OF_OTHER_NAMES or any(self.concepts.kind(one) == "state" for one in known)):
            self.needs_reading("a concept follows from the place of its name")
        elif not known:
            self.needs_reading("a concept follows from several words")
        else:
            self.findings.fault("name", "the ontology has no such name of this concept")

    def is_cancer_there(self, concept: str, morphology: str, site: str) -> bool:
        """Whether a form that names no place is, at this place, of the concept: *carcinoma* of the kidney is a kidney
        cancer, and the kidney cancers have carcinomas among them."""
        concepts = self.concepts
        if not all(one in concepts for one in (concept, morphology, site)) or concepts.get(morphology).site:
            return False
        there = concepts.get(concept).site
        return (
            bool(there)
            and concepts.is_a(site, there)
            and all(concepts.is_a(one, _MALIGNANT) for one in (concept, morphology))
            and not concepts.below(concept).isdisjoint(concepts.below(morphology))
        )

    def _is_part(self, concept: str, name: str) -> bool:
        """Whether a name of the concept is in the words, with signs of its own (``ER+ PR``, ``chemo + RT``)."""
        if concept not in self.concepts:
            return False
        surface = squashed(normal_form(name))
        return any(
            (spelled := squashed(normal_form(known))) and (spelled in surface or surface in spelled)
            for known in self.concepts.names(concept)
        )

    def _cue(self, mention: Mention, cue: Cue, note: Note) -> None:
        """The words at a cue's place are such as its rule reads, as they are written or as readers see them."""
        rule = cue.rule.partition(":")[0]
        if rule == "date" or rule == "link" and mention.model:
            return  # The day is computed from the one; the other's name is checked with the mention.
        fault = _fault_of_cue(cue, note.text[cue.start : cue.end], note)
        if fault and (seen := words_as_read(note, cue.start, cue.end, self.concepts)):
            fault = _fault_of_cue(cue, seen.strip(), note)
        if fault:
            self.findings.fault("cue", fault)

    # --- days -------------------------------------------------------------------------------------------------------

    def _day(self, mention: Mention, note: Note) -> None:
        """The mention's day follows from a date that it cites, or from the note's own."""
        day = mention.day
        if mention.kind == "birth":
            right = days.is_born_on(mention.text, note.date, day)
            self.findings.require(right, "day", "the age or date of birth gives other days")
            return
        if mention.kind in WHOLE_LIFE:
            self.findings.require(not day.known, "day", "it holds for a whole life, and is of no day")
            return
        cited = [cue for cue in mention.cues if cue.rule.startswith("date:")]
        if "collected" in mention.attributes:
            right = self._is_reported(mention, note, cited)
            self.findings.require(right, "day", "the dates that it cites give other days of specimen and report")
            return
        if mention.kind == "encounter":
            self._stay(mention, note, cited)
        timed = mention.kind in COURSES
        for cue in cited:
            rule, text = cue.rule.removeprefix("date:"), note.text[cue.start : cue.end]
            if days.admits(rule, text, note.date, day):
                return
            if timed and days.ends_with(rule, text, note.date, day):
                return
        if not cited or timed:
            written = None if note.date is None else note.date.toordinal()
            if written is None:
                right = not day.known
            else:
                right = day in (DayInterval(written, written), DayInterval(EARLIEST_DAY, written))
            if right:
                return
        if mention.kind == "encounter" and self._lies_between(mention.day, note, cited):
            return
        self.findings.fault("day", "the mention's day does not follow from the dates that it cites")

    def _stay(self, mention: Mention, note: Note, cited: Sequence[Cue]) -> None:
        """The end of a stay is the date that is cited for it, and does not lie before its begin."""
        if "ended" not in mention.attributes:
            return
        end = days.written(str(mention.attributes["ended"]))
        holds = end is not None and any(
            days.admits(cue.rule.removeprefix("ended:"), note.text[cue.start : cue.end], note.date, end)
            for cue in mention.cues
            if cue.rule.startswith("ended:")
        )
        self.findings.require(holds, "day", "the end of the stay does not follow from the date that it cites")
        begun = end is None or not cited or mention.day.low <= end.high
        self.findings.require(begun, "day", "the stay ends before it begins")

    @staticmethod
    def _lies_between(day: DayInterval, note: Note, cited: Sequence[Cue]) -> bool:
        """Whether a day is one from the first date that is cited to the second: some day of a stay."""
        ends = (DayInterval(day.low, day.low), DayInterval(day.high, day.high))
        return len(cited) == 2 and all(
            days.admits(cue.rule.removeprefix("date:"), note.text[cue.start : cue.end], note.date, end)
            for cue, end in zip(cited, ends, strict=True)
        )

    @staticmethod
    def _is_reported(mention: Mention, note: Note, cited: Sequence[Cue]) -> bool:
        """Whether it cites when its specimen was taken, and when it was reported unless the note's date tells; its day
        is that of either, or lies between the two."""
        taken, reported = (days.written(str(mention.attributes.get(name, ""))) for name in ("collected", "reported"))
        if taken is None or reported is None or reported.high < taken.low:
            return False

        def admitted(day: DayInterval) -> bool:
            return any(
                days.admits(cue.rule.removeprefix("date:"), note.text[cue.start : cue.end], note.date, day)
                for cue in cited
            )

        of_note = note.date is not None and reported == DayInterval(note.date.toordinal(), note.date.toordinal())
        between = DayInterval(taken.low, reported.high)
        return admitted(taken) and (of_note or admitted(reported)) and mention.day in (taken, reported, between)

    # --- contexts ---------------------------------------------------------------------------------------------------

    def _asserted(self, mention: Mention, note: Note) -> None:
        """An abstracted fact that is asserted otherwise is no plain fact of the patient."""
        self.findings.cannot(
            "the day and assertion of an abstracted fact are the abstraction's own: no text proves them"
        )
        stated = _ASSERTED.search(note.text)
        # A variant of uncertain significance was found for certain.
        of_significance = (
            stated is not None and stated[1] == "uncertain" and mention.attributes.get("significance") == "vus"
        )
        if stated is not None and stated[1] != "historical" and not of_significance:
            self.findings.require(
                not mention.context.really_happened, "context", f"the fact is asserted as {stated[1]}"
            )

    def _contradicted(self, mention: Mention) -> None:
        """No cue that it cites says that it is no plain fact of the patient."""
        rules = shipped_words().by_name
        for cue in mention.cues:
            known = rules.get(cue.rule, ())
            if not known or not all(rule.blocks for rule in known):
                continue
            of_person = all("experiencer" in rule.sets for rule in known)
            # A result word is read again as a cue; of a treatment, what is told of its course decides.
            weighed = mention.kind in RESULTS or mention.kind in TREATMENTS and cue.rule.startswith(_WEIGHED)
            if of_person or not weighed:
                self.findings.fault("cue", f"it is told as a fact, and cites a cue of {cue.rule!r}")

    def _uncited(self, mention: Mention, note: Note) -> None:
        """No shipped cue that would make the fact another stands uncited in its sentence and governs it."""
        first, last = mention.sentence
        words = words_of(note.text, first, max(last, mention.end))
        inside = [at for at, word in enumerate(words) if word.start < mention.end and mention.start < word.end]
        if not inside:
            return
        cited = [(cue.start, cue.end) for cue in mention.cues]
        for found in shipped_words().cues(note.text, words):
            if any(start < found.end and found.start < end for start, end in cited):
                continue
            governing = [
                rule
                for rule in found.rules
                if rule.blocks
                and self._may_govern(rule, found, mention, inside)
                and not self._is_parted(rule, found, mention, note)
            ]
            if not governing or self._is_of_another(found, mention):
                continue
            if self.reread is None:
                self.findings.fault("cue", f"a cue of {governing[0].name!r} stands uncited in the sentence")

    @staticmethod
    def _may_govern(rule: CueRule, found: FoundCue, mention: Mention, inside: list[int]) -> bool:
        if rule.kinds and mention.kind not in rule.kinds:
            return False
        # Of a treatment a status that is told decides, of a finding its result; an age is told by a pattern of its own.
        given = mention.attributes.get("status") == "given"
        if mention.kind in TREATMENTS and rule.name.startswith(
            ("never_given", "negation", "plan") if given else "negation"
        ):
            return False
        if (
            mention.kind == "birth"
            or mention.kind in WHOLE_LIFE
            or mention.kind in RESULTS
            and rule.name == "negation_behind"
        ):
            return False
        if found.first <= inside[-1] and inside[0] < found.last:
            return False
        before = found.last <= inside[0]
        if rule.direction == ("after" if before else "before"):
            return False
        distance = inside[0] - found.last if before else found.first - inside[-1] - 1
        return distance <= rule.reach

    @staticmethod
    def _is_parted(rule: CueRule, found: FoundCue, mention: Mention, note: Note) -> bool:
        """Whether a clause ends between the cue and the mention: punctuation, or a word that ends the cue's reach."""
        low, high = (found.end, mention.start) if found.end <= mention.start else (mention.end, found.start)
        if _PARTED.search(note.text, low, high):
            return True
        words = shipped_words()
        ends = frozenset[tuple[str, ...]]() if "experiencer" in rule.sets else words.ends
        if rule.name in _ENDED:
            ends |= words.negation_ends
        between = words_of(note.text, low, high)
        return any(
            tuple(word.folded for word in between[at : at + length]) in ends
            for at in range(len(between))
            for length in (1, 2)
        )

    def _is_of_another(self, found: FoundCue, mention: Mention) -> bool:
        """Whether another mention cites the cue, or stands between it and this one."""
        low, high = sorted((found.start, mention.start))
        return any(
            other.note_id == mention.note_id
            and other.mention_id != mention.mention_id
            and (
                any(cue.start < found.end and found.start < cue.end for cue in other.cues)
                or low < other.start < high
                and (other.start, other.end) != (mention.start, mention.end)
            )
            for other in self.record.mentions.values()
        )
