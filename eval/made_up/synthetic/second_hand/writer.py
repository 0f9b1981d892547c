"""Writes the note of a visit: a hand's layout, filled with the facts of the day and everyday things."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from . import dates
from .groups import belongs, ordered
from .patterns import SLOT, choose
from .people import cast
from .rich import Rich, capital, join, sentence, wrap
from .scribe import Fact, Scribe, lines_of_time, shaped
from .slots import Setting
from .tables import table

BLOCK = re.compile(r"@(\w+):([^@]*)@")
ROW_STYLES = {"pipe", "dots", "pad", "caps", "colon"}
INLINE = {"semi": "; ", "comma": ", "}
KEPT = {"diagnosis": 0.92, "comorbidity": 0.6, "histology": 0.75, "stage_group": 0.75}
KEPT_ELSE, AGAIN_RATE = 0.68, 0.55
# How long-winded a note is: most are plain, some are curt, a few go on and on.
WORDINESS = [0.7, 1, 1, 1.3, 1.6, 2.2, 3]
SPECIALISTS = {"eye", "dental", "cardiology", "dermatology", "orthopedics", "physical therapy"}
SPECIAL = {("emergency", "toxicity"): "emergency_toxicity", ("primary care", "diagnosis"): "primary_care_diagnosis"}
# Everyday things may be barred to the young by this word.
YOUNG, RETIRED = " under60", 62
WRAPPED, SHOUTED, MUTTERED = 0.3, 0.05, 0.08
SHOUTING, MUTTERING = {"operative", "radiology", "pathology"}, {"telephone", "nursing"}


@dataclass(frozen=True)
class Page:
    """A finished note and where it tells which fact."""

    type: str
    title: str
    text: str
    told: tuple[tuple[int, int, int], ...]


class Desk:
    """Everything at hand while one note is written."""

    def __init__(self, visit: dict[str, Any], chance: random.Random) -> None:
        """Choose what is told, who appears and which everyday scene is played."""
        self.visit, self.chance, self.today = visit, chance, visit["date"]
        self.people = cast(visit, chance)
        setting = Setting(date.fromisoformat(self.today), self.people, chance)
        self.scribe = Scribe(visit["type"], setting, labels(visit["told"]))
        self.waiting: list[Fact] = [fact for fact in visit["told"] if kept(fact, chance)]
        self.done: list[Fact] = []
        self.concepts = " ".join(f"{fact['concept']} {fact['value']}" for fact in visit["told"]).lower()
        self.concepts += YOUNG if int(self.people["age"]) < RETIRED else ""
        self.wordy = chance.choice(WORDINESS)
        scenes = table("filler")["scenes"]
        self.scene = chance.choice(scenes.get(visit["type"], scenes["default"]))
        self.said: set[str] = set()

    def take(self, groups: str) -> list[Fact]:
        """The waiting facts of some groups, which then wait no more."""
        names = groups.split(",")
        taken = [fact for fact in self.waiting if any(belongs(fact, name, self.today) for name in names)]
        self.waiting = [fact for fact in self.waiting if fact not in taken]
        self.done += taken
        return ordered(taken)

    def tell(self, facts: list[Fact], register: str, style: str) -> Rich:
        """Facts in a register, joined in a style."""
        if style in ROW_STYLES:
            return join("\n", [self.scribe.row(fact, style) for fact in facts])
        if style == "timeline":
            return self.timeline(facts)
        clauses = self.scribe.clauses(facts, register, style == "comma")
        if style == "para":
            return join(" ", [sentence(clause) for clause in clauses])
        if style in INLINE:
            return join(INLINE[style], clauses)
        raised = [clause.reshape(capital) for clause in clauses] if self.chance.random() < 0.5 else clauses
        heads = [f"{number}. " if style == "numbered" else "- " for number in range(1, len(raised) + 1)]
        return join("\n", [Rich(head) + clause for head, clause in zip(heads, raised, strict=True)])

    def timeline(self, facts: list[Fact]) -> Rich:
        """Facts under their dates, all dates in one form."""
        form, lines = self.chance.choice(table("dates")["stamp"]), []
        mark = self.chance.choice([": ", " - ", "  "])
        for day, of_day in lines_of_time(facts):
            clauses = self.scribe.clauses(of_day, "event")
            stamp = form.format(**dates.parts(date.fromisoformat(day))) + mark if day else "- "
            lines.append(self.scribe.dated_line(stamp, join("; ", clauses)))
        return join("\n", lines)

    def fitting(self, entries: list[str]) -> list[str]:
        """Entries of a pool that do not rub against a fact of the visit, nor were said before."""
        result = []
        for entry in entries:
            text, _, words = entry.partition(" ## ")
            clash = any(word.strip().lower() in self.concepts for word in words.split(",")) if words else False
            if not clash and text not in self.said:
                result.append(text)
        return result

    def say(self, entries: list[str], amount: str, style: str) -> Rich:
        """Some entries of a pool."""
        least, _, most = amount.partition("-")
        number = self.chance.randint(int(least), int(most or least))
        open_ones = self.fitting(entries)
        if most and int(most) > 1:
            number = round(number * self.wordy)
        picked = sorted(self.chance.sample(open_ones, min(number, len(open_ones))), key=open_ones.index)
        self.said.update(picked)
        texts = [self.spoken(text) for text in picked]
        if style == "pipe":
            hour, minute = self.chance.randint(8, 14), self.chance.randint(0, 9)
            clocks = [f"{hour + number // 4:02d}:{minute + 13 * (number % 4):02d}" for number in range(len(texts))]
            return Rich("\n".join(shaped([clock, text], "pipe") for clock, text in zip(clocks, texts, strict=True)))
        if style == "dash":
            return Rich("\n".join(f"- {text}" for text in texts))
        between = {"lines": "\n", "dash2": "\n- ", "comma": ", "}
        return Rich(between.get(style, " ").join(texts))

    def spoken(self, text: str) -> str:
        """A filler text with its choices and slots settled."""
        return SLOT.sub(lambda found: self.people.get(found.group(1), ""), choose(text, self.chance))

    def block(self, verb: str, rest: str) -> Rich:
        """What stands in place of one block of a layout."""
        if verb in ("tell", "again"):
            groups, register, style = rest.split(":")
            return self.tell(self.take(groups) if verb == "tell" else self.recall(groups), register, style)
        name, _, more = rest.partition(":")
        amount, _, style = more.partition(":")
        if verb == "scene":
            part = self.scene[name]
            return Rich(self.spoken(part)) if isinstance(part, str) else self.say(part, amount, style)
        pools = table("layouts")["pools"] | table("filler")
        return self.say(pools.get(name, []) + table("more").get(name, []), amount, style)

    def recall(self, groups: str) -> list[Fact]:
        """Some facts told before, for telling again."""
        names = groups.split(",")
        facts = [fact for fact in self.done if any(belongs(fact, name, self.today) for name in names)]
        return ordered([fact for fact in facts if self.chance.random() < AGAIN_RATE])

    def line(self, text: str) -> Rich | None:
        """One line of a layout; None where it was there for facts and there are none."""
        result, position, verbs, empty = Rich(""), 0, set(), True
        for found in BLOCK.finditer(text):
            part = self.block(found.group(1), found.group(2))
            verbs.add(found.group(1))
            empty = empty and not part.text
            gap = text[position : found.start()]
            # A bare space between blocks stays only where both have something to say.
            idle = not gap.strip() and (not part.text or not result.text or result.text.endswith((" ", "\n")))
            result = result + Rich("" if idle else self.spoken(gap)) + part
            position = found.end()
        result = result + Rich(self.spoken(text[position:]))
        return None if verbs and empty else result

    def paragraph(self, text: str) -> Rich | None:
        """A paragraph of a layout without its empty lines, none at all where only headings would remain."""
        rows: list[Rich] = []
        heading, blocks, filled = False, 0, 0
        for text_line in text.split("\n"):
            row, has_block = self.line(text_line), bool(BLOCK.search(text_line))
            blocks += has_block
            filled += has_block and row is not None
            # A fixed line is a heading until something stands under it; the next heading drives it out.
            if not has_block and heading and rows:
                rows.pop()
            if row is not None:
                rows.append(row)
            heading = (not has_block and not SLOT.search(text_line)) or (heading and row is None)
        if heading and rows and blocks:
            rows.pop()
        return None if blocks and not filled else join("\n", rows)

    def note(self, layout: str) -> Rich:
        """The whole note, with whatever new fact a layout forgot at its end."""
        paragraphs = [self.paragraph(text) for text in choose(layout, self.chance).strip("\n").split("\n\n")]
        left = [fact for fact in self.waiting if not fact["recalled"]]
        parts = [part for part in paragraphs if part is not None and part.text.strip()]
        if left:
            parts.append(self.tell(left, "prose", "para"))
        return join("\n\n", parts)


def kept(fact: Fact, chance: random.Random) -> bool:
    """Whether a fact is told: a new one always, a recalled one mostly."""
    return chance.random() < KEPT.get(fact["kind"], KEPT_ELSE) or not fact["recalled"]


def labels(facts: list[Fact]) -> dict[str, str]:
    """The name of each tumor, where a visit tells of two: its diagnosis, its site or at least its number."""
    names: dict[str, str] = {}
    for fact in facts:
        if fact["tumor"]:
            site = fact["attributes"].get("site", "") if fact["kind"] in ("tnm", "histology", "surgery") else ""
            called = fact["concept"] if fact["kind"] == "diagnosis" and fact["mode"] != "corrected" else site
            names[fact["tumor"]] = names.get(fact["tumor"], "") or called
    numbers = table("values")["primary"]
    several = len(names) > 1 or set(names) - {"first"}
    return {tumor: name or numbers.get(tumor, tumor) for tumor, name in names.items()} if several else {}


def layouts(visit: dict[str, Any]) -> list[str]:
    """The layouts open to a visit."""
    hands, kind = table("layouts")["hands"], visit["type"]
    usual = "specialist" if kind in SPECIALISTS else kind
    name = SPECIAL.get((kind, visit.get("purpose", "")), usual)
    name = name if name in hands else "progress"
    return hands[name] + table("layouts_more").get(name, [])


def dressed(text: Rich, visit_type: str, chance: random.Random) -> Rich:
    """The note as a machine or habit puts it on the page: hard line ends, all capitals or none."""
    loud, wrapping = chance.random(), chance.random()
    if visit_type in SHOUTING and loud < SHOUTED:
        text = text.reshape(str.upper)
    elif visit_type in MUTTERING and loud < MUTTERED:
        text = text.reshape(str.lower)
    tabular = "|" in text.text or "...." in text.text
    return wrap(text, chance.choice([68, 76, 80, 92])) if wrapping < WRAPPED and not tabular else text


def write_page(visit: dict[str, Any], chance: random.Random) -> Page:
    """The note of one visit."""
    desk = Desk(visit, chance)
    titles = table("layouts")["titles"]
    title = chance.choice(titles.get(visit["type"], titles["default"]))
    desk.people["title_cap"] = title
    text = dressed(desk.note(chance.choice(layouts(visit))), visit["type"], chance)
    first: dict[int, tuple[int, int, int]] = {}
    for place, start, end in sorted(text.marks, key=lambda mark: mark[1]):
        first.setdefault(place, (place, start, end))
    return Page(visit["type"], title, text.text, tuple(sorted(first.values())))
