"""Some queries of the bank as plain Python over simulated facts: a check of labels that shares nothing with the engine.

Each follows the reading of its query (acr.txt, appendix D) on the simulator's own facts, and on its own word of which
tumor each is of. No lexicon, no ontology, no abstraction loader and no query language takes part.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from cohortium.eval.made_up.synthetic.course import Course, Fact

__all__ = ["PREDICATES", "Chart"]


class Chart:
    """The facts of a course that really hold of the patient, by kind and by tumor."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.facts = tuple(one for one in course.facts if one.assertion in ("present", "historical"))

    def facts_of(self, *kinds: str) -> Iterator[Fact]:
        """Facts of those kinds."""
        return (one for one in self.facts if one.kind in kinds)

    def tumors(self, *words: str) -> frozenset[str]:
        """The tumors whose diagnosis or histology holds one of ``words``."""
        return frozenset(
            one.tumor for one in self.facts_of("diagnosis", "histology") if any(word in one.concept for word in words)
        )

    def drugs(self, *tumors: str) -> Iterator[tuple[str, Fact]]:
        """Each drug given, with its fact; of all tumors where none is named."""
        for one in self.facts_of("medication", "regimen"):
            if not tumors or one.tumor in tumors:
                text = one.value if one.kind == "regimen" and one.value else one.concept
                for drug in re.split(r", | and ", text):
                    yield drug, one

    def harmful(self, gene: str, tumor: str | None = None, *, alteration: str = "mutation") -> Iterator[Fact]:
        """Pathogenic alterations of a gene in a tumor (or inherited, which is of every tumor)."""
        for one in self.facts_of("genomic_variant"):
            said = one.attributes
            same = said.get("alteration", "") == alteration or (
                alteration == "mutation" and said.get("alteration", "").startswith(("exon", "promoter", "internal"))
            )
            linked = tumor is None or one.tumor in (tumor, "")
            if said.get("gene") == gene and same and said.get("result") == "pathogenic" and linked:
                yield one

    def advanced(self, tumor: str) -> bool:
        """Ever advanced: said so, stage IIIB to IIID or IV, M1, or spread."""
        for one in self.facts:
            if one.tumor != tumor:
                continue
            if one.kind == "metastasis" or (one.kind == "tnm" and one.attributes.get("m", "").startswith("M1")):
                return True
            if one.kind == "stage_group" and (one.value.startswith("IV") or one.value[:4] in ("IIIB", "IIIC", "IIID")):
                return True
            words = ("locally advanced", "metastatic", "distant recurrence")
            if one.kind == "disease_state" and any(word in one.concept for word in words):
                return True
        return False

    def has(self, kind: str, concept: str, tumor: str | None = None) -> bool:
        """Whether there is a fact of that kind and concept."""
        return any(one.concept == concept and tumor in (None, one.tumor) for one in self.facts_of(kind))


@lru_cache(maxsize=1)
def _lists() -> Mapping[str, list[str]]:
    return tomllib.loads(Path(__file__).with_name("predicates.toml").read_text(encoding="utf-8"))


def _nsclc(chart: Chart) -> frozenset[str]:
    return chart.tumors("lung cancer") - chart.tumors("small cell lung cancer", "large cell neuroendocrine") | (
        chart.tumors("non-small cell lung cancer")
    )


def _colorectal(chart: Chart) -> frozenset[str]:
    return chart.tumors("colon cancer", "rectal cancer")


def _breast(chart: Chart) -> frozenset[str]:
    return chart.tumors("breast cancer")


def _changed(chart: Chart, tumors: frozenset[str], gene: str, *changes: str) -> bool:
    return any(
        one.attributes.get("protein_change") in changes for tumor in tumors for one in chart.harmful(gene, tumor)
    )


def _fused(chart: Chart, tumors: frozenset[str], *genes: str) -> bool:
    return any(any(chart.harmful(gene, tumor, alteration="fusion")) for tumor in tumors for gene in genes)


