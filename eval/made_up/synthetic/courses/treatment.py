"""Treatment: operations, radiation, drugs before and after them, and the lines of advanced disease."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Any

from .staging import pathological
from .story import Disease, Story, later
from .tables import table

__all__ = ["begin", "fitting", "give", "irradiate", "mishap", "operate"]


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


def give(
    story: Story,
    disease: Disease,
    what: dict[str, Any],
    day: datetime.date,
    months: float,
    intent: str,
    line: int,
    *,
    reason: str = "",
) -> tuple[int, datetime.date]:
    """Drugs from ``day`` on: the fact and the last day. Several drugs are one regimen that names them."""
    stop = later(day, months * 30.4)
    drugs = what.get("drugs", [what["name"]])
    ongoing = stop > story.end or (story.died is not None and stop > story.died)
    says: dict[str, Any] = {"intent": intent, "line": str(line) if line else "", "reason": "" if ongoing else reason}
    says["status"] = "ongoing" if ongoing else "discontinued" if reason else "completed"
    named = f"{', '.join(drugs[:-1])} and {drugs[-1]}"
    value = ", ".join(drugs) if len(drugs) > 1 and what["name"] != named else ""
    kind = "regimen" if len(drugs) > 1 else "medication"
    disease.used.add(what["name"])
    place = story.tell(kind, what["name"], value, day, None if ongoing else stop, tumor=disease.key, **says)
    story.treated.append((day, stop))
    return place, stop


def begin(story: Story, disease: Disease, what: dict[str, Any], day: datetime.date, facts: Sequence[int]) -> None:
    """The visit at which treatment starts; before it, it was planned."""
    if story.happens(0.45):
        planned = later(day, -story.rng.randrange(4, 14))
        name = "regimen" if "drugs" in what else "medication"
        story.meet(
            planned,
            "progress",
            "start of treatment",
            [story.tell(name, what["name"], "", planned, assertion="planned", tumor=disease.key)],
            3,
        )
    story.meet(day, "progress", "start of treatment", facts, 9)


def mishap(story: Story, disease: Disease, what: dict[str, Any], day: datetime.date, stop: datetime.date) -> str:
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
    fact = story.tell("adverse_event", name, f"grade {grade}", when, tumor=disease.key, grade=grade, reason=cause)
    if grade in ("3", "4") and story.happens(0.5):
        story.meet(when, "emergency", "toxicity", [fact], 5)
        if story.happens(0.5):
            story.meet(later(when, 3), "discharge", "toxicity", [], 3)
    else:
        story.meet(when, story.rng.choice(("progress", "progress", "telephone", "nursing")), "toxicity", [fact], 4)
    return name


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
    fact = story.tell(
        "surgery", name, "", day, tumor=disease.key, intent="curative", status="completed", **disease.where
    )
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
                report.facts.append(
                    story.tell(
                        "histology",
                        "ductal carcinoma in situ",
                        "component beside the invasive carcinoma",
                        reported,
                        tumor=disease.key,
                        **disease.where,
                    )
                )
            if story.happens(0.02):
                _amended(story, disease, reported)
    return out


def _amended(story: Story, disease: Disease, day: datetime.date) -> None:
    """A report that was wrong and is put right: the first word was withdrawn."""
    if not disease.side:
        return
    other = "right" if disease.side == "left" else "left"
    fact = story.tell(
        "diagnosis",
        disease.entity["diagnosis"],
        f"{other} side, corrected to {disease.side}",
        later(day, 2),
        assertion="absent",
        tumor=disease.key,
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
    fact = story.tell(
        "radiation",
        what["name"],
        what["dose"],
        day,
        stop,
        tumor=disease.key,
        dose=what["dose"],
        intent=intent,
        status="completed",
        site=what.get("site", ""),
    )
    story.treated.append((day, stop))
    facts = [fact]
    if drug is not None:
        given, _ = give(story, disease, drug, day, weeks * 7 / 30.4, intent, 0)
        facts.append(given)
    story.meet(
        later(day, -10),
        "radiation",
        "start of treatment",
        [story.tell("radiation", what["name"], "", later(day, -10), assertion="planned", tumor=disease.key)],
        3,
    )
    story.meet(stop, "radiation", "start of treatment", facts, 8)
    return stop
