"""The way from a question to a checked query by a chat model: at most one repair, and a refusal rather than a guess."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ...kb.endpoint.chat import ChatEndpoint, ChatReply, EndpointError, Message
from ...kb.endpoint.settings import Settings
from ...kb.errors import UsageError
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales
from ..errors import QueryError
from ..lint.linter import lint
from ..nodes import Among, Concept, Definition, Query
from ..parsing.parse import parse
from ..read_back.query import read_back
from ..render import render
from ..resolution.resolve import resolve_text
from ..tree import find
from .candidates import Candidate, candidates_of
from .card import card, complaint, question_message, repair_message
from .faithful import carries_nothing, dropped, invented
from .reply import Reply, Unusable, read_reply

_SHORTEST_PATIENT_NUMBER: Final = 5
#: Words in an id, at most.
_LONGEST_ID: Final = 4
_AROUND_ID: Final = ".,;:!?()[]{}\"'“”‘’"
_LONGEST_REASON: Final = 300


@dataclass(frozen=True, slots=True)
class ModelReading:
    """What a model made of a question, after every check.

    ``query`` is resolved, ``says`` its read-back; both are empty when the question was not read, and ``reason`` tells
    why in one sentence. ``failed`` is true when that is no judgement of the question: the endpoint gave no answer, or
    none that could be used. ``unread`` and ``unclear`` are phrases of the question. ``assumed`` are names of the query
    that no word of the question names outright. ``requests`` and ``tokens`` are what it cost.
    """

    query: Query | None = None
    says: str = ""
    unread: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    reason: str = ""
    failed: bool = False
    repaired: bool = False
    requests: int = 0
    tokens: int = 0

    @property
    def text(self) -> str:
        """The query as text; empty when there is none."""
        return "" if self.query is None else render(self.query)


class ModelTranslator:
    """Asks the endpoint of ``settings`` about questions under one ontology.

    What goes out is the question, the card of the language, names of the ontology, and in a repair the model's own
    answer with what was wrong with it. ``is_patient`` tells the ids of patients: a question that holds one is not sent.
    """

    def __init__(
        self,
        concepts: ConceptTable,
        scales: Scales,
        settings: Settings,
        *,
        definitions: tuple[Definition, ...] = (),
        is_patient: Callable[[str], bool] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Nothing is sent before :meth:`read`.

        ``definitions`` are criteria that a query may use by name. Their names are sent, what they mean is not.
        """
        self._concepts = concepts
        self._scales = scales
        self._settings = settings
        self._definitions = definitions
        self._is_patient = is_patient
        self._sleep = sleep
        self._candidates = candidates_of(concepts)

    def read(self, question: str) -> ModelReading:
        """The model's reading of ``question``. UsageError, before anything is sent, if it must not be sent."""
        self._check(question)
        endpoint = ChatEndpoint(self._settings, self._sleep)
        names = self._candidates.named_in(question, self._settings.limits.names)
        messages: list[Message] = [
            {"role": "system", "content": card()},
            {"role": "user", "content": question_message(question, names, [one.name for one in self._definitions])},
        ]
        wrong = ""
        for repaired in (False, True):
            try:
                reply = endpoint.ask(messages)
            except EndpointError as error:
                return self._failure(str(error), endpoint, repaired)
            if reply.declined:
                return self._failure("the model declined to answer", endpoint, repaired)
            try:
                return self._reading(reply, question, endpoint, repaired)
            except (Unusable, QueryError) as error:
                wrong = _sentence(error)
                messages += self._repair(reply, error)
        return self._failure(f"the model gave no usable query, also when told why: {wrong}", endpoint, True)

    # --- before ------------------------------------------------------------------------------------------------------

    def _check(self, question: str) -> None:
        longest = self._settings.limits.question_characters
        if not question.strip():
            raise UsageError("the question is empty")
        if len(question) > longest:
            raise UsageError(
                f"the question has {len(question):,} characters, and at most {longest:,} are sent to an endpoint. "
                "Hint: ask a question; a note does not belong there"
            )
        try:
            question.encode("utf-8")
        except UnicodeEncodeError as error:
            raise UsageError(f"the question is not UTF-8 (character {error.start + 1})") from None
        if self._is_patient is not None and any(map(self._is_patient, _possible_ids(question))):
            raise UsageError(
                "the question holds the id of a patient of this knowledge base, and was not sent. "
                "Hint: ask for patients by what their notes say"
            )

    # --- after -------------------------------------------------------------------------------------------------------

    def _reading(self, reply: ChatReply, question: str, endpoint: ChatEndpoint, repaired: bool) -> ModelReading:
        if reply.cut_off:
            raise Unusable(complaint("cut_off"))
        held = read_reply(reply.text, question, self._settings.limits.query_characters)
        query = self._query(held, question) if held.query else None
        unread = tuple(phrase for phrase in held.unread if not carries_nothing(phrase))
        return ModelReading(
            query=query,
            says="" if query is None else read_back(query, self._concepts),
            unread=unread,
            unclear=held.unclear,
            assumed=() if query is None else self._assumed(query, question),
            reason=_reason(held.unclear, unread) or ("" if query else "it wrote no query"),
            repaired=repaired,
            requests=endpoint.requests,
            tokens=endpoint.tokens,
        )

    def _query(self, held: Reply, question: str) -> Query:
        """The resolved query. QueryError or Unusable if it is none, or not one of this question."""
        if parse(held.query).definitions:
            raise Unusable(complaint("defined"))
        query = resolve_text(held.query, self._concepts, self._scales, definitions=self._definitions)
        if any(True for _ in find(query.body, Among)):
            raise Unusable(complaint("patients"))
        # What the program understood is checked, and the model's own spelling: rendering may turn months into days.
        if strange := invented(held.query, question):
            raise Unusable(complaint("invented", strange))
        if missing := dropped(f"{held.query} {render(query)}", question, (*held.unread, *held.unclear)):
            raise Unusable(complaint("dropped", missing))
        if problems := [one for one in lint(query, self._concepts, self._scales) if one.severity == "problem"]:
            raise Unusable(problems[0].as_line())
        return query

    def _assumed(self, query: Query, question: str) -> tuple[str, ...]:
        meant = self._candidates.meant(question)
        named = find(query.body, Concept)
        return tuple(dict.fromkeys(node.name for node in named if node.id not in meant))

    def _repair(self, reply: ChatReply, error: Unusable | QueryError) -> list[Message]:
        longest = 2 * self._settings.limits.query_characters
        names: list[Candidate] = []
        if isinstance(error, QueryError):
            names = self._candidates.named_in(error.excerpt, self._settings.limits.names // 2)
        return [
            {"role": "assistant", "content": reply.text[:longest] or "{}"},
            {"role": "user", "content": repair_message(str(error), names)},
        ]

    def _failure(self, reason: str, endpoint: ChatEndpoint, repaired: bool) -> ModelReading:
        return ModelReading(
            reason=reason, failed=True, repaired=repaired, requests=endpoint.requests, tokens=endpoint.tokens
        )


def _reason(unclear: tuple[str, ...], unread: tuple[str, ...]) -> str:
    if unclear:
        return f"not clear: {_quoted(unclear)}"
    if unread:
        return f"not read: {_quoted(unread)}"
    return ""


def _quoted(phrases: tuple[str, ...]) -> str:
    return ", ".join(f"'{phrase}'" for phrase in phrases)


def _sentence(error: Unusable | QueryError) -> str:
    """What was wrong, on one line that a terminal can show: it may quote what a model wrote."""
    text = error.message if isinstance(error, QueryError) else str(error)
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return plain if len(plain) <= _LONGEST_REASON else plain[: _LONGEST_REASON - 1] + "…"


def _possible_ids(question: str) -> Iterator[str]:
    """Runs of words that may be patient ids: as they stand, and without what may stand around them.

    A short number is none: it cannot be told from a dose, a percentage or a year.
    """
    words = question.split()
    for length in range(1, _LONGEST_ID + 1):
        for begin in range(len(words) - length + 1):
            written = " ".join(words[begin : begin + length])
            bare = written.strip(_AROUND_ID)
            for one in dict.fromkeys((written, bare, bare.removesuffix("'s").removesuffix("’s"))):
                if one and not (one.isdigit() and len(one) < _SHORTEST_PATIENT_NUMBER):
                    yield one
