"""What stains, sequencing and germline panels find in a tumor, with what they leave open and what they rule out."""

from __future__ import annotations

import datetime
import math
from typing import Any

from .story import Disease, Story
from .tables import table

__all__ = ["germline", "markers", "sequenced", "sequencing", "stains"]


def stains(story: Story, disease: Disease, day: datetime.date) -> list[int]:
    """Receptors and stains that come with the diagnosis; sets the tags by which treatment is chosen."""
    data = table("molecular")
    told: list[int] = []
    family = disease.entity["family"]
    if family == "breast":
        told += _receptors(story, disease, day)
    elif family == "dcis" and "benign" not in disease.tags:
        positive = story.happens(0.84)
        disease.tags |= {"HR+"} if positive else set()
        told.append(_receptor(story, disease, "ER", "positive" if positive else "negative", day))
    for name, results, share, since in data["stains"].get(family, ()):
        if day.year < since or not story.happens(share):
            continue
        value, result, tag = story.pick([[[*one[:2], one[3]], one[2]] for one in results])
        disease.tags |= {tag} if tag else set()
        told.append(story.tell("biomarker", name, value, day, tumor=disease.key, result=result))
    return told


def _receptor(story: Story, disease: Disease, name: str, result: str, day: datetime.date) -> int:
    if result == "negative":
        return story.tell("biomarker", name, "negative", day, tumor=disease.key, result="negative", percent="0")
    percent = story.rng.choice((5, 20, 40, 60, 70, 80, 85, 90, 90, 95, 95, 99, 100))
    qualifier = story.rng.choice(table("molecular")["receptors"]["qualifiers"]) if percent >= 60 else ""
    return story.tell(
        "biomarker",
        name,
        f"{qualifier}positive {percent}%",
        day,
        tumor=disease.key,
        result="positive",
        percent=str(percent),
    )


def _receptors(story: Story, disease: Disease, day: datetime.date) -> list[int]:
    kinds = table("molecular")["receptors"]
    trait = "hormonal" if "hormonal" in disease.tags else "basal" if "basal" in disease.tags else "usual"
    estrogen, progesterone, her2 = story.pick([[one[:3], one[3]] for one in kinds[trait]])
    told = [_receptor(story, disease, "ER", estrogen, day), _receptor(story, disease, "PR", progesterone, day)]
    if her2 == "positive":
        disease.tags.add("HER2+")
        if story.happens(0.75):
            told.append(story.tell("biomarker", "HER2", "IHC 3+", day, tumor=disease.key, result="positive"))
        else:
            told.append(story.tell("biomarker", "HER2", "IHC 2+", day, tumor=disease.key, result="equivocal"))
            told.append(story.tell("biomarker", "HER2 FISH", "amplified", day, tumor=disease.key, result="positive"))
    else:
        score = story.pick([["0", 34], ["1+", 40], ["2+", 26]])
        told.append(
            story.tell(
                "biomarker",
                "HER2",
                f"IHC {score}",
                day,
                tumor=disease.key,
                result="equivocal" if score == "2+" else "negative",
            )
        )
        if score == "2+":
            told.append(
                story.tell("biomarker", "HER2 FISH", "not amplified", day, tumor=disease.key, result="negative")
            )
    disease.tags |= {"HR+"} if "positive" in (estrogen, progesterone) else set()
    if her2 == estrogen == progesterone == "negative":
        disease.tags.add("triple negative")
    if story.happens(0.55):
        value = story.rng.randrange(3, 70)
        told.append(story.tell("biomarker", "Ki-67", f"{value}%", day, tumor=disease.key, percent=str(value)))
    return told


def sequenced(story: Story, disease: Disease, day: datetime.date, advanced: bool, share: float = 1.0) -> bool:
    """Whether a broad panel is made of the tumor on that day: by tumor, extent, and how common panels were then."""
    if disease.tested:
        return False
    uptake = max((rate for year, rate in table("molecular")["uptake"] if day.year >= year), default=0.0)
    return story.happens(disease.family["tested"][1 if advanced else 0] * uptake * share)


