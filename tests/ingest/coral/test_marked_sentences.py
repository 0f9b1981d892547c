"""Marked sentences of the schema: each entity type, attribute and relation, as ``cohortium.read`` gives them.

``sentences/*.txt`` hold the sentences, all invented, one a line (``\\n`` is a line break). A mark is ``{surface=>Label
Attribute=value …}``: exactly there stands an annotation of that type with those values; ``{surface=>no Label}``: none
of that type overlaps. Behind ``||`` stand relations, ``Type: head -> tail``, between the texts of two annotations, or
``no Type: head -> tail`` where there may be none.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import cohortium
from cohortium.ingest.coral_schema.types import schema
from cohortium.ingest.single import Document
from tests.ingest.note.marks import lines_of, taken_apart

HERE = Path(__file__).parent / "sentences"
NOTE_DATE = "2021-06-15"


def parts(line: str) -> tuple[str, list[tuple[int, int, str]], list[str]]:
    """The text of a line, its marks and its relations."""
    marked, _, relations = line.partition(" || ")
    text, marks = taken_apart(marked.replace(r"\n", "\n"))
    return text, marks, [one.strip() for one in relations.split(";") if one.strip()]


LINES = [
    pytest.param(line, id=f"{path.stem}: {parts(line)[0][:60]!r}")
    for path in sorted(HERE.glob("*.txt"))
    for line in lines_of(path)
]


def _unmet(document: Document, start: int, end: int, expected: str) -> str:
    label, *pairs = expected.split()
    here = [one for one in document.mentions if one.start < end and start < one.end]
    if label == "no":
        return "" if all(one.label != pairs[0] for one in here) else f"a {pairs[0]} stands there"
    wanted = dict(pair.split("=", 1) for pair in pairs)
    for one in here:
        if (one.start, one.end, one.label) == (start, end, label) and wanted.items() <= one.coral.items():
            return ""
    return "got " + (" | ".join(f"{one.text!r} {one.label} {one.coral}" for one in here) or "nothing")


@pytest.mark.parametrize("line", LINES)
def test_sentence(line: str) -> None:
    """Each mark and each relation of a line is as it says."""
    text, marks, relations = parts(line)
    assert marks or relations
    document = cohortium.read(text, NOTE_DATE)
    wrong = [
        f"{text[start:end]!r} as {expected}: {fault}"
        for start, end, expected in marks
        if (fault := _unmet(document, start, end, expected))
    ]
    texts = {one.id: one.text for one in document.mentions}
    drawn = {f"{one.type}: {texts[one.head]} -> {texts[one.tail]}" for one in document.relations}
    for relation in relations:
        denied = relation.startswith("no ")
        if (relation.removeprefix("no ") in drawn) == denied:
            wrong.append(f"{relation}; drawn are {sorted(drawn)}")
    assert not wrong, "\n".join(wrong)


def test_every_type_attribute_and_relation_has_a_sentence() -> None:
    """What the schema does not list as not yet read is marked in some sentence, and what it lists is in none."""
    labels: Counter[str] = Counter()
    attributes: Counter[str] = Counter()
    relations: Counter[str] = Counter()
    for path in HERE.glob("*.txt"):
        for line in lines_of(path):
            _, marks, drawn = parts(line)
            for _, _, expected in marks:
                label, *pairs = expected.split()
                if label != "no":
                    labels[label] += 1
                    attributes.update(pair.split("=")[0] for pair in pairs)
            relations.update(one.partition(":")[0] for one in drawn if not one.startswith("no "))
    known = schema()
    for marked, models in ((labels, known.entities), (attributes, known.attributes), (relations, known.relations)):
        assert set(marked) == {name for name, one in models.items() if not one.not_yet}


def test_no_sentence_stands_twice() -> None:
    """The files hold different sentences, a hundred and fifty or more."""
    texts = [parts(line)[0] for path in HERE.glob("*.txt") for line in lines_of(path)]
    assert len(texts) == len(set(texts)) >= 150
