"""How much of what sentences of real transcripts say is read: facts that a clinician wrote down against the reading.

    python -m benchmarks.reading.clinical_sentences --notes pt_notes.csv
        [--part seen|more|unread|third|fourth] [--list KIND]

The sentences were drawn at random from the distinct texts of the MTSamples subset (``../shared/data/mtsamples``): 300
from 126 texts, 240 others of these (*more*), and 150, 160 (*third*) and 160 (*fourth*) from the 60 texts with the
smallest SHA-256, which stay unread. Somebody who knew no rule of the reading wrote their facts: kind, place in the
text, a plain name, status, value (``benchmarks/reading/clinical_sentences/*.jsonl``, no word of the texts but values).

Each text is read whole. A mention and a fact that overlap agree in name where a query for the fact's name admits the
mention, or where ``verdicts.tsv`` says so (judged by hand: gold name, reading, and ``same``, ``wider``, true but saying
less, which counts for precision alone, or ``differs``); a mention without a fact is wrong unless it is judged ``right``
there (sentence, reading). Context and numbers must agree as well. *Recall* is over
facts that are not minor and not hypothetical, *precision* over mentions that assert something. Intervals: 95%,
bootstrap over texts.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import cohortium
from cohortium.kb.errors import CohortiumError
from cohortium.kb.kinds import KINDS, MEASURED
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.nodes import AllOf, Concept, Events, Exists, Is, OtherThan, Under, Union
from cohortium.query_lang.resolution.resolve import resolve_text
from cohortium.query_lang.tree import children

_FOLDER: Final = Path(__file__).with_name("clinical_sentences")
_DRAWS: Final = 1000
#: The kind of annotation that a value is.
_VALUE: Final = "lab_test_result"
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
#: A figure with a point in it, and what stands before that.
_CUT: Final = re.compile(r"(?P<cut>\d+)\.\d+")
#: What a name says in brackets.
_BRACKETS: Final = re.compile(r"\s*\(([^()]*)\)")
#: What a status may be read as: polarity, temporality, experiencer (None: any).
_STATUS: Final[Mapping[str, tuple[tuple[str | None, frozenset[str] | None, str | None], ...]]] = {
    "present": (("present", frozenset({"current", "historical"}), "patient"),),
    "past": (("present", frozenset({"current", "historical"}), "patient"),),
    "stopped": (("present", frozenset({"current", "historical"}), "patient"), ("absent", None, "patient")),
    "absent": (("absent", None, "patient"),),
    "possible": (("uncertain", None, "patient"), ("present", frozenset({"hypothetical"}), "patient")),
    "family": ((None, None, "family"),),
    "planned": (("present", frozenset({"planned", "hypothetical"}), None),),
    "hypothetical": ((None, frozenset({"hypothetical", "planned"}), None),),
}


@dataclass(slots=True)
class Sums:
    """Of one kind of fact, or of all."""

    facts: int = 0
    found: int = 0
    read: int = 0
    right: int = 0
    wrong_name: int = 0
    wrong_context: int = 0
    wrong_value: int = 0
    unlisted: int = 0

    def add(self, other: Sums) -> None:
        """Add the sums of another."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def precision(self) -> float:
        """Of what was read."""
        return self.right / self.read if self.read else 0.0

    @property
    def recall(self) -> float:
        """Of the facts."""
        return self.found / self.facts if self.facts else 0.0


@dataclass(slots=True)
class Case:
    """What came of one mention or fact, for people."""

    outcome: str
    kind: str
    text: str
    gold: str = ""
    read: str = ""


