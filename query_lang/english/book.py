"""The data of the front end, read once: words, molecular words, the phrase book."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..terms import terms
from .feature_words import feature_entries
from .wording import phrase_key, word_key

_FOLDER: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Entry:
    """What a phrase of the data is: a type of chunk, its value, and further data."""

    type: str
    value: str
    data: Mapping[str, object] = field(default_factory=dict)


@functools.cache
def data(name: str) -> dict[str, Any]:
    """One of the files of this folder."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def _forms(text: str) -> Iterator[str]:
    for form in text.replace("\n", " ").split("|"):
        if form.strip():
            yield form.strip()


@functools.cache
def phrases() -> tuple[Mapping[str, Any], ...]:
    """The phrase book, each phrase with its forms and its query; those of a term are the term's."""
    return tuple(_of_term(one) if "term" in one else one for one in data("phrases")["phrase"])


def _of_term(phrase: Mapping[str, Any]) -> Mapping[str, Any]:
    term = terms()[phrase["term"]]
    written_out = term.single or phrase.get("written_out", False)
    return {
        "concepts": [concept for concept, value in term.recorded if not value],
        "query": term.text if written_out else f"'{term.name}'",
        **phrase,
        "forms": f"{term.forms} | {phrase.get('forms', '')}",
    }


@functools.cache
def entries() -> Mapping[str, Entry]:
    """Key of each phrase -> what it is. The first of: phrase book, molecular words, joining words, vague, skipped."""
    found: dict[str, Entry] = {}

    def add(forms: str, entry: Entry) -> None:
        for form in _forms(forms):
            found.setdefault(phrase_key(form), entry)

    for one in phrases():
        add(one["forms"], Entry("phrase", one["sort"], one))
    clauses = data("clauses")
    for reason, forms in clauses["reason"].items():
        for because in _forms(clauses["because"]["because"]):
            add(" | ".join(f"{because} {form}" for form in _forms(forms)), Entry("reason", reason))
    for section, words in clauses.items():
        for value, forms in words.items() if section not in ("house", "reason", "ties") else ():
            add(forms, Entry(value if section == "course" else section, value))
    molecular = data("molecular")
    for value, forms in molecular["nouns"].items():
        add(forms, Entry("noun", value))
    for value, forms in molecular["adjectives"].items():
        add(forms, Entry("adjective", value))
    staging = data("staging")
    for section in ("axis", "comparison", "comparison_after", "basis", "performance", "condition"):
        for value, forms in staging[section].items():
            add(forms, Entry(section, value))
    for forms, type_, value, more in feature_entries(data("features")):
        add(forms, Entry(type_, value, more))
    timing = data("timing")
    for section in ("line", "lines", "context", "order"):
        for value, forms in timing[section].items():
            if (section, value) != ("order", "of"):
                add(forms, Entry(section, value))
    for value, forms in timing["age"].items():
        add(forms, Entry(value, value))
    words = data("words")
    for value, forms in words["join"].items():
        add(forms, Entry("join", value))
    for unit, forms in words["units"].items():
        add(forms, Entry("unit", unit))
    add(words["no_question"]["phrases"], Entry("no_question", ""))
    for forms, hint in words["vague"].items():
        add(forms, Entry("vague", hint))
    add(words["skip"], Entry("skip", ""))
    return found


@functools.cache
def by_concept() -> Mapping[str, Entry]:
    """Id of a concept -> the phrase that says what it means in a question."""
    return {one: Entry("phrase", entry["sort"], entry) for entry in phrases() for one in entry.get("concepts", ())}


def phrase_named(name: str) -> Entry:
    """The phrase of this name."""
    entry = next(one for one in phrases() if one.get("name") == name)
    return Entry("phrase", entry["sort"], entry)


@functools.cache
def also_called() -> Mapping[str, str]:
    """Key of a phrase -> the concept that questions mean by it, where notes call it otherwise."""
    table = data("words")["also_called"]
    return {phrase_key(form): one for one, forms in table.items() for form in _forms(forms)}


@functools.cache
def longest() -> int:
    """The most tokens that a phrase of the data has."""
    return max(len(key.split()) for key in entries())


@functools.cache
def listed(section: str) -> frozenset[str]:
    """The words of a section of the words file, as they stand."""
    return frozenset(_forms(data("words")[section]["words"]))


@functools.cache
def own_words() -> frozenset[str]:
    """Every word of the data's phrases, in the form of keys: known words, never corrected."""
    return frozenset(word for key in (*entries(), *also_called()) for word in key.split())


@functools.cache
def respellings() -> Mapping[str, tuple[str, ...]]:
    """A word's key -> what it may stand for inside a name."""
    return {word_key(word): tuple(forms) for word, forms in data("words")["respell"].items()}
