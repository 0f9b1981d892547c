"""Writes a corpus: tokens with BIO tags (what every tagger reads), or JSON lines (nothing is lost)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ....kb.errors import UsageError
from .corpus import AnnotatedCorpus, AnnotatedDocument


def write_json_lines(corpus: AnnotatedCorpus, path: str | Path) -> None:
    """One document a line: id, text, words, breaks, spans as (start, end, label), group, and what was judged.

    ``read_annotated`` gives the same documents again. UsageError when the file cannot be written.
    """
    _write(path, (json.dumps(_row(one), ensure_ascii=False) for one in corpus.documents))


def _row(document: AnnotatedDocument) -> dict[str, object]:
    row: dict[str, object] = {
        "id": document.id,
        "text": document.text,
        "words": [list(place) for place in document.words],
        "breaks": list(document.breaks),
        "spans": [[span.start, span.end, span.label] for span in document.spans],
    }
    if document.group:
        row["group"] = document.group
    if document.judged is not None:
        row["judged"] = [list(place) for place in document.judged]
    return row


def write_bio(corpus: AnnotatedCorpus, path: str | Path) -> None:
    """A token and its tag a line, a blank line between sentences; a ``-DOCSTART-`` line with its id begins a document,
    where documents are not sentences.

    Of spans that lie over one another the longer one is written; one that begins or ends within a word takes all of
    it. Blanks within a token become ``_``. UsageError when the file cannot be written.
    """
    _write(path, (line for one in corpus.documents for line in _lines(one, corpus.unit == "document")))


def _lines(document: AnnotatedDocument, told: bool) -> Iterator[str]:
    if told:
        yield f"-DOCSTART-\t{'_'.join(document.id.split())}\tO"
        yield ""
    tags = ["O"] * len(document.words)
    for first, behind, label in document.entities():
        name = "_".join(label.split())
        tags[first:behind] = [f"B-{name}", *[f"I-{name}"] * (behind - first - 1)]
    begins = frozenset(document.breaks)
    for number, tag in enumerate(tags):
        if number in begins:
            yield ""
        yield f"{'_'.join(document.word(number).split())}\t{tag}"
    yield ""


def _write(path: str | Path, lines: Iterator[str]) -> None:
    try:
        with Path(path).open("w", encoding="utf-8", newline="\n") as file:
            for line in lines:
                file.write(line + "\n")
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}. Hint: name a file in an existing folder") from error
