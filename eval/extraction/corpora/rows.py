"""Corpora of one document a row: JSON or a table, with tokens and tags, or a text and (start, end, label).

NeuroTrialNER comes as both: JSON lines ``{tokens, ner_tags, nct_id}``, and a table with ``text``, ``tokens`` and the
tuples of ``ner_manual_ct_target``. Its types are spelled out (``COND`` is ``CONDITION``), as its scorer does. The
annotations that this project writes itself are JSON lines ``{id, text, words, breaks, spans, group, judged}``.
"""

from __future__ import annotations

import ast
import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ....kb.errors import UsageError
from ..ner.tagging import token_spans
from ..ner.types import vocabulary
from .assembling import of_text, of_tokens, plain_tag, why_not_a_place
from .corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan, Unread
from .sources import Content, content_of, corpus_name, json_rows

IDS: Final = ("nct_id", "id", "doc_id")
TOKENS: Final = ("tokens", "words")
TAGS: Final = ("ner_tags", "tags")
SPANS: Final = ("ner_manual_ct_target", "spans", "entities")
#: A row that has it is of the registry whose types are spelled in several ways.
_TRIAL: Final = "nct_id"
_LABELS: Final = ("label", "type")
_LARGEST_CELL: Final = 2**31 - 1
_HINT: Final = (
    "Hint: objects or columns with tokens and ner_tags, or with text and spans, a list of (start, end, label)"
)

Row = Mapping[str, Any]


def looks_like(keys: Iterable[str]) -> bool:
    """Whether an object or a table with these keys is a document with its entities."""
    has = set(keys)
    tagged = has.intersection(TOKENS) and has.intersection(TAGS)
    return bool(tagged or ("text" in has and has.intersection(SPANS)))


def read_json(path: Path, form: str = "") -> AnnotatedCorpus:
    """The corpus of JSON lines, or of one list."""
    content = content_of(path)
    return _corpus(path, form, content, json_rows(content.text, path))


def read_table(path: Path, form: str = "") -> AnnotatedCorpus:
    """The corpus of a table of comma- or tab-separated values with a header."""
    content = content_of(path)
    return _corpus(path, form, content, table_rows(content.text, path))


def table_rows(text: str, path: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """The rows of a table with their place; lists in cells are read, a cell that is no list stays as it is."""
    csv.field_size_limit(_LARGEST_CELL)
    header = text.partition("\n")[0]
    delimiter = max(",\t;", key=header.count)
    try:
        for number, row in enumerate(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter), 1):
            known = {key.strip(): value for key, value in row.items() if isinstance(key, str)}
            yield (
                f"row {number}",
                {key: _listed(value) if key in (*TOKENS, *TAGS, *SPANS) else value for key, value in known.items()},
            )
    except csv.Error as error:
        raise UsageError(f"'{path}' is not a table: {error}. {_HINT}") from error


def _listed(cell: object) -> object:
    """The list that a cell writes; None for an empty cell, the cell itself where it is no list."""
    if not isinstance(cell, str) or not cell.strip():
        return None
    try:
        value = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return cell
    return list(value) if isinstance(value, (list, tuple)) else cell


def _corpus(
    path: Path, form: str, content: Content, rows: Iterable[tuple[str, dict[str, Any] | None]]
) -> AnnotatedCorpus:
    documents: dict[str, AnnotatedDocument] = {}
    problems: list[Unread] = []
    for place, row in rows:
        where = f"{path.name}, {place}"
        if row is None:
            problems.append(Unread(where, "no object; left out"))
            continue
        id = next((str(row[name]).strip() for name in IDS if row.get(name) not in (None, "")), "")
        id = id or f"{path.stem}-{len(documents) + 1:05d}"
        if id in documents:
            problems.append(Unread(where, "a second document of this id; the first counts"))
            continue
        document = _document(id, row, where, problems)
        if document is not None:
            documents[id] = document
    if not documents:
        shown = f" ({problems[0].place}: {problems[0].reason})" if problems else ""
        raise UsageError(f"no annotated document in '{path}'{shown}. {_HINT}")
    return AnnotatedCorpus(
        corpus_name(path),
        tuple(documents.values()),
        source=str(path),
        problems=tuple(problems),
        form=form,
        files=(content.file,),
    )


