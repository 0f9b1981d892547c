"""Names of allergies in queries: *penicillin allergy*, *allergic to sulfa drugs*, *codeine intolerance*."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from ..nodes import Condition, Is, Name

_JOINT: Final = re.compile(r",?\s(?:or|and)\s|,\s")


def split_allergy(text: str, kind: str | None, known: Callable[[str], bool]) -> tuple[str, Condition | None] | None:
    """The name of the substance in the name of an allergy, and the condition that it is an intolerance if it is called
    one; None if ``text`` is none. ``kind``: what is written before it (``drug allergy``); ``known``: whether a
    substance has this name."""
    folded, table = " ".join(text.casefold().split()), _table()
    if kind == "medication":
        whole = next(iter(table["wholes"]))
        told = next((type_ for type_, words in table["behind"].items() if folded in words), "")
        return (whole, _said(told)) if told else None
    if kind == "allergy":
        name = _whole(folded)
        return (name, None) if name and not known(text) else None
    for type_, rest in _rests(folded):
        name = _whole(rest) or rest
        if known(name):
            return name, _said(type_)
    return None


def allergies_named(text: str, known: Callable[[str], bool]) -> tuple[str, list[str]] | None:
    """The substances in words for one allergy or several (*allergic to latex or penicillin*), and the word
    that joins them; None if ``text`` is no such thing."""
    folded, table = " ".join(text.casefold().split()), _table()
    if not any(word in folded for words in table["behind"].values() for word in words):
        return None
    for type_, rest in _rests(folded):
        if type_ != "allergy":
            continue  # Whoever is intolerant to a treatment had it: that is another question.
        names = [name for name in _JOINT.split(rest) if name]
        joints = {joint.strip(" ,") for joint in _JOINT.findall(rest)} - {""}
        named = [_whole(name) or name for name in names]
        if named and len(joints) <= 1 and (len(named) == 1 or joints) and all(map(known, named)):
            return next(iter(joints), "and"), named
    return None


def _rests(text: str) -> Iterator[tuple[str, str]]:
    """What may be the substance, with what is told of it."""
    table = _table()
    for type_, words in table["before"].items():
        yield from ((type_, text[len(word) + 1 :]) for word in words if text.startswith(f"{word} "))
    for type_, words in table["behind"].items():
        yield from (
            (type_, text[: -len(word) - 1].removesuffix(" drug"))
            for word in words
            if text.endswith((f" {word}", f"-{word}"))
        )


def _said(type_: str) -> Condition | None:
    """What an allergy by that word is said to be; one in the wide sense may be an intolerance."""
    return None if type_ == "allergy" else Is("nature", (Name(type_),))


def _whole(words: str) -> str:
    return next((whole for whole, forms in _table()["wholes"].items() if words in forms), "")


@functools.lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
