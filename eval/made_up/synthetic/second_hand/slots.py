"""What a clause may say of one fact: its names, values, dates and attributes as words."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date
from typing import Any

from . import dates
from .patterns import fill, fits, needed
from .tables import table

SHORTHAND = ("short", "event", "row", "item-short")


@dataclass(frozen=True)
class Setting:
    """Who is written about and on what day."""

    today: date
    people: dict[str, str]
    chance: random.Random


def ways(options: list[str], register: str) -> list[str]:
    """The options open to a register: those behind a tilde are shorthand's own."""
    plain = [option for option in options if not option.startswith("~")]
    if register in SHORTHAND:
        return plain + [option[1:] for option in options if option.startswith("~")] * 2
    return plain or [option.lstrip("~") for option in options]


def named(fact: dict[str, Any], register: str, setting: Setting) -> str:
    """One of the usual names of the fact's concept, with side and part as far as they belong to it."""
    chance, side = setting.chance, fact["attributes"].get("laterality", "")
    part = fact["value"] if fact["kind"] == "diagnosis" and fact["mode"] == "present" else ""
    slots = {"side": side, "place": part, "sd": chance.choice(table("values")["side"].get(side, [""]))}
    options = ways(table("names").get(fact["concept"], [fact["concept"]]), register)
    options = [option for option in options if fits(option, slots)]
    due = {"place"} if part and (not fact["recalled"] or chance.random() < 0.6) else set()
    wants_side = fact["kind"] == "diagnosis" and side and not due
    if wants_side and (not fact["recalled"] or chance.random() < 0.8):
        due |= {"side", "sd"}
    best = [option for option in options if needed(option) & due]
    if due and not best:
        return fill(chance.choice(options), slots, chance) + f" ({part or side})"
    return fill(chance.choice(best or options or [fact["concept"]]), slots, chance)


def concept_name(concept: str, register: str, setting: Setting) -> str:
    """One of the usual names of a concept that stands alone."""
    options = [way for way in ways(table("names").get(concept, [concept]), register) if not needed(way)]
    return setting.chance.choice(options or [concept])


def figure(value: str, setting: Setting) -> str:
    """A measured value without the simulator's exponents, its unit in one of its spellings."""
    number, _, unit = value.partition(" ")
    try:
        plain = f"{float(number):,.0f}" if "e" in number else number
    except ValueError:
        return value
    units = table("values")["unit"].get(unit, [unit])
    chosen = setting.chance.choice(units)
    if "," in plain and setting.chance.random() < 0.5:
        plain = plain.replace(",", "")
    return f"{plain} {chosen}".strip()


def staged(fact: dict[str, Any], setting: Setting) -> str:
    """A TNM in one of the ways it is written together."""
    marks = fact["attributes"]
    forms = table("values")["tnm"]["forms" if marks.get("m") else "bare"]
    prefix = marks.get("prefix", "")
    return setting.chance.choice(forms).format(p=prefix, pm=prefix, t=marks["t"], n=marks["n"], m=marks.get("m", ""))


def valued(fact: dict[str, Any], register: str, setting: Setting) -> str:
    """The fact's value in one of the ways it is written."""
    value, kind, chance = fact["value"], fact["kind"], setting.chance
    if kind == "tnm" and {"t", "n"} <= fact["attributes"].keys():
        return staged(fact, setting)
    if kind == "lab" or value.endswith("/Mb"):
        return figure(value, setting)
    known = table("values")["ways"].get(value)
    if known:
        return chance.choice(ways(known, register)).format(**setting.people)
    percent = fact["attributes"].get("percent")
    if kind == "biomarker" and percent and value.endswith(f" {percent}%") and value[0].islower():
        forms = ways(table("values")["percent"]["forms"], register)
        return chance.choice(forms).format(word=value.removesuffix(f" {percent}%"), percent=percent)
    return value


def alteration(fact: dict[str, Any]) -> str:
    """The kind of gene change, from the attributes or the concept's own words."""
    gene = fact["attributes"].get("gene", "")
    after = fact["concept"].split(gene)[-1].strip() if gene else fact["concept"]
    known = fact["attributes"].get("alteration", "")
    # The concept may say more than the attribute: a homozygous deletion, say.
    return after if known in after and after else known or fact["concept"]