def sequencing(story: Story, disease: Disease, day: datetime.date) -> list[int]:
    """A broad genomic panel: what it found, left open, and told as normal."""
    data = table("molecular")
    family = disease.entity["family"]
    disease.tested = True
    told: list[int] = []
    altered: set[str] = set()
    panel = next(
        (
            one
            for one in data["panel"]
            if family in one["families"] and (not one.get("traits") or disease.tags & set(one["traits"]))
        ),
        None,
    )
    drivers = story.rng.random()
    for one in panel["genes"] if panel else ():
        if one.get("driver"):
            drivers -= one["rate"]
            present = drivers < 0 <= drivers + one["rate"]
        else:
            present = one["gene"] not in altered and story.happens(one["rate"])
        if present:
            change, exon, tag = story.pick([[[each[0], each[2], each[3]], each[1]] for each in one["changes"]])
            altered.add(one["gene"])
            disease.tags |= {tag} if tag else set()
            told.append(variant(story, disease, day, one["gene"], change, exon))
    told += _uncertain(story, disease, day, altered)
    told += _normal(story, disease, day, altered)
    told += _burden(story, disease, day)
    return told


def variant(
    story: Story, disease: Disease, day: datetime.date, gene: str, change: str, exon: str, origin: str = "somatic"
) -> int:
    """A harmful alteration, as an abstraction writes one."""
    says: dict[str, Any] = {"gene": gene, "origin": origin, "result": "pathogenic"}
    if change == "amplification":
        concept, value = f"{gene} amplification", f"copy number {story.rng.randrange(8, 30)}"
        says["alteration"] = "amplification"
    elif change == "homozygous deletion":
        concept, value = f"{gene} homozygous deletion", ""
        says["alteration"] = "deletion"
    elif change.startswith("fusion with "):
        concept, value = f"{change.removeprefix('fusion with ')}-{gene} fusion", ""
        says["alteration"] = "fusion"
        if gene in ("FGFR3", "FGFR2", "EWSR1", "SS18", "TMPRSS2"):
            concept = f"{gene}-{change.removeprefix('fusion with ')} fusion"
    elif change.startswith("p."):
        concept, value = f"{gene} mutation", change
        says |= {"alteration": "mutation", "protein_change": change, "exon": exon}
    else:
        words, _, protein = change.partition(" p.")
        concept, value = f"{gene} {words}", f"p.{protein}" if protein else ""
        says |= {"alteration": words, "exon": exon, "protein_change": f"p.{protein}" if protein else ""}
    return story.tell("genomic_variant", concept, value, day, tumor=disease.key if origin == "somatic" else "", **says)


def _uncertain(story: Story, disease: Disease, day: datetime.date, altered: set[str]) -> list[int]:
    reporting = table("molecular")["reporting"]
    count = story.rng.choices(range(4), reporting["uncertain"])[0]
    told = []
    letters = "ARNDCQEGHILKMFPSTWYV"
    for gene in story.rng.sample(reporting["uncertain_genes"], count):
        if gene not in altered:
            change = f"p.{story.rng.choice(letters)}{story.rng.randrange(40, 1800)}{story.rng.choice(letters)}"
            told.append(
                story.tell(
                    "genomic_variant",
                    f"{gene} variant of uncertain significance",
                    change,
                    day,
                    assertion="uncertain",
                    tumor=disease.key,
                    gene=gene,
                    protein_change=change,
                    result="VUS",
                )
            )
            altered.add(gene)
    return told


