"""The errors of a report, question by question, each with what the system leans on, as the page shows them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .form import BenchmarkReport, ErrorOf, QuestionAsked, QuotedPlace

#: Errors of a kind that are shown of a question, taken from its systems in turn; the others are counted.
LISTED: Final = 20
#: Quotes and reasons of one error, and letters of one reason.
_QUOTES: Final = 5
_REASONS: Final = 12
_REASON_LETTERS: Final = 600
#: Letters of a note that are shown before and behind a quote, and of a quote at most.
_AROUND: Final = 160
_QUOTE_LETTERS: Final = 800
#: Letters of evidence in one page; what comes after is named without it, so that a browser can open the page.
_ROOM: Final = 6_000_000
_KINDS: Final[Mapping[str, str]] = {
    "fp": "named, not wanted",
    "fn": "wanted, not named",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True)
class ShownQuote:
    """A place of a note, and where its text is told, the text there and around it. ``beyond``: the length of a note
    that has no such place."""

    place: QuotedPlace
    before: str = ""
    marked: str = ""
    behind: str = ""
    beyond: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What stands behind an error: reasons, quotes, and how many of each are left out."""

    reasons: tuple[str, ...]
    quotes: tuple[ShownQuote, ...]
    left: tuple[tuple[int, str], ...]

    @property
    def letters(self) -> int:
        """The room that it takes."""
        quoted = sum(len(one.before) + len(one.marked) + len(one.behind) for one in self.quotes)
        return quoted + sum(map(len, self.reasons))


@dataclass(frozen=True, slots=True)
class ShownError:
    """An error under its name in the page; without evidence where there is none, or no room is left for it."""

    name: str
    error: ErrorOf
    evidence: Evidence | None


@dataclass(frozen=True, slots=True)
class KindOfError:
    """The errors of one kind that are listed, in words what they are, and how many more there are."""

    words: str
    errors: tuple[ShownError, ...]
    rest: int


@dataclass(frozen=True, slots=True)
class Fold:
    """A question that somebody got wrong: what it is, how many errors it has of each kind, and the listed ones."""

    anchor: str
    question: QuestionAsked
    kinds: tuple[KindOfError, ...]

    @property
    def about(self) -> list[str]:
        """The size of its gold cohort, its class of size, its complexity: what is known of them."""
        gold = "" if self.question.gold is None else f"gold {self.question.gold}"
        return [one for one in (gold, self.question.size, self.question.complexity) if one]

    @property
    def counts(self) -> list[str]:
        """``3 named, not wanted`` for each kind."""
        return [f"{len(one.errors) + one.rest:,} {one.words}" for one in self.kinds]


def anchors(report: BenchmarkReport) -> Mapping[str, str]:
    """Question id to the name of its place in the page, of the questions that have one."""
    with_errors = {one.question for one in report.errors}
    known = [one.id for one in report.questions]
    ids = dict.fromkeys([*known, *sorted(with_errors - set(known))])
    return {id_: f"question-{place}" for place, id_ in enumerate(ids) if id_ in with_errors}


@dataclass
class Errors:
    """The folds of a report; errors are numbered through the page, which has so much room for evidence."""

    report: BenchmarkReport
    listed: int = LISTED
    room: int = _ROOM
    left_out: int = 0
    _number: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def folds(self) -> Iterator[Fold]:
        """One for each question that somebody got wrong, in the order of the questions."""
        asked = {one.id: one for one in self.report.questions}
        by_question: dict[str, list[ErrorOf]] = {}
        for error in self.report.errors:
            by_question.setdefault(error.question, []).append(error)
        totals = _totals(self.report)
        for id_, anchor in anchors(self.report).items():
            kinds = tuple(self._kinds(by_question[id_], totals.get(id_, {})))
            yield Fold(anchor, asked.get(id_, QuestionAsked(id=id_)), kinds)

    def _kinds(self, errors: Sequence[ErrorOf], totals: Mapping[str, int]) -> Iterator[KindOfError]:
        """The kinds that occur, the known ones first."""
        occur = dict.fromkeys([*(one.kind for one in errors), *(kind for kind, some in totals.items() if some)])
        for kind in dict.fromkeys([*(one for one in _KINDS if one in occur), *occur]):
            of_kind = [one for one in errors if one.kind == kind]
            shown = tuple(map(self._shown, _in_turn(of_kind)[: self.listed]))
            rest = max(totals.get(kind, 0), len(of_kind)) - len(shown)
            yield KindOfError(_KINDS.get(kind, kind), shown, rest)

    def _shown(self, error: ErrorOf) -> ShownError:
        evidence = self._evidence(error) if error.quotes or error.reasons else None
        if evidence is not None and self.room <= 0:
            self.left_out += 1
            evidence = None
        if evidence is not None:
            self.room -= evidence.letters
        return ShownError(f"error-{next(self._number)}", error, evidence)

    def _evidence(self, error: ErrorOf) -> Evidence:
        left = max(0, len(error.quotes) - _QUOTES), max(0, len(error.reasons) - _REASONS)
        return Evidence(
            tuple(one[:_REASON_LETTERS] for one in error.reasons[:_REASONS]),
            tuple(self._quote(one, error.patient) for one in error.quotes[:_QUOTES]),
            tuple(zip(left, ("quote", "reason"), strict=True)),
        )

    def _quote(self, quote: QuotedPlace, patient: str) -> ShownQuote:
        text = self.report.text_of(patient, quote.doc_id)
        if text is None:
            return ShownQuote(quote)
        if not 0 <= quote.start < quote.end <= len(text):
            return ShownQuote(quote, beyond=len(text))
        end = min(quote.end, quote.start + _QUOTE_LETTERS)
        before = text[max(0, quote.start - _AROUND) : quote.start]
        cut = " […]" if end < quote.end else ""
        return ShownQuote(quote, before, text[quote.start : end], cut + text[end : end + _AROUND])


def _totals(report: BenchmarkReport) -> dict[str, dict[str, int]]:
    """Question -> kind -> errors of all systems by the scores, which count also what the report does not list."""
    totals: dict[str, dict[str, int]] = {}
    for system in report.systems:
        for one in system.scores.questions:
            kinds = totals.setdefault(one.id, dict.fromkeys(_KINDS, 0))
            kinds["fp"] += one.fp
            kinds["fn"] += one.fn
            kinds["failed"] += one.failed_patients
    return totals


def _in_turn(errors: Iterable[ErrorOf]) -> list[ErrorOf]:
    """One error of each system, then a second of each, and so on: none hides another's."""
    by_system: dict[str, list[ErrorOf]] = {}
    for error in errors:
        by_system.setdefault(error.system, []).append(error)
    return [one for row in itertools.zip_longest(*by_system.values()) for one in row if one is not None]
