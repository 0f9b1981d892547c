"""Makes docs/guide/language.md of the chapters: prose, records, queries with their answers. ``make guide`` runs it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from cohortium.kb.kinds import KINDS, SEVERAL, values_of
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.query_lang.keywords import KEYWORDS
from cohortium.query_lang.vocabulary import (
    CONTEXT_OF_SPELLING,
    KIND_OF_SPELLING,
    KIND_WORDS,
    PICK_OF_SPELLING,
    kind_spelling,
)
from tests.generated.record_tables import COLUMNS, NOTE, rows
from tests.places import DOCS
from tests.spec import book

PAGE = DOCS / "guide" / "language.md"
TITLE = "# The query language"
THEORY = "*A query denotes a set of patients, and every operator is a set operation on what the notes justify.*"
MADE_FROM = "<!-- Made by `make guide` from tests/spec/chapters; edit those. -->"
WIDEST = 118
#: Words of the context column that the reader sees otherwise.
SHOWN_CONTEXTS = {"kept": "disputed, kept", "rejected": "disputed, rejected"}
ALL_TUMORS = "all"


def page(concepts: ConceptTable) -> str:
    """The whole guide as Markdown."""
    blocks = [TITLE, MADE_FROM, THEORY, _contents()]
    for number, chapter in enumerate(book.chapters(), start=1):
        blocks += [f"## {number}. {chapter.title}", chapter.text]
        for part in chapter.parts:
            blocks += _part(part, concepts)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _contents() -> str:
    titles = [f"{number}. {chapter.title}" for number, chapter in enumerate(book.chapters(), start=1)]
    return "\n".join(f"{title.split('.')[0]}. [{title.split('. ', 1)[1]}](#{_anchor(title)})" for title in titles)


def _anchor(title: str) -> str:
    """The address of a heading, as Git hosts make it."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")


def _part(part: book.Part, concepts: ConceptTable) -> Iterator[str]:
    if part.title:
        yield f"### {part.title}"
    yield part.text
    if part.shows_table:
        yield record(part.table, concepts)
    for several_lines, group in itertools.groupby(part.questions, key=lambda question: "\n" in question.query):
        questions = list(group)
        for block in [[one] for one in questions] if several_lines else [questions]:
            yield "\n".join(["```query", *_asked(block, part.table), "```"])
    for refusal in part.refusals:
        yield "\n".join(f"    {line}" for line in refusal.message.splitlines())
    if part.lists:
        yield LISTS[part.lists]()


# --- records --------------------------------------------------------------------------------------------------------


def record(table: str, concepts: ConceptTable) -> str:
    """A record as a Markdown table; each patient is named once, columns without a word are left out."""
    lines = []
    before = ""
    for cells in rows(table):
        shown = _shown(cells, concepts)
        lines.append([shown[name] if name != "patient" or cells["patient"] != before else "" for name in COLUMNS])
        before = cells["patient"]
    kept = [at for at in range(len(COLUMNS)) if any(line[at] for line in lines)]
    return markdown([COLUMNS[at] for at in kept], [[line[at] for at in kept] for line in lines])


def _shown(cells: dict[str, str], concepts: ConceptTable) -> dict[str, str]:
    kind, concept, tumor = (cells.get(name, "") for name in ("kind", "concept", "tumor"))
    attributes = [pair for pair in cells.get("attributes", "").split(",") if pair]
    contexts = [word.strip() for word in cells.get("context", "").split(",")]
    if kind == NOTE:
        return {**dict.fromkeys(COLUMNS, ""), "patient": cells["patient"], "kind": f"*{concept}*", "day": cells["day"]}
    return {
        "patient": cells["patient"],
        "kind": kind_spelling(kind) if kind else "*nothing*",
        "concept": concepts.get(concept).name if concept in concepts and kind != "death" else "",
        "day": cells.get("day", "").replace("..", " to "),
        "until": cells.get("until", "").replace("..", " to "),
        "told": cells.get("told", ""),
        "attributes": ", ".join(_attribute(kind, pair, concepts) for pair in attributes),
        "context": ", ".join(SHOWN_CONTEXTS.get(word, word) for word in contexts),
        "tumor": ALL_TUMORS if tumor == "*" else tumor,
    }


