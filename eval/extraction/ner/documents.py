"""The files of the scoring: the annotated corpus and a system's predictions, joined by the id of the trial.

A corpus is a table with ``tokens``, ``ner_tags``, ``nct_id`` and, where it has them, ``text`` and
``ner_manual_ct_target``; or JSON, one trial a line (or a list of them), with ``tokens`` and ``ner_tags``. Predictions
are a table with a column ``ner_prediction_*_normalized``, or with one column ``SYSTEM_predictions_TYPE`` a type.
"""

from __future__ import annotations

import ast
import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ....kb.errors import UsageError
from ....kb.files.text_files import lines_of_text
from ..corpora.corpus import Unread
from ..corpora.sources import json_rows
from .cells import holds_tuples, is_blank, read_names, read_tags, read_tuples
from .tagging import Entity, entities_of_tags, token_spans, token_types_of_entities
from .types import vocabulary

IDS: Final = ("nct_id", "id", "doc_id")
GOLD: Final = "ner_manual_ct_target"
_PREDICTION: Final = re.compile(r"ner_prediction_(?P<system>.+?)(_normalized)?")
_COUNTS: Final = "_normalized"
_ONE_TYPE: Final = re.compile(r"(?P<system>.+)_predictions_(?P<type>[A-Za-z]+)(_(?P<prompt>v\d+))?")
_DELIMITERS: Final = (",", "\t", ";")
_LARGEST_CELL: Final = 2**31 - 1
_WHOLE_NUMBER: Final = re.compile(r"\d+\.0*")
_TOKEN: Final = re.compile(r"'(?:[^'\\]|\\.)*(?:'|\Z)|\"(?:[^\"\\]|\\.)*(?:\"|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Document:
    """One annotated abstract. ``text`` is empty where the corpus has only tokens."""

    id: str
    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    text: str = ""
    gold: tuple[Entity, ...] = ()

    def with_text(self, text: str) -> Document:
        """The same abstract with its text, where it had none and its tokens stand in this one."""
        if self.text or not text or token_spans(self.tokens, text) is None:
            return self
        gold = entities_of_tags(self.tags, self.tokens, text, as_written=True)
        return Document(self.id, self.tokens, self.tags, text, tuple(gold))

    @property
    def written(self) -> str:
        """The text, or what comes nearest to it where there are only tokens."""
        return self.text or vocabulary().untokenised(" ".join(self.tokens))


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a system says of one abstract: tags, entities, or names by type; which of them, the form says.

    ``verbatim``: its names are compared as its tokens or words stand, its short forms too (a published run was).
    """

    id: str
    form: str
    tags: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    verbatim: bool = False


@dataclass(slots=True)
class Corpus:
    """The annotated abstracts by id, in the file's order, and what of the file could not be read."""

    documents: dict[str, Document] = field(default_factory=dict)
    problems: list[Unread] = field(default_factory=list)


@dataclass(slots=True)
class Predictions:
    """A system's answers by id; ``column`` is what was read, ``types`` what it looks for."""

    system: str
    column: str
    types: tuple[str, ...]
    answers: dict[str, Prediction] = field(default_factory=dict)
    problems: list[Unread] = field(default_factory=list)
    unknown_types: Counter[str] = field(default_factory=Counter)
    not_in_corpus: list[str] = field(default_factory=list)
    bad_rows: int = 0


def read_corpus(path: Path) -> Corpus:
    """The abstracts of a corpus. UsageError when the file cannot be read or none of it is an annotated abstract."""
    corpus = Corpus()
    for place, row in _json_rows(path) if path.suffix.lower() in (".json", ".jsonl") else _table_rows(path):
        document = _document(place, row, corpus.problems)
        if document is None:
            continue
        if document.id in corpus.documents:
            corpus.problems.append(Unread(place, f"a second row of {document.id}; the first counts"))
        else:
            corpus.documents[document.id] = document
    if not corpus.documents:
        shown = f" ({corpus.problems[0].place}: {corpus.problems[0].reason})" if corpus.problems else ""
        raise UsageError(
            f"no annotated abstract in '{path}'{shown}. Hint: a table with the columns tokens, ner_tags and nct_id, or"
            " JSON lines with these keys"
        )
    return corpus


def is_of_trials(path: Path) -> bool:
    """Whether the first row of a table or of JSON names a trial (``nct_id``) and has tags, as this corpus's do."""
    rows = _json_rows(path) if path.suffix.lower() in (".json", ".jsonl") else _table_rows(path)
    first = next(rows, ("", {}))[1]
    return {IDS[0], "tokens", "ner_tags"} <= first.keys()


def _document(place: str, row: Mapping[str, Any], problems: list[Unread]) -> Document | None:
    """The abstract of a row; None, and a problem, when it has no readable tokens and tags."""
    id = _id(row)
    if not id:
        problems.append(Unread(place, f"no id. Hint: a column {IDS[0]}"))
        return None
    place = f"{place} ({id})"
    tokens = _tokens(row.get("tokens"))
    if not tokens:
        problems.append(Unread(place, "no list of tokens; left out"))
        return None
    raw = row.get("ner_tags")
    reading = read_tags(raw if isinstance(raw, str) else json.dumps(raw), tokens)
    problems.extend(Unread(place, f"ner_tags: {reason}") for reason in reading.reasons)
    problems.extend(Unread(place, f"ner_tags: unknown type {name} ({n})") for name, n in reading.unknown.items())
    if reading.tags is None:
        return None
    text = row.get("text") if isinstance(row.get("text"), str) else ""
    gold: Sequence[Entity] = entities_of_tags(reading.tags, tokens, str(text or ""), as_written=True)
    if not text:
        gold = [replace(one, text=vocabulary().untokenised(one.text)) for one in gold]
    cell = row.get(GOLD)
    if isinstance(cell, str) and not is_blank(cell):
        tuples = read_tuples(cell)
        problems.extend(Unread(place, f"{GOLD}: {reason}") for reason in tuples.reasons)
        gold = tuples.entities if tuples.entities or not tuples.reasons else gold
    return Document(id, tuple(tokens), tuple(reading.tags), str(text or ""), tuple(gold))


def read_predictions(
    path: Path, corpus: Corpus, column: str | None = None, types: Sequence[str] | None = None
) -> Predictions:
    """The answers of a table, cell by cell; UsageError when it has no column of predictions, or several and no choice.

    An answer of which nothing can be read is none, and counted as a bad row; the text of a row stands in for one that
    the corpus lacks.
    """
    rows = list(_table_rows(path))
    header = list(rows[0][1]) if rows else []
    predictions, columns = _columns(path, header, column)
    if types is not None:
        predictions.types = tuple(types)
    for place, row in rows:
        id = _id(row)
        if id not in corpus.documents:
            if id:
                predictions.not_in_corpus.append(id)
            else:
                predictions.problems.append(Unread(place, f"no id. Hint: a column {IDS[0]}"))
                predictions.bad_rows += 1
            continue
        if id in predictions.answers:
            predictions.problems.append(Unread(f"{place} ({id})", "a second row of this id; the first counts"))
            continue
        corpus.documents[id] = corpus.documents[id].with_text(str(row.get("text") or ""))
        before = len(predictions.problems)
        predictions.answers[id] = _answer(f"{place} ({id})", row, corpus.documents[id], columns, predictions)
        predictions.bad_rows += len(predictions.problems) > before
    if not predictions.answers:
        raise UsageError(
            f"no row of '{path}' answers an abstract of the corpus. Hint: both name the trial in a column {IDS[0]}"
        )
    return predictions


def _columns(path: Path, header: Sequence[str], column: str | None) -> tuple[Predictions, dict[str, str]]:
    """The empty predictions of a system, and its columns by type; one column of all types has the type ``""``."""
    single = [name for name in header if _PREDICTION.fullmatch(name)]
    # What a system said before it was brought to the corpus's form stands beside the column that counts.
    single = [name for name in single if f"{name}{_COUNTS}" not in header or name == column]
    by_system: dict[str, dict[str, dict[str, str]]] = {}
    for name in header:
        if (match := _ONE_TYPE.fullmatch(name)) and (kind := vocabulary().type_of(match["type"])):
            by_system.setdefault(match["system"], {}).setdefault(kind, {})[match["prompt"] or ""] = name
    choices = [*single, *by_system]
    if column is not None and column not in choices and column in header:
        choices.append(column)
        single.append(column)
    wanted = [name for name in choices if column in (None, name)]
    if len(wanted) != 1:
        have = ", ".join(choices) or "none"
        raise UsageError(
            f"'{path}' has {len(wanted) or 'no'} columns of predictions to score (of: {have}). Hint: --column NAME of"
            " one named ner_prediction_SYSTEM_normalized, or the SYSTEM of columns SYSTEM_predictions_TYPE"
        )
    if wanted[0] in single:
        match = _PREDICTION.fullmatch(wanted[0])
        system = match["system"] if match else wanted[0]
        types = vocabulary().claims.get(system, vocabulary().types)
        return Predictions(system, wanted[0], types), {"": wanted[0]}
    system = wanted[0]
    published = vocabulary().prompts.get(system, {})
    columns = {
        kind: prompts.get(published.get(kind, ""), prompts[min(prompts)]) for kind, prompts in by_system[system].items()
    }
    types = tuple(kind for kind in vocabulary().types if kind in columns)
    return Predictions(system, ", ".join(columns[kind] for kind in types), types), columns


def _answer(
    place: str, row: Mapping[str, Any], document: Document, columns: Mapping[str, str], predictions: Predictions
) -> Prediction:
    """What a row says of its abstract; what cannot be read goes to the problems."""
    verbatim = predictions.system in vocabulary().verbatim
    if "" not in columns:
        names = {kind: read_names(row.get(name)) for kind, name in columns.items()}
        return Prediction(document.id, "names", names=names, verbatim=verbatim)
    cell = row.get(columns[""])
    if not isinstance(cell, str) or is_blank(cell):
        predictions.problems.append(Unread(place, f"{columns['']}: empty cell. Hint: [] where nothing was found"))
        return Prediction(document.id, "tuples")
    form = "tuples" if holds_tuples(cell) or cell.strip() in ("[]", "()") else "tags"
    own = _tokens(row.get("tokens")) if form == "tags" else None
    if own and tuple(own) != document.tokens:
        predictions.problems.append(
            Unread(place, f"tokens: {len(own)} tokens that are not the {len(document.tokens)} of the corpus")
        )
        if (answer := _of_other_tokens(cell, own, document, predictions)) is not None:
            return answer
    reading = read_tuples(cell) if form == "tuples" else read_tags(cell, document.tokens)
    predictions.problems.extend(Unread(place, f"{columns['']}: {reason}") for reason in reading.reasons)
    predictions.unknown_types.update(reading.unknown)
    if form == "tuples":
        if reading.entities and token_spans(document.tokens, document.text) is None:
            reason = "the tokens do not stand in the text" if document.text else "no text to find the places in"
            predictions.problems.append(Unread(place, f"{reason}: scored by abstract, and not by token"))
        return Prediction(document.id, form, entities=tuple(reading.entities))
    tags = reading.tags if reading.tags is not None else ["O"] * len(document.tokens)
    return prediction_of_tags(document, tags, verbatim=verbatim)


def prediction_of_tags(document: Document, tags: Sequence[str], *, verbatim: bool = False) -> Prediction:
    """The answer of a system that tags the corpus's tokens, one tag each, by the types' own names."""
    found = entities_of_tags(tags, document.tokens, document.text, as_written=not verbatim)
    if not verbatim and not document.text:
        found = [replace(one, text=vocabulary().untokenised(one.text)) for one in found]
    return Prediction(document.id, "tags", tuple(tags), tuple(found), verbatim=verbatim)


def _of_other_tokens(cell: str, own: Sequence[str], document: Document, predictions: Predictions) -> Prediction | None:
    """An answer that tags its own tokens, brought to the corpus's by place; None where it cannot be."""
    text = document.written
    reading, spans = read_tags(cell, own), token_spans(document.tokens, text)
    if reading.tags is None or reading.reasons or spans is None or token_spans(own, text) is None:
        return None
    predictions.unknown_types.update(reading.unknown)
    found = entities_of_tags(reading.tags, own, text, as_written=True)
    tags = [f"I-{kind}" if kind else "O" for kind in token_types_of_entities(found, spans)]
    return Prediction(document.id, "tags", tuple(tags), tuple(found))


# --- rows -----------------------------------------------------------------------------------------------------------


def _id(row: Mapping[str, Any]) -> str:
    """The id of a row, in capitals; a number as a whole one (tables may write ``12.0``)."""
    shown = (str(row[name]).strip() for name in IDS if row.get(name) is not None)
    id = next((one for one in shown if not is_blank(one)), "").upper()
    return id.partition(".")[0] if _WHOLE_NUMBER.fullmatch(id) else id


def _tokens(value: object) -> list[str] | None:
    """The words of a list, or of a cell that writes one; None when it is neither."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return value
    if isinstance(value, str) and value.strip().startswith("[") and value.strip().endswith("]"):
        return [_unquoted(match.group()) for match in _TOKEN.finditer(value)]
    return None


def _unquoted(literal: str) -> str:
    try:
        return str(ast.literal_eval(literal))
    except (ValueError, SyntaxError):
        return literal[1:-1]


def _table_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a table with their place: ``row 1`` is the first below the header."""
    csv.field_size_limit(_LARGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            delimiter = _delimiter(file.readline())
            file.seek(0)
            for number, row in enumerate(csv.DictReader(file, delimiter=delimiter), 1):
                yield f"row {number}", {key.strip(): value for key, value in row.items() if isinstance(key, str)}
    except (OSError, csv.Error) as error:
        raise UsageError(f"cannot read '{path}': {error}. Hint: a table of comma-separated values") from error


def _delimiter(header: str) -> str:
    """What stands between the names of a header: the sign that leaves the name of an id; a comma where none does."""
    found = (sign for sign in _DELIMITERS if {name.strip(' "\r\n') for name in header.split(sign)} & {*IDS})
    return next(found, _DELIMITERS[0])


def _json_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file of JSON lines, or of one list, with their place. A line that is none is an empty row."""
    for place, row in json_rows(lines_of_text(path, errors="replace"), path):
        yield place, row or {}
