"""Reader of files of a token and its tag a line, a blank line between sentences: BIO, IOB1, IOBES, BILOU."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from ....kb.errors import UsageError
from .assembling import of_tokens, plain_tag
from .corpus import AnnotatedCorpus, AnnotatedDocument, Unread
from .sources import content_of, corpus_name

#: The line by which CoNLL files tell that a document begins.
_DOCUMENT: Final = "-DOCSTART-"
#: Where a file does not tell its documents, neighbouring sentences are most likely of one: so many stay together.
BLOCK: Final = 50
#: What CoNLL files write there in a column that does not apply.
_NOTHING: Final = re.compile(r"-X-|-|_|O|\d*")
_LOOK: Final = 200
_TAG: Final = re.compile(r"[Oo]|[BIESLU]-\S+")


def looks_like(text: str) -> bool:
    """Whether more than half of the first lines are a token and a tag."""
    lines = [line for line in text.split("\n", _LOOK)[:_LOOK] if line.strip()]
    tagged = sum(len(cells := _cells(line)) > 1 and bool(_TAG.fullmatch(cells[-1])) for line in lines)
    return bool(lines) and tagged > 0.5 * len(lines)


def read(path: Path, form: str = "") -> AnnotatedCorpus:
    """The corpus of a file. Token in the first column, tag in the last; parted by tabs, or by blanks.

    Where ``-DOCSTART-`` lines tell the documents, a document is what stands between two of them, and its sentences are
    its breaks; its id is the second of three columns of that line. Where none does, each sentence is a document, and
    blocks of neighbours share a group, so that a split cuts few abstracts in two. A line that is no token and tag is
    told, and a word without entity.
    """
    content = content_of(path)
    lines = _Lines(path, whole=_DOCUMENT in content.text)
    for number, line in enumerate(content.text.split("\n"), 1):
        lines.add(number, line.rstrip("\r"))
    lines.close()
    documents, problems = lines.documents, lines.problems
    if not documents or len(problems) > sum(len(one.words) for one in documents) / 2:
        raise UsageError(
            f"'{path}' is not a file of tokens and tags"
            + (f" ({problems[0].place}: {problems[0].reason.partition(';')[0]})" if problems else " (it is empty)")
            + ". Hint: token, tab, tag (O, B-X, I-X) on each line, and a blank line between sentences"
        )
    return AnnotatedCorpus(
        lines.name,
        tuple(documents),
        source=str(path),
        problems=tuple(problems),
        form=form,
        unit="document" if lines.whole else "sentence",
        files=(content.file,),
    )


class _Lines:
    """The lines of a file as they are read: documents that are closed, and the tokens and tags of the open one."""

    def __init__(self, path: Path, *, whole: bool) -> None:
        """``whole``: lines of the file tell its documents; else each sentence is one."""
        self._path = path
        self.name = corpus_name(path)
        self.whole = whole
        self.documents: list[AnnotatedDocument] = []
        self.problems: list[Unread] = []
        self._tokens: list[str] = []
        self._tags: list[str] = []
        self._sentences: list[int] = []
        self._id = ""

    def add(self, number: int, line: str) -> None:
        """Read a line."""
        cells = _cells(line)
        if not cells and self.whole:
            self._sentences.append(len(self._tokens))
        elif not cells:
            self.close()
        elif cells[0] == _DOCUMENT:
            self.close()
            self._id = cells[1] if len(cells) > 2 and not _NOTHING.fullmatch(cells[1]) else ""
        else:
            self._add_token(number, line, cells)

    def _add_token(self, number: int, line: str, cells: list[str]) -> None:
        tag = plain_tag(cells[-1]) if len(cells) > 1 else None
        if tag is None and line.startswith("#"):
            return  # a remark, as some files have it before a sentence
        if tag is None:
            reason = "no tag beside the token" if len(cells) == 1 else "the last column is no tag (O, B-X or I-X)"
            place = f"{self._path.name}, line {number}"
            self.problems.append(Unread(place, f"{reason}; taken as a word without entity"))
        self._tokens.append(cells[0])
        self._tags.append(tag or "O")

    def close(self) -> None:
        """End the open document, if it has a token."""
        if self._tokens:
            number = len(self.documents)
            group = "" if self.whole else f"{self.name} {number // BLOCK}"
            id = self._id or f"{self.name}-{number + 1:05d}"
            self.documents.append(of_tokens(id, self._tokens, self._tags, self._sentences, group))
        for one in (self._tokens, self._tags, self._sentences):
            one.clear()


def _cells(line: str) -> list[str]:
    """The columns of a line; none of a blank one."""
    if not line.strip():
        return []
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()