def dated(fact: dict[str, Any], setting: Setting) -> dict[str, str]:
    """The date slots; none of them is filled for the day of the note."""
    begun, ended = dates.parse(fact["begun"]), dates.parse(fact["ended"])
    today, chance = setting.today, setting.chance
    slots: dict[str, str] = {}
    if begun and begun < today:
        gap = (today - begun).days
        slots |= {"when": dates.when(begun, today, chance), "since": dates.since(begun, today, chance)}
        slots["stamp"] = dates.written(begun, "stamp" if gap > 40 else "stamp_exact", chance)
        slots["loose"] = dates.written(begun, "loose" if gap > 40 else "exact", chance)
        slots["exact"] = dates.written(begun, "exact", chance)
    if ended and ended <= today:
        slots["until"] = dates.when(ended, today, chance)
        if begun:
            slots["span"] = dates.stretch(begun, ended, chance)
    return slots


def with_article(gene: str) -> str:
    """A gene's symbol behind the article that its reading asks for."""
    words = table("values")
    article = words["an"] if gene.split(" ")[0] in words["with_an"] else words["origin"]["plain"]
    return f"{article} {gene}" if gene else ""


def attributed(fact: dict[str, Any], register: str, setting: Setting) -> dict[str, str]:
    """The slots that tell attributes."""
    marks, words, chance = fact["attributes"], table("values"), setting.chance
    line, intent = words["line"].get(marks.get("line", "")), words["intent"].get(marks.get("intent", ""))
    nth, aim = (chance.choice(options) if options else "" for options in (line, intent))
    reason = marks.get("reason", "")
    gene = chance.choice(words["gene"].get(marks.get("gene", ""), [marks.get("gene", "")]))
    change = marks.get("protein_change", "")
    if change and chance.random() < 0.35:
        change = change.removeprefix("p.")
    slots = {key: marks.get(key, "") for key in ("dose", "grade", "exon", "positive", "examined", "scale")}
    return slots | {
        "side": marks.get("laterality", ""),
        "other": words["other"].get(marks.get("laterality", ""), ""),
        "nth_line": nth,
        "intent": aim,
        "gene": gene,
        "change": change,
        "a_gene": with_article(gene),
        "nth_line_sp": f"{nth} " if nth and chance.random() < 0.6 else "",
        "intent_sp": f"{aim} " if aim and chance.random() < 0.6 else "",
        "reason": chance.choice(ways(words["ways"].get(reason, [reason]), register)),
        "drug": concept_name(reason, register, setting) if reason else "",
        "staged": words["staged"].get(marks.get("prefix", ""), ""),
        "the_origin": words["origin"].get(marks.get("origin", ""), words["origin"]["plain"]),
    }


def told_of_kin(fact: dict[str, Any], setting: Setting) -> dict[str, str]:
    """Kinship and age out of a family fact's value or attributes."""
    if fact["mode"] != "family" and fact["assertion"] != "family":
        return {}
    kin, _, age = fact["value"].partition(", at ")
    kin = fact["attributes"].get("kinship", kin)
    return {"kin": setting.chance.choice(table("values")["kin"].get(kin, [kin])), "at": age}


def slots_of(fact: dict[str, Any], register: str, setting: Setting) -> dict[str, str]:
    """Every slot that a clause about this fact may use."""
    slots = dict(setting.people) | attributed(fact, register, setting) | dated(fact, setting)
    slots |= {"name": named(fact, register, setting), "concept": fact["concept"]}
    slots |= {"value": valued(fact, register, setting), "alteration": alteration(fact)}
    if fact["kind"] == "social" and fact["value"]:
        forms = ways(table("values")["packs"]["forms"], register)
        slots["packs"] = setting.chance.choice(forms).format(n=fact["value"].split()[0])
    if fact["kind"] == "death":
        slots["cause"] = concept_name(fact["value"], register, setting)
    if fact["mode"] == "declined" and fact["value"] in table("values")["ways"]:
        slots["why"] = slots["value"]
    slots["when_or_now"] = slots.get("when") or table("values")["origin"]["now"]
    return slots | told_of_kin(fact, setting)
