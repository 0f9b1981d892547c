"""Retrieve then read: a retriever finds passages, a chat model says for each patient whether they belong (3.4.2)."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Protocol

from ....kb.endpoint.chat import ChatEndpoint, EndpointError, request_options
from ....kb.endpoint.kept import KeptAnswer, KeptAnswers, key_of
from ....kb.endpoint.settings import Settings, is_this_machine
from ....kb.errors import CohortiumError, UsageError
from ....kb.model import Note
from ..retrieval.threads import each
from ..systems.contract import Answer, Failure, Outcome, Question, Quote, Ranked, Spent
from ..systems.corpus import Corpus
from .answers import Reading, Verdict, places, read_answer
from .budget import Account, Pace, Ticket
from .passages import Passages, PatientPassages
from .prompt import PROMPT, PROMPT_SHA256, Batch, batches, messages
from .settings import ReaderOptions

#: No patient will fare better: the endpoint does not take the key, or is not there, or points elsewhere.
_HOPELESS: Final = frozenset({401, 402, 403, 404, *range(300, 400)})
#: Failures of the line: of many in a row the next is no better.
_LINE: Final = frozenset({"connection", "timeout", "rate_limit"})


class Retrieving(Passages, Protocol):
    """A retriever as a reader needs it: passages, and what identifies it."""

    @property
    def name(self) -> str:
        """How reports call it."""

    @property
    def patients(self) -> Sequence[str]:
        """All patients whom it may retrieve."""

    def signature(self) -> Mapping[str, Any]:
        """What identifies its passages."""


@dataclass
class _Case:
    """A patient who is asked about, and what came of it."""

    patient_id: str
    batches: tuple[Batch, ...]
    eligible: bool = False
    quotes: tuple[Quote, ...] = ()
    failure: Failure | None = None
    spent: Spent = field(default_factory=Spent)


class Reader:
    """A system (``systems/contract.py``): the patients of ``retriever`` to whom a model says yes, with a quote.

    A yes counts when at least one of its quotes stands in the passage that it names, word for word (runs of blanks
    are equal); other quotes are dropped, and a yes that has none left is a failure of kind ``nonsense``. The ranking
    holds those who were said yes to, then those who were said no to, each in the retriever's order; whoever failed is
    not in it. Failures have the kinds of the contract: ``refusal`` also where the server does not take this very
    message (400, 413, 422), ``connection`` also where it does not take us at all (401, 404 and the like).

    Passages of notes are sent to the endpoint of ``settings``: :mod:`.reader_settings` asks for leave.
    """

    def __init__(
        self,
        retriever: Retrieving,
        corpus: Corpus,
        settings: Settings,
        options: ReaderOptions | None = None,
        kept: KeptAnswers | None = None,
        name: str = "",
    ) -> None:
        """Nothing is sent before :meth:`answer`. ``corpus`` is what ``retriever`` was made over: it has the
        dates. What is among the ``kept`` answers is not asked again."""
        self._retriever = retriever
        self._settings = settings
        self._options = options or ReaderOptions()
        self._kept = kept
        self._corpus = corpus
        self._endpoint = ChatEndpoint(settings)
        self._pace = Pace(self._options.per_second)
        self._account = Account(self._options.run, self._options.prices)
        self._server = _server(settings)
        self.name = name or f"{retriever.name}+{'-'.join(settings.model.split())}"

    @property
    def patients(self) -> Sequence[str]:
        """Those of the retriever."""
        return self._retriever.patients

    def signature(self) -> Mapping[str, Any]:
        """The retriever's, the model, the prompt, the options; neither address nor key."""
        return {
            "system": "retrieve-then-read",
            "retriever": dict(self._retriever.signature()),
            "model": self._settings.model,
            "prompt": {"version": PROMPT["version"], "sha256": PROMPT_SHA256},
            "request": dict(request_options(self._settings)[0]),
            "options": asdict(self._options),
        }

    def answer(self, question: Question) -> Answer:
        """Ask about each retrieved patient. KeyboardInterrupt passes once requests under way have ended: their answers
        are in the cache."""
        began = time.monotonic()
        try:
            if not question.text.strip():
                raise UsageError("the question is empty")
            cases = self._cases(question)
        except (CohortiumError, OSError, RuntimeError, ValueError, ArithmeticError) as error:
            # Whatever a retriever meets. The words of an error that is not ours may hold some of a note.
            reason = str(error) if isinstance(error, CohortiumError) else f"the search failed: {type(error).__name__}"
            return Answer(question.id, outcome=Outcome.FAILED, reason=reason, spent=Spent(time.monotonic() - began))
        _Asking(self, question).all(cases)
        spent = sum((case.spent for case in cases), Spent())
        return _answer(question, cases, replace(spent, seconds=time.monotonic() - began))

    # --- who is asked about -----------------------------------------------------------------------------------------

    def _cases(self, question: Question) -> list[_Case]:
        options = self._options
        retrieved = self._retriever.passages(question, options.per_patient)
        if options.passages is not None:
            retrieved = _best(retrieved, options.passages)
        return [
            _Case(
                one.patient_id,
                batches(one.passages, self._notes(one.patient_id).__getitem__, options.characters, options.calls),
            )
            for one in retrieved
            if one.passages
        ]

    def _notes(self, patient_id: str) -> Mapping[str, Note]:
        return {note.doc_id: note for note in self._corpus.by_patient[patient_id]}