@dataclass(slots=True)
class Judge:
    """Whether a reading is what a name says, by the language and by hand."""

    concepts: ConceptTable
    scales: Scales
    verdicts: Mapping[tuple[str, str], str]
    _meant: dict[str, list[tuple[frozenset[str], frozenset[str], str]]] = field(default_factory=dict)

    def same(self, name: str, mention: Any) -> bool:
        """Whether a query for the name admits the mention."""
        verdict = self.verdicts.get((name.lower(), shown(mention, self.concepts)))
        if verdict is not None:
            return verdict == "same"
        return any(
            mention.concept in ids
            and (not sites or str(mention.attributes.get("site", "")) in sites)
            and (not side or mention.attributes.get("laterality") == side)
            for ids, sites, side in self.meant(name)
        )

    def meant(self, name: str) -> list[tuple[frozenset[str], frozenset[str], str]]:
        """The concepts that a name admits, with the sites and the side that it asks for.

        *Lasix (furosemide)* is either of its two names.
        """
        if name not in self._meant:
            bare = _BRACKETS.sub("", name).strip()
            ways = dict.fromkeys([name, bare, *_BRACKETS.findall(name)])
            self._meant[name] = [meaning for way in ways for meaning in self._resolved(way)]
        return self._meant[name]

    def _resolved(self, name: str) -> Sequence[tuple[frozenset[str], frozenset[str], str]]:
        quoted = name.replace("'s", "").replace("'", " ").strip()
        try:
            query = resolve_text(f"'{quoted}'", self.concepts, self.scales)
        except CohortiumError:
            return []
        return list(_meanings(query.body, self.concepts))


def _meanings(node: Any, concepts: ConceptTable) -> Iterator[tuple[frozenset[str], frozenset[str], str]]:
    if isinstance(node, Exists) and isinstance(node.events, Events):
        ids = frozenset(_below(node.events.concept, concepts))
        conditions = node.events.condition
        parts = conditions.parts if isinstance(conditions, AllOf) else (conditions,) if conditions else ()
        sites: frozenset[str] = frozenset()
        side = ""
        for part in parts:
            if isinstance(part, Is) and part.attribute == "site":
                sites = frozenset().union(*(concepts.below(one.id) for one in part.values if isinstance(one, Concept)))
            elif isinstance(part, Is) and part.attribute == "laterality":
                side = getattr(part.values[0], "text", "")
        yield ids, sites, side
        return
    for child in children(node):
        yield from _meanings(child, concepts)


def _below(expression: Any, concepts: ConceptTable) -> Iterator[str]:
    match expression:
        case Under(term) if isinstance(term, Concept):
            yield from concepts.below(term.id) if term.id in concepts else (term.id,)
        case Union(parts):
            for part in parts:
                yield from _below(part, concepts)
        case OtherThan(base, _):
            yield from _below(base, concepts)


def shown(mention: Any, concepts: ConceptTable) -> str:
    """A reading as people see it: the concept, and where it is."""
    name = concepts.name(mention.concept) if mention.concept in concepts else mention.concept or mention.kind
    site = str(mention.attributes.get("site", ""))
    where = f" @ {concepts.name(site)}" if site in concepts else ""
    return f"{mention.kind} {name}{where}".lower()


def _fits(status: str, mention: Any) -> bool:
    return any(
        (polarity is None or mention.polarity == polarity)
        and (temporality is None or mention.temporality in temporality)
        and (experiencer is None or mention.experiencer == experiencer)
        for polarity, temporality, experiencer in _STATUS[status]
    )