def _normal(story: Story, disease: Disease, day: datetime.date, altered: set[str]) -> list[int]:
    reporting = table("molecular")["reporting"]
    genes = [
        one
        for one in reporting["normal"].get(disease.entity["family"], reporting["normal"]["others"])
        if one not in altered
    ]
    wild = story.happens(reporting["wild_type"])
    told = []
    for gene in story.rng.sample(genes, min(len(genes), reporting["negatives"])):
        if wild and gene in ("KRAS", "NRAS", "BRAF", "EGFR", "PIK3CA", "KIT"):
            told.append(
                story.tell("biomarker", gene, "wild type", day, tumor=disease.key, gene=gene, result="wild type")
            )
        elif gene in ("ALK", "ROS1", "RET", "NTRK1"):
            told.append(
                story.tell(
                    "genomic_variant",
                    f"{gene} fusion",
                    "not detected",
                    day,
                    assertion="absent",
                    tumor=disease.key,
                    gene=gene,
                    alteration="fusion",
                    result="negative",
                )
            )
        else:
            told.append(
                story.tell(
                    "genomic_variant",
                    f"{gene} mutation",
                    "not detected",
                    day,
                    assertion="absent",
                    tumor=disease.key,
                    gene=gene,
                    alteration="mutation",
                    result="negative",
                )
            )
    if not {"KRAS", "NRAS"} & altered and disease.entity["family"] in ("colon", "rectum"):
        disease.tags.add("RAS wild type")
    return told


def _burden(story: Story, disease: Disease, day: datetime.date) -> list[int]:
    data = table("molecular")["burden"]
    mean, spread, unstable = data.get(disease.entity["family"], data["others"])
    if day.year < 2015 or disease.family.get("blood"):
        return []
    told = []
    is_unstable = "MSI" in disease.tags or (
        "MMR" not in disease.tags
        and story.happens(unstable if disease.entity["family"] not in ("colon", "rectum") else 0)
    )
    value = round(math.exp(story.rng.gauss(math.log(38 if is_unstable else mean), spread)), 1)
    if story.happens(0.8):
        told.append(
            story.tell(
                "biomarker",
                "tumor mutational burden",
                f"{value:g} mutations/Mb",
                day,
                tumor=disease.key,
                result="high" if value >= 10 else "low",
            )
        )
    if story.happens(0.85):
        disease.tags |= {"MSI"} if is_unstable else set()
        value_text = "MSI-high" if is_unstable else "microsatellite stable"
        told.append(
            story.tell(
                "biomarker",
                "microsatellite instability",
                value_text,
                day,
                tumor=disease.key,
                result="high" if is_unstable else "stable",
            )
        )
    return told


def germline(story: Story, disease: Disease, day: datetime.date) -> list[int]:
    """A panel for hereditary cancer; empty where the patient was not tested."""
    data = table("molecular")["germline"]
    family = disease.entity["family"]
    if not story.happens(data["tested"].get(family, data["tested"]["others"])):
        return []
    told: list[int] = []
    for gene, change, rate, tag in data["found"].get(family, data["found"]["others"]):
        if story.happens(rate) and not told:
            disease.tags |= {tag} if tag else set()
            told.append(variant(story, disease, day, gene, change, "", "germline"))
    if not told:
        for gene in ("BRCA1", "BRCA2"):
            told.append(
                story.tell(
                    "genomic_variant",
                    f"germline {gene} mutation",
                    "not detected",
                    day,
                    assertion="absent",
                    gene=gene,
                    origin="germline",
                    result="negative",
                )
            )
    return told


def markers(story: Story, disease: Disease, day: datetime.date, active: float) -> list[int]:
    """The tumor marker in blood, if there is one; ``active`` is 1 at diagnosis, less in remission, more at relapse."""
    known: Any = table("molecular")["blood"].get(disease.entity["family"])
    if not known:
        return []
    name, unit, centre, spread = known
    value = max(0.02, math.exp(story.rng.gauss(math.log(centre * active), spread * 0.6)))
    return [story.tell("lab", name, f"{value:.3g} {unit}", day, tumor=disease.key)]
