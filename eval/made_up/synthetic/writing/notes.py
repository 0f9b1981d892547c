"""Notes of a course: one for each encounter, with the exact place of every fact that it states."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..course import Course, Encounter, Person
from .banks import Banks, shipped_banks
from .finishing import in_british, with_slips, wrapped
from .marks import Mark, Marks, Place, taken_out
from .patterns import Pattern, render
from .sections import Section, fill, laid_out, placed, state_facts
from .standing import standing
from .statements import Entry
from .voices import Voice, house_of, voice_of
from .writer import Writer

#: How far the lengths of notes of one sort lie apart (standard deviation of their logarithm).
_SPREAD = 0.72


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """A note with what it states. ``places`` are statements, and the mentions within them, in order of the text."""

    patient_id: str
    doc_id: str
    date: datetime.date
    type: str
    title: str
    text: str
    places: tuple[Place, ...]

    def record(self) -> dict[str, str]:
        """The note as a line of notes.jsonl."""
        return {
            "patient_id": self.patient_id,
            "doc_id": self.doc_id,
            "date": self.date.isoformat(),
            "type": self.type,
            "title": self.title,
            "text": self.text,
        }

    def gold(self) -> dict[str, Any]:
        """The note's gold: every fact that it states, by where its name stands and where the whole statement."""
        spans = []
        statements = [place for place in self.places if place.mark.what == "statement"]
        for place in self.places:
            if place.mark.what != "mention":
                continue
            around = next((one for one in statements if one.start <= place.start and place.end <= one.end), place)
            spans.append(
                {
                    "start": place.start,
                    "end": place.end,
                    "text": self.text[place.start : place.end],
                    "kind": place.mark.kind,
                    "concept": place.mark.concept,
                    "assertion": place.mark.assertion,
                    "fact": place.mark.about[0] if place.mark.about else None,
                    "role": place.mark.role,
                    "evidence": [around.start, around.end],
                }
            )
        return {"patient_id": self.patient_id, "doc_id": self.doc_id, "facts": spans}


@dataclass(frozen=True, slots=True)
class _Draft:
    """An earlier note as it was written first, marked, from which later ones copy."""

    text: str
    marks: Sequence[Mark]


def write_course(course: Course, seed: int, length: float = 1.0, banks: Banks | None = None) -> tuple[WrittenNote, ...]:
    """The notes of a patient, in the order of the encounters; the same for the same course, ``seed`` and ``length``.

    ``length`` multiplies the words of a note; what is new in an encounter is stated at any length.
    """
    banks = banks or shipped_banks()
    drafts: list[_Draft] = []
    notes: list[WrittenNote] = []
    house = house_of(course.person.site, banks)
    for number, encounter in enumerate(course.encounters):
        chance = random.Random(f"{seed}:{course.person.patient_id}:{number}")
        voice = voice_of(house, encounter.type, chance)
        context = _context(course.person, encounter, voice, chance, banks)
        writer = Writer(voice, chance, banks, Marks(), context, encounter.date)
        body = _body(course, encounter, writer, length, drafts)
        drafts.append(_Draft(body, writer.marks.held))
        text = body
        if house.settings["spelling"] == "british":
            text = in_british(text, banks.british)
        text = with_slips(text, voice.typos, chance)
        text = wrapped(text, voice.wrap)
        plain, places = taken_out(text, writer.marks.held)
        notes.append(
            WrittenNote(
                patient_id=course.person.patient_id,
                doc_id=course.doc_id(number),
                date=encounter.date,
                type=_one(house.types, encounter.type, chance),
                title=_title(house.titles, encounter, chance),
                text=plain,
                places=tuple(places),
            )
        )
    return tuple(notes)


def _body(course: Course, encounter: Encounter, writer: Writer, length: float, drafts: Sequence[_Draft]) -> str:
    """The marked text of a note."""
    voice, chance, banks = writer.voice, writer.chance, writer.banks
    layouts = banks.layouts.get(encounter.type) or banks.layouts["progress"]
    layout = layouts[int(chance.random() * len(layouts))]
    main = next((role.rstrip("*") for role in layout if role.endswith("*")), layout[0])
    sections = {role: Section(role) for role in (one.rstrip("*") for one in layout)}
    words = banks.words.get(encounter.type, 60) * length * voice.wordy * math.exp(chance.gauss(0.0, _SPREAD))

    def written_words() -> int:
        return sum(section.words for section in sections.values())

    for role, entries in placed(entries_of(course, encounter), tuple(sections), main, banks).items():
        state_facts(sections[role], entries, writer, lambda: written_words() < words * 1.15)
    if encounter.type not in banks.quiet and chance.random() < voice.house.settings["distractors"]:
        sentence = writer.aside(banks.distractors[voice.register])
        if sentence:
            host = next((role for role in ("plan", "impression", "interval", main) if role in sections), main)
            sections[host].add(sentence)
    sorts = (f"{encounter.type} {encounter.purpose}", encounter.type)
    fill(tuple(sections.values()), sorts, writer, int(words) - written_words())
    if not any(section.sentences for section in sections.values()):
        fill(tuple(sections.values()), sorts, writer, 8)
    written = [laid_out(section, writer) for section in sections.values() if section.sentences]
    joint = "\n\n" if voice.house.settings["spaced"] and voice.arrangement != "run" else "\n"
    if voice.arrangement == "run":
        joint = " " if chance.random() < 0.7 else "\n"
    parts = [_head(encounter, writer, words), *written]
    pasted = _pasted(encounter, writer, drafts, words)
    if pasted:
        parts.insert(1 if chance.random() < 0.4 else len(parts), pasted)
    parts.append(_foot(encounter, writer, words))
    return joint.join(part for part in parts if part)