def _last_score(chart: Chart) -> bool:
    scores = [one.value for one in chart.facts_of("performance_status")]
    return bool(scores) and int(scores[-1]) <= 2


def _pathological_nodes(chart: Chart) -> bool:
    if any(
        one.attributes["prefix"] in ("p", "yp") and one.attributes["n"][:2] in ("N1", "N2", "N3")
        for one in chart.facts_of("tnm")
    ):
        return True
    return any(int(one.attributes.get("positive", "0")) > 0 for one in chart.facts_of("lymph_node"))


def _pathological_extent(chart: Chart) -> bool:
    return any(
        one.attributes["prefix"] in ("p", "yp")
        and (one.attributes["t"] == "T2c" or one.attributes["t"][:2] in ("T3", "T4"))
        for one in chart.facts_of("tnm")
    )


def _folfiri(chart: Chart) -> bool:
    for tumor in _colorectal(chart):
        late = any(
            one.tumor == tumor
            and (
                (
                    one.kind == "stage_group"
                    and (one.value == "IIC" or one.value[:3] in ("III", "IV", "IVA", "IVB", "IVC"))
                )
                or (
                    one.kind == "tnm"
                    and (one.attributes["n"][:2] in ("N1", "N2") or one.attributes.get("m", "")[:2] == "M1")
                )
                or (one.kind == "tnm" and one.attributes["t"] == "T4b")
                or one.kind == "metastasis"
                or (one.kind == "disease_state" and ("distant" in one.concept or "metastatic" in one.concept))
            )
            for one in chart.facts
        )
        if late and any(one.concept.startswith("FOLFIRI") and one.tumor == tumor for one in chart.facts_of("regimen")):
            return True
    return False


def _receptors(chart: Chart, tumor: str) -> dict[str, str]:
    return {one.concept: one.attributes.get("result", "") for one in chart.facts_of("biomarker") if one.tumor == tumor}


def _her2_negative(found: Mapping[str, str]) -> bool:
    return found.get("HER2") == "negative" or (found.get("HER2 FISH") == "negative")


def _hormonal_with_pik3ca(chart: Chart) -> bool:
    for tumor in _breast(chart):
        found = _receptors(chart, tumor)
        if (
            "positive" in (found.get("ER"), found.get("PR"))
            and _her2_negative(found)
            and any(chart.harmful("PIK3CA", tumor))
        ):
            return True
    return False


def _triple_negative(chart: Chart) -> bool:
    for tumor in chart.tumors("invasive ductal", "invasive lobular", "mixed ductal"):
        found = _receptors(chart, tumor)
        if found.get("ER") == found.get("PR") == "negative" and _her2_negative(found):
            return True
    return False


def _early_conserved(chart: Chart) -> bool:
    for tumor in _breast(chart):
        if not any("lumpectomy" in one.concept for one in chart.facts_of("surgery") if one.tumor == tumor):
            continue
        groups = [one.value for one in chart.facts_of("stage_group") if one.tumor == tumor]
        extents = [one.attributes for one in chart.facts_of("tnm") if one.tumor == tumor]
        if groups:
            early = not groups[0].startswith(("III", "IV"))
        elif any(one.get("m", "").startswith("M1") for one in extents) or not extents:
            early = False
        else:
            first = extents[0]
            small = first["t"][:2] in ("Ti", "T0", "T1", "T2") and first["n"][:2] in ("N0", "N1")
            early = small or (first["t"] == "T3" and first["n"] == "N0")
        if early or tumor in chart.tumors("ductal carcinoma in situ") - chart.tumors("invasive", "mixed", "mucinous"):
            return True
    return False


def _received(*names: str) -> Callable[[Chart], bool]:
    def holds(chart: Chart) -> bool:
        wanted = {drug for name in names for drug in _lists()[name]}
        return any(drug in wanted for drug, _ in chart.drugs())

    return holds


