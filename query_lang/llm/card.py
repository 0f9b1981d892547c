"""The prompt: a grammar card made of the language's own data, and the messages that carry a question."""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from ...kb.kinds import OF_DERIVED, OF_RELATIVE, OF_REPORT, SEVERAL
from ..vocabulary import CONTEXT_OF_SPELLING, KIND_WORDS, PICK_OF_SPELLING, context_spelling, kind_spelling
from .candidates import Candidate

CARD: Final[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "card.toml").read_text(encoding="utf-8"))

_TYPES: Final = {"number": "n", "scale": "s", "measure": "n or t", "text": "t", "protein": "t"}


@functools.cache
def card() -> str:
    """The system message: the same for every question."""
    text: str = CARD["prompt"].format(
        kinds="\n".join(_kinds()),
        contexts=", ".join(dict.fromkeys(context_spelling(context) for context in CONTEXT_OF_SPELLING.values())),
        picks=", ".join(dict.fromkeys(PICK_OF_SPELLING.values())),
        forms="\n".join(f"- {form['says']}: {' · '.join(form['queries'])}" for form in CARD["forms"]),
        examples="\n".join(_example(example) for example in CARD["examples"]),
    )
    return text.strip()


def question_message(question: str, names: Sequence[Candidate], criteria: Sequence[str] = ()) -> str:
    """The user message: the question, the names that its words may mean, the criteria that have a name."""
    held = {"question": question, "names": _names(names)}
    return _json({**held, "criteria": list(criteria)} if criteria else held)


def repair_message(error: str, names: Sequence[Candidate] = ()) -> str:
    """What was wrong with the answer."""
    text: str = CARD["repair"].format(error=error)
    return text + (f"\nMore names: {_json(_names(names))}" if names else "")


def complaint(name: str, numbers: Iterable[str] = ()) -> str:
    """A sentence of the card about an answer that cannot be used."""
    text: str = CARD[name].format(numbers=", ".join(numbers))
    return text


def _kinds() -> Iterable[str]:
    for kind, words in KIND_WORDS.items():
        taken = f" ({' or '.join(words.concepts)})" if words.concepts else ""
        # By which rule something follows, and when it was reported, no question asks; a relative is not told.
        untold = {*OF_DERIVED, *OF_REPORT, *OF_RELATIVE, *SEVERAL}
        told = {name: type_ for name, type_ in words.attributes.items() if name not in untold}
        attributes = ", ".join(f"{name} {_type(type_)}".strip() for name, type_ in told.items())
        yield f"- {kind_spelling(kind)}{taken}" + (f": {attributes}" if attributes else "")


def _type(type_: str | tuple[str, ...]) -> str:
    if isinstance(type_, tuple):
        return f"[{' '.join(type_)}]"
    return _TYPES.get(type_, type_.partition(":")[2])


def _example(example: dict[str, Any]) -> str:
    answer = {name: example.get(name, default) for name, default in (("query", None), ("unread", []), ("unclear", []))}
    return f"{example['question']}\n  {_json(answer)}"


def _names(names: Sequence[Candidate]) -> dict[str, list[str]]:
    """Kind of concept -> its names: shorter than a list of objects, and all that the model needs."""
    by_kind: dict[str, list[str]] = {}
    for one in names:
        by_kind.setdefault(one.kind, []).append(one.name)
    return by_kind


def _json(held: object) -> str:
    return json.dumps(held, ensure_ascii=False)