def _whole(fact: Mapping[str, Any], item: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """The fact with its figure as the text has it, where the sentence was cut behind the point of it (``35.|8``)."""
    cut = _CUT.match(text, max(0, text.rfind(" ", 0, item["end"] - 1) + 1))
    if cut is None or not cut.start() < item["end"] <= cut.end() or str(fact.get("value")) != cut["cut"]:
        return fact
    return {**fact, "value": cut.group()}


def _value_fits(fact: Mapping[str, Any], mention: Any) -> bool:
    """Whether the first number of the fact's value is among the mention's, or it is told in words."""
    if fact["kind"] not in ("test", "vital") or not (numbers := _NUMBER.findall(str(fact.get("value", "")))):
        return True
    read = [value for value in mention.attributes.values() if isinstance(value, float | int)]
    read += [float(one) for value in mention.attributes.values() for one in _NUMBER.findall(str(value))]
    return any(abs(float(number) - one) < 1e-9 for number in numbers for one in read)


def _asserts(mention: Any) -> bool:
    return mention.kind in KINDS and mention.kind != "birth" and mention.temporality != "hypothetical"


def score_item(
    item: Mapping[str, Any], text: str, mentions: Sequence[Any], judge: Judge
) -> tuple[dict[str, Sums], list[Case]]:
    """The sums of one sentence by kind of fact (or of mention, where there is no fact), and each outcome."""
    sums: dict[str, Sums] = defaultdict(Sums)
    cases: list[Case] = []
    facts = [_whole(fact, item, text) for fact in item["facts"]]
    here = [one for one in mentions if one.kind in KINDS and item["start"] <= one.start < item["end"]]
    found: set[int] = set()
    for mention in here:
        end = _told_up_to(mention, mentions)
        beside = [(at, fact) for at, fact in enumerate(facts) if fact["start"] < end and mention.start < fact["end"]]
        named = [(at, fact) for at, fact in beside if judge.same(fact["name"], mention)]
        held = [(at, fact) for at, fact in named if _fits(fact["status"], mention)]
        good = [(at, fact) for at, fact in held if _value_fits(fact, mention)]
        found.update(at for at, _ in good)
        if not _asserts(mention):
            continue
        kind = (good or held or named or beside or [(0, {"kind": _kind_of(mention)})])[0][1]["kind"]
        one = sums[kind]
        one.read += 1
        reading = f"{shown(mention, judge.concepts)} [{mention.polarity} {mention.temporality} {mention.experiencer}]"
        gold = "; ".join(f"{fact['name']} [{fact['status']}]" for _, fact in (named or beside))
        verdict = judge.verdicts.get((item["id"], shown(mention, judge.concepts)))
        wider = any(
            judge.verdicts.get((fact["name"].lower(), shown(mention, judge.concepts))) == "wider"
            and _fits(fact["status"], mention)
            # A denial of something wider says more.
            and fact["status"] != "absent"
            for _, fact in beside
        )
        if good or wider or verdict == "right":
            one.right += 1
            continue
        if held:
            one.wrong_value += 1
            outcome = "wrong value"
        elif named:
            one.wrong_context += 1
            outcome = "wrong context"
        elif beside:
            one.wrong_name += 1
            outcome = "wrong name"
        else:
            one.unlisted += 1
            outcome = "unlisted"
        cases.append(Case(outcome, kind, f"{item['id']}: {text[item['start'] : item['end']]}", gold, reading))
    for at, fact in enumerate(facts):
        if fact.get("minor") or fact["status"] == "hypothetical":
            continue
        sums[fact["kind"]].facts += 1
        if at in found:
            sums[fact["kind"]].found += 1
        else:
            said = f"{fact['name']} [{fact['status']}] {fact.get('value', '')}"
            cases.append(Case("missed", fact["kind"], f"{item['id']}: {text[item['start'] : item['end']]}", said))
    return sums, cases


def _told_up_to(mention: Any, mentions: Sequence[Any]) -> int:
    """Where what is told of a mention ends: of what is measured with its value, which is annotated apart."""
    if mention.kind not in MEASURED or not mention.attributes:
        return int(mention.end)
    behind = [one for one in mentions if one.start >= mention.end and one.kind in (*MEASURED, _VALUE)]
    first = min(behind, key=lambda one: one.start, default=None)
    return int(first.end if first is not None and first.kind == _VALUE else mention.end)


def tell(total: Mapping[str, Sums]) -> None:
    """Print the sums as a table, all of them first."""
    print("| kind | facts | recall | read | precision | wrong name | wrong context | wrong value | unlisted |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind in sorted(total, key=lambda one: (one != "all", -total[one].facts)):
        one = total[kind]
        print(
            f"| {kind} | {one.facts} | {one.recall:.2f} | {one.read} | {one.precision:.2f} | {one.wrong_name} "
            f"| {one.wrong_context} | {one.wrong_value} | {one.unlisted} |"
        )


def _kind_of(mention: Any) -> str:
    return {"medication": "drug", "regimen": "drug", "surgery": "procedure", "lab": "test", "biomarker": "test"}.get(
        mention.kind,
        mention.kind if mention.kind in ("procedure", "vital", "allergy", "device", "social") else "problem",
    )


def _texts(notes: Path) -> dict[str, str]:
    csv.field_size_limit(sys.maxsize)
    with notes.open(encoding="utf-8", newline="") as file:
        texts = {row["text"] for row in csv.DictReader(file)}
    return {hashlib.sha256(text.encode()).hexdigest()[:16]: text for text in texts}


def verdicts() -> dict[tuple[str, str], str]:
    """What was judged by hand: by gold name or sentence, and reading."""
    path = _FOLDER / "verdicts.tsv"
    if not path.exists():
        return {}
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {
        (gold.lower() if verdict in ("same", "wider", "differs") else gold, read): verdict
        for gold, read, verdict in rows
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=Path, required=True)
    parser.add_argument("--part", choices=("seen", "more", "unread", "third", "fourth"), default="seen")
    parser.add_argument("--list", nargs="?", const="all", help="list what is wrong or missed, of one outcome or all")
    parser.add_argument("--judge", type=Path, help="write pairs of gold name and reading that nobody has judged")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    texts = _texts(asked.notes)
    judge = Judge(ConceptTable.from_files(), Scales.from_files(), verdicts())
    lines = (_FOLDER / f"{asked.part}.jsonl").read_text(encoding="utf-8").splitlines()
    by_text: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        item = json.loads(line)
        by_text[item["text"]].append(item)
    per_text: dict[str, dict[str, Sums]] = {}
    cases: list[Case] = []
    for key, items in sorted(by_text.items()):
        mentions = cohortium.read(texts[key], "2020-01-01").mentions
        of_text = per_text.setdefault(key, defaultdict(Sums))
        for item in items:
            sums, told = score_item(item, texts[key], mentions, judge)
            cases += told
            for kind, one in sums.items():
                of_text[kind].add(one)
                of_text["all"].add(one)
    total: dict[str, Sums] = defaultdict(Sums)
    for sums in per_text.values():
        for kind, one in sums.items():
            total[kind].add(one)
    interval = _intervals([sums["all"] for sums in per_text.values()], asked.seed)
    tell(total)
    print(f"\nrecall {interval['recall']}, precision {interval['precision']} (95%, over {len(per_text)} texts)")
    if asked.list:
        for case in cases:
            if asked.list in ("all", case.outcome, case.kind):
                print(f"{case.outcome:14}{case.kind:10} gold: {case.gold}  read: {case.read}\n      {case.text}")
    if asked.judge:
        pairs = Counter((case.outcome, case.text.partition(":")[0], case.gold, case.read, case.text) for case in cases)
        asked.judge.write_text("\n".join("\t".join(pair) for pair in pairs), encoding="utf-8")
    if asked.json:
        rows = {kind: {name: getattr(one, name) for name in Sums.__slots__} for kind, one in total.items()}
        asked.json.write_text(json.dumps({"kinds": rows, "interval": interval}, indent=1), encoding="utf-8")
    return 0


def _intervals(sums: Sequence[Sums], seed: int) -> dict[str, tuple[float, float]]:
    rng = random.Random(seed)
    drawn: dict[str, list[float]] = {"recall": [], "precision": []}
    for _ in range(_DRAWS):
        whole = Sums()
        for one in rng.choices(sums, k=len(sums)):
            whole.add(one)
        drawn["recall"].append(whole.recall)
        drawn["precision"].append(whole.precision)
    cut = round(0.025 * _DRAWS)
    return {name: (round(sorted(of)[cut], 3), round(sorted(of)[-cut - 1], 3)) for name, of in drawn.items()}


if __name__ == "__main__":
    sys.exit(main())
