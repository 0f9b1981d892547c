"""Which facts a block of a note tells."""

from __future__ import annotations

from typing import Any

Fact = dict[str, Any]
TUMOR = {
    "diagnosis",
    "histology",
    "grade",
    "biomarker",
    "tnm",
    "stage_group",
    "metastasis",
    "lymph_node",
    "genomic_variant",
}
TREATMENT = {"regimen", "medication", "radiation", "surgery", "procedure"}
STATE = {"disease_state", "lab", "adverse_event", "symptom"}
AHEAD = {"planned", "hypothetical", "declined", "never_started"}
APART = {"family", "corrected"}
KIND_ORDER = [
    "symptom",
    "procedure",
    "diagnosis",
    "histology",
    "grade",
    "tnm",
    "stage_group",
    "lymph_node",
    "biomarker",
    "genomic_variant",
    "metastasis",
]


def of_tumor(fact: Fact) -> bool:
    """What is known of the tumor itself."""
    doubtful = fact["kind"] == "diagnosis" and fact["mode"] != "present"
    return fact["kind"] in TUMOR and fact["mode"] not in APART and not doubtful


def behind(fact: Fact, today: str) -> bool:
    """A treatment that goes back before the day of the note."""
    earlier = fact["recalled"] or (fact["begun"] or today) < today
    return fact["kind"] in TREATMENT and fact["mode"] not in AHEAD and earlier


def belongs(fact: Fact, group: str, today: str) -> bool:
    """Whether a fact falls into a group that a layout names."""
    earlier = (fact["begun"] or today) < today
    known = {
        "rest": lambda: True,
        "recalled": lambda: fact["recalled"],
        "onc": lambda: of_tumor(fact),
        "onc_plain": lambda: of_tumor(fact) and fact["kind"] != "genomic_variant",
        "tx": lambda: behind(fact, today),
        "tx_past": lambda: behind(fact, today),
        "past": lambda: earlier and fact["mode"] not in APART and fact["kind"] in TUMOR | TREATMENT | STATE,
        "pmh": lambda: fact["kind"] == "comorbidity",
        "soc": lambda: fact["kind"] == "social",
        "fam": lambda: fact["mode"] == "family",
        "uncertain": lambda: fact["kind"] == "diagnosis" and fact["mode"] == "uncertain",
        "metastasis_uncertain": lambda: fact["kind"] == "metastasis" and fact["mode"] == "uncertain",
        "vus": lambda: fact["mode"] == "vus",
        "genomic_variant_present": lambda: fact["kind"] == "genomic_variant" and fact["mode"] == "present",
    }
    if group in known:
        return known[group]()
    return fact["kind"] == group and (group not in TUMOR or of_tumor(fact))


def ordered(facts: list[Fact]) -> list[Fact]:
    """Facts in the order of a history: the tumor's own by kind, the rest by day."""

    def key(fact: Fact) -> tuple[bool, int, str, int]:
        """Findings on the tumor first, then by day and place."""
        rank = KIND_ORDER.index(fact["kind"]) if fact["kind"] in KIND_ORDER else len(KIND_ORDER)
        return fact["tumor"] == "second", rank, fact["begun"] or "", fact["place"]

    return sorted(facts, key=key)
