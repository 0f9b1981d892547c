"""Parts of treatment: drugs and what they do amiss, operations with their reports, radiation."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .molecular import markers
from .staging import pathological
from .story import Disease, Story, later
from .tables import table


def fitting(
    story: Story, disease: Disease, options: Sequence[dict[str, Any]], day: datetime.date, line: int = 0
) -> dict[str, Any] | None:
    """What may be given now, one by weight; None where nothing fits."""
    held = [
        [one, one.get("weight", 1)]
        for one in options
        if set(one.get("needs", ())) <= disease.tags
        and not set(one.get("lacks", ())) & disease.tags
        and day.year >= one.get("years", 0)
        and (not line or line in one.get("lines", range(1, 99)))
        and one["name"] not in disease.used
    ]
    found: dict[str, Any] | None = story.pick(held) if held else None
    return found


@dataclass(frozen=True, slots=True)
class Drugs:
    """Drugs to be given for so many months: an entry of the plans (``what``), why, in which line, and why they end."""

    what: Mapping[str, Any]
    months: float
    intent: str = ""
    line: int = 0
    reason: str = ""


def give(story: Story, disease: Disease, drugs: Drugs, day: datetime.date) -> tuple[int, datetime.date]:
    """Drugs from ``day`` on: the fact and the last day. Several drugs are one regimen that names them."""
    what = drugs.what
    stop = later(day, drugs.months * 30.4)
    names = what.get("drugs", [what["name"]])
    ongoing = stop > story.end or (story.died is not None and stop > story.died)
    named = f"{', '.join(names[:-1])} and {names[-1]}"
    value = ", ".join(names) if len(names) > 1 and what["name"] != named else ""
    disease.used.add(what["name"])
    place = story.add_to(
        disease,
        "regimen" if len(names) > 1 else "medication",
        what["name"],
        value,
        day,
        None if ongoing else stop,
        intent=drugs.intent,
        line=str(drugs.line) if drugs.line else "",
        reason="" if ongoing else drugs.reason,
        status="ongoing" if ongoing else "discontinued" if drugs.reason else "completed",
    )
    story.treated.append((day, stop))
    return place, stop


def start(story: Story, disease: Disease, drugs: Drugs, day: datetime.date) -> datetime.date:
    """Drugs with the visit at which they start; gives the last day."""
    fact, stop = give(story, disease, drugs, day)
    _begin(story, disease, drugs.what, day, fact)
    return stop


def _begin(story: Story, disease: Disease, what: Mapping[str, Any], day: datetime.date, fact: int) -> None:
    """The visit at which treatment starts; before it, it was planned."""
    if story.happens(0.45):
        planned = later(day, -story.rng.randrange(4, 14))
        name = "regimen" if "drugs" in what else "medication"
        plan = story.add_to(disease, name, what["name"], "", planned, assertion="planned")
        story.meet(planned, "progress", "start of treatment", [plan], 3)
    story.meet(day, "progress", "start of treatment", [fact], 9)


def mishap(story: Story, disease: Disease, what: Mapping[str, Any], day: datetime.date, stop: datetime.date) -> str:
    """An adverse event of a treatment, perhaps; gives its name."""
    data = table("toxicities")
    drugs = set(what.get("drugs", [what["name"]]))
    events = [event for one in data["drugs"] if drugs & set(one["drugs"]) for event in one["events"]]
    if not events or not story.happens(data["rate"]):
        return ""
    name = str(story.pick(events))
    cause = story.rng.choice(
        sorted(
            drugs
            & {drug for one in data["drugs"] if name in [event[0] for event in one["events"]] for drug in one["drugs"]}
        )
        or sorted(drugs)
    )
    grade = str(story.pick(data["grades"]))
    span = max(8, min((stop - day).days, 200))
    when = later(day, story.rng.randrange(7, span))
    fact = story.add_to(disease, "adverse_event", name, f"grade {grade}", when, grade=grade, reason=cause)
    if grade in ("3", "4") and story.happens(0.5):
        story.meet(when, "emergency", "toxicity", [fact], 5)
        if story.happens(0.5):
            story.meet(later(when, 3), "discharge", "toxicity", [], 3)
    else:
        story.meet(when, story.rng.choice(("progress", "progress", "telephone", "nursing")), "toxicity", [fact], 4)
    return name


def response(story: Story, disease: Disease, day: datetime.date, states: tuple[str, ...]) -> None:
    """A scan that tells one of ``states``, with the marker in blood."""
    fact = story.add_to(disease, "disease_state", story.rng.choice(states), "", day)
    story.meet(day, "radiology", "response", [fact, *markers(story, disease, day, 0.6)], 5)


def operate(story: Story, disease: Disease, day: datetime.date, *, after_drugs: bool = False) -> datetime.date:
    """The operation, its report and what pathology says of it; gives the day of discharge. Nothing where none fits."""
    what = fitting(story, disease, disease.plan.get("surgery", ()), day)
    if what is None:
        return day
    name = (
        f"{disease.side} {what['name']}"
        if disease.side and disease.entity["family"] in ("breast", "dcis", "kidney")
        else what["name"]
    )
    fact = story.add_to(disease, "surgery", name, "", day, intent="curative", status="completed", **disease.where)
    story.meet(day, "operative", "start of treatment", [fact], 9)
    disease.tags.add("mastectomy" if "mastectomy" in what["name"] else what["name"])
    out = later(day, story.rng.randrange(1, 8))
    story.meet(out, "discharge", "start of treatment", [], 3)
    if not disease.plan.get("unstaged") and what["name"] not in ("transurethral resection of bladder tumor",):
        reported = later(day, story.rng.randrange(4, 10))
        facts = pathological(story, disease, reported, after_drugs)
        if facts:
            report = story.meet(reported, "pathology", "staging", facts, 9)
            if (
                disease.entity["family"] == "breast"
                and disease.entity["histology"].startswith("invasive")
                and story.happens(0.3)
            ):
                beside = ("ductal carcinoma in situ", "component beside the invasive carcinoma", reported)
                report.facts.append(story.add_to(disease, "histology", *beside, **disease.where))
            if story.happens(0.02):
                _amended(story, disease, reported)
    return out


def _amended(story: Story, disease: Disease, day: datetime.date) -> None:
    """A report that was wrong and is put right: the first word was withdrawn."""
    if not disease.side:
        return
    other = "right" if disease.side == "left" else "left"
    fact = story.add_to(
        disease,
        "diagnosis",
        disease.entity["diagnosis"],
        f"{other} side, corrected to {disease.side}",
        later(day, 2),
        assertion="absent",
        reason=f"amended report: laterality corrected to {disease.side}",
        laterality=other,
        site=disease.entity["site"],
    )
    story.meet(later(day, 2), "pathology", "staging", [fact], 6)


def irradiate(
    story: Story,
    disease: Disease,
    what: dict[str, Any],
    day: datetime.date,
    intent: str,
    drug: dict[str, Any] | None = None,
) -> datetime.date:
    """A course of radiation with its summary; with ``drug`` it is given together with that. Gives its last day."""
    amount = float(what["dose"].split()[0])
    weeks = (
        1
        if "stereotactic" in what["name"] or "brachy" in what["name"] or "iodine" in what["name"]
        else max(1, math.ceil(amount / 10))
    )
    stop = later(day, weeks * 7 - 3)
    attributes = {"dose": what["dose"], "intent": intent, "status": "completed", "site": what.get("site", "")}
    fact = story.add_to(disease, "radiation", what["name"], what["dose"], day, stop, **attributes)
    story.treated.append((day, stop))
    facts = [fact]
    if drug is not None:
        given, _ = give(story, disease, Drugs(drug, weeks * 7 / 30.4, intent), day)
        facts.append(given)
    planned = story.add_to(disease, "radiation", what["name"], "", later(day, -10), assertion="planned")
    story.meet(later(day, -10), "radiation", "start of treatment", [planned], 3)
    story.meet(stop, "radiation", "start of treatment", facts, 8)
    return stop
