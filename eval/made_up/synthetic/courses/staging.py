"""Work-up of a tumor: how it showed itself, what pathology counts, how far it had gone."""

from __future__ import annotations

import datetime
from typing import Any

from .story import Disease, Story, later
from .tables import table

_GROUPS = ("IV", "III", "II", "I", "0")


def group_of(stage: str) -> str:
    """The roman group of a stage ("IIIA" is "III"); "" for none."""
    return next((one for one in _GROUPS if stage.startswith(one)), "")


def make_disease(story: Story, entity: dict[str, Any], found: datetime.date, key: str, stage: str | None) -> Disease:
    """A tumor of that sort, of ``stage`` where one is fixed, else of one by chance."""
    name = str(entity["family"])
    family, plan = table("families")[name], dict(table("plans").get(name, {}))
    if "like" in plan:
        plan = {**table("plans")[plan["like"]], **plan}
    disease = Disease(key, entity, family, plan, found)
    if entity.get("paired"):
        disease.side = story.rng.choice(("left", "right"))
    if entity.get("segments"):
        disease.place = story.rng.choice(entity["segments"])
    group = stage or story.pick(list(family["stages"].items()))
    disease.stated = stage is not None or group == "0"
    extents = [one for one in family["extents"] if group_of(one[0]) == group]
    if story.given.brain and key == "first" and group == "IV":
        extents = [one for one in extents if one[3].startswith("M1") and one[3] not in ("M1a",)] or extents
    if extents:
        disease.stage, *extent = story.rng.choice(extents)
        disease.extent = (extent[0], extent[1], extent[2])
    else:
        disease.stage = group if "scheme" in family else ""
    disease.tags |= set(entity.get("traits", ())) | {f"stage {group_of(disease.stage)}"}
    disease.tags |= {str(entity["site"]), "older" if found.year - story.born.year >= 52 else "younger"}
    if disease.place in ("ascending colon", "cecum", "transverse colon"):
        disease.tags.add("right")
    if name == "bladder" and group in ("II", "III", "IV"):
        disease.tags.add("muscle invasive")
    if disease.extent and disease.extent[1][:2] in ("N1", "N2", "N3"):
        disease.tags.add("node positive")
    return disease


def work_up(story: Story, disease: Disease) -> datetime.date:
    """Tells of presentation, imaging and biopsy, and gives the day of the pathology report."""
    family, rng, found = disease.family, story.rng, disease.found
    seen = later(found, -rng.randrange(10, 45))
    symptom = story.add_to(disease, "symptom", story.pick(family["presents"]), day=seen)
    story.meet(seen, "primary care", "diagnosis", [symptom], 3)
    imaged = later(found, -rng.randrange(3, 10))
    name = disease.entity["diagnosis"]
    facts = [story.add_to(disease, "procedure", family["imaging"], day=imaged)]
    if not family.get("blood"):
        facts.append(
            story.add_to(
                disease, "diagnosis", name, "suspected on imaging", imaged, assertion="uncertain", **disease.where
            )
        )
    story.meet(imaged, "radiology", "diagnosis", facts, 4)
    facts = []
    if family["biopsy"]:
        facts.append(story.add_to(disease, "procedure", family["biopsy"], day=found))
    facts.append(story.add_to(disease, "diagnosis", name, disease.place, found, **disease.where))
    if disease.entity["histology"]:
        facts.append(story.add_to(disease, "histology", disease.entity["histology"], "", found, **disease.where))
    facts += _grade(story, disease)
    report = story.meet(later(found, rng.randrange(1, 5)), "pathology", "diagnosis", facts, 10)
    return report.day


def _grade(story: Story, disease: Disease) -> list[int]:
    if disease.entity["family"] == "prostate":
        early = "stage I" in disease.tags
        scores = [
            ["3+3=6 (Grade Group 1)", 8 if early else 1],
            ["3+4=7 (Grade Group 2)", 4],
            ["4+3=7 (Grade Group 3)", 0.5 if early else 3],
            ["4+4=8 (Grade Group 4)", 0.1 if early else 2.5],
            ["4+5=9 (Grade Group 5)", 0.05 if early else 3],
        ]
        return [story.add_to(disease, "grade", "Gleason score", story.pick(scores), disease.found)]
    grades = disease.family.get("grades")
    if not grades:
        return []
    value = str(story.pick(grades[1:]))
    if value == "low grade" and "muscle invasive" in disease.tags:
        value = "high grade"
    if grades[0]:
        return [story.add_to(disease, "grade", grades[0], value, disease.found, grade=value)]
    return [story.add_to(disease, "grade", "histologic grade", value, disease.found)]


