"""The course of a tumor: treatment for cure, follow-up, recurrence, and advanced disease line by line to the end."""

from __future__ import annotations

import datetime
import math

from . import molecular, treatment
from .staging import clinical, group_of, spread_to, work_up
from .story import Disease, Story, later
from .treatment import fitting, give

__all__ = ["live"]

_NO_SHARES = {"neoadjuvant": 0.0, "adjuvant": 0.0, "maintenance": 0.0, "radiation": 0.0}


def live(story: Story, disease: Disease, background: list[int]) -> None:
    """The whole course of one tumor."""
    rng = story.rng
    reported = work_up(story, disease)
    stained = molecular.stains(story, disease, reported)
    if stained:
        story.occasions[-1].facts += stained
    advanced = bool(disease.extent and disease.extent[2].startswith("M1")) or disease.entity["family"] in (
        "anaplastic thyroid",
        "unknown primary",
    )
    blood = bool(disease.family.get("blood"))
    seen = later(reported, rng.randrange(4, 18))
    facts = [*background, *clinical(story, disease, seen)]
    facts += molecular.markers(story, disease, reported, 3 if advanced else 1)
    mets: list[int] = []
    if advanced:
        brain = "brain" if story.given.brain and disease.key == "first" and story.happens(0.45) else ""
        mets = spread_to(
            story, disease, later(reported, 2), 1 + (rng.random() < 0.4) + (rng.random() < 0.2) + bool(brain), brain
        )
        story.meet(later(reported, 2), "radiology", "staging", mets, 8)
        disease.tags.add("advanced")
    story.meet(seen, "oncology consult", "diagnosis", facts, 10)
    if story.happens(0.3):
        story.meet(later(seen, 5), "tumor board", "staging", [], 3)
    inherited = molecular.germline(story, disease, later(seen, 30))
    if inherited:
        story.meet(later(seen, 30), "genetics", "diagnosis", inherited, 6)
    if molecular.sequenced(story, disease, seen, advanced or blood):
        story.meet(later(seen, 16), "molecular", "diagnosis", molecular.sequencing(story, disease, later(seen, 16)), 8)
    start = later(seen, rng.randrange(14, 34))
    if blood:
        _blood(story, disease, start)
    elif advanced:
        if story.happens(disease.plan.get("resects_metastatic", 0.0)):
            start = later(treatment.operate(story, disease, start), 30)
        _advanced(story, disease, start)
    else:
        _curative(story, disease, start)


def _blood(story: Story, disease: Disease, start: datetime.date) -> None:
    wait = disease.family.get("watch", 0)
    if story.happens(wait):
        fact = story.tell("procedure", "observation", "watchful waiting", start, tumor=disease.key, status="ongoing")
        story.meet(start, "progress", "start of treatment", [fact], 4)
        if story.happens(0.5):
            return
        start = later(start, story.rng.randrange(300, 1500))
    _advanced(story, disease, start)


