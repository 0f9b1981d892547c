"""Findings of stains, sequencing and germline panels in a tumor, with what they leave open and what they rule out."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from typing import Any

from .story import Disease, Story
from .tables import table


def stains(story: Story, disease: Disease, day: datetime.date) -> list[int]:
    """Receptors and stains that come with the diagnosis; sets the tags by which treatment is chosen."""
    data = table("molecular")
    facts: list[int] = []
    family = disease.entity["family"]
    if family == "breast":
        facts += _receptors(story, disease, day)
    elif family == "dcis" and "benign" not in disease.tags:
        positive = story.happens(0.84)
        disease.tags |= {"HR+"} if positive else set()
        facts.append(_receptor(story, disease, "ER", "positive" if positive else "negative", day))
    for name, results, share, since in data["stains"].get(family, ()):
        if day.year < since or not story.happens(share):
            continue
        value, result, tag = story.pick([[[*one[:2], one[3]], one[2]] for one in results])
        disease.tags |= {tag} if tag else set()
        facts.append(story.add_to(disease, "biomarker", name, value, day, result=result))
    return facts


def _receptor(story: Story, disease: Disease, name: str, result: str, day: datetime.date) -> int:
    if result == "negative":
        return story.add_to(disease, "biomarker", name, "negative", day, result="negative", percent="0")
    percent = story.rng.choice((5, 20, 40, 60, 70, 80, 85, 90, 90, 95, 95, 99, 100))
    qualifier = story.rng.choice(table("molecular")["receptors"]["qualifiers"]) if percent >= 60 else ""
    return story.add_to(
        disease, "biomarker", name, f"{qualifier}positive {percent}%", day, result="positive", percent=str(percent)
    )


def _receptors(story: Story, disease: Disease, day: datetime.date) -> list[int]:
    kinds = table("molecular")["receptors"]
    trait = "hormonal" if "hormonal" in disease.tags else "basal" if "basal" in disease.tags else "usual"
    estrogen, progesterone, her2 = story.pick([[one[:3], one[3]] for one in kinds[trait]])
    facts = [_receptor(story, disease, "ER", estrogen, day), _receptor(story, disease, "PR", progesterone, day)]
    if her2 == "positive":
        disease.tags.add("HER2+")
        if story.happens(0.75):
            facts.append(story.add_to(disease, "biomarker", "HER2", "IHC 3+", day, result="positive"))
        else:
            facts.append(story.add_to(disease, "biomarker", "HER2", "IHC 2+", day, result="equivocal"))
            facts.append(story.add_to(disease, "biomarker", "HER2 FISH", "amplified", day, result="positive"))
    else:
        score = story.pick([["0", 34], ["1+", 40], ["2+", 26]])
        facts.append(
            story.add_to(
                disease, "biomarker", "HER2", f"IHC {score}", day, result="equivocal" if score == "2+" else "negative"
            )
        )
        if score == "2+":
            facts.append(story.add_to(disease, "biomarker", "HER2 FISH", "not amplified", day, result="negative"))
    disease.tags |= {"HR+"} if "positive" in (estrogen, progesterone) else set()
    if her2 == estrogen == progesterone == "negative":
        disease.tags.add("triple negative")
    if story.happens(0.55):
        value = story.rng.randrange(3, 70)
        facts.append(story.add_to(disease, "biomarker", "Ki-67", f"{value}%", day, percent=str(value)))
    return facts


def sequenced(story: Story, disease: Disease, day: datetime.date, advanced: bool, share: float = 1.0) -> bool:
    """Whether a broad panel is made of the tumor on that day: by tumor, extent, and how common panels were then."""
    if disease.tested:
        return False
    uptake = max((rate for year, rate in table("molecular")["uptake"] if day.year >= year), default=0.0)
    return story.happens(disease.family["tested"][1 if advanced else 0] * uptake * share)


def sequencing(story: Story, disease: Disease, day: datetime.date) -> list[int]:
    """A broad genomic panel: what it found, left open, and facts as normal."""
    data = table("molecular")
    family = disease.entity["family"]
    disease.tested = True
    facts: list[int] = []
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
            facts.append(variant(story, disease, day, Alteration(one["gene"], change, exon)))
    facts += _uncertain(story, disease, day, altered)
    facts += _normal(story, disease, day, altered)
    facts += _burden(story, disease, day)
    return facts


@dataclass(frozen=True, slots=True)
class Alteration:
    """What happened to a gene: ``change`` as the tables write it ("p.V600E", "amplification", "fusion with EML4")."""

    gene: str
    change: str
    exon: str = ""
    origin: str = "somatic"


def variant(story: Story, disease: Disease, day: datetime.date, altered: Alteration) -> int:
    """A harmful alteration, as an abstraction writes one."""
    gene, change, exon, origin = altered.gene, altered.change, altered.exon, altered.origin
    attributes: dict[str, Any] = {"gene": gene, "origin": origin, "result": "pathogenic"}
    if change == "amplification":
        concept, value = f"{gene} amplification", f"copy number {story.rng.randrange(8, 30)}"
        attributes["alteration"] = "amplification"
    elif change == "homozygous deletion":
        concept, value = f"{gene} homozygous deletion", ""
        attributes["alteration"] = "deletion"
    elif change.startswith("fusion with "):
        concept, value = f"{change.removeprefix('fusion with ')}-{gene} fusion", ""
        attributes["alteration"] = "fusion"
        if gene in ("FGFR3", "FGFR2", "EWSR1", "SS18", "TMPRSS2"):
            concept = f"{gene}-{change.removeprefix('fusion with ')} fusion"
    elif change.startswith("p."):
        concept, value = f"{gene} mutation", change
        attributes |= {"alteration": "mutation", "protein_change": change, "exon": exon}
    else:
        words, _, protein = change.partition(" p.")
        concept, value = f"{gene} {words}", f"p.{protein}" if protein else ""
        attributes |= {"alteration": words, "exon": exon, "protein_change": f"p.{protein}" if protein else ""}
    return story.add(
        "genomic_variant", concept, value, day, tumor=disease.key if origin == "somatic" else "", **attributes
    )


def _uncertain(story: Story, disease: Disease, day: datetime.date, altered: set[str]) -> list[int]:
    reporting = table("molecular")["reporting"]
    count = story.rng.choices(range(4), reporting["uncertain"])[0]
    facts = []
    letters = "ARNDCQEGHILKMFPSTWYV"
    for gene in story.rng.sample(reporting["uncertain_genes"], count):
        if gene not in altered:
            change = f"p.{story.rng.choice(letters)}{story.rng.randrange(40, 1800)}{story.rng.choice(letters)}"
            facts.append(
                story.add_to(
                    disease,
                    "genomic_variant",
                    f"{gene} variant of uncertain significance",
                    change,
                    day,
                    assertion="uncertain",
                    gene=gene,
                    protein_change=change,
                    result="VUS",
                )
            )
            altered.add(gene)
    return facts


def _normal(story: Story, disease: Disease, day: datetime.date, altered: set[str]) -> list[int]:
    reporting = table("molecular")["reporting"]
    genes = [
        one
        for one in reporting["normal"].get(disease.entity["family"], reporting["normal"]["others"])
        if one not in altered
    ]
    wild = story.happens(reporting["wild_type"])
    facts = []
    for gene in story.rng.sample(genes, min(len(genes), reporting["negatives"])):
        if wild and gene in ("KRAS", "NRAS", "BRAF", "EGFR", "PIK3CA", "KIT"):
            facts.append(story.add_to(disease, "biomarker", gene, "wild type", day, gene=gene, result="wild type"))
        else:
            alteration = "fusion" if gene in ("ALK", "ROS1", "RET", "NTRK1") else "mutation"
            facts.append(
                story.add_to(disease, "genomic_variant", f"{gene} {alteration}", "not detected", day,
                             assertion="absent", gene=gene, alteration=alteration, result="negative")
            )  # fmt: skip
    if not {"KRAS", "NRAS"} & altered and disease.entity["family"] in ("colon", "rectum"):
        disease.tags.add("RAS wild type")
    return facts


def _burden(story: Story, disease: Disease, day: datetime.date) -> list[int]:
    data = table("molecular")["burden"]
    mean, spread, unstable = data.get(disease.entity["family"], data["others"])
    if day.year < 2015 or disease.family.get("blood"):
        return []
    facts = []
    is_unstable = "MSI" in disease.tags or (
        "MMR" not in disease.tags
        and story.happens(unstable if disease.entity["family"] not in ("colon", "rectum") else 0)
    )
    value = round(math.exp(story.rng.gauss(math.log(38 if is_unstable else mean), spread)), 1)
    if story.happens(0.8):
        facts.append(
            story.add_to(
                disease,
                "biomarker",
                "tumor mutational burden",
                f"{value:g} mutations/Mb",
                day,
                result="high" if value >= 10 else "low",
            )
        )
    if story.happens(0.85):
        disease.tags |= {"MSI"} if is_unstable else set()
        value_text = "MSI-high" if is_unstable else "microsatellite stable"
        facts.append(
            story.add_to(
                disease,
                "biomarker",
                "microsatellite instability",
                value_text,
                day,
                result="high" if is_unstable else "stable",
            )
        )
    return facts


def germline(story: Story, disease: Disease, day: datetime.date) -> list[int]:
    """A panel for hereditary cancer; empty where the patient was not tested."""
    data = table("molecular")["germline"]
    family = disease.entity["family"]
    if not story.happens(data["tested"].get(family, data["tested"]["others"])):
        return []
    facts: list[int] = []
    for gene, change, rate, tag in data["found"].get(family, data["found"]["others"]):
        if story.happens(rate) and not facts:
            disease.tags |= {tag} if tag else set()
            facts.append(variant(story, disease, day, Alteration(gene, change, origin="germline")))
    for gene in () if facts else ("BRCA1", "BRCA2"):
        facts.append(
            story.add("genomic_variant", f"germline {gene} mutation", "not detected", day, assertion="absent",
                      gene=gene, origin="germline", result="negative")
        )  # fmt: skip
    return facts


def markers(story: Story, disease: Disease, day: datetime.date, active: float) -> list[int]:
    """The tumor marker in blood, if there is one; ``active`` is 1 at diagnosis, less in remission, more at relapse."""
    known: Any = table("molecular")["blood"].get(disease.entity["family"])
    if not known:
        return []
    name, unit, centre, spread = known
    value = max(0.02, math.exp(story.rng.gauss(math.log(centre * active), spread * 0.6)))
    return [story.add_to(disease, "lab", name, f"{value:.3g} {unit}", day)]