class _Asking:
    """One question on its way: its budget, and whether it still makes sense to ask."""

    def __init__(self, reader: Reader, question: Question) -> None:
        self._reader = reader
        self._question = question
        self._options = reader._options
        self._account = Account(self._options.question, self._options.prices, reader._account, "one question")
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._broken = 0
        self._over: EndpointError | None = None

    def all(self, cases: Sequence[_Case]) -> None:
        """Fill in every case."""
        each(self._one, cases, self._options.threads, self._stop)

    def _one(self, case: _Case) -> None:
        notes = self._reader._notes(case.patient_id)
        for batch in case.batches:
            asked = messages(self._question.text, batch, notes.__getitem__)
            key = key_of(self._reader._server, asked)
            try:
                reading = self._reading(case, key, asked)
            except EndpointError as error:
                case.failure = case.failure or Failure(case.patient_id, error.kind, str(error))
                return
            if reading.verdict is Verdict.YES:
                case.quotes = places(reading.evidence, batch.passages)
                if case.quotes:
                    # One yes is enough, whatever other passages could not be read.
                    case.eligible, case.failure = True, None
                    return
                reading = Reading(Verdict.NONSENSE, reason="a yes whose quotes do not stand in its passages")
            if reading.verdict is not Verdict.NO and case.failure is None:
                case.failure = Failure(case.patient_id, reading.verdict.value, reading.reason)

    def _reading(self, case: _Case, key: str, asked: Sequence[Mapping[str, str]]) -> Reading:
        reader = self._reader
        kept = None if reader._kept is None else reader._kept.find(key)
        if kept is not None:
            case.spent += Spent(cached=1)
            return Reading.from_text(kept.text)
        if self._over is not None:
            raise self._over
        ticket = Ticket(self._account, reader._pace, self._stop, reader._settings.limits.answer_tokens)
        try:
            reply = reader._endpoint.ask(asked, ticket)
        except EndpointError as error:
            ticket.fail(error)
            self._heed(error)
            raise
        else:
            ticket.settle(reply.prompt_tokens, reply.answer_tokens)
        finally:
            ticket.release()
            case.spent += ticket.spent
        reading = read_answer(reply)
        if reader._kept is not None:
            reader._kept.keep(key, KeptAnswer(reading.as_text()))
        with self._lock:
            self._broken = 0
        return reading

    def _heed(self, error: EndpointError) -> None:
        """Give the rest of the question up when nothing better is to come."""
        with self._lock:
            self._broken = self._broken + 1 if error.kind in _LINE else 0
            if error.status in _HOPELESS or error.kind == "budget" or self._broken >= self._options.breaks:
                self._over = EndpointError(str(error), error.kind, error.status)


def _server(settings: Settings) -> Settings:
    """Who answers, for what is kept: a port of this machine is whichever was free."""
    return replace(settings, port=0 if is_this_machine(settings.host) else settings.port)


def _best(retrieved: Sequence[PatientPassages], most: int) -> tuple[PatientPassages, ...]:
    """The ``most`` best passages over all patients; patients who have none left are not asked about."""
    scores = sorted(
        ((-passage.score, place, number) for place, one in enumerate(retrieved)
         for number, passage in enumerate(one.passages))
    )[:most]  # fmt: skip
    left = {(place, number) for _, place, number in scores}
    return tuple(
        replace(one, passages=tuple(held for number, held in enumerate(one.passages) if (place, number) in left))
        for place, one in enumerate(retrieved)
    )


def _answer(question: Question, cases: Sequence[_Case], spent: Spent) -> Answer:
    failures = tuple(case.failure for case in cases if case.failure is not None)
    if failures and len(failures) == len(cases):
        kinds = Counter(one.kind for one in failures)
        counts = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
        reason = f"none of {len(cases)} patients could be read: {counts}"
        return Answer(question.id, outcome=Outcome.FAILED, reason=reason, failures=failures, spent=spent)
    yes = [case for case in cases if case.eligible]
    no = [case for case in cases if not case.eligible and case.failure is None]
    # The whole part of a score is the verdict, the rest the place in the retriever's order.
    place = {case.patient_id: 1 - (number + 1) / (len(cases) + 1) for number, case in enumerate(cases)}
    ranking = tuple(Ranked(one.patient_id, one.eligible + place[one.patient_id], one.quotes) for one in (*yes, *no))
    return Answer(question.id, ranking, len(yes), failures=failures, spent=spent)
