"""Tells facts: one by one, in lists of one kind, and several together in a line on the tumor."""

from __future__ import annotations

from typing import Any

from . import dates
from .patterns import fill, needed, pick
from .rich import Rich
from .slots import Setting, slots_of
from .tables import table

Fact = dict[str, Any]
DATES = frozenset({"when", "since", "span", "stamp", "loose", "exact"})
# States and measurements go stale: told without their date they would be read as today's.
PERISHABLE = {"disease_state", "lab", "performance_status", "adverse_event"}
FRESH_DAYS = 3
# What a new fact of these kinds must tell beyond its name, where it is known.
DETAILS = {"social", "genomic_variant", "radiation", "surgery"}
DETAIL_SLOTS = frozenset({"at", "packs", "change", "dose", "why"})
MERGE_RATE, COMPOSE_RATE, NAMED = 0.8, 0.75, 0.15


def variants(fact: Fact, visit_type: str, setting: Setting) -> list[str]:
    """The keys under which clauses for a fact may stand, the most special first."""
    base = f"{fact['kind']}.{fact['mode']}"
    base_of_assertion = f"{fact['kind']}.{fact['assertion']}"
    attributes, concept = fact["attributes"], fact["concept"]
    keys = [f"{base}.{concept}.{value}" for value in (attributes.get("result"), fact["value"]) if value]
    keys += [f"{base}.{concept}", *special(fact, visit_type, setting)]
    keys += [f"{base}.{value}" for value in (fact["value"], attributes.get("result")) if value]
    keys.append(base)
    if f"any.{fact['mode']}" not in table("clauses"):
        keys.append(base_of_assertion)
    return [*keys, f"{fact['kind']}.any", f"any.{fact['mode']}", f"any.{fact['assertion']}", "any.present"]


def special(fact: Fact, visit_type: str, setting: Setting) -> list[str]:
    """Keys that follow from more than concept and mode."""
    kind, mode, base = fact["kind"], fact["mode"], f"{fact['kind']}.{fact['mode']}"
    begun = dates.parse(fact["begun"])
    past = begun is not None and begun < setting.today
    answers = {
        f"{base}.germline": fact["attributes"].get("origin") == "germline" or "germline" in fact["concept"],
        f"{base}.past": mode == "started" and past,
        f"{base}.today": kind == "surgery" and mode == "completed" and not past,
        f"{base}.bare": mode == "stopped" and not fact["attributes"].get("reason"),
        f"{base}.pathology": kind == "diagnosis" and visit_type == "pathology",
        f"{base}.radiology": kind == "procedure" and visit_type == "radiology" and not past,
        f"{base}.one": kind == "metastasis" and not fact["concept"].endswith("metastases"),
        f"{base}.local": kind == "disease_state" and "recurren" in fact["concept"],
        f"{base}.injection": fact["concept"] == "leuprolide",
        f"{kind}.component": kind == "histology" and "component" in fact["value"],
    }
    return [key for key, holds in answers.items() if holds]


def forced(fact: Fact, register: str, setting: Setting) -> list[frozenset[str]]:
    """Groups of slots of each of which one must be told: a stale state's date, a new finding's detail."""
    groups = []
    begun = dates.parse(fact["begun"])
    stale = begun is not None and (setting.today - begun).days > FRESH_DAYS
    perishes = fact["kind"] in PERISHABLE or (not fact["recalled"] and fact["mode"] in ("planned", "uncertain"))
    if stale and perishes and register != "event":
        groups.append(DATES)
    detailed = fact["kind"] in DETAILS or (fact["kind"] == "diagnosis" and fact["mode"] == "family")
    if detailed and not fact["recalled"]:
        groups.append(DETAIL_SLOTS)
    # Behind the date of its beginning a finished treatment must tell its end, or it would seem a day's work.
    if register == "event" and fact["ended"]:
        groups.append(frozenset({"until"}))
    return groups


