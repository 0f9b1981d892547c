"""How many marked pairs of drug and adverse effect are related as cause and problem, and how many others.

    python -m benchmarks.reading.toxicity_relations relations.tsv [--half tune|report|all] [--given types|spans|nothing]
        [--seed 0] [--misses N] [--wrong N] [--json OUT]

``relations.tsv``: rows of the ADE corpus, each a sentence with two marked spans (``[s1]…[e1]``, ``[s2]…[e2]``),
labelled DRUG-AE or DRUG-DOSE. Both spans are given to ``cohortium.read`` as entities (MedicationName; Symptom), so that
the relation alone is measured, ConditionOrTreatmentCausesProblem. Rows of one sentence stand in one half.

The file does not tell which of the two spans is the drug. Each row says that its two are different, so the rows colour
all spans that hang together in two colours; the ontology's drugs and conditions say which colour is which. Rows of a
group that holds no name known to it are left out, and counted.

With ``--given spans`` the two spans are given without their types, with ``--given nothing`` not at all: recall alone.

- recall: the share of DRUG-AE rows whose two spans are related;
- precision: of the relations drawn between a drug and a marked effect of its sentence, whatever the drug (marked, or
  known to the ontology), the share that is marked in some row;
- doses: of the DRUG-DOSE rows, the dose given as a TreatmentDosage: the share that TreatmentDesc joins to its drug, and
  how many are taken for an effect; and the share that would be related if the dose were a Symptom, for the looseness of
  the rules.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import cohortium
from benchmarks.signature import signature
from cohortium.kb.ontology.concepts import ConceptTable

_MARK = re.compile(r"\[[se][12]\]")
_RELATION = "ConditionOrTreatmentCausesProblem"
_TREATMENTS = frozenset({"MedicationName", "MedicationRegimen", "TreatmentType"})


Span = tuple[int, int]


class Row(NamedTuple):
    """A sentence without its marks, its two spans as they stand, and what all rows of the sentence share."""

    text: str
    first: Span
    second: Span
    label: str
    key: str

    def name(self, span: Span) -> str:
        """The words of a span, for comparison."""
        return self.text[slice(*span)].casefold()


def rows_of(path: Path) -> list[Row]:
    """The rows with two marked spans, in their order."""
    with path.open(newline="", encoding="utf-8") as file:
        entries = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row for entry in entries if (row := _row(entry))]


def _row(entry: dict[str, str]) -> Row | None:
    marked = entry["text"] or ""
    text, places, at = "", {}, 0
    for mark in _MARK.finditer(marked):
        text += marked[at : mark.start()]
        places[mark.group()[1:3]] = len(text)
        at = mark.end()
    text += marked[at:]
    if places.keys() != {"s1", "e1", "s2", "e2"}:
        return None
    key = re.sub(r"[^a-z]", "", text.lower())
    return Row(text, (places["s1"], places["e1"]), (places["s2"], places["e2"]), entry["label"], key)


class Colours:
    """Two colours for names that rows call different, and which of them is the drugs'."""

    def __init__(self, rows: list[Row], concepts: ConceptTable) -> None:
        self._above: dict[str, tuple[str, int]] = {}
        for row in rows:
            (one, colour), (other, its) = self._root(row.name(row.first)), self._root(row.name(row.second))
            if one != other:
                self._above[one] = (other, (colour + its + 1) % 2)
        self._votes: Counter[str] = Counter()
        for name in list(self._above):
            root, colour = self._root(name)
            kinds = {concepts.kind(concept) for concept in concepts.lookup(name)}
            if kinds & {"drug", "condition"}:
                self._votes[root] += 1 if ("drug" in kinds) == bool(colour) else -1

    def _root(self, name: str) -> tuple[str, int]:
        above, colour = self._above.setdefault(name, (name, 0))
        if above == name:
            return name, 0
        root, further = self._root(above)
        self._above[name] = (root, (colour + further) % 2)
        return self._above[name]

    def is_drug(self, name: str) -> bool | None:
        """None when nothing tells."""
        root, colour = self._root(name)
        vote = self._votes[root]
        return None if not vote else bool(colour) == (vote > 0)


def found_by_place(rows: list[Row], colours: Colours, spans: bool) -> dict[str, Any]:
    """The share of DRUG-AE rows with a relation between annotations over the two spans, the types not given (``spans``)
    or nothing given at all."""
    known = related = 0
    for row in rows:
        first = colours.is_drug(row.name(row.first))
        if row.label != "DRUG-AE" or first is None:
            continue
        known += 1
        drug, effect = (row.first, row.second) if first else (row.second, row.first)
        document = cohortium.read(row.text, targets=[row.first, row.second] if spans else ())
        places = {mention.id: (mention.start, mention.end) for mention in document.mentions}
        related += any(
            one.type == _RELATION and _touch(places[one.head], drug) and _touch(places[one.tail], effect)
            for one in document.relations
        )
    return {"rows": known, "related": related, "recall": round(related / max(1, known), 3)}


