"""A chat model without training as a baseline: one question a trial and type, answers between bars (appendix F)."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from .....ingest.models.chat.quotes import places_of
from .....ingest.text.frame import first_come
from .....kb.endpoint.asking import Asking
from .....kb.errors import UsageError
from ..documents import Document
from ..tagging import Entity
from ..types import vocabulary
from .contract import NONE, cell_of

#: Under this name the vocabulary knows that its names are compared as they were told, like those of the published runs.
SYSTEM: Final = "zero-shot"
#: The names that stand in their abstract, as tuples with their places; scored where it is named (``--column``).
PLACES: Final = f"{SYSTEM}_places"
GUIDELINE: Final = "guideline"
_FILE: Final = Path(__file__).with_name("prompts.toml")
_BLANKS: Final = re.compile(r"\s+")
#: A hyphen or dot that begins a line, or a hyphen alone; within a word ("un-enhanced") the published runs keep it.
_BULLETS: Final = re.compile(r"(?m)^\s*(?:[-*•–]|\d+[.)])\s+|\s[-–]\s")
#: A quotation mark; an apostrophe within a word is none.
_QUOTE: Final = re.compile(r"(?<!\w)['‘’]|['‘’](?!\w)")
#: A full stop; one between digits is a decimal point.
_STOP: Final = re.compile(r"\.(?!\d)")


class ZeroShot:
    """Asks for each type of each abstract; a question that fails is counted, and nothing was found."""

    def __init__(self, asking: Asking, prompts: str = "v1", types: Sequence[str] | None = None) -> None:
        """``prompts``: ``v1``, ``v2`` (as published) or ``guideline``; ``types``: those that are asked for, None: all.
        UsageError for another set of prompts."""
        self._prompts = prompts_of(prompts)
        self._set = prompts
        self._asking = asking
        wanted = vocabulary().types if types is None else types
        self._columns = {kind: f"{SYSTEM}_predictions_{vocabulary().columns[kind]}" for kind in wanted}
        self._questions = self._bad = self._elsewhere = self._names = 0
        self._failed: Counter[str] = Counter()

    @property
    def columns(self) -> Sequence[str]:
        """A column a type, and one of places."""
        return (*self._columns.values(), PLACES)

    def cells(self, document: Document) -> Mapping[str, str]:
        """The names of each type; and their places, where the corpus has a text."""
        text = document.written
        names = {kind: self._names_of(kind, text) for kind in self._columns}
        cells = {self._columns[kind]: cell_of(some) for kind, some in names.items()}
        placed = [(one.start, one.end, one.type, one.text) for one in placed_names(names, document.text)]
        return {**cells, PLACES: repr(placed)}

    def description(self) -> Mapping[str, Any]:
        """The model, its prompts, what was asked and what of it failed; names that do not stand in their abstract are
        counted, and stay: the published runs kept them."""
        return {
            "baseline": "llm",
            "model": self._asking.model,
            "prompts": self._set,
            "questions": self._questions,
            "questions_failed": dict(sorted(self._failed.items())),
            "names": self._names,
            "names_not_in_text": self._elsewhere,
            "cost": self._asking.spending.as_dict(),
        }

    def _names_of(self, kind: str, text: str) -> list[str]:
        self._questions += 1
        reply = self._asking.ask(messages(self._prompts[kind], text))
        if reply.failure:
            self._failed[reply.failure] += 1
            return []
        names = list(dict.fromkeys(names_in(reply.text)))
        plain = _BLANKS.sub(" ", text).lower()
        self._names += len(names)
        self._elsewhere += sum(name not in plain for name in names)
        return names


def placed_names(names: Mapping[str, Sequence[str]], text: str) -> list[Entity]:
    """Every place of every name in a text, by type, in text order. Of places over one another the longest stays, of
    equally long ones that of the type that comes first."""
    found = [
        Entity(start, end, kind, text[start:end])
        for kind, some in names.items()
        for name in some
        for start, end in places_of(name, text)
    ]
    return first_come(sorted(found, key=lambda one: one.start - one.end))


def messages(prompt: str, text: str) -> list[dict[str, str]]:
    """What is sent (listing 1): the role; the prompt with the trial behind it, between triple quotation marks."""
    table = _table()
    # Not by formatting one after the other: a text may hold braces.
    before, _, rest = table["message"].partition("{prompt}")
    between, _, behind = rest.partition("{text}")
    return [
        {"role": "system", "content": table["system"]},
        {"role": "user", "content": f"{before}{prompt}{between}{text}{behind}"},
    ]


def temperature() -> float:
    """The temperature of the published runs."""
    return float(_table()["temperature"])


def prompts_of(name: str) -> Mapping[str, str]:
    """A prompt for each type, of a set of prompts by its name. UsageError for an unknown one."""
    table = _table()
    if name == GUIDELINE:
        return {kind: _guideline(kind) for kind in vocabulary().types}
    if name not in table["prompts"]:
        raise UsageError(f"no prompts '{name}'. Hint: {', '.join([*table['prompts'], GUIDELINE])}")
    return {**table["prompts"]["v1"], **table["prompts"][name]}


def _guideline(kind: str) -> str:
    """Guideline learning: the definition of a type and a few examples before the text."""
    table = _table()[GUIDELINE]
    one = table[kind]
    shown = "\n\n".join(table["example"].format(text=text, answer=answer) for text, answer in one["examples"])
    prompt: str = table["prompt"].format(definition=one["definition"], examples=shown)
    return prompt


# --- what an answer says ----------------------------------------------------------------------------------------------


def names_in(answer: str) -> Iterator[str]:
    """The names of an answer, in its order and in small letters; nothing where it says that there are none.

    The steps are those of the paper: words that lead in are taken away, then line ends, hyphens that stand for
    themselves, blanks, full stops and quotation marks; what is left is cut at the bars.

    >>> list(names_in("The drugs mentioned are: Aspirin | 'un-enhanced' control."))
    ['aspirin', 'un-enhanced control']
    """
    table = _table()["clean"]
    text = _without_lead(answer.strip())
    for sign in table["signs"]:
        text = text.replace(sign, " ")
    text = _QUOTE.sub("", _BULLETS.sub(" ", text))
    for part in text.split("|"):
        name = _BLANKS.sub(" ", _STOP.sub(" ", part)).strip(table["ends"]).lower()
        if name and name != NONE and not any(words in name for words in table["nothing"]):
            yield name


def _without_lead(text: str) -> str:
    """The text without the words that lead in to the list, those of the first pair that fits."""
    head, bar, rest = text.partition("|")
    for first, last in _table()["clean"]["between"]:
        found = re.search(rf"(?:^|(?<=[.\n]))\s*{re.escape(first)}\b.*?\b{re.escape(last)}(?!\w)", head, re.DOTALL)
        if found:
            return head[: found.start()] + " " + head[found.end() :] + bar + rest
    return text


@cache
def _table() -> Mapping[str, Any]:
    table = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    for kind in vocabulary().types:
        if kind not in table["prompts"]["v1"] or kind not in table[GUIDELINE]:
            raise ValueError(f"{_FILE.name}: no prompt for {kind}")
    return table
