"""A dialogue in plain English: what was asked before is refined, what was asked back is answered and remembered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..kb.errors import UsageError
from ..query_lang.english.follow_up import follow_up, together
from ..query_lang.nodes import Definition
from .asking import Answer, chosen


class Asked(Protocol):
    """What answers a question in plain English, as an open knowledge base does."""

    def ask(
        self,
        question: str,
        *,
        definitions: tuple[Definition, ...] = (),
        settled: Mapping[tuple[str, ...], int] | None = None,
    ) -> Answer:
        """The answer, with what was understood of the question."""


class Dialogue:
    """Questions one after another on one knowledge base; use ``kb.dialogue()``."""

    def __init__(self, kb: Asked, definitions: tuple[Definition, ...] = ()) -> None:
        """``definitions``: the words of the house, which mean in each question what they are defined as."""
        self._kb = kb
        self._definitions = definitions
        #: The choices made so far: a question that is open in the same way is not asked back again.
        self.settled: dict[tuple[str, ...], int] = {}
        #: The last question that was answered, as one text with all that was added to it.
        self.question = ""
        self._open: Answer | None = None

    def ask(self, text: str) -> Answer:
        """The answer to a question, to what goes on from the one before, or to the number of a reading."""
        if self._open is not None and text.strip().rstrip(".").isdigit():
            return self.choose(int(text.strip().rstrip(".")))
        said = follow_up(text)
        goes_on = said is not None and said.how != "why_not" and bool(self.question)
        whole = together(self.question, said) if goes_on and said is not None else text
        answer = self._kb.ask(whole, definitions=self._definitions, settled=self.settled)
        if goes_on and answer.abstained:
            # What begins like an addition may be a question of its own.
            alone = self._kb.ask(text, definitions=self._definitions, settled=self.settled)
            if not alone.abstained:
                answer, whole = alone, text
        self._keep(answer, whole)
        return answer

    def choose(self, number: int) -> Answer:
        """The reading of the last question that is meant, by its number from 1; the choice is remembered."""
        if self._open is None:
            raise UsageError("no question is open. Hint: ask one; where it has several readings, choose by number")
        readings = self._open.translation.readings
        answer = chosen(self._open, str(number))
        self.settled |= _deciding(answer.translation.readings[0].choices, [one.choices for one in readings])
        self._keep(answer, self._open.translation.question)
        return answer

    def _keep(self, answer: Answer, question: str) -> None:
        self._open = answer if len(answer.translation.readings) > 1 else None
        if answer.cohort is not None:
            self.question = question


def _deciding(
    chosen: Mapping[tuple[str, ...], int], readings: list[Mapping[tuple[str, ...], int]]
) -> dict[tuple[str, ...], int]:
    """The choices in which the readings differ."""
    return {options: taken for options, taken in chosen.items() if len({one.get(options) for one in readings}) > 1}