def entries_of(course: Course, encounter: Encounter) -> list[Entry]:
    """What the note is to state: the facts that are new, then those that it repeats as history."""
    known = set(encounter.new)
    recalled = (place for place in encounter.recalled if place not in known)
    return [
        *(Entry(place, standing(course.facts[place], encounter.date, True), False) for place in encounter.new),
        *(Entry(place, standing(course.facts[place], encounter.date, False), True) for place in recalled),
    ]


def _notices(writer: Writer, *keys: str) -> Sequence[Pattern]:
    """The house's patterns under the first of the keys that has any."""
    return next((writer.banks.notices[key] for key in keys if key in writer.banks.notices), ())


def _head(encounter: Encounter, writer: Writer, words: float) -> str:
    """What stands above the first section: a letterhead, the patient's line, an address."""
    if words < 35 and writer.chance.random() < 0.7:
        return ""
    house = writer.voice.house.name
    return writer.aside(_notices(writer, f"{house} {encounter.type} head", f"{house} head"))


def _foot(encounter: Encounter, writer: Writer, words: float) -> str:
    """What stands below the last section: a signature, and in longer notes what the system prints on every page."""
    parts = []
    if writer.chance.random() < 0.6:
        parts.append(writer.aside(_notices(writer, f"{writer.voice.house.name} foot")))
    if words > 80 and writer.chance.random() < 0.35:
        parts.append(writer.aside(_notices(writer, f"{encounter.type} notice", "notice")))
    return "\n".join(part for part in parts if part)


def _pasted(encounter: Encounter, writer: Writer, drafts: Sequence[_Draft], words: float) -> str:
    """Lines of an earlier note, copied with the statements in them."""
    if encounter.copies is None or encounter.copies >= len(drafts):
        return ""
    copied = drafts[encounter.copies]
    lines = copied.text.split("\n")
    start = int(writer.chance.random() * min(3, len(lines)))
    taken: list[str] = []
    size = 0
    for line in lines[start:]:
        if taken and size > max(20.0, words * 0.6):
            break
        taken.append(line)
        size += len(line.split())
    offset = len(writer.marks.held)
    writer.marks.held.extend(replace(one, role="copied") if one.role == "fact" else one for one in copied.marks)
    return _renumbered("\n".join(taken), offset)


def _renumbered(text: str, offset: int) -> str:
    """The marked text with its marks numbered from ``offset``, each mark closed within it."""
    pieces: list[str] = []
    depth = 0
    rest = text
    while rest:
        before, sign, after = rest.partition("\x01")
        closes = before.count("\x03")
        if closes > depth:
            # A mark that was opened on a line that was not taken.
            before = before.replace("\x03", "", closes - depth)
            closes = depth
        depth -= closes
        pieces.append(before)
        if not sign:
            break
        number, _, rest = after.partition("\x02")
        pieces.append(f"\x01{int(number) + offset}\x02")
        depth += 1
    return "".join(pieces) + "\x03" * depth


def _context(person: Person, encounter: Encounter, voice: Voice, chance: random.Random, banks: Banks) -> dict[str, str]:
    """The slots that any sentence may use: who the patient is, where and when."""
    own = random.Random(f"name:{person.patient_id}")

    def drawn(pool: str, chance: random.Random) -> str:
        return render(chance.choice(banks.pools[pool]), chance, {}, banks.pools)

    female = person.sex.casefold().startswith("f")
    male = person.sex.casefold().startswith("m")
    first = drawn("women" if female or (not male and own.random() < 0.5) else "men", own)
    last = drawn("families", own)
    age = encounter.date.year - person.born.year
    age -= (encounter.date.month, encounter.date.day) < (person.born.month, person.born.day)
    he, his, him, man = ("she", "her", "her", "woman") if female else ("he", "his", "him", "man")
    if not female and not male:
        he, his, him, man = "the patient", "the patient's", "the patient", "person"
    settings = voice.house.settings
    hospital = person.site if len(person.site) > 3 else settings["hospital"]
    return {
        "first": first,
        "last": last,
        "age": str(age),
        "he": he,
        "his": his,
        "him": him,
        "man": man,
        "He": he[0].upper() + he[1:],
        "His": his[0].upper() + his[1:],
        "sex": "F" if female else "M" if male else "U",
        "female": "female" if female else "male" if male else "adult",
        "title": ("Mrs" if own.random() < 0.7 else "Ms") if female else "Mr" if male else "Mx",
        "number": f"{own.randrange(10**6, 10**8)}",
        "born": voice.written_day(person.born),
        "today": voice.written_day(encounter.date),
        "soon": voice.written_day(encounter.date + datetime.timedelta(days=7 * own.randrange(1, 13))),
        "hospital": hospital,
        "doctor": drawn("families", chance),
        "other_doctor": drawn("families", chance),
    }


def _one(table: Mapping[str, tuple[str, ...]], kind: str, chance: random.Random) -> str:
    """One of a house's words for a sort of note; the plain word where it has none."""
    return chance.choice(table.get(kind) or (kind,))


def _title(titles: Mapping[str, tuple[str, ...]], encounter: Encounter, chance: random.Random) -> str:
    """The title of the note: the house's, by sort and purpose."""
    options = titles.get(f"{encounter.type} {encounter.purpose}") or titles.get(encounter.type) or (encounter.type,)
    return chance.choice(options)
