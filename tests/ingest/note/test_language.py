"""Marked sentences of clinical language: what the reading makes of each marked span, its context and its attributes.

``language/*.txt`` hold the sentences, all invented, one a line (``\\n`` is a line break; ``@type|`` before one gives
the note's type). A mark is ``{surface=>kind concept ...}``: at that span a mention of that kind and concept (or of one
below it; ``-`` for any) stands, with the assertion (``present`` where none is named), the experiencer (the patient
where none is named) and the ``attribute=value`` that follow. ``{surface=>no kind concept}`` (the concept may be left
out) marks where nothing of that kind may count as the patient's own. ``known_gaps.txt`` holds those that the reading
does not get yet, each behind the reason; one that it gets by now fails, so that it moves to the file of its theme.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from cohortium.ingest.note.read import read_text, shared_reader
from cohortium.kb.model import Experiencer, Mention
from tests.ingest.note.marks import lines_of, taken_apart

HERE = Path(__file__).parent / "language"
GAPS = "known_gaps.txt"
NOTE_DATE = "2021-06-15"
_ASSERTIONS = frozenset({"present", "absent", "uncertain", "planned", "hypothetical", "historical"})
_EXPERIENCERS = frozenset({"family", "other"})
#: Attributes whose value is a concept: one below the expected will do.
_CONCEPT_VALUES = frozenset({"result"})


class Line(NamedTuple):
    """A sentence without its marks, the type of its note, and what is expected at which span."""

    text: str
    type: str
    marks: tuple[tuple[int, int, str], ...]


def unmark(line: str) -> Line:
    """``line`` taken apart."""
    note_type = ""
    if line.startswith("@"):
        note_type, _, line = line[1:].partition("|")
    text, marks = taken_apart(line.replace(r"\n", "\n"))
    return Line(text, note_type, tuple(marks))


def shown(mention: Mention) -> str:
    """A mention in the words of the data files, so that a failure can be read."""
    context = mention.context
    parts = [mention.kind, mention.concept or "-", context.assertion]
    if context.experiencer is not Experiencer.PATIENT:
        parts.append(str(context.experiencer))
    if context.reason != "none":
        parts.append(f"reason={context.reason}")
    parts += [f"{name}={_plain(value)}" for name, value in sorted(mention.attributes.items())]
    return " ".join(parts)


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def is_below(concept: str, above: str) -> bool:
    """Whether ``concept`` is ``above`` or lies below it; ``-`` stands for anything."""
    return above in ("-", concept) or shared_reader().concepts.is_a(concept, above)


def fits(mention: Mention, expected: str) -> bool:
    """Whether the mention is what a mark expects."""
    kind, concept, *rest = expected.split()
    if mention.kind != kind or not is_below(mention.concept, concept):
        return False
    pairs = dict(part.split("=", 1) for part in rest if "=" in part)
    words = [part for part in rest if "=" not in part]
    assertion = next((word for word in words if word in _ASSERTIONS), "")
    experiencer = next((word for word in words if word in _EXPERIENCERS), "patient")
    if not assertion and experiencer == "patient" and pairs.get("status") != "given":
        assertion = "present"
    if assertion and mention.context.assertion != assertion or str(mention.context.experiencer) != experiencer:
        return False
    if pairs.get("status") == "given" and not mention.context.really_happened:
        return False
    reason = pairs.pop("reason", "none")
    if reason not in (mention.context.reason, mention.attributes.get("reason")):
        return False
    for name, value in pairs.items():
        got = _plain(mention.attributes.get(name, ""))
        if got != value and not (name in _CONCEPT_VALUES and is_below(got, value)):
            return False
    return True


def failures(line: str) -> list[str]:
    """What the marks of ``line`` expect and the reading does not give; empty when all is well."""
    text, note_type, marks = unmark(line)
    assert marks, f"no mark in {line!r}"
    mentions = read_text(text, NOTE_DATE, type=note_type).mentions
    wrong = []
    for start, end, expected in marks:
        here = [mention for mention in mentions if mention.start < end and start < mention.end]
        if expected.startswith("no "):
            kind, concept = [*expected.split()[1:], "-"][:2]
            bad = [
                mention
                for mention in here
                if mention.kind == kind and is_below(mention.concept, concept) and mention.context.really_happened
            ]
        else:
            bad = here if not any(fits(mention, expected) for mention in here) else []
            bad = bad or ([] if here else [None])  # type: ignore[list-item]
        if bad:
            got = " | ".join(shown(mention) for mention in bad if mention is not None) or "nothing"
            wrong.append(f"{text[start:end]!r}: expected {expected}; got {got}")
    return wrong


LINES = [
    pytest.param(line, id=f"{path.stem}: {unmark(line).text[:60]!r}")
    for path in sorted(HERE.glob("*.txt"))
    if path.name != GAPS
    for line in lines_of(path)
]


@pytest.mark.parametrize("line", LINES)
def test_language(line: str) -> None:
    """Each marked span is read as its mark says."""
    assert not failures(line), unmark(line).text


@pytest.mark.parametrize("line", list(lines_of(HERE / GAPS)))
def test_known_gaps_are_gaps(line: str) -> None:
    """A sentence stands among the gaps only while it is one; each names its reason."""
    reason, _, sentence = line.partition(" :: ")
    assert reason
    assert failures(sentence), "it is read right by now: move it to the file of its theme"


def test_no_sentence_stands_twice() -> None:
    """The files hold different sentences."""
    texts = [unmark(line.partition(" :: ")[2] or line).text for path in HERE.glob("*.txt") for line in lines_of(path)]
    assert len(texts) == len(set(texts))
