"""Every field of the DeepPhe gold tables against what is read from the patient's three reports.

    python -m benchmarks.reading.deepphe_fields --corpus deepphe [--json OUT]

The gold (``gold/DeepPhe_Gold_*.bsv``: one patient, one breast cancer with its axillary metastasis) has a row a thing
and a column a field. A field agrees, is read in part, differs, is not read, or is not for reading: the reports do not
say it, or contradict the gold. What is no plain comparison is a person's judgement and stands in :data:`JUDGED` with
its reason. Of an episode only its days and documents are read, not that they are one.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.signature import command_line, markdown, signature
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.kb.model import Event, Journey, World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.storage.reader import KnowledgeBase

VERDICTS: Final = ("agrees", "in part", "differs", "not read", "not in the reports", "gold in doubt")
#: Table and column (with the row, where only that row is meant) -> what stands against the gold, and why.
JUDGED: Final[Mapping[str, tuple[str, str]]] = {
    "Tumor 1 body location clockface position": (
        "gold in doubt",
        "the reports say 12:30 four times and 10:30 once; the gold has 10:30",
    ),
    "Tumor 1 er status method": ("not in the reports", "no method is written; the gold infers it"),
    "Tumor 1 pr status method": ("not in the reports", "no method is written; the gold infers it"),
    "Tumor 1 her2neu status method": ("not in the reports", "no method is written; FISH is 'not applicable'"),
    "Tumor 2 calcifications": ("not in the reports", "no report speaks of calcifications in a node"),
    "Tumor 2 cancer type": (
        "not in the reports",
        "the node holds 'metastatic carcinoma'; the gold takes the primary's",
    ),
    "Cancer 1 clinical T classification": ("in part", "T1 is read; no c is written, the gold infers it"),
    "Cancer 1 clinical N classification": ("in part", "N1 is read; no c is written, the gold infers it"),
    "Cancer 1 clinical M classification": ("in part", "M0 is read; no c is written, the gold infers it"),
}
#: Columns that say how the gold was made, or name its rows.
NOT_FIELDS: Final = frozenset(
    {"cancer ID", "patient ID", "patientID", "cancer link", "geographically determined (yes/no)"}
)
_SIDES: Final = ("left", "right", "bilateral")


@dataclass(frozen=True)
class Field:
    """One filled cell of the gold, with what was read and how the two compare."""

    table: str
    row: int
    column: str
    gold: str
    read: str
    verdict: str
    reason: str = ""


class Read:
    """What the knowledge base holds of the patient, field by field; an empty text where it holds nothing."""

    def __init__(self, journey: Journey, concepts: ConceptTable) -> None:
        self._events = [event for event in journey.events if event.world >= World.BELIEVED]
        # What imaging measures may be a tumor: it is so in the possible world.
        self._possible = [event for event in journey.events if event.world >= World.POSSIBLE]
        self._concepts = concepts
        self._notes = journey.notes

    def field(self, table: str, row: int, column: str, gold: str) -> str:
        """What was read for this cell; the columns of the two rows of tumors mean different things."""
        if table == "Episode" and column.endswith(("Date", "Documents")):
            return self._episode(column, gold)
        if table in ("Cancer", "Tumor", "Episode") and column in ("body location", "body location laterality"):
            return self._place(column, node=row == 2)
        if table == "Tumor" and row == 2:
            return {"Diagnosis": self._node("Metastatic_Carcinoma"), "tumor type": self._node(gold)}.get(column, "")
        if table == "Episode" and column == "tumor type":
            return self._node(gold) if row == 2 else self._root(gold)
        finders: dict[str, Callable[[], str]] = {
            "Temporality": lambda: self._temporality(),
            "clinical stage": lambda: self._value("stage", "stage"),
            "clinical T classification": lambda: self._category("t", ""),
            "clinical N classification": lambda: self._category("n", ""),
            "clinical M classification": lambda: self._category("m", ""),
            "pathologic T classification": lambda: self._category("t", "p"),
            "pathologic N classification": lambda: self._category("n", "p"),
            "body location quadrant": lambda: self._site_below("breast", "quadrant"),
            "Diagnosis": lambda: self._tumor("invasive_ductal_carcinoma"),
            "tumor type": lambda: self._root(gold),
            "cancer type": lambda: gold if self._kind_of_tumor("adenocarcinoma") else "",
            "histologic type": lambda: gold if self._tumor("invasive_ductal_carcinoma") else "",
            "tumor extent": lambda: gold if self._tumor("invasive_ductal_carcinoma") else "",
            "menopausal status": lambda: self._state(gold),
            "gender": lambda: f"{self._value('birth', 'sex').capitalize()}_Gender".removeprefix("_Gender"),
            "body location clockface position": lambda: self._clock(),
            "pathologic tumor size (mm)": lambda: self._size(imaged=False),
            "radiologic tumor size (mm)": lambda: self._size(imaged=True),
            "radiologic tumor size procedure method": lambda: self._imaged_by(),
            "calcifications": lambda: gold if self._calcified() else "",
        }
        for receptor, marker in (("er", "er"), ("pr", "pr"), ("her2neu", "her2")):
            finders[f"{receptor} status interpretation"] = lambda marker=marker: self._result(marker)  # type: ignore[misc]
            finders[f"{receptor} status numeric value"] = lambda marker=marker: self._number(marker)  # type: ignore[misc]
        return finders.get(column, lambda: "")()

    def _of_kind(self, kind: str) -> list[Event]:
        return [event for event in self._events if event.kind == kind]

    def _value(self, kind: str, name: str) -> str:
        return "|".join(sorted({str(one.attributes[name]) for one in self._of_kind(kind) if name in one.attributes}))

    def _category(self, letter: str, prefix: str) -> str:
        found = {
            prefix + str(one.attributes[letter])
            for one in self._of_kind("tnm")
            if letter in one.attributes and one.attributes.get("prefix", "") == prefix
        }
        return "|".join(sorted(found))

    def _place(self, column: str, *, node: bool) -> str:
        if node:
            events = [one for one in self._of_kind("node") if one.concept == "axillary_lymph_node"]
            places = {"Axillary_Lymph_Node"} if events else set()
        else:
            events = [one for one in self._of_kind("diagnosis") if self._concepts.is_a(one.concept, "breast_cancer")]
            places = {"Breast"} if events else set()
        sides = {str(one.attributes["laterality"]) for one in events if "laterality" in one.attributes}
        return "|".join(sorted(places if column == "body location" else {side.capitalize() for side in sides}))

    def _site_below(self, organ: str, word: str) -> str:
        sites = {str(one.attributes.get("site", "")) for one in self._events}
        below = {one for one in sites if self._concepts.is_a(one, organ) and word in one}
        return "|".join(sorted(one.removesuffix(f"_of_{organ}") for one in below))

    def _tumor(self, concept: str) -> str:
        return concept if any(one.concept == concept for one in self._of_kind("diagnosis")) else ""

    def _kind_of_tumor(self, above: str) -> bool:
        return any(self._concepts.is_a(one.concept, above) for one in self._of_kind("diagnosis"))

    def _root(self, gold: str) -> str:
        return gold if any(one.tumor_rule == 0 for one in self._of_kind("diagnosis")) else ""

    def _node(self, gold: str) -> str:
        involved = [one for one in self._of_kind("node") if one.attributes.get("result") == "positive"]
        return gold if any(one.concept == "axillary_lymph_node" for one in involved) else ""

    def _temporality(self) -> str:
        found = {str(one.context.temporality) for one in self._of_kind("diagnosis")}
        return "|".join(sorted(found))

    def _state(self, gold: str) -> str:
        return gold if any(one.concept == gold.lower() for one in self._of_kind("state")) else ""

    def _clock(self) -> str:
        found = {str(one.attributes["which"]) for one in self._of_kind("feature") if one.concept == "clock_position"}
        return "|".join(f"{one.replace(':', '_')}_o_clock_position" for one in sorted(found))

    def _largest_imaged(self) -> Event | None:
        sizes = [one for one in self._possible if one.concept == "tumor_size"]
        sizes = [one for one in sizes if one.attributes.get("which") == "imaging"]
        return max(sizes, key=lambda one: float(one.attributes["value"]), default=None)

    def _size(self, *, imaged: bool) -> str:
        if imaged:
            one = self._largest_imaged()
            values = [] if one is None else [one.attributes.get(name) for name in ("third", "second", "value")]
            return "X".join(f"{value:g}" for value in values if value is not None)
        found = {
            f"{one.attributes['value']:g}"
            for one in self._of_kind("feature")
            if one.concept == "tumor_size" and one.attributes.get("which") != "imaging"
        }
        return "|".join(sorted(found))

    def _imaged_by(self) -> str:
        one = self._largest_imaged()
        methods = {"ultrasound": "Ultrasonography", "mammography": "Mammography"}
        return "" if one is None else methods.get(str(one.attributes.get("method", "")), "")

    def _calcified(self) -> bool:
        return any(self._concepts.is_a(one.concept, "calcification") for one in self._of_kind("comorbidity"))

    def _result(self, marker: str) -> str:
        found = {str(one.attributes.get("result", "")) for one in self._of_kind("biomarker") if one.concept == marker}
        return "|".join(sorted(found))

    def _number(self, marker: str) -> str:
        events = [one for one in self._of_kind("biomarker") if one.concept == marker]
        names = ("percent", "score", "value")
        return "|".join(
            sorted({f"{one.attributes[name]:g}" for one in events for name in names if name in one.attributes})
        )

    def _episode(self, column: str, gold: str) -> str:
        if column.endswith("Documents"):
            return "|".join(note.doc_id for note in self._notes if Path(note.doc_id).stem == Path(gold).stem)
        days = {note.date for note in self._notes if note.date is not None}
        return gold if datetime.datetime.strptime(gold, "%m/%d/%y").date() in days else ""


def gold_cells(folder: Path) -> Iterator[tuple[str, int, str, str]]:
    """Table, row (from 1), column and text of every filled cell."""
    for path in sorted(folder.glob("DeepPhe_Gold_*.bsv")):
        table = path.stem.rpartition("_")[2]
        rows = csv.DictReader(filter(None, path.read_text(encoding="utf-8").splitlines()), delimiter="|")
        for number, row in enumerate(rows, 1):
            for column, cell in row.items():
                if cell and cell.strip():
                    yield table, number, column.strip("-*"), cell.strip()


def same(gold: str, read: str) -> bool:
    """Whether the texts mean the same once the gold's spelling of names is undone."""
    text = gold.removesuffix("_Stage_Finding").removesuffix("_Not_Otherwise_Specified").removesuffix("_of_the_Breast")
    for number, roman in (("Stage_1", "I"), ("Stage_2", "II"), ("Stage_3", "III"), ("Stage_4", "IV")):
        if text.startswith(number):
            text = roman + text.removeprefix(number)
    return text.casefold() == read.casefold() or Path(text).stem.casefold() == Path(read).stem.casefold() != ""