def _document(id: str, row: Row, where: str, problems: list[Unread]) -> AnnotatedDocument | None:
    """The document of a row: by its text and spans where it has both, else by its tokens and tags."""
    trial = _TRIAL in row
    text, listed = row.get("text"), _first(row, SPANS)
    group = str(row.get("group") or "")
    if isinstance(text, str) and isinstance(listed, list):
        spans = list(_spans(listed, text, where, problems, trial))
        words = _words(row, text)
        if words is None and _first(row, TOKENS) is not None:
            problems.append(Unread(where, "its words do not stand in its text; divided as the recogniser does"))
        document = of_text(id, text, spans, words, _breaks(row), group)
        judged = _places(row.get("judged"), len(text))
        return document if judged is None else replace(document, judged=tuple(judged))
    tokens, tags = _first(row, TOKENS), _first(row, TAGS)
    if not _strings(tokens) or not _strings(tags):
        numbered = _strings(tokens) and isinstance(tags, list) and any(isinstance(one, int) for one in tags)
        reason = (
            "its tags are numbers, without their names"
            if numbered
            else "neither tokens with tags nor a text with spans"
        )
        problems.append(Unread(where, f"{reason}; left out"))
        return None
    if len(tokens) != len(tags):
        problems.append(Unread(where, f"{len(tags)} tags for {len(tokens)} tokens; left out"))
        return None
    if not any(token.strip() for token in tokens):
        return of_text(id, "", (), group=group)
    read = [plain_tag(tag) for tag in tags]
    bad = read.count(None)
    if bad:
        problems.append(Unread(where, f"{bad} of {len(tags)} tags are neither O, B-X nor I-X; taken as O"))
    known = [_spelled(tag or "O", trial) for tag in read]
    return of_tokens(id, tokens, known, group=group)


def _spelled(tag: str, trial: bool) -> str:
    """A tag of a trial with its type spelled out; any other tag as it is."""
    prefix, dash, name = tag.partition("-")
    return f"{prefix}-{vocabulary().type_of(name) or name}" if trial and dash else tag


def _spans(listed: Sequence[Any], text: str, where: str, problems: list[Unread], trial: bool) -> Iterator[LabelledSpan]:
    """The spans of a list whose places are in the text; the others are told by their number."""
    for number, one in enumerate(listed, 1):
        parts = _parts(one)
        if parts is None:
            problems.append(Unread(where, f"entity {number} is not (start, end, label); left out"))
            continue
        start, end, label, quote = parts
        reason = why_not_a_place(text, start, end, quote)
        if reason:
            problems.append(Unread(where, f"entity {number}: {reason}; left out"))
            continue
        yield LabelledSpan(start, end, (vocabulary().type_of(label) or label) if trial else label)


def _parts(one: object) -> tuple[int, int, str, str | None] | None:
    """(start, end, label, quoted words or None) of an entity, however it is written; None where it is none."""
    if isinstance(one, Mapping):
        one = [one.get("start"), one.get("end"), _first(one, _LABELS), one.get("text")]
    if not isinstance(one, (list, tuple)) or len(one) not in (3, 4):
        return None
    start, end, label = one[:3]
    quote = one[3] if len(one) == 4 else None
    whole = all(isinstance(place, int) and not isinstance(place, bool) for place in (start, end))
    if not whole or not isinstance(label, str) or not label or not isinstance(quote, str | None):
        return None
    return start, end, label, quote


def _words(row: Row, text: str) -> list[tuple[int, int]] | None:
    """The row's own words: places, or tokens that all stand in the text in their order; None where it has none."""
    listed = _first(row, TOKENS)
    if _strings(listed):
        placed = token_spans(listed, text)
        return [one for one in placed if one[0] < one[1] and text[slice(*one)].strip()] if placed is not None else None
    return _places(listed, len(text))


def _places(listed: object, length: int) -> list[tuple[int, int]] | None:
    """Stretches of a text in their order, none over another; None for what is no list of such."""
    if not isinstance(listed, list):
        return None
    before, places = 0, []
    for one in listed:
        pair = isinstance(one, (list, tuple)) and len(one) == 2 and all(isinstance(place, int) for place in one)
        if not pair or not before <= one[0] < one[1] <= length:
            return None
        before = one[1]
        places.append((one[0], one[1]))
    return places


def _breaks(row: Row) -> list[int] | None:
    listed = row.get("breaks")
    if not isinstance(listed, list) or not all(isinstance(one, int) for one in listed):
        return None
    return sorted({one for one in listed if one > 0})


def _first(row: Row, names: Iterable[str]) -> Any:
    """The first of some fields that a row has."""
    return next((row[name] for name in names if row.get(name) is not None), None)


def _strings(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
