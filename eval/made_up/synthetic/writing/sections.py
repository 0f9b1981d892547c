"""The sections of a note: which facts stand where, what else is written there, and how it is laid out."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .banks import Banks
from .finishing import capitalized, lowered_start
from .marks import without_marks
from .patterns import Pattern
from .statements import Entry, groups_of, state
from .voices import Voice
from .writer import Writer

_SPACES = re.compile(" +(?= [a-z(]|,)")

#: At most so many sentences beside the facts in one section of a note of ordinary length.
_FILLERS = 8


@dataclass(slots=True)
class Section:
    """One section while it is written: its role in the note, and its sentences (marked)."""

    role: str
    sentences: list[str] = field(default_factory=list)
    words: int = 0

    def add(self, sentence: str, first: bool = False) -> int:
        """Put a sentence in; how many words it has."""
        sentence = _SPACES.sub("", sentence).rstrip()
        self.sentences.insert(0 if first else len(self.sentences), sentence)
        words = words_in(sentence)
        self.words += words
        return words


def words_in(text: str) -> int:
    """Words of a marked text."""
    return len(text.split())


def placed(entries: Sequence[Entry], roles: Sequence[str], main: str, banks: Banks) -> dict[str, list[Entry]]:
    """The facts by the section of the layout in which each is told."""
    found: dict[str, list[Entry]] = {}
    for one in entries:
        fact = one.standing.fact
        keys = [fact.assertion, fact.kind]
        if one.recalled and fact.assertion not in ("family", "planned", "hypothetical"):
            keys = ["recalled " + fact.kind, "recalled", fact.kind]
        elif fact.assertion == "absent":
            keys = ["absent " + fact.kind, fact.kind]
        elif fact.assertion == "uncertain":
            keys = [fact.kind]
        wanted = (role for key in keys for role in banks.routes.get(key, ()))
        found.setdefault(next((role for role in wanted if role in roles), main), []).append(one)
    return found


def state_facts(section: Section, entries: Sequence[Entry], writer: Writer, room: Callable[[], bool]) -> None:
    """Put the facts into the section; those told as history only while there is ``room``."""
    register, chance = writer.register(section.role), writer.chance
    front = section.role in ("summary", "treatments") and writer.voice.arrangement != "paragraph"
    front = front and chance.random() < 0.6
    groups = groups_of(entries, writer.banks, chance)
    groups.sort(key=lambda group: (group[0].standing.begun or writer.day) if front else writer.day)
    for group in groups:
        if group[0].recalled and not room():
            continue
        section.add(state(group, writer, register, front))


def fill(sections: Sequence[Section], sorts: Sequence[str], writer: Writer, missing: int) -> None:
    """Write what a note says beside its facts, until ``missing`` words more are written or nothing is left to say."""
    if missing <= 0:
        return
    open_sections = [
        (section, list(patterns))
        for section in sections
        if (patterns := fillers_for(sorts, section.role, writer.register(section.role), writer.banks))
    ]
    chance = writer.chance
    most = _FILLERS + missing // 15
    left = [2 + int(chance.random() * most) for _ in open_sections]
    tries = 0
    while missing > 0 and open_sections and tries < 200:
        tries += 1
        place = int(chance.random() * len(open_sections))
        section, patterns = open_sections[place]
        pattern = patterns.pop(int(chance.random() * len(patterns)))
        left[place] -= 1
        if not patterns or not left[place]:
            open_sections.pop(place)
            left.pop(place)
        if pattern.needs <= writer.context.keys():
            first = section.role not in ("plan", "closing") and chance.random() < 0.35
            missing -= section.add(writer.write(pattern, writer.context), first)


def fillers_for(sorts: Sequence[str], role: str, register: str, banks: Banks) -> Sequence[Pattern]:
    """What may be said in a section: what is for the first of the note's ``sorts`` that has its own, else for any."""
    own = (banks.fillers.get(f"{sort}: {role}") for sort in sorts)
    found = next((one for one in own if one is not None), banks.fillers.get(role, {}))
    return found.get(register, ())


def laid_out(section: Section, writer: Writer) -> str:
    """The section under its heading, in the author's arrangement."""
    voice, chance = writer.voice, writer.chance
    arrangement = voice.house.settings["section_arrangements"].get(
        f"{section.role} {voice.register}", voice.arrangement
    )
    body = _body(section.sentences, arrangement, writer.register(section.role), voice, chance)
    headings = voice.house.headings.get(section.role, ())
    if not headings or "" in headings and chance.random() < 0.5:
        return body
    heading = headings[int(chance.random() * len(headings))]
    if not heading:
        return body
    form = voice.heading
    short = len(section.sentences) == 1 and arrangement != "bullets"
    if short and form.endswith("\n") and chance.random() < 0.6:
        form = form.rstrip("\n") + " "
    if voice.capitals:
        heading = heading.upper()
    return form.format(heading) + body


def _body(sentences: Sequence[str], arrangement: str, register: str, voice: Voice, chance: random.Random) -> str:
    """The sentences, laid out."""
    if arrangement == "run":
        joint = chance.choice((", ", "; ", " ", ". "))
        return joint.join(lowered_start(one).rstrip(".") for one in sentences)
    if arrangement == "semicolons":
        return "; ".join(one.rstrip(".") for one in sentences) + chance.choice((".", ""))
    finished = [_finished(one, register, voice) for one in sentences]
    if arrangement == "paragraph":
        return " ".join(finished)
    if arrangement == "lines":
        return "\n".join(finished)
    if arrangement == "numbered":
        return "\n".join(f"{number}. {one}" for number, one in enumerate(finished, 1))
    return "\n".join(voice.bullet + one for one in finished)


def _finished(sentence: str, register: str, voice: Voice) -> str:
    """A sentence with its capital and its full stop, where the author cares for them."""
    if not voice.lower:
        sentence = capitalized(sentence)
    if register == "form" or (register == "terse" and voice.arrangement != "paragraph"):
        return sentence
    return sentence if without_marks(sentence)[-1:] in ".!?:\n" else sentence + "."