def compare(folder: Path, journey: Journey, concepts: ConceptTable) -> list[Field]:
    """Every cell that is a field, compared."""
    read = Read(journey, concepts)
    fields = []
    for table, row, column, gold in gold_cells(folder):
        if column in NOT_FIELDS:
            continue
        found = read.field(table, row, column, gold)
        verdict, reason = ("agrees", "") if same(gold, found) else ("differs" if found else "not read", "")
        if verdict != "agrees":
            verdict, reason = JUDGED.get(f"{table} {row} {column}", (verdict, ""))
        elif table == "Episode" and column.endswith(("Date", "Documents")):
            verdict, reason = "in part", "the report and its day are known; that it is this episode is not read"
        fields.append(Field(table, row, column, gold, found, verdict, reason))
    return fields


def summary(fields: Iterable[Field]) -> list[tuple[object, ...]]:
    """A row a table: how many fields of each verdict."""
    counts: dict[str, Counter[str]] = {}
    for one in fields:
        for name in (one.table, "all"):
            counts.setdefault(name, Counter())[one.verdict] += 1
    return [(name, sum(row.values()), *(row[verdict] for verdict in VERDICTS)) for name, row in sorted(counts.items())]


def main() -> None:
    """Both tables, and their JSON where asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True, help="the folder that holds gold/ and the reports")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cohortium-") as place:
        kb = Path(place) / "deepphe.kb"
        run_ingest([given.corpus], kb)
        with KnowledgeBase.open(kb) as opened:
            (journey,) = opened.journeys()
            fields = compare(given.corpus / "gold", journey, opened.concepts)
    print(markdown(("table", "fields", *VERDICTS), summary(fields)))
    print()
    rest = [one for one in fields if one.verdict != "agrees" and one.table != "Episode"]
    print(
        markdown(
            ("table", "field", "gold", "read", "", "reason"),
            [
                (f"{one.table} {one.row}", one.column, one.gold, one.read or "–", one.verdict, one.reason)
                for one in rest
            ],
        )
    )
    if given.json:
        told = {"fields": [asdict(one) for one in fields], "signature": signature(command_line(), 0)}
        given.json.write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