class Scribe:
    """Tells the facts of one visit in the words of the tables."""

    def __init__(self, visit_type: str, setting: Setting, labels: dict[str, str]) -> None:
        """Remember the visit's type, its setting and the names of its tumors where there are two."""
        self.visit_type, self.setting, self.labels = visit_type, setting, labels

    def words(self, fact: Fact, register: str) -> str:
        """One fact in one register, with its date or detail where it must have one."""
        demands = forced(fact, register, self.setting)
        found = [
            table("clauses")[key] for key in variants(fact, self.visit_type, self.setting) if key in table("clauses")
        ]
        for strict in dict.fromkeys((bool(demands), False)):
            text = self.try_keys(fact, register, found, demands if strict else [])
            if text:
                return self.subject(text, register) + self.label(fact, register)
        return fact["concept"]

    def subject(self, text: str, register: str) -> str:
        """Now and then the patient's name instead of the pronoun that opens a sentence."""
        pronoun = self.setting.people["he"] + " "
        named = register == "prose" and text.startswith(pronoun) and self.setting.chance.random() < NAMED
        return f"{self.setting.people['mr']} {text.removeprefix(pronoun)}" if named else text

    def try_keys(
        self, fact: Fact, register: str, found: list[dict[str, list[str]]], demands: list[frozenset[str]]
    ) -> str:
        """The first clause that fits: a special key in another register before a general one in this."""
        manners = list(dict.fromkeys((register, "short", "prose")))
        slots = {manner: slots_of(fact, manner, self.setting) for manner in manners}
        for patterns in found:
            for manner in manners:
                text = pick(patterns.get(manner, []), slots[manner], self.setting.chance, demands)
                if text:
                    return text
        return ""

    def label(self, fact: Fact, register: str) -> str:
        """Which tumor a bare stage or state belongs to, where the visit has two."""
        name = self.labels.get(fact["tumor"], "")
        bare = fact["kind"] not in ("diagnosis", "surgery", "radiation", "medication", "regimen", "procedure")
        return f" [{name}]" if name and bare and register != "item" else ""

    def one(self, fact: Fact, register: str) -> Rich:
        """One fact as a clause of its own."""
        return Rich(self.words(fact, register)).whole([fact["place"]])

    def item(self, fact: Fact, register: str) -> str:
        """A fact as an item of a list, empty if its kind has no such form."""
        for key in variants(fact, self.visit_type, self.setting):
            patterns = table("clauses").get(key)
            if patterns is None:
                continue
            manner = "item-short" if register in ("short", "event") else "item"
            slots = slots_of(fact, manner, self.setting)
            text = pick(patterns.get("item", []), slots, self.setting.chance, forced(fact, "event", self.setting))
            return text or ""
        return ""

    def clauses(self, facts: list[Fact], register: str, bare: bool = False) -> list[Rich]:
        """All facts of a block as clauses, some of them told together; bare lists stand behind a heading."""
        left, result = list(facts), []
        if register in ("prose", "short", "event"):
            result += self.composed(left, register)
        while left:
            fact = left.pop(0)
            result.append(self.merged(fact, left, register, bare) or self.one(fact, register))
        return result

    def merged(self, fact: Fact, left: list[Fact], register: str, bare: bool) -> Rich | None:
        """A list of this fact and its like, which leave the waiting ones; None where there are none."""
        merge = table("merges").get(f"{fact['kind']}.{fact['mode']}", {})
        like = [other for other in left if self.alike(fact, other)]
        if not like or register not in merge or self.setting.chance.random() > MERGE_RATE:
            return None
        group = [fact, *like]
        items = [self.item(member, register) for member in group]
        if not all(items):
            return None
        for other in like:
            left.remove(other)
        last = merge["last"] if register == "prose" or merge["last"] == " or " else ", "
        listed = ", ".join(items[:-1]) + last + items[-1]
        pattern = "{list}" if bare and merge["last"] == " and " else self.setting.chance.choice(merge[register])
        text = fill(pattern, self.setting.people | {"list": listed}, self.setting.chance) + self.label(fact, register)
        return Rich(text).whole(member["place"] for member in group)

    def alike(self, fact: Fact, other: Fact) -> bool:
        """Whether two facts may share a list."""
        same = all(fact[key] == other[key] for key in ("kind", "mode", "tumor"))
        same = same and fact["attributes"].get("origin") == other["attributes"].get("origin")
        # In a dated line only what happened on one day may stand together.
        return same and (fact["kind"] in ("comorbidity", "diagnosis", "biomarker") or fact["begun"] == other["begun"])

    def composed(self, left: list[Fact], register: str) -> list[Rich]:
        """At most one line on each tumor that joins diagnosis, histology, grade and stage."""
        result = []
        for tumor in dict.fromkeys(fact["tumor"] for fact in left):
            if self.setting.chance.random() > COMPOSE_RATE:
                continue
            parts: dict[str, Fact] = {}
            for fact in left:
                if fact["tumor"] == tumor and fact["mode"] == "present" and self.joins(fact):
                    parts.setdefault(fact["kind"], fact)
            line = self.compose(parts, register)
            if line:
                result.append(line[0])
                for fact in line[1]:
                    left.remove(fact)
        return result

    def joins(self, fact: Fact) -> bool:
        """Whether a fact may stand in a line on the tumor: a main finding, not a component beside it."""
        kinds = ("diagnosis", "histology", "grade", "tnm", "stage_group")
        return fact["kind"] in kinds and "component" not in fact["value"]

    def compose(self, parts: dict[str, Fact], register: str) -> tuple[Rich, list[Fact]] | None:
        """A joined line and the facts it tells, if some pattern fits."""
        forms = table("merges")["compose"]
        on_slide = self.visit_type == "pathology" and register in ("prose", "short")
        patterns = forms["pathology" if on_slide else register]
        kinds = {pattern: needed(pattern) & parts.keys() for pattern in patterns}
        slots = {kind: self.item(fact, register) for kind, fact in parts.items()}
        open_ones = [
            pattern
            for pattern in patterns
            if all(slots.get(name) for name in needed(pattern) - self.setting.people.keys())
        ]
        if not open_ones:
            return None
        pattern = self.setting.chance.choice(open_ones)
        facts = [parts[kind] for kind in kinds[pattern]]
        text = fill(pattern, self.setting.people | slots, self.setting.chance)
        text += "" if "diagnosis" in kinds[pattern] else self.label(facts[0], register)
        return Rich(text).whole(sorted(fact["place"] for fact in facts)), facts

    def row(self, fact: Fact, style: str) -> Rich:
        """A fact as a table row in one of the table styles."""
        cells = [cell.strip() for cell in self.words(fact, "row").split(" | ")]
        return Rich(shaped(cells, style)).whole([fact["place"]])

    def dated_line(self, when: str, part: Rich) -> Rich:
        """A line of a timeline; the date belongs to what each fact says."""
        line = Rich(when) + part
        return line.whole(dict.fromkeys(place for place, _, _ in part.marks))


def shaped(cells: list[str], style: str) -> str:
    """Cells drawn as a row."""
    head, rest = cells[0], cells[1:]
    if style == "pipe":
        return "| " + " | ".join(cells) + " |"
    if style == "dots":
        return head.ljust(34, ".") + " " + ", ".join(rest) if rest else head
    if style == "pad":
        return head.ljust(32) + "".join(cell.ljust(26) for cell in rest).rstrip()
    if style == "caps":
        return head.upper() + ": " + "; ".join(rest) if rest else head
    return head + (": " if rest else "") + ", ".join(rest)


def lines_of_time(facts: list[Fact]) -> list[tuple[str, list[Fact]]]:
    """Facts gathered by the day they began, in order."""
    days: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: (fact["begun"] or "", fact["place"])):
        days.setdefault(fact["begun"] or "", []).append(fact)
    return list(days.items())
