"""Treatment for cure: watching, radiation alone or with drugs, or an operation and what goes before and behind it."""

from __future__ import annotations

import datetime
from typing import Any

from .staging import group_of
from .story import Disease, Story, later
from .treatment import Drugs, fitting, irradiate, mishap, operate, response, start

_START = "start of treatment"


def treat_for_cure(story: Story, disease: Disease, day: datetime.date) -> datetime.date:
    """The first of the ways that befits the tumor; gives the day of its end."""
    for way in (_observation, _chemoradiation, _radiation_instead):
        end = way(story, disease, day)
        if end is not None:
            return end
    return _around_an_operation(story, disease, day)


def _drawn(story: Story, disease: Disease, part: str) -> bool:
    """Whether that part of the plan is given: its entry may name a share, and tags that it lacks."""
    what = disease.plan.get(part)
    if not what or set(what.get("lacks", ())) & disease.tags:
        return False
    return story.happens(what["share"])


def _observation(story: Story, disease: Disease, day: datetime.date) -> datetime.date | None:
    observe = disease.plan.get("observe")
    if not observe or not set(observe.get("needs", ())) <= disease.tags or not story.happens(observe["share"]):
        return None
    fact = story.add_to(disease, "procedure", observe["name"], "", day, status="ongoing")
    story.meet(day, "progress", _START, [fact], 5)
    return day


def _chemoradiation(story: Story, disease: Disease, day: datetime.date) -> datetime.date | None:
    """Radiation with drugs, where nothing can be operated on or much is to be gained."""
    plan = disease.plan
    both = plan.get("chemoradiation")
    unresectable = disease.stage in plan.get("unresectable", ())
    if not both or not (
        not plan.get("surgery")
        or unresectable
        or fitting(story, disease, plan["surgery"], day) is None
        or (group_of(disease.stage) in ("III", "IV") and story.happens(0.6))
    ):
        return None
    name, *drugs = story.rng.choice(both["regimens"])
    if unresectable:
        fact = story.add_to(disease, "disease_state", "locally advanced disease", "unresectable", day)
        story.meet(later(day, -3), "tumor board", "staging", [fact], 5)
    day = irradiate(story, disease, both, day, "curative", {"name": name, "drugs": drugs})
    after = both.get("after")
    if after and day.year >= after[1] and story.happens(0.7):
        return start(
            story, disease, Drugs({"name": after[0]}, story.rng.uniform(4, 12), "consolidation"), later(day, 30)
        )
    return day


def _radiation_instead(story: Story, disease: Disease, day: datetime.date) -> datetime.date | None:
    """Radiation in place of an operation that the patient would rather not have."""
    plan = disease.plan
    field = fitting(story, disease, plan.get("instead", ()), day)
    if not field or not story.happens(0.42):
        return None
    refused = story.add_to(
        disease, "surgery", plan["surgery"][0]["name"], "patient preferred radiation", day, assertion="absent",
        status="declined",
    )  # fmt: skip
    story.meet(later(day, -4), "progress", _START, [refused] if story.happens(0.6) else [], 4)
    end = irradiate(story, disease, field, later(day, 45), "curative")
    if _drawn(story, disease, "beside"):
        beside = plan["beside"]
        start(story, disease, Drugs(beside, beside["months"], "curative"), day)
    return end


def _around_an_operation(story: Story, disease: Disease, day: datetime.date) -> datetime.date:
    """Drugs and radiation ahead of the operation, the operation, and what follows it."""
    day, treated = _before_operation(story, disease, day)
    if disease.plan.get("surgery"):
        wait = story.rng.randrange(21, 50) if treated else story.rng.randrange(3, 25)
        day = operate(story, disease, later(day, wait), after_drugs=treated)
    _local_treatment(story, disease, day)
    day = _adjuvant_drugs(story, disease, day)
    field = _chosen(story, disease, "radiation", day)
    if field:
        beside = {"name": field["drug"]} if "drug" in field else None
        day = irradiate(story, disease, field, later(day, story.rng.randrange(25, 50)), "adjuvant", beside)
        disease.used -= {field.get("drug", "")}
    _maintenance(story, disease, day)
    return day


def _chosen(story: Story, disease: Disease, part: str, day: datetime.date) -> dict[str, Any] | None:
    """An entry of that part of the plan, by the share of patients who get one."""
    if not story.happens(disease.plan.get("share", {}).get(part, 0.0)):
        return None
    return fitting(story, disease, disease.plan.get(part, ()), day)


def _cycles(story: Story, disease: Disease, drugs: Drugs, day: datetime.date) -> datetime.date:
    end = start(story, disease, drugs, day)
    mishap(story, disease, drugs.what, day, end)
    return end


def _before_operation(story: Story, disease: Disease, day: datetime.date) -> tuple[datetime.date, bool]:
    """The day on which all is done that precedes the operation, and whether anything did."""
    treated = False
    what = _chosen(story, disease, "neoadjuvant", day)
    if what:
        treated = True
        day = _cycles(story, disease, Drugs(what, story.rng.uniform(3, 5), "neoadjuvant"), day)
        disease.tags.add("neoadjuvant")
        response(story, disease, day, ("partial response", "partial response", "complete response", "stable disease"))
    before = disease.plan.get("preoperative")
    if before and not set(before["lacks"]) & disease.tags and story.happens(0.85):
        treated = True
        day = irradiate(story, disease, before, later(day, 7), "neoadjuvant", {"name": before["drug"]})
        disease.used.discard(before["drug"])
    return day, treated


def _local_treatment(story: Story, disease: Disease, day: datetime.date) -> None:
    """A procedure in place of an operation or beside it, and drugs put where the tumor was."""
    if _drawn(story, disease, "procedure"):
        name = disease.plan["procedure"]["name"]
        fact = story.add_to(disease, "procedure", name, "", later(day, 60), status="completed")
        story.meet(later(day, 60), "operative", _START, [fact], 7)
    if _drawn(story, disease, "topical"):
        name = disease.plan["topical"]["name"]
        fact = story.add_to(disease, "procedure", name, "six instillations", later(day, 40), status="completed")
        story.meet(later(day, 40), "progress", _START, [fact], 6)


def _adjuvant_drugs(story: Story, disease: Disease, day: datetime.date) -> datetime.date:
    """Drugs after the operation, or the patient's refusal of them."""
    what = _chosen(story, disease, "adjuvant", day)
    if not what:
        return day
    if not story.happens(0.07):
        begun = later(day, story.rng.randrange(28, 50))
        return _cycles(story, disease, Drugs(what, story.rng.uniform(3, 6), "adjuvant"), begun)
    kind = "regimen" if "drugs" in what else "medication"
    refused = story.add_to(
        disease, kind, what["name"], "declined by the patient", later(day, 28), assertion="absent", status="declined",
        intent="adjuvant",
    )  # fmt: skip
    story.meet(later(day, 28), "progress", _START, [refused], 6)
    return day


def _maintenance(story: Story, disease: Disease, day: datetime.date) -> None:
    """Months or years of tablets after all else."""
    what = _chosen(story, disease, "maintenance", day)
    if not what:
        return
    lasts = (60, 60, 60, 48, 84, 8, 20) if disease.entity["family"] in ("breast", "dcis") else (12, 24, 36)
    months = what.get("months") or story.rng.choice(lasts)
    reason = mishap(story, disease, what, later(day, 20), later(day, 200)) if months < 24 else ""
    start(story, disease, Drugs(what, months, "adjuvant", reason=reason), later(day, 20))
    # Years of tablets are no time of cycles.
    story.treated.pop()