def _curative(story: Story, disease: Disease, start: datetime.date) -> None:
    plan, rng = disease.plan, story.rng
    shares = {**_NO_SHARES, **plan.get("share", {})}
    day, treated = start, False
    observe = plan.get("observe")
    if observe and set(observe.get("needs", ())) <= disease.tags and story.happens(observe["share"]):
        story.meet(
            day,
            "progress",
            "start of treatment",
            [story.tell("procedure", observe["name"], "", day, tumor=disease.key, status="ongoing")],
            5,
        )
        _remission(story, disease, day)
        return
    chemoradiation = plan.get("chemoradiation")
    if chemoradiation and (
        not plan.get("surgery")
        or disease.stage in plan.get("unresectable", ())
        or fitting(story, disease, plan["surgery"], day) is None
        or (group_of(disease.stage) in ("III", "IV") and story.happens(0.6))
    ):
        name, *drugs = rng.choice(chemoradiation["regimens"])
        if disease.stage in plan.get("unresectable", ()):
            fact = story.tell("disease_state", "locally advanced disease", "unresectable", day, tumor=disease.key)
            story.meet(later(day, -3), "tumor board", "staging", [fact], 5)
        day = treatment.irradiate(story, disease, chemoradiation, day, "curative", {"name": name, "drugs": drugs})
        after = chemoradiation.get("after")
        if after and day.year >= after[1] and story.happens(0.7):
            then, start = {"name": after[0]}, later(day, 30)
            fact, day = give(story, disease, then, start, rng.uniform(4, 12), "consolidation", 0)
            treatment.begin(story, disease, then, start, [fact])
        _remission(story, disease, day)
        return
    instead = fitting(story, disease, plan.get("instead", ()), day)
    if instead and story.happens(0.42):
        refused = story.tell(
            "surgery",
            plan["surgery"][0]["name"],
            "patient preferred radiation",
            day,
            assertion="absent",
            tumor=disease.key,
            status="declined",
        )
        story.meet(later(day, -4), "progress", "start of treatment", [refused] if story.happens(0.6) else [], 4)
        day = treatment.irradiate(story, disease, instead, later(day, 45), "curative")
        beside = plan.get("beside")
        if beside and not set(beside["lacks"]) & disease.tags and story.happens(beside["share"]):
            fact, _ = give(story, disease, beside, start, beside["months"], "curative", 0)
            treatment.begin(story, disease, beside, start, [fact])
        _remission(story, disease, day)
        return
    what = fitting(story, disease, plan.get("neoadjuvant", ()), day) if story.happens(shares["neoadjuvant"]) else None
    if what:
        treated = True
        day = _round(story, disease, what, day, rng.uniform(3, 5), "neoadjuvant")
        disease.tags.add("neoadjuvant")
        _response(story, disease, day, ("partial response", "partial response", "complete response", "stable disease"))
    before = plan.get("preoperative")
    if before and not set(before["lacks"]) & disease.tags and story.happens(0.85):
        treated = True
        day = treatment.irradiate(story, disease, before, later(day, 7), "neoadjuvant", {"name": before["drug"]})
        disease.used.discard(before["drug"])
    if plan.get("surgery"):
        day = treatment.operate(
            story, disease, later(day, rng.randrange(21, 50) if treated else rng.randrange(3, 25)), after_drugs=treated
        )
    procedure = plan.get("procedure")
    if procedure and story.happens(procedure["share"]):
        fact = story.tell("procedure", procedure["name"], "", later(day, 60), tumor=disease.key, status="completed")
        story.meet(later(day, 60), "operative", "start of treatment", [fact], 7)
    topical = plan.get("topical")
    if topical and not set(topical["lacks"]) & disease.tags and story.happens(topical["share"]):
        fact = story.tell(
            "procedure", topical["name"], "six instillations", later(day, 40), tumor=disease.key, status="completed"
        )
        story.meet(later(day, 40), "progress", "start of treatment", [fact], 6)
    what = fitting(story, disease, plan.get("adjuvant", ()), day) if story.happens(shares["adjuvant"]) else None
    if what:
        if story.happens(0.07):
            refused = story.tell(
                "regimen" if "drugs" in what else "medication",
                what["name"],
                "declined by the patient",
                later(day, 28),
                assertion="absent",
                tumor=disease.key,
                status="declined",
                intent="adjuvant",
            )
            story.meet(later(day, 28), "progress", "start of treatment", [refused], 6)
        else:
            day = _round(story, disease, what, later(day, rng.randrange(28, 50)), rng.uniform(3, 6), "adjuvant")
    if story.happens(shares["radiation"]):
        field = fitting(story, disease, plan.get("radiation", ()), day)
        if field:
            beside = {"name": field["drug"]} if "drug" in field else None
            day = treatment.irradiate(story, disease, field, later(day, rng.randrange(25, 50)), "adjuvant", beside)
            disease.used -= {field.get("drug", "")}
    what = fitting(story, disease, plan.get("maintenance", ()), day) if story.happens(shares["maintenance"]) else None
    if what:
        lasts = (60, 60, 60, 48, 84, 8, 20) if disease.entity["family"] in ("breast", "dcis") else (12, 24, 36)
        months = what.get("months") or rng.choice(lasts)
        reason = treatment.mishap(story, disease, what, later(day, 20), later(day, 200)) if months < 24 else ""
        fact, _ = give(story, disease, what, later(day, 20), months, "adjuvant", 0, reason=reason)
        treatment.begin(story, disease, what, later(day, 20), [fact])
        # Years of tablets are no time of cycles.
        story.treated.pop()
    _remission(story, disease, day)


