"""Course of a tumor: work-up, follow-up, recurrence, and advanced disease line by line to the end."""

from __future__ import annotations

import datetime
import math
from typing import Any

from . import molecular, treatment
from .curative import treat_for_cure
from .staging import clinical, group_of, spread_to, work_up
from .story import Disease, Story, later
from .treatment import Drugs, fitting

#: What scans say while a line of treatment goes on.
_STATES = ("partial response", "stable disease", "stable disease", "partial response", "complete response")


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
        _remission(story, disease, treat_for_cure(story, disease, start))


def _blood(story: Story, disease: Disease, start: datetime.date) -> None:
    wait = disease.family.get("watch", 0)
    if story.happens(wait):
        fact = story.add_to(disease, "procedure", "observation", "watchful waiting", start, status="ongoing")
        story.meet(start, "progress", "start of treatment", [fact], 4)
        if story.happens(0.5):
            return
        start = later(start, story.rng.randrange(300, 1500))
    _advanced(story, disease, start)


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
            facts.append(story.add_to(disease, "disease_state", "no evidence of disease", "", visit))
        elif story.happens(0.3):
            facts.append(
                story.add_to(
                    disease, "disease_state", "recurrence", "no evidence of recurrence", visit, assertion="absent"
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
    facts = [story.add_to(disease, "disease_state", "distant recurrence", "", back)]
    facts += spread_to(story, disease, back, 1 + (rng.random() < 0.4) + bool(brain), brain)
    story.meet(back, "radiology", "recurrence", facts, 9)
    if story.happens(0.5):
        biopsy = later(back, 9)
        fact = story.add_to(disease, "procedure", "biopsy of metastasis", "", biopsy)
        story.meet(biopsy, "pathology", "recurrence", [fact], 5)
    if molecular.sequenced(story, disease, back, True):
        story.meet(later(back, 25), "molecular", "recurrence", molecular.sequencing(story, disease, later(back, 25)), 8)
    _advanced(story, disease, later(back, rng.randrange(20, 45)))


def _local_recurrence(story: Story, disease: Disease, day: datetime.date) -> None:
    if disease.entity["family"] == "prostate":
        facts = [
            story.add_to(disease, "disease_state", "biochemical recurrence", "", day),
            *molecular.markers(story, disease, day, 0.15),
            story.add_to(disease, "metastasis", "distant metastasis", "none on imaging", day, assertion="absent"),
        ]
        story.meet(day, "progress", "recurrence", facts, 7)
        if story.happens(0.5):
            treatment.start(story, disease, Drugs({"name": "leuprolide"}, 24, "palliative"), later(day, 30))
        else:
            field = {"name": "salvage prostate bed radiation", "dose": "70 Gy"}
            treatment.irradiate(story, disease, field, later(day, 40), "salvage")
        return
    fact = story.add_to(disease, "disease_state", "local recurrence", "", day, site=disease.entity["site"])
    story.meet(day, "pathology", "recurrence", [fact], 7)
    what = fitting(story, disease, disease.plan.get("advanced", ()), day, 1)
    if what and story.happens(0.4):
        treatment.start(story, disease, Drugs(what, 4), later(day, 35))


def _false_alarm(story: Story, disease: Disease, day: datetime.date) -> None:
    """A suspicion that comes to nothing."""
    site = story.rng.choice(list(disease.family["spread"]) or ["bone"])
    for value, assertion, days, note in (
        ("suspected", "uncertain", 5, "radiology"),
        ("ruled out by biopsy", "absent", 20, "pathology"),
    ):
        then = later(day, days)
        fact = story.add_to(disease, "metastasis", f"{site} metastasis", value, then, assertion=assertion, site=site)
        story.meet(then, note, "follow-up", [fact], 3)


def _advanced(story: Story, disease: Disease, day: datetime.date) -> None:
    """Advanced disease line by line, until nothing more is given, or a line that has no end holds the tumor."""
    blood = bool(disease.family.get("blood"))
    # A brain metastasis that the bank of questions wants comes with the first progression.
    forced = story.given.brain and disease.key == "first" and "brain" not in disease.spread
    solid = not blood and bool(disease.family["spread"])
    _dissemination(story, disease, day, solid)
    lines = story.rng.choices((1, 2, 3, 4, 5), (24, 26, 24, 16, 10))[0]
    for line in range(1, lines + 1):
        if day >= story.end:
            break
        what = fitting(story, disease, disease.plan.get("advanced", ()), day, line)
        if what is None:
            break
        drugs, stop = _given_line(story, disease, what, day, line, solid)
        if not drugs.reason:
            _remission(story, disease, stop)
            return
        day = stop
        if day >= story.end:
            return
        if blood and line == 1:
            _transplant(story, disease, day, drugs.months)
        if drugs.reason == "progression":
            _progression(story, disease, day, forced, solid)
            forced = False
        day = later(day, story.rng.randrange(14, 40))
    if day < story.end and (blood or solid or disease.entity["family"] == "glioma"):
        _dying(story, disease, day)


def _dissemination(story: Story, disease: Disease, day: datetime.date, solid: bool) -> None:
    """The visit that says how far it has come, and what is given through all lines."""
    if solid and story.happens(0.35):
        fact = story.add_to(disease, "disease_state", "metastatic disease", "", day)
        story.meet(day, "progress", "staging", [fact], 4)
    if disease.plan.get("backbone"):
        treatment.start(story, disease, Drugs({"name": disease.plan["backbone"]}, 300, "palliative"), day)
        story.treated.pop()
        hormone = story.add_to(disease, "disease_state", "metastatic castration-sensitive prostate cancer", "", day)
        story.meet(day, "progress", "staging", [hormone] if story.happens(0.5) else [], 4)


def _given_line(
    story: Story, disease: Disease, what: dict[str, Any], day: datetime.date, line: int, solid: bool
) -> tuple[Drugs, datetime.date]:
    """One line of treatment with its scans: what was given, and its last day. No reason: it has no end."""
    if line == 1 and story.happens(0.04):
        refused = story.add_to(
            disease, "clinical_trial", "clinical trial", "declined", day, assertion="absent", status="declined"
        )
        story.meet(later(day, -6), "progress", "start of treatment", [refused], 4)
    usual = what.get("months", disease.family["months"] * 0.75 ** (line - 1))
    months = min(120.0, math.exp(story.rng.gauss(math.log(usual), 0.6)))
    harm = treatment.mishap(story, disease, what, day, later(day, months * 30.4))
    reason = harm if harm and story.happens(0.12) else "progression"
    if months >= 100 and what.get("months", 0) >= 100:
        reason = ""
    drugs = Drugs(what, months if reason else 6, "palliative" if solid else "", line, reason)
    stop = treatment.start(story, disease, drugs, day)
    scan = later(day, story.rng.randrange(55, 90))
    while scan < min(stop, story.end):
        treatment.response(story, disease, scan, _STATES)
        scan = later(scan, story.rng.randrange(70, 150))
    return drugs, stop


def _transplant(story: Story, disease: Disease, day: datetime.date, months: float) -> None:
    if disease.plan.get("transplant") and story.happens(0.45):
        done = later(day, -200) if months > 9 else day
        fact = story.add_to(disease, "procedure", disease.plan["transplant"], "", done, status="completed")
        story.meet(done, "discharge", "start of treatment", [fact], 7)


def _progression(story: Story, disease: Disease, day: datetime.date, forced: bool, solid: bool) -> None:
    """The scan that ends a line, what is tested for then, and what is done for the bones."""
    facts = [
        story.add_to(disease, "disease_state", "progressive disease", "", day),
        *molecular.markers(story, disease, day, 4),
    ]
    if solid:
        facts += _further_spread(story, disease, day, forced)
    story.meet(day, "radiology", "response", facts, 8)
    if disease.entity["family"] == "prostate" and "castration resistant" not in disease.tags:
        disease.tags.add("castration resistant")
        state = story.add_to(
            disease, "disease_state", "metastatic castration-resistant prostate cancer", "", later(day, 5)
        )
        story.meet(later(day, 5), "progress", "recurrence", [state], 8)
    if "EGFR" in disease.tags and "osimertinib" not in disease.used and day.year >= 2014 and story.happens(0.6):
        _resistance(story, disease, later(day, 12))
    elif molecular.sequenced(story, disease, day, True, 0.5):
        tested = later(day, 18)
        story.meet(tested, "molecular", "recurrence", molecular.sequencing(story, disease, tested), 8)
    if "bone" in disease.spread and story.happens(0.25):
        field = {"name": "palliative radiation to the spine", "dose": "20 Gy", "site": "spine"}
        treatment.irradiate(story, disease, field, later(day, 20), "palliative")
    if story.happens(0.12):
        then = later(day, 4)
        trial = story.add_to(
            disease, "clinical_trial", "phase I clinical trial", "to be considered", then, assertion="hypothetical"
        )
        story.meet(then, "progress", "response", [trial], 4)


def _further_spread(story: Story, disease: Disease, day: datetime.date, forced: bool) -> list[int]:
    """New metastases, and radiation of the brain once it is reached."""
    facts = []
    if forced or story.happens(0.45):
        facts += spread_to(story, disease, day, 1, "brain" if forced else "")
    if "brain" in disease.spread and "brain treated" not in disease.tags:
        disease.tags.add("brain treated")
        name = "stereotactic radiosurgery to the brain" if story.happens(0.65) else "whole brain radiation"
        field = {"name": name, "dose": "20 Gy", "site": "brain"}
        treatment.irradiate(story, disease, field, later(day, 15), "palliative")
        if story.happens(0.06):
            facts.append(
                story.add_to(disease, "metastasis", "leptomeningeal metastases", "", day, site="leptomeninges")
            )
    return facts


def _resistance(story: Story, disease: Disease, day: datetime.date) -> None:
    """A test for the change that comes with resistance to the first EGFR inhibitors."""
    if story.happens(0.55):
        disease.tags.add("T790M")
        fact = molecular.variant(story, disease, day, molecular.Alteration("EGFR", "p.T790M", "20"))
    else:
        fact = story.add_to(
            disease, "genomic_variant", "EGFR T790M", "not detected", day, assertion="absent", gene="EGFR",
            protein_change="p.T790M", result="negative",
        )  # fmt: skip
    story.meet(day, "molecular", "recurrence", [fact], 8)


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
        [story.add_to(disease, "procedure", "hospice", "", hospice, status="started")],
        6,
    )
    fact = story.add("death", "death", disease.entity["diagnosis"], died)
    story.meet(died, "death", "end of life", [fact], 20)
