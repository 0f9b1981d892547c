"""The errors of a report as HTML: question by question, each with a link to what the system leans on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

from .report.form import BenchmarkReport, ErrorOf, QuestionAsked, QuotedPlace

__all__ = ["LISTED", "anchors", "errors_part"]

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


def anchors(report: BenchmarkReport) -> Mapping[str, str]:
    """Question id to the name of its place in the page, of the questions that have one."""
    with_errors = {one.question for one in report.errors}
    known = [one.id for one in report.questions]
    ids = dict.fromkeys([*known, *sorted(with_errors - set(known))])
    return {id_: f"question-{place}" for place, id_ in enumerate(ids) if id_ in with_errors}


def errors_part(report: BenchmarkReport, listed: int = LISTED) -> Iterator[str]:
    """A fold for each question that somebody got wrong, in the order of the questions."""
    asked = {one.id: one for one in report.questions}
    by_question: dict[str, list[ErrorOf]] = {}
    for error in report.errors:
        by_question.setdefault(error.question, []).append(error)
    totals = _totals(report)
    writer = _Writer(report.text_of)
    for id_, anchor in anchors(report).items():
        question = asked.get(id_, QuestionAsked(id=id_))
        yield writer.fold(question, anchor, by_question[id_], totals.get(id_, {}), listed)
    if writer.left_out:
        yield f"<p>The evidence of {writer.left_out:,} more errors is left out, to keep the page small.</p>"


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


@dataclass
class _Writer:
    """Numbers the errors through the page, and keeps account of the room that is left for evidence."""

    text_of: Callable[[str, str], str | None]
    number: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    room: int = _ROOM
    left_out: int = 0

    def fold(
        self,
        question: QuestionAsked,
        anchor: str,
        errors: Sequence[ErrorOf],
        totals: Mapping[str, int],
        listed: int,
    ) -> str:
        """One question: its text, its errors as a table, and below it their evidence."""
        rows, evidence, told = [], [], []
        for kind, words in _kinds([*(one.kind for one in errors), *(kind for kind, some in totals.items() if some)]):
            of_kind = [one for one in errors if one.kind == kind]
            shown = _in_turn(of_kind)[:listed]
            all_of_them = max(totals.get(kind, 0), len(of_kind))
            told.append(f"{all_of_them:,} {words}")
            for error in shown:
                name = f"error-{next(self.number)}"
                proof = self._evidence(error, name)
                link = f'<a href="#{name}">evidence</a>' if proof else ""
                rows.append(
                    f'<tr id="{name}-of"><td>{escape(error.system)}</td><td>{escape(error.patient)}</td>'
                    f"<td>{escape(words)}</td><td>{link}</td></tr>"
                )
                evidence += [proof] if proof else []
            if all_of_them > len(shown):
                rest = f"{all_of_them - len(shown):,} more {words}, not listed"
                rows.append(f'<tr><td colspan="4">{escape(rest)}</td></tr>')
        about = ", ".join(
            one for one in (f"gold {question.gold}" if question.gold is not None else "", question.size or "",
                            question.complexity or "") if one
        )  # fmt: skip
        head = f"<b>{escape(question.id)}</b> {escape(question.text)}"
        return (
            f'<details class="question" id="{anchor}"><summary>{head}<br><small>{escape(about)} · '
            f"{escape(', '.join(told))}</small></summary>"
            + (f"<pre>{escape(question.query)}</pre>" if question.query else "")
            + "<table><thead><tr><th>system</th><th>patient</th><th>what</th><th></th></tr></thead>"
            + f"<tbody>{''.join(rows)}</tbody></table>{''.join(evidence)}</details>"
        )

    def _evidence(self, error: ErrorOf, name: str) -> str:
        """What stands behind an error; nothing without quotes and reasons, or when the room is used up."""
        if not error.quotes and not error.reasons:
            return ""
        if self.room <= 0:
            self.left_out += 1
            return ""
        parts = [f"<p>{escape(one[:_REASON_LETTERS])}</p>" for one in error.reasons[:_REASONS]]
        parts += [self._quote(one, error.patient) for one in error.quotes[:_QUOTES]]
        left = max(0, len(error.quotes) - _QUOTES), max(0, len(error.reasons) - _REASONS)
        for number, word in zip(left, ("quote", "reason"), strict=True):
            if number:
                parts.append(f"<p>{number:,} more {word}{'s' if number > 1 else ''}, not shown</p>")
        head = f"{escape(error.system)}, {escape(error.patient)}: {escape(_KINDS.get(error.kind, error.kind))}"
        head = f'<p><b>{head}</b> <a href="#{name}-of">back</a></p>'
        made = f'<div class="evidence" id="{name}">{head}{"".join(parts)}</div>'
        self.room -= len(made)
        return made

    def _quote(self, quote: QuotedPlace, patient: str) -> str:
        place = f"<code>{escape(quote.doc_id)}</code> {quote.start}–{quote.end}"
        text = self.text_of(patient, quote.doc_id)
        if text is None:
            return f"<p>{place}</p>"
        if not 0 <= quote.start < quote.end <= len(text):
            return f"<p>{place}: the note has {len(text)} characters, so this is no place in it</p>"
        end = min(quote.end, quote.start + _QUOTE_LETTERS)
        before = text[max(0, quote.start - _AROUND) : quote.start]
        behind = text[end : end + _AROUND]
        cut = " […]" if end < quote.end else ""
        return (
            f"<p>{place}</p><blockquote>{escape(before)}<mark>{escape(text[quote.start : end])}</mark>{cut}"
            f"{escape(behind)}</blockquote>"
        )


def _kinds(occurring: Iterable[str]) -> list[tuple[str, str]]:
    """The kinds that occur, the known ones first, with how they are called."""
    occur = dict.fromkeys(occurring)
    order = [kind for kind in _KINDS if kind in occur]
    return [(kind, _KINDS.get(kind, kind)) for kind in (*order, *(kind for kind in occur if kind not in _KINDS))]


def _in_turn(errors: Sequence[ErrorOf]) -> list[ErrorOf]:
    """One error of each system, then a second of each, and so on: none hides another's."""
    by_system: dict[str, list[ErrorOf]] = {}
    for error in errors:
        by_system.setdefault(error.system, []).append(error)
    return [one for row in itertools.zip_longest(*by_system.values()) for one in row if one is not None]
