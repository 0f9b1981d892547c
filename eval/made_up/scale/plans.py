"""``oncology.toml`` as tables to draw from: which stages, results, operations and therapies go with which cancer."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from ....kb.model import Value
from ....kb.ontology.concepts import ConceptTable
from ....kb.ontology.regimens import shipped_components
from .draws import NOTHING, Choice, Ragged, zipf
from .facts import Facts

SIDES: Final = ("", "left", "right")
BANDS: Final = 4
PHASES: Final = ("early", "first", "later")
#: How a therapy ended, and what the reader calls it: (status, reason, words, weight).
ENDINGS: Final = (
    ("completed", "completion", "completed", 30),
    ("discontinued", "progression", "discontinued for progression", 38),
    ("discontinued", "toxicity", "discontinued for toxicity", 12),
    ("ongoing", "", "ongoing", 20),
)
#: Lines of therapy that are numbered; in early disease there are none.
LINES: Final = 6
_INTENTS: Final = {"early": "adjuvant", "first": "palliative", "later": "palliative"}
_EXAMINED: Final = (1, 2, 3, 5, 8, 12, 16, 22)
_PERCENTS: Final = {"positive": (60.0, 80.0, 90.0, 95.0, 100.0), "negative": (0.0,)}
_DOSES: Final = (
    ("50 Gy in 25 fractions", 50.0, 25.0),
    ("60 Gy in 30 fractions", 60.0, 30.0),
    ("30 Gy in 10 fractions", 30.0, 10.0),
    ("8 Gy in 1 fraction", 8.0, 1.0),
)
_MARKER_STEPS: Final = 40
_PASSENGERS: Final = (
    ("mutation", "vus", "mutation, VUS", 6.0),
    ("mutation", "pathogenic", "mutation", 3.0),
    ("amplification", "pathogenic", "amplification", 1.0),
    ("deletion", "pathogenic", "deletion", 0.5),
)
_TRIALS: Final = (("enrolled", ": enrolled", 5), ("considered", ": considered", 3), ("completed", ": completed", 2))
#: A regimen whose name is longer is not told beside its drugs.
_SHORT: Final = 12


@cache
def data(name: str) -> dict[str, Any]:
    """A data file of this package."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


def band_of(stage: str) -> int:
    """0 for stages 0 and I, 1 for II, 2 for III, 3 for IV."""
    for band, begin in ((3, "IV"), (2, "III"), (1, "II")):
        if stage.startswith(begin):
            return band
    return 0


