"""A chat model as a tagger: what it quotes in answer to the questions of CORAL, as placed and typed spans.

Questions are put to it one by one, about a note as a whole; an answer that does not stand in the note names nothing.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, Final

from ....kb.endpoint.asking import Asking
from ....kb.errors import UsageError
from ...coral_schema.questions import UNKNOWN, Question, shipped_questions
from ...coral_schema.tuples import Finding, is_nothing, read
from ...text.frame import first_come
from .quotes import places_of

NONSENSE: Final = "nonsense"


@dataclass(frozen=True, slots=True)
class QuotedSpan:
    """Characters of a text that a model named, what they are said to be, and how far that is believed (0 to 1)."""

    start: int
    end: int
    type: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Use:
    """A field of the answers to a question, and the type of the mentions that it names."""

    question: str
    field: str
    type: str


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("uses.toml").read_text(encoding="utf-8"))


def confidence() -> float:
    """How far a quote that stands in its text is believed."""
    return float(_table()["confidence"])


@lru_cache(maxsize=1)
def uses() -> tuple[Use, ...]:
    """The shipped ``uses.toml``."""
    found = tuple(Use(**row) for row in _table()["use"])
    known = shipped_questions().by_id
    wrong = [one for one in found if one.question not in known or one.field not in known[one.question].fields]
    if wrong:
        raise ValueError(f"{wrong[0].question} {wrong[0].field}: no field of a question")
    return found


def types_of_answers() -> tuple[str, ...]:
    """The types that answers can name, in the order of ``uses.toml``."""
    return tuple(dict.fromkeys(one.type for one in uses()))


@dataclass(slots=True)
class Tally:
    """What became of the answers: texts and questions, those that failed by kind, quotes that stand in their text,
    those that do not, and pieces of answers that could not be read."""

    texts: int = 0
    questions: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    texts_with_failures: int = 0
    quotes: int = 0
    not_in_text: int = 0
    unread: int = 0

    def add(self, other: Tally) -> None:
        """Count what another has counted."""
        self.failed.update(other.failed)
        for name in ("texts", "questions", "texts_with_failures", "quotes", "not_in_text", "unread"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "texts": self.texts,
            "questions": self.questions,
            "failed": dict(sorted(self.failed.items())),
            "texts_with_failures": self.texts_with_failures,
            "quotes": self.quotes,
            "not_in_text": self.not_in_text,
            "unread": self.unread,
        }


class ChatTagger:
    """Finds typed spans by asking a chat model; what fails is counted in ``tally``, and the text goes on without it."""

    def __init__(self, asking: Asking, types: Collection[str] | None = None) -> None:
        """``types``: those that are wanted, None for all; a question that could name none of them is not asked.
        UsageError if no question names any."""
        wanted = tuple(one for one in uses() if types is None or one.type in types)
        if not wanted:
            raise UsageError(f"no question names what is wanted. Hint: types are {', '.join(types_of_answers())}")
        self._asking = asking
        self._uses = wanted
        rules = shipped_questions()
        self._questions = tuple(rules.by_id[id] for id in dict.fromkeys(one.question for one in wanted))
        self._rules = rules.rules
        self.types = tuple(dict.fromkeys(one.type for one in wanted))
        self.tally = Tally()

    @property
    def name(self) -> str:
        """What the spans are said to come from: ``llm:`` and the model."""
        return f"llm:{self._asking.model}"

    def tag(self, texts: Sequence[str]) -> list[list[QuotedSpan]]:
        """The spans of each text in its order, none over another: of two the longer stays, then the one asked first."""
        return [self._tagged(text) for text in texts]

    def _tagged(self, text: str) -> list[QuotedSpan]:
        self.tally.texts += 1
        if not text.strip():
            return []
        failed = self.tally.failed.total()
        answers = {question.id: self._answered(question, text) for question in self._questions}
        self.tally.texts_with_failures += self.tally.failed.total() > failed
        found: list[QuotedSpan] = []
        for use in self._uses:
            for quote in dict.fromkeys(_named(answers[use.question], use.field, self._asked(use.question))):
                found += [QuotedSpan(start, end, use.type, confidence()) for start, end in self._placed(quote, text)]
        # The sort is stable, so that of equally long ones the first that was asked for stays.
        return first_come(sorted(found, key=lambda one: one.start - one.end))

    def _placed(self, quote: str, text: str) -> list[tuple[int, int]]:
        """Where a quote stands; of several in one, where each of them does."""
        parts = [quote] if any(True for _ in places_of(quote, text)) else quote.split(", ")
        places = []
        for part in parts:
            here = list(places_of(part, text))
            self.tally.quotes += bool(here)
            self.tally.not_in_text += not here
            places += here
        return places

    def _asked(self, id: str) -> Question:
        return next(one for one in self._questions if one.id == id)

    def _answered(self, question: Question, text: str) -> tuple[Finding, ...]:
        self.tally.questions += 1
        reply = self._asking.ask(question.messages(text, self._rules))
        failure = reply.failure
        if not failure:
            answer = read(question, reply.text)
            self.tally.unread += answer.unread
            if answer.findings or is_nothing(question, reply.text, self._rules.nothing):
                return answer.findings
            failure = NONSENSE
        self.tally.failed[failure] += 1
        return ()


def _named(findings: Iterable[Finding], field: str, question: Question) -> Iterable[str]:
    """What a field of the findings says, of each at least once; ``unknown`` says nothing."""
    for finding in findings:
        names = (finding.name,) if field == question.field else finding.values[field]
        yield from (name for name in names if name.lower() != UNKNOWN)