def _round(
    story: Story, disease: Disease, what: dict[str, object], day: datetime.date, months: float, intent: str
) -> datetime.date:
    fact, stop = give(story, disease, what, day, months, intent, 0)
    treatment.begin(story, disease, what, day, [fact])
    treatment.mishap(story, disease, what, day, stop)
    return stop


def _response(story: Story, disease: Disease, day: datetime.date, states: tuple[str, ...]) -> None:
    fact = story.tell("disease_state", story.rng.choice(states), "", day, tumor=disease.key)
    story.meet(day, "radiology", "response", [fact, *molecular.markers(story, disease, day, 0.6)], 5)


def _remission(story: Story, disease: Disease, day: datetime.date) -> None:
    """Follow-up visits until the records end or the tumor comes back."""
    rng = story.rng
    group = group_of(disease.stage) or "none"
    hazard = float(disease.family["relapse"].get(group, 0.0))
    forced = story.given.brain and disease.key == "first"
    years = -math.log(max(1e-9, rng.random())) / hazard if hazard else 99.0
    if forced:
        years = min(years, rng.uniform(0.3, max(0.4, (story.end - day).days / 365 * 0.5)))
    back = later(day, min(years, 60) * 365)
    visit = later(day, rng.randrange(80, 130))
    while visit < min(back, story.end):
        facts = molecular.markers(story, disease, visit, 0.05)
        if story.happens(0.6):
            facts.append(story.tell("disease_state", "no evidence of disease", "", visit, tumor=disease.key))
        elif story.happens(0.3):
            facts.append(
                story.tell(
                    "disease_state",
                    "recurrence",
                    "no evidence of recurrence",
                    visit,
                    assertion="absent",
                    tumor=disease.key,
                )
            )
        story.meet(visit, "progress", "follow-up", facts, 3)
        if story.happens(0.04):
            _false_alarm(story, disease, visit)
        visit = later(visit, rng.randrange(100, 230))
    if back >= story.end:
        return
    distant = forced or (bool(disease.family["spread"]) and story.happens(0.75) and disease.entity["family"] != "dcis")
    if not distant:
        _local_recurrence(story, disease, back)
        return
    disease.tags.add("advanced")
    brain = "brain" if forced and story.happens(0.45) else ""
    facts = [story.tell("disease_state", "distant recurrence", "", back, tumor=disease.key)]
    facts += spread_to(story, disease, back, 1 + (rng.random() < 0.4) + bool(brain), brain)
    story.meet(back, "radiology", "recurrence", facts, 9)
    if story.happens(0.5):
        biopsy = later(back, 9)
        told = [story.tell("procedure", "biopsy of metastasis", "", biopsy, tumor=disease.key)]
        story.meet(biopsy, "pathology", "recurrence", told, 5)
    if molecular.sequenced(story, disease, back, True):
        story.meet(later(back, 25), "molecular", "recurrence", molecular.sequencing(story, disease, later(back, 25)), 8)
    _advanced(story, disease, later(back, rng.randrange(20, 45)))


def _local_recurrence(story: Story, disease: Disease, day: datetime.date) -> None:
    if disease.entity["family"] == "prostate":
        fact = story.tell("disease_state", "biochemical recurrence", "", day, tumor=disease.key)
        told = [fact, *molecular.markers(story, disease, day, 0.15)]
        told.append(
            story.tell(
                "metastasis", "distant metastasis", "none on imaging", day, assertion="absent", tumor=disease.key
            )
        )
        story.meet(day, "progress", "recurrence", told, 7)
        if story.happens(0.5):
            castration = {"name": "leuprolide"}
            given, _ = give(story, disease, castration, later(day, 30), 24, "palliative", 0)
            treatment.begin(story, disease, castration, later(day, 30), [given])
        else:
            treatment.irradiate(
                story, disease, {"name": "salvage prostate bed radiation", "dose": "70 Gy"}, later(day, 40), "salvage"
            )
        return
    fact = story.tell("disease_state", "local recurrence", "", day, tumor=disease.key, site=disease.entity["site"])
    story.meet(day, "pathology", "recurrence", [fact], 7)
    what = fitting(story, disease, disease.plan.get("advanced", ()), day, 1)
    if what and story.happens(0.4):
        given, _ = give(story, disease, what, later(day, 35), 4, "", 0)
        treatment.begin(story, disease, what, later(day, 35), [given])


