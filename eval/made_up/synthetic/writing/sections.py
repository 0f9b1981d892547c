"""The sections of a note: which facts stand where, what else is written there, and how it is laid out."""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .banks import Banks
from .finishing import capitalized, lowered_start
from .marks import Marks, without_marks
from .patterns import Pattern, fitting, render
from .statements import Told, groups_of, state
from .voices import Voice

__all__ = ["Section", "chosen", "fill", "fillers_for", "laid_out", "placed", "register_of", "stated", "words_in"]


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


def placed(told: Sequence[Told], roles: Sequence[str], main: str, banks: Banks) -> dict[str, list[Told]]:
    """The facts by the section of the layout in which each is told."""
    found: dict[str, list[Told]] = {}
    for one in told:
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


def stated(
    section: Section,
    told: Sequence[Told],
    voice: Voice,
    chance: random.Random,
    banks: Banks,
    marks: Marks,
    context: Mapping[str, str],
    on: datetime.date,
    room: Callable[[], bool],
) -> None:
    """Put the facts into the section; those told as history only while there is ``room``."""
    register = register_of(section.role, voice)
    front = section.role in ("summary", "treatments") and voice.arrangement != "paragraph" and chance.random() < 0.6
    groups = groups_of(told, banks, chance)
    groups.sort(key=lambda group: (group[0].standing.begun or on) if front else on)
    for group in groups:
        if group[0].recalled and not room():
            continue
        section.add(state(group, voice, register, chance, banks, marks, context, on, front))


def register_of(role: str, voice: Voice) -> str:
    """How the section is written: what a house has in forms stays a form, a letter's lists stay short."""
    special: Mapping[str, str] = voice.house.settings["section_registers"]
    return special.get(f"{role} {voice.register}", voice.register)


def fill(
    sections: Sequence[Section],
    sorts: Sequence[str],
    voice: Voice,
    chance: random.Random,
    banks: Banks,
    context: Mapping[str, str],
    missing: int,
) -> None:
    """Write what a note says beside its facts, until ``missing`` words more are written or nothing is left to say."""
    if missing <= 0:
        return
    open_sections = [
        (section, list(patterns))
        for section in sections
        if (patterns := fillers_for(sorts, section.role, register_of(section.role, voice), banks))
    ]
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
        if pattern.needs <= context.keys():
            first = section.role not in ("plan", "closing") and chance.random() < 0.35
            missing -= section.add(render(pattern, chance, context, banks.pools), first)


def fillers_for(sorts: Sequence[str], role: str, register: str, banks: Banks) -> Sequence[Pattern]:
    """What may be said in a section: what is for the first of the note's ``sorts`` that has its own, else for any."""
    own = (banks.fillers.get(f"{sort}: {role}") for sort in sorts)
    found = next((one for one in own if one is not None), banks.fillers.get(role, {}))
    return found.get(register, ())


def laid_out(section: Section, voice: Voice, chance: random.Random, context: Mapping[str, str], banks: Banks) -> str:
    """The section under its heading, in the author's arrangement."""
    register = register_of(section.role, voice)
    arrangement = voice.house.settings["section_arrangements"].get(
        f"{section.role} {voice.register}", voice.arrangement
    )
    body = _body(section.sentences, arrangement, register, voice, chance)
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


def chosen(patterns: Sequence[Pattern], chance: random.Random, context: Mapping[str, str], banks: Banks) -> str:
    """One of the patterns that fit, rendered; nothing where none does."""
    fits = fitting(patterns, context)
    return render(chance.choice(fits), chance, context, banks.pools) if fits else ""