def _touch(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def measured(rows: list[Row], colours: Colours, misses: int, shown_wrong: int) -> dict[str, Any]:
    """The figures of some rows; the first ``misses`` rows that are not related and
    ``shown_wrong`` relations that no row marks are printed."""
    marked: dict[str, set[tuple[str, str]]] = {}
    known = []
    for row in rows:
        if row.label == "DRUG-AE" and (first := colours.is_drug(row.name(row.first))) is not None:
            drug, effect = (row.first, row.second) if first else (row.second, row.first)
            known.append((row, drug, effect))
            marked.setdefault(row.key, set()).add((row.name(drug), row.name(effect)))
    related, right, wrong = 0, 0, set()
    seen: set[tuple[str, str, str]] = set()
    for row, drug, effect in known:
        document = cohortium.read(row.text, targets=[(*drug, "MedicationName"), (*effect, "Symptom")])
        mentions = {mention.id: mention for mention in document.mentions}
        pairs = set()
        for relation in document.relations:
            head, tail = mentions[relation.head], mentions[relation.tail]
            if relation.type == _RELATION and (tail.start, tail.end) == effect and head.label in _TREATMENTS:
                pairs.add((head.start, head.end))
        hit = drug in pairs
        related += hit
        if not hit and misses > 0:
            misses -= 1
            print(f"{row.text}\n    {row.name(drug)} -> {row.name(effect)}")
        for span in pairs:
            pair = (row.key, row.name(span), row.name(effect))
            if pair not in seen:
                seen.add(pair)
                # A name within a marked name is the same drug.
                if any(row.name(span) in one and pair[2] == its for one, its in marked[row.key]):
                    right += 1
                else:
                    wrong.add(pair)
                    if len(wrong) <= shown_wrong:
                        print(f"wrong: {row.text}\n    {pair[1]} -> {pair[2]}")
    doses = [row for row in rows if row.label == "DRUG-DOSE"]
    loose = caused = described = 0
    for row in doses:
        drug, dose = (
            (row.second, row.first) if colours.is_drug(row.name(row.first)) is False else (row.first, row.second)
        )
        loose += (_RELATION, drug, dose) in _drawn(row.text, drug, dose, "Symptom")
        drawn = _drawn(row.text, drug, dose, "TreatmentDosage")
        caused += (_RELATION, drug, dose) in drawn
        described += ("TreatmentDesc", dose, drug) in drawn
    return {
        "rows": len(known),
        "left_out": sum(row.label == "DRUG-AE" for row in rows) - len(known),
        "related": related,
        "recall": round(related / max(1, len(known)), 3),
        "drawn": right + len(wrong),
        "precision": round(right / max(1, right + len(wrong)), 3),
        "doses": len(doses),
        "doses_described": round(described / max(1, len(doses)), 3),
        "doses_as_effects": caused,
        "doses_related_if_problems": round(loose / max(1, len(doses)), 3),
    }


def _drawn(text: str, drug: Span, other: Span, label: str) -> set[tuple[str, Span, Span]]:
    """The relations between the places of a sentence whose two marked spans are a drug and a ``label``."""
    document = cohortium.read(text, targets=[(*drug, "MedicationName"), (*other, label)])
    places = {mention.id: (mention.start, mention.end) for mention in document.mentions}
    return {(one.type, places[one.head], places[one.tail]) for one in document.relations}


def main() -> None:
    """The figures of one half or of all rows, and their JSON where asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("relations", type=Path)
    parser.add_argument("--half", choices=("tune", "report", "all"), default="all")
    parser.add_argument("--given", choices=("types", "spans", "nothing"), default="types")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--misses", type=int, default=0)
    parser.add_argument("--wrong", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = rows_of(given.relations)
    colours = Colours(rows, ConceptTable.from_files())
    keys = sorted({row.key for row in rows})
    random.Random(given.seed).shuffle(keys)
    halves = {"tune": set(keys[: len(keys) // 2]), "report": set(keys[len(keys) // 2 :]), "all": set(keys)}
    chosen = [row for row in rows if row.key in halves[given.half]]
    if given.given == "types":
        result = measured(chosen, colours, given.misses, given.wrong)
    else:
        result = found_by_place(chosen, colours, given.given == "spans")
    print(json.dumps(result))
    if given.json:
        asked = f"{given.relations.name} --half {given.half} --given {given.given} --seed {given.seed}"
        command = f"python -m benchmarks.reading.toxicity_relations {asked}"
        given.json.write_text(json.dumps(result | {"signature": signature(command, given.seed)}, indent=1))


if __name__ == "__main__":
    main()