def _any_drug(chart: Chart) -> bool:
    return any(drug not in _lists()["not_systemic"] for drug, _ in chart.drugs())


def _not_egfr(chart: Chart) -> bool:
    spared = {*_lists()["egfr_tablets"], *_lists()["egfr_antibodies"], *_lists()["not_systemic"]}
    tumors = _nsclc(chart)
    return bool(tumors) and any(drug not in spared for drug, _ in chart.drugs(*tumors))


def _breast_chemotherapy(chart: Chart) -> bool:
    tumors = _breast(chart)
    return bool(tumors) and any(drug in _lists()["cytotoxic"] for drug, _ in chart.drugs(*tumors))


def _germline_only(chart: Chart) -> bool:
    found = [
        one.attributes
        for gene in ("BRCA1", "BRCA2", "ATM")
        for how in ("mutation", "deletion")
        for one in chart.harmful(gene, alteration=how)
    ]
    return any(one["origin"] == "germline" for one in found) and not any(one["origin"] == "somatic" for one in found)


def _wild_type(chart: Chart) -> bool:
    return any(one.concept == "KRAS" and one.value == "wild type" for one in chart.facts_of("biomarker"))


def _burden(chart: Chart) -> bool:
    return any(
        one.concept == "tumor mutational burden" and one.attributes["result"] == "high"
        for one in chart.facts_of("biomarker")
    )


def _unstable(chart: Chart) -> bool:
    return any(one.value == "MSI-high" for one in chart.facts_of("biomarker"))


def _castration_resistant(chart: Chart) -> bool:
    return chart.has("disease_state", "metastatic castration-resistant prostate cancer")


#: Bank id to whether a patient belongs to its cohort.
PREDICATES: Final[Mapping[int, Callable[[Chart], bool]]] = {
    4: lambda chart: any(any(chart.harmful("FGFR3", tumor)) for tumor in chart.tumors("bladder cancer")),
    6: _unstable,
    7: _burden,
    9: _folfiri,
    10: _last_score,
    11: _pathological_extent,
    12: _pathological_nodes,
    13: lambda chart: any(chart.harmful("KRAS")),
    35: lambda chart: bool(chart.tumors("ductal carcinoma in situ")),
    37: _castration_resistant,
    38: lambda chart: bool(chart.tumors("high grade serous carcinoma") & chart.tumors("ovarian cancer")),
    39: lambda chart: any(chart.advanced(tumor) for tumor in _nsclc(chart)),
    40: lambda chart: bool(chart.tumors("adenocarcinoma") & chart.tumors("lung cancer")),
    57: lambda chart: bool(chart.tumors("lung cancer", "carcinoid tumor of the lung")),
    58: lambda chart: bool(_breast(chart)),
    60: lambda chart: bool(chart.tumors("prostate cancer")),
    66: lambda chart: _fused(chart, _nsclc(chart), "ALK"),
    67: lambda chart: _changed(chart, chart.tumors("melanoma"), "BRAF", "p.V600E"),
    74: lambda chart: _changed(chart, _nsclc(chart), "EGFR", "p.L858R"),
    76: lambda chart: _changed(chart, _nsclc(chart), "EGFR", "p.T790M"),
    81: lambda chart: _changed(chart, _nsclc(chart), "KRAS", "p.G12C"),
    86: _hormonal_with_pik3ca,
    97: lambda chart: any(drug == "osimertinib" for drug, _ in chart.drugs()),
    98: _received("egfr_tablets"),
    99: _received("egfr_tablets", "other_tyrosine_kinase_inhibitors"),
    102: _any_drug,
    103: _received("egfr_tablets", "egfr_antibodies", "other_tyrosine_kinase_inhibitors", "other_targeted"),
    104: _not_egfr,
    105: _early_conserved,
    106: _triple_negative,
    107: _breast_chemotherapy,
    114: _wild_type,
    115: lambda chart: chart.course.person.died is not None,
    117: _germline_only,
}