def _false_alarm(story: Story, disease: Disease, day: datetime.date) -> None:
    """A suspicion that comes to nothing."""
    sites = list(disease.family["spread"]) or ["bone"]
    site = story.rng.choice(sites)
    suspected = story.tell(
        "metastasis",
        f"{site} metastasis",
        "suspected",
        later(day, 5),
        assertion="uncertain",
        tumor=disease.key,
        site=site,
    )
    story.meet(later(day, 5), "radiology", "follow-up", [suspected], 3)
    ruled_out = story.tell(
        "metastasis",
        f"{site} metastasis",
        "ruled out by biopsy",
        later(day, 20),
        assertion="absent",
        tumor=disease.key,
        site=site,
    )
    story.meet(later(day, 20), "pathology", "follow-up", [ruled_out], 3)


def _advanced(story: Story, disease: Disease, start: datetime.date) -> None:
    plan, rng, blood = disease.plan, story.rng, bool(disease.family.get("blood"))
    day, line, forced = start, 1, story.given.brain and disease.key == "first" and "brain" not in disease.spread
    spread_disease = not blood and bool(disease.family["spread"])
    if spread_disease and story.happens(0.35):
        story.meet(
            day,
            "progress",
            "staging",
            [story.tell("disease_state", "metastatic disease", "", day, tumor=disease.key)],
            4,
        )
    if plan.get("backbone"):
        base = {"name": plan["backbone"]}
        fact, _ = give(story, disease, base, day, 300, "palliative", 0)
        treatment.begin(story, disease, base, day, [fact])
        story.treated.pop()
        hormone = story.tell(
            "disease_state", "metastatic castration-sensitive prostate cancer", "", day, tumor=disease.key
        )
        story.meet(day, "progress", "staging", [hormone] if story.happens(0.5) else [], 4)
    stop_after = rng.choices((1, 2, 3, 4, 5), (24, 26, 24, 16, 10))[0]
    while day < story.end and line <= stop_after:
        what = fitting(story, disease, plan.get("advanced", ()), day, line)
        if what is None:
            break
        if line == 1 and story.happens(0.04):
            refused = story.tell(
                "clinical_trial",
                "clinical trial",
                "declined",
                day,
                assertion="absent",
                tumor=disease.key,
                status="declined",
            )
            story.meet(later(day, -6), "progress", "start of treatment", [refused], 4)
        months = min(
            120.0, math.exp(rng.gauss(math.log(what.get("months", disease.family["months"] * 0.75 ** (line - 1))), 0.6))
        )
        harm = ""
        stop = later(day, months * 30.4)
        harm = treatment.mishap(story, disease, what, day, stop)
        reason = harm if harm and story.happens(0.12) else "progression"
        if months >= 100 and what.get("months", 0) >= 100:
            reason = ""
        fact, stop = give(
            story,
            disease,
            what,
            day,
            months if reason else 6,
            "palliative" if spread_disease else "",
            line,
            reason=reason,
        )
        treatment.begin(story, disease, what, day, [fact])
        _scans(story, disease, day, stop)
        if not reason:
            _remission(story, disease, stop)
            return
        day = stop
        if day >= story.end:
            return
        if blood and plan.get("transplant") and line == 1 and story.happens(0.45):
            done = story.tell(
                "procedure",
                plan["transplant"],
                "",
                later(day, -200) if months > 9 else day,
                tumor=disease.key,
                status="completed",
            )
            story.meet(later(day, -200) if months > 9 else day, "discharge", "start of treatment", [done], 7)
        if reason == "progression":
            _progression(story, disease, day, line, forced, spread_disease)
            forced = False
        day = later(day, rng.randrange(14, 40))
        line += 1
    if day < story.end and (blood or spread_disease or disease.entity["family"] == "glioma"):
        _dying(story, disease, day)