class Plans:
    """The tables; whatever they give is the number of a fact, of a cancer, a profile or a therapy."""

    def __init__(self, concepts: ConceptTable, facts: Facts) -> None:
        """Facts that can be drawn are entered into ``facts``."""
        self._concepts, self._facts = concepts, facts
        oncology = data("oncology")
        self._combinations: dict[str, list[str]] = oncology["combinations"]
        cancers: list[dict[str, Any]] = oncology["cancer"]
        self.count = len(cancers)
        self.ages = np.array([cancer["age"] for cancer in cancers], dtype=float)
        self.female = np.array([cancer["female"] for cancer in cancers])
        self.paired = np.array([cancer["paired"] for cancer in cancers])
        self.smokers = np.array([cancer["smokers"] for cancer in cancers])
        self.operated = np.array([cancer["operated"] for cancer in cancers])
        self.irradiated = np.array([cancer["irradiated"] for cancer in cancers])
        self.relapse = np.array([[*cancer["relapse"], 0.0] for cancer in cancers])
        self.cancer = Choice([[(at, cancer["weight"]) for at, cancer in enumerate(cancers)]])
        # By sex (men, women): the cancers that a person of that sex may have next.
        self.next_cancer = Choice(
            [
                [(at, cancer["weight"] * abs(cancer["female"] - 1 + sex)) for at, cancer in enumerate(cancers)]
                for sex in (0, 1)
            ]
        )
        self._extents(cancers)
        sides = [(cancer, side) for cancer in cancers for side in SIDES]
        self.diagnosis = Choice(
            [self._placed("diagnosis", cancer["histology"], cancer, side) for cancer, side in sides]
        )
        self.surgery = Choice([self._placed("surgery", cancer["surgery"], cancer, side) for cancer, side in sides])
        self.radiation = Choice([self._irradiations(cancer, side) for cancer, side in sides])
        self.grade = Choice([self._grades(cancer["grades"]) for cancer in cancers])
        self.nodes = Choice(
            [self._node_counts(cancer["nodes"], found) for cancer in cancers for found in (False, True)]
        )
        self.metastasis = Choice(
            [[(self._spread(site), weight) for site, weight in cancer["spread"].items()] for cancer in cancers]
        )
        self.marker = Choice([self._markers(cancer["markers"]) for cancer in cancers])
        self._profiles(cancers)
        self._beside()

    def _beside(self) -> None:
        """What goes with any cancer."""
        facts, records = self._facts, data("records")
        self.voices = {voice["name"]: at for at, voice in enumerate(records["voice"])}
        self.unattached: float = records["telling"]["unattached"]
        self.progression = facts.named("state", "progression")
        self.recurrence = facts.named("state", "recurrence")
        self.ongoing = [ending[0] for ending in ENDINGS].index("ongoing")
        genes = sorted(concept for concept in self._concepts.below("gene") if concept != "gene")
        # Common cancer genes first: those of the profiles.
        common = list(dict.fromkeys(facts.all[entry[0][0]].concept for entry in self.variant_groups))
        ranked = [*common, *(gene for gene in genes if gene not in common)]
        self.passenger = Choice(
            [
                [
                    (
                        self.gene_fact(gene, {"alteration": alteration, "significance": significance}, words),
                        weight * share,
                    )
                    for gene, (_, weight) in zip(ranked, zipf(range(len(ranked)), 0.9), strict=True)
                    for alteration, significance, words, share in _PASSENGERS
                ]
            ]
        )
        self.trial = Choice(
            [
                [
                    (
                        facts.patterned(
                            "trial", "", {"status": status}, f"clinical trial {number:02d}", "trial", words
                        ),
                        weight,
                    )
                    for status, words, weight in _TRIALS
                    for number in range(30)
                ]
                for _ in range(BANDS)
            ]
        )

    # --- what a tumor is --------------------------------------------------------------------------------------------

    def _extents(self, cancers: Sequence[Mapping[str, Any]]) -> None:
        """Each stage with its TNM is an extent: its band, and the facts that tell it."""
        bands: list[int] = []
        stages: list[int] = []
        nodes: list[bool] = []
        pathological: list[int] = []
        clinical: list[int] = []
        groups: list[list[tuple[int, float]]] = []
        for cancer in cancers:
            group = []
            for stage, t, n, m, weight in cancer["extents"]:
                group.append((len(bands), weight))
                bands.append(band_of(stage))
                stages.append(
                    self._facts.patterned("stage", "", {"stage": stage, "system": "ajcc"}, f"stage {stage}", "stage")
                )
                nodes.append(n[1:2] in ("1", "2", "3"))
                pathological.append(self._tnm("p", t, n, m))
                clinical.append(self._tnm("c", t, n, m))
            groups.append(group)
        self.extent = Choice(groups)
        self.band = np.array(bands)
        self.stage = np.array(stages)
        self.with_nodes = np.array(nodes)
        self.tnm = np.array([pathological, clinical])

    def _tnm(self, prefix: str, t: str, n: str, m: str) -> int:
        if not t:
            return NOTHING
        attributes: dict[str, Value] = {"t": t, "n": n, "m": m, "prefix": prefix}
        return self._facts.patterned("tnm", "", attributes, f"{prefix}{t} {n} {m}", "tnm")

    def _placed(
        self, kind: str, shares: Mapping[str, float], cancer: Mapping[str, Any], side: str
    ) -> list[tuple[int, float]]:
        attributes, words = self._place(cancer, side)
        return [(self._facts.named(kind, one, attributes, words), weight) for one, weight in shares.items()]

    def _place(self, cancer: Mapping[str, Any], side: str) -> tuple[dict[str, Value], str]:
        attributes: dict[str, Value] = {"site": cancer["site"]}
        if side:
            attributes["laterality"] = side
        return attributes, f", {side} {self._facts.name(cancer['site'])}" if side else ""

    def _irradiations(self, cancer: Mapping[str, Any], side: str) -> list[tuple[int, float]]:
        attributes, words = self._place(cancer, side)
        return [
            (
                self._facts.named(
                    "radiation",
                    concept,
                    {**attributes, "dose": dose, "fractions": fractions, "status": "completed"},
                    f"{words}, {dose_words}",
                ),
                weight * share,
            )
            for concept, weight in cancer["radiation"].items()
            for (dose_words, dose, fractions), share in zip(_DOSES, (5, 3, 2, 1), strict=True)
        ]

    def _grades(self, stated: Sequence[str]) -> list[tuple[int, float]]:
        if not stated:
            return []
        scale, *grades = stated
        entries = []
        for grade in grades:
            attributes: dict[str, Value] = {"grade": grade}
            if scale:
                attributes["scale"] = scale
            if scale == "gleason":
                attributes["value"] = float(grade)
            words = f"Gleason {grade}" if scale == "gleason" else f"grade {grade}"
            entries.append((self._facts.patterned("grade", "", attributes, words, "grade"), 1.0))
        return entries

    def _node_counts(self, region: str, found: bool) -> list[tuple[int, float]]:
        return [
            (
                self._facts.patterned(
                    "node",
                    region,
                    {"positive": float(positive), "examined": float(examined)},
                    f"{positive}/{examined}",
                    "node-count",
                    f" {self._facts.name(region)}s",
                ),
                1.0 / (1 + positive),
            )
            for examined in _EXAMINED
            for positive in ((1, 2, 3, 4, 7) if found else (0,))
            if positive <= examined
        ]

    def _spread(self, site: str) -> int:
        return self._facts.patterned("metastasis", site, {}, f"metastasis to {self._facts.name(site)}", "metastasis")

    def _markers(self, ranges: Mapping[str, Sequence[float]]) -> list[tuple[int, float]]:
        entries = []
        for concept, (low, high) in ranges.items():
            # Most values lie low, few high: steps of equal ratio.
            values = np.geomspace(low + 1, high + 1, _MARKER_STEPS) - 1
            for value in sorted({float(round(one, 1)) for one in values}):
                entries.append((self._facts.named("lab", concept, {"value": value}, f" {value:g}"), 1.0))
        return entries

    # --- molecular profiles and therapies -----------------------------------------------------------------------------

    def _profiles(self, cancers: Sequence[Mapping[str, Any]]) -> None:
        groups: list[list[tuple[int, float]]] = []
        results: list[list[list[tuple[int, float]]]] = []
        variants: list[list[list[tuple[int, float]]]] = []
        therapies: list[list[tuple[int, float]]] = []
        self.therapies: list[str] = []
        for cancer in cancers:
            group = []
            for profile in cancer["profile"]:
                group.append((len(results), profile["weight"]))
                results.append([self._result(marker, value) for marker, value in profile["results"].items()])
                variants.append([self._variant(gene, change) for gene, change in profile["variants"]])
                therapies += [zipf((self._therapy(name) for name in profile[phase]), 0.8) for phase in PHASES]
            groups.append(group)
        self.profile = Choice(groups)
        self.result_groups: list[list[tuple[int, float]]] = [entry for group in results for entry in group]
        self.results = Ragged(_numbered([len(group) for group in results]))
        self.result = Choice(self.result_groups)
        self.variant_groups = [entry for group in variants for entry in group]
        self.variants = Ragged(_numbered([len(group) for group in variants]))
        self.variant = Choice(self.variant_groups)
        self.therapy = Choice(therapies)
        self._drugs()

    def _result(self, marker: str, value: str) -> list[tuple[int, float]]:
        percents = _PERCENTS.get(value, ()) if marker in ("er", "pr", "pd_l1", "ki67") else ()
        words = self._facts.name(value)
        plain = self._facts.named("biomarker", marker, {"result": value, "method": "ihc"}, f": {words}")
        return [
            (plain, 2.0),
            *(
                (
                    self._facts.named(
                        "biomarker", marker, {"result": value, "percent": percent}, f": {words}, {percent:.0f}%"
                    ),
                    1.0,
                )
                for percent in percents
            ),
        ]

    def _variant(self, gene: str, change: str) -> list[tuple[int, float]]:
        attributes: dict[str, Value] = {"alteration": change}
        if change[:1].isupper():
            attributes = {
                "alteration": "mutation",
                "protein": change,
                "codon": float(change[1:-1]),
                "effect": "missense",
            }
        of_variant = {**attributes, "significance": "pathogenic"}
        return [
            (self.gene_fact(gene, of_variant, change), 6.0),
            (self.gene_fact(gene, {**of_variant, "origin": "somatic"}, f"{change}, somatic"), 3.0),
            (self.gene_fact(gene, {**attributes, "significance": "likely_pathogenic"}, f"{change}, likely"), 1.0),
        ]

    def gene_fact(self, gene: str, attributes: Mapping[str, Value], words: str) -> int:
        """A variant told by the gene's symbol, where the lexicon knows it."""
        symbol = gene.upper()
        if gene not in self._concepts.lookup(symbol):
            return self._facts.named("variant", gene, attributes, f" {words}")
        return self._facts.add("variant", gene, attributes, f"{symbol} {words}", 0, len(symbol), f"lexicon:{symbol}")

    def _therapy(self, name: str) -> int:
        if name not in self.therapies:
            self.therapies.append(name)
        return self.therapies.index(name)

    def _drugs(self) -> None:
        """The facts of each therapy's parts, by line and ending: a regimen's own (if it has one) and its drugs'."""
        components = shipped_components()
        slots: list[list[int]] = []
        facts: list[tuple[str, str, str]] = []  # kind, concept, the regimen that brings it
        for name in self.therapies:
            own = []
            if name in self._combinations:
                parts, regimen = self._combinations[name], ""
            elif self._concepts.kind(name) == "regimen":
                parts = [part.drug for part in components.get(name, ()) if not part.optional]
                regimen = name
                own.append(("regimen", name, ""))
            else:
                parts, regimen = [name], ""
            own += [("medication", part, regimen) for part in parts]
            slots.append(list(range(len(facts), len(facts) + len(own))))
            facts += own
        self.parts = Ragged(slots)
        self.part_fact = np.array(
            [
                [[self._given(kind, concept, regimen, line, ending) for ending in ENDINGS] for line in range(LINES + 1)]
                for kind, concept, regimen in facts
            ]
        )
        self.ending = Choice([[(at, ending[3]) for at, ending in enumerate(ENDINGS)]])

    def _given(self, kind: str, concept: str, regimen: str, line: int, ending: tuple[str, str, str, int]) -> int:
        status, reason, words, _ = ending
        attributes: dict[str, Value] = {}
        if line:
            attributes["line"] = float(line)
        attributes["intent"] = _INTENTS["early" if line == 0 else "first"]
        attributes["status"] = status
        if reason:
            attributes["reason"] = reason
        if regimen:
            attributes["regimen"] = regimen
        when = f"line {line}" if line else "adjuvant"
        short = self._facts.name(regimen) if regimen else ""
        within = f" ({short})" if 0 < len(short) <= _SHORT else ""
        return self._facts.named(kind, concept, attributes, f"{within}, {when}, {words}")


def _numbered(counts: Sequence[int]) -> list[list[int]]:
    """Consecutive numbers, so many for each group."""
    edges = np.cumsum([0, *counts]).tolist()
    return [list(range(low, high)) for low, high in itertools.pairwise(edges)]