def _attribute(kind: str, pair: str, concepts: ConceptTable) -> str:
    name, _, value = (text.strip() for text in pair.partition("="))
    if str(KIND_WORDS[kind].attributes[name]).startswith("concept:"):
        value = ", ".join(str(concepts.get(str(one)).name) for one in values_of(name, value))
    elif name in SEVERAL:
        value = " and ".join(map(str, values_of(name, value)))
    return f"{name} {value}".replace("_", " ")


def markdown(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table whose columns are as wide as their widest cell."""
    cells = [list(header), *map(list, lines)]
    widths = [max(3, *(len(line[at]) for line in cells)) for at in range(len(header))]
    cells.insert(1, ["-" * width for width in widths])
    return "\n".join(
        f"| {' | '.join(text.ljust(width) for text, width in zip(line, widths, strict=True))} |" for line in cells
    )


# --- questions ------------------------------------------------------------------------------------------------------


def _asked(questions: Sequence[book.Question], table: str) -> Iterator[str]:
    """Each query with its answer as a comment beside it, or below where the line would be too long."""
    order = list(dict.fromkeys(cells["patient"] for cells in rows(table)))
    answers = [_answer(question, order) for question in questions]
    lengths = [len(question.query.splitlines()[-1]) for question in questions]
    margin = max(
        (one for one in lengths if all(one + 2 + len(answer) <= WIDEST for answer in answers)), default=max(lengths)
    )
    for question, length, answer in zip(questions, lengths, answers, strict=True):
        gap = max(margin - length, 0) + 2
        yield question.query + (" " * gap + answer if length + gap + len(answer) <= WIDEST else f"\n    {answer}")


def _answer(question: book.Question, order: Sequence[str]) -> str:
    """The believed patients, and in brackets those that are certain or possible where these are others."""

    def named(patients: frozenset[str]) -> str:
        return ", ".join(name for name in order if name in patients) or "nobody"

    worlds = (("certain", question.certain), ("possible", question.possible))
    others = [f"{word}: {named(patients)}" for word, patients in worlds if patients != question.believed]
    return f"-- {named(question.believed)}" + (f" ({'; '.join(others)})" if others else "")


# --- lists that come from the language itself -----------------------------------------------------------------------


def kinds() -> str:
    """Every kind of event with the concepts that it has and its attributes."""
    lines = []
    for kind in KINDS:
        words = KIND_WORDS[kind]
        concepts = " or ".join(words.concepts) or "none"
        lines.append((" or ".join(words.spellings), concepts, ", ".join(words.attributes)))
    return markdown(("kind", "its concept is a", "attributes"), lines)


def keywords() -> str:
    """Every keyword with its line of help; kinds, contexts and picks have lists of their own."""
    elsewhere = {*KIND_OF_SPELLING, *CONTEXT_OF_SPELLING, *PICK_OF_SPELLING}
    return markdown(("word", "use"), [(f"`{word}`", use) for word, use in KEYWORDS.items() if word not in elsewhere])


def modifiers() -> str:
    """What stands before a fact: each spelling with what it asks for."""
    spellings: dict[str, list[str]] = {}
    for spelling, meaning in (*CONTEXT_OF_SPELLING.items(), *PICK_OF_SPELLING.items()):
        spellings.setdefault(meaning, []).append(f"`{spelling}`")
    spellings["nth"] = ["`2nd`, `3rd`, …"]
    return markdown(("asks for", "written"), [(meaning, ", ".join(words)) for meaning, words in spellings.items()])


LISTS: dict[str, Callable[[], str]] = {"kinds": kinds, "keywords": keywords, "modifiers": modifiers}


if __name__ == "__main__":
    PAGE.write_text(page(shipped_concepts()), encoding="utf-8")