def _scans(story: Story, disease: Disease, day: datetime.date, stop: datetime.date) -> None:
    scan = later(day, story.rng.randrange(55, 90))
    states = ("partial response", "stable disease", "stable disease", "partial response", "complete response")
    while scan < min(stop, story.end):
        _response(story, disease, scan, states)
        scan = later(scan, story.rng.randrange(70, 150))


def _progression(
    story: Story, disease: Disease, day: datetime.date, line: int, forced: bool, spread_disease: bool
) -> None:
    facts = [
        story.tell("disease_state", "progressive disease", "", day, tumor=disease.key),
        *molecular.markers(story, disease, day, 4),
    ]
    if spread_disease:
        if forced or story.happens(0.45):
            facts += spread_to(story, disease, day, 1, "brain" if forced else "")
        if "brain" in disease.spread and "brain treated" not in disease.tags:
            disease.tags.add("brain treated")
            field = {
                "name": "stereotactic radiosurgery to the brain" if story.happens(0.65) else "whole brain radiation",
                "dose": "20 Gy",
                "site": "brain",
            }
            treatment.irradiate(story, disease, field, later(day, 15), "palliative")
            if story.happens(0.06):
                facts.append(
                    story.tell(
                        "metastasis", "leptomeningeal metastases", "", day, tumor=disease.key, site="leptomeninges"
                    )
                )
    story.meet(day, "radiology", "response", facts, 8)
    if disease.entity["family"] == "prostate" and "castration resistant" not in disease.tags:
        disease.tags.add("castration resistant")
        state = story.tell(
            "disease_state", "metastatic castration-resistant prostate cancer", "", later(day, 5), tumor=disease.key
        )
        story.meet(later(day, 5), "progress", "recurrence", [state], 8)
    if "EGFR" in disease.tags and "osimertinib" not in disease.used and day.year >= 2014 and story.happens(0.6):
        tested = later(day, 12)
        if story.happens(0.55):
            disease.tags.add("T790M")
            told = [molecular.variant(story, disease, tested, "EGFR", "p.T790M", "20")]
        else:
            told = [
                story.tell(
                    "genomic_variant",
                    "EGFR T790M",
                    "not detected",
                    tested,
                    assertion="absent",
                    tumor=disease.key,
                    gene="EGFR",
                    protein_change="p.T790M",
                    result="negative",
                )
            ]
        story.meet(tested, "molecular", "recurrence", told, 8)
    elif molecular.sequenced(story, disease, day, True, 0.5):
        tested = later(day, 18)
        story.meet(tested, "molecular", "recurrence", molecular.sequencing(story, disease, tested), 8)
    if "bone" in disease.spread and story.happens(0.25):
        treatment.irradiate(
            story,
            disease,
            {"name": "palliative radiation to the spine", "dose": "20 Gy", "site": "spine"},
            later(day, 20),
            "palliative",
        )
    if story.happens(0.12):
        trial = story.tell(
            "clinical_trial",
            "phase I clinical trial",
            "to be considered",
            later(day, 4),
            assertion="hypothetical",
            tumor=disease.key,
        )
        story.meet(later(day, 4), "progress", "response", [trial], 4)


def _dying(story: Story, disease: Disease, day: datetime.date) -> None:
    died = later(day, story.rng.randrange(20, 160))
    if story.given.ecog in (0, 1) and story.happens(0.6):
        return
    # Who has two tumors dies of the first: the second is told as far as it came.
    if died >= story.end or disease.key != "first":
        return
    story.died = died
    hospice = later(day, min(14, (died - day).days - 2))
    story.meet(
        hospice,
        "progress",
        "end of life",
        [story.tell("procedure", "hospice", "", hospice, tumor=disease.key, status="started")],
        6,
    )
    fact = story.tell("death", "death", disease.entity["diagnosis"], died)
    story.meet(died, "death", "end of life", [fact], 20)
