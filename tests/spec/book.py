"""The chapters of the language guide as data: records, questions to them, and the answers that a person worked out."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

CHAPTERS = Path(__file__).parent / "chapters"
NOBODY = "-"


class ChapterError(ValueError):
    """A chapter is not written as chapters are; the message says where and what would do."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query as text, and the patients that it denotes in each of the three worlds."""

    query: str
    certain: frozenset[str]
    believed: frozenset[str]
    possible: frozenset[str]
    #: The day that *now* is.
    as_of: datetime.date | None = None

    def today(self) -> int | None:
        """That day as an ordinal, for who resolves the query."""
        return None if self.as_of is None else self.as_of.toordinal()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A query that means nothing, and the whole message that its writer meets."""

    query: str
    message: str


@dataclass(frozen=True, slots=True)
class Part:
    """A paragraph: prose, a record (shown where it first stands), questions to the record, refusals.

    ``place`` is unique and tells where the paragraph stands, ``table`` is the record that its questions are asked of.
    """

    place: str
    title: str
    text: str
    table: str
    shows_table: bool
    questions: tuple[Question, ...]
    refusals: tuple[Refusal, ...]
    lists: str


@dataclass(frozen=True, slots=True)
class Chapter:
    """One file of the folder: a title, what it is about, its paragraphs."""

    title: str
    text: str
    parts: tuple[Part, ...]


def chapters() -> tuple[Chapter, ...]:
    """All chapters, in the order of their file names. ChapterError for one that cannot be read."""
    return tuple(_chapter(path) for path in sorted(CHAPTERS.glob("*.toml")))


def parts() -> Iterator[Part]:
    """The paragraphs of all chapters."""
    for chapter in chapters():
        yield from chapter.parts


def _chapter(path: Path) -> Chapter:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    _known(path.name, data, {"title", "text", "part"})
    found: list[Part] = []
    table = ""
    for number, part in enumerate(data.get("part", ()), start=1):
        place = f"{path.stem}-{number:02}"
        _known(place, part, {"title", "text", "record", "ask", "refused", "lists", "as_of"})
        table = part.get("record", table)
        found.append(
            Part(
                place,
                part.get("title", ""),
                part.get("text", "").strip("\n"),
                table,
                "record" in part,
                tuple(replace(one, as_of=part.get("as_of")) for one in _questions(place, part.get("ask", ""))),
                tuple(Refusal(one["query"], one["says"].strip("\n")) for one in part.get("refused", ())),
                part.get("lists", ""),
            )
        )
    return Chapter(data["title"], data["text"].strip(), tuple(found))


def _known(place: str, table: dict[str, object], keys: set[str]) -> None:
    if unknown := set(table) - keys:
        raise ChapterError(f"{place}: no key is called {min(unknown)}; they are {', '.join(sorted(keys))}")


def _questions(place: str, text: str) -> Iterator[Question]:
    """``query => patients``, or ``query => certain / believed / possible``; a query may go over several lines."""
    lines: list[str] = []
    for line in text.strip("\n").splitlines():
        query, arrow, answer = line.partition("=>")
        lines.append(query.rstrip())
        if not arrow:
            continue
        worlds = [_patients(place, part) for part in answer.split("/")]
        if len(worlds) not in (1, 3):
            raise ChapterError(f"{place}: an answer is one set of patients, or three with / between: {line.strip()}")
        certain, believed, possible = worlds * 3 if len(worlds) == 1 else worlds
        yield Question("\n".join(lines).strip(), certain, believed, possible)
        lines = []
    if any(lines):
        raise ChapterError(f"{place}: the last query has no answer. Hint: end it with => and patients, or => {NOBODY}")


def _patients(place: str, text: str) -> frozenset[str]:
    words = text.split()
    if not words or (NOBODY in words and len(words) > 1):
        raise ChapterError(f"{place}: an answer names patients, or is {NOBODY} for nobody")
    return frozenset(words) - {NOBODY}