def clinical(story: Story, disease: Disease, day: datetime.date) -> list[int]:
    """The clinical extent, the stage group and what staging ruled out, as a consultation states them."""
    facts = []
    group = group_of(disease.stage)
    if disease.extent and (disease.stated or story.happens(0.45)):
        tumor, nodes, distant = disease.extent
        nodes = nodes.replace("1mi", "0").replace("1a", "1").replace("2a", "2").replace("3a", "3")
        facts.append(_tnm(story, disease, "c", (tumor, nodes, distant), day))
    if disease.stated and disease.stage:
        facts.append(
            story.add_to(disease, "stage_group", disease.family.get("scheme", "stage group"), disease.stage, day)
        )
    if disease.extent and not disease.extent[2].startswith("M1") and group in ("II", "III") and story.happens(0.6):
        facts.append(
            story.add_to(disease, "metastasis", "distant metastasis", "none on staging", day, assertion="absent")
        )
    return facts


def pathological(story: Story, disease: Disease, day: datetime.date, treated: bool) -> list[int]:
    """What the report of an operation says of extent and nodes; after treatment the tumor may have shrunk."""
    if not disease.extent:
        return []
    tumor, nodes, _ = disease.extent
    if treated and story.happens(0.65):
        tumor = (
            story.pick([["T0", 2], ["Tis", 0.4], ["T1a", 1], ["T1c", 2], ["T2", 2]])
            if disease.entity["family"] == "breast"
            else story.pick([["T0", 2], ["T1", 1], ["T2", 3], [tumor, 4]])
        )
        nodes = "N0" if story.happens(0.5) else nodes
    if disease.entity["family"] == "prostate" and tumor.startswith("T1"):
        tumor = "T2"  # No pathologist says T1 of a prostate: what is found in it is at least T2.
    nodes = {"N1": "N1a" if disease.entity["family"] == "breast" else "N1", "N2b": "N2b"}.get(nodes, nodes)
    facts: list[int] = [_tnm(story, disease, "yp" if treated else "p", (tumor, nodes, ""), day)]
    examined = story.rng.randrange(3, 24)
    if disease.family.get("nodes"):
        positive = 0 if nodes[:2] in ("N0", "NX") else story.rng.randrange(1, 4)
        counts: dict[str, Any] = {"positive": str(positive), "examined": str(examined)}
        assertion = "present" if positive else "absent"
        share = f"{positive}/{examined}"
        facts.append(
            story.add_to(disease, "lymph_node", disease.family["nodes"], share, day, assertion=assertion, **counts)
        )
    return facts


def _tnm(story: Story, disease: Disease, prefix: str, extent: tuple[str, str, str], day: datetime.date) -> int:
    """T, N and M under a prefix (clinical, pathologic, after treatment); what is empty is left out."""
    t, n, m = extent
    words = " ".join(
        f"{mark}{one}"
        for mark, one in ((prefix, t), (prefix, n), ("c" if not m.startswith("M1") or prefix == "c" else "p", m))
        if one
    )
    name = {"c": "clinical TNM", "p": "pathologic TNM", "yp": "pathologic TNM after neoadjuvant treatment"}[prefix]
    return story.add_to(disease, "tnm", name, words, day, prefix=prefix, t=t, n=n, m=m, **disease.where)


def spread_to(story: Story, disease: Disease, day: datetime.date, count: int, fixed: str = "") -> list[int]:
    """New distant metastases: ``count`` sites by chance that it has not reached, and the fixed one."""
    facts = []
    sites = [fixed] if fixed else []
    open_sites = [[site, weight] for site, weight in disease.family["spread"].items() if site not in disease.spread]
    while open_sites and len(sites) < count:
        site = story.pick(open_sites)
        open_sites = [one for one in open_sites if one[0] != site]
        sites.append(site)
    for site in sites:
        disease.spread.append(site)
        name = (
            "distant lymph node metastases"
            if site == "distant lymph nodes"
            else f"metastasis to the {site}"
            if site not in ("bone", "liver", "lung", "brain", "skin")
            else f"{site} metastases"
        )
        facts.append(story.add_to(disease, "metastasis", name, "", day, site=site))
    return facts
