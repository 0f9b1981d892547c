"""Many questions to one chat endpoint: a budget for all, no question asked twice, each failure counted by its kind."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..errors import UsageError
from .chat import ChatEndpoint, EndpointError, Message
from .kept import KeptAnswer, KeptAnswers, key_of
from .post import CHARACTERS_A_TOKEN
from .settings import Settings

#: An answer may be a line for each of many findings.
ANSWER_TOKENS: Final = 2_000
#: Why a model gave no answer, beside the kinds of an EndpointError.
REFUSAL: Final = "refusal"
CUT_OFF: Final = "cut_off"
#: The server did not take the request: another thing than a model that will not answer it.
REJECTED: Final = "rejected"
#: So many questions in a row that came to nothing, and the endpoint is not asked again.
MOST_IN_A_ROW: Final = 5
CAME_TO_NOTHING: Final = frozenset({"connection", "timeout", "rate_limit"})
#: Answers that every further request would get, too: the key, the account, the address.
HOPELESS: Final = frozenset({401, 402, 403, 404})


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that all questions together may cost; None: no bound. Every request counts, further tries too."""

    requests: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        if any(bound is not None and bound < 0 for bound in (self.requests, self.tokens)):
            raise UsageError("a budget is a number of requests or tokens, 0 or more")


@dataclass(slots=True)
class Spending:
    """What questions cost: requests, tokens as the server reports them (a quarter of the characters where it does not),
    answers taken from those kept, and failures by kind."""

    requests: int = 0
    tokens: int = 0
    kept: int = 0
    failures: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "requests": self.requests,
            "tokens": self.tokens,
            "kept": self.kept,
            "failures": dict(sorted(self.failures.items())),
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """The text of an answer, or in one word why there is none."""

    text: str = ""
    failure: str = ""


class Asking:
    """Puts questions to an endpoint one after the other; not to be shared by threads.

    A failure costs one question, never the run. Where the endpoint does not take the key or knows no such model, after
    ``MOST_IN_A_ROW`` questions in a row that came to nothing, or when the budget is spent, nothing more is sent: what
    is not among the kept answers then fails in the same way. Refusals and answers that were cut off are answers, and
    are kept; other failures are not, and the next run asks again.
    """

    def __init__(
        self,
        settings: Settings,
        kept: KeptAnswers | None = None,
        budget: Budget = Budget(),
        *,
        temperature: float = 0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Nothing is sent before :meth:`ask`. ``kept``: where answers are found and kept; None: in memory alone."""
        limits = replace(settings.limits, answer_tokens=max(settings.limits.answer_tokens, ANSWER_TOKENS))
        self._settings = replace(settings, limits=limits)
        self._endpoint = ChatEndpoint(self._settings, sleep, as_json=False, temperature=temperature)
        self._temperature = temperature
        self._kept = KeptAnswers(None) if kept is None else kept
        self._budget = budget
        self._sleep = sleep
        self._in_a_row = 0
        self._over = ""
        self.spending = Spending()

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._settings.model

    def ask(self, messages: Sequence[Message]) -> Outcome:
        """The answer to ``messages``, kept before it is given; or why there is none, which is counted."""
        key = key_of(self._settings, messages, self._temperature)
        known = self._kept.find(key)
        if known is not None:
            self.spending.kept += 1
            return self._counted(known.text, known.failure)
        if self._over:
            return self._counted("", self._over)
        answer = self._sent(messages)
        if not answer.failure or answer.failure in (REFUSAL, CUT_OFF):
            self._kept.keep(key, answer)
        return self._counted(answer.text, answer.failure)

    def _counted(self, text: str, failure: str) -> Outcome:
        if failure:
            self.spending.failures[failure] += 1
        return Outcome(text, failure)

    def _sent(self, messages: Sequence[Message]) -> KeptAnswer:
        before = self._endpoint.tokens
        try:
            reply = self._endpoint.ask(messages, _Gate(self._settings, self._budget, self.spending, self._sleep))
        except EndpointError as error:
            self._in_a_row = self._in_a_row + 1 if error.kind in CAME_TO_NOTHING else 0
            spent = isinstance(error, BudgetSpent)
            if spent or error.status in HOPELESS or self._in_a_row >= MOST_IN_A_ROW:
                self._over = error.kind
            return KeptAnswer("", REJECTED if error.kind == REFUSAL else error.kind)
        finally:
            self.spending.tokens += self._endpoint.tokens - before
        self._in_a_row = 0
        if reply.declined:
            return KeptAnswer("", REFUSAL)
        if reply.cut_off:
            # Its last finding may be half of one, and those behind it are not there.
            return KeptAnswer("", CUT_OFF)
        return KeptAnswer(reply.text)


class BudgetSpent(EndpointError):
    """The budget of all questions is spent, and not only that of one."""


class _Gate:
    """The requests of one question: within its own limits, and within the budget of all."""

    def __init__(self, settings: Settings, budget: Budget, spending: Spending, sleep: Callable[[float], None]) -> None:
        self._limits = settings.limits
        self._budget = budget
        self._spending = spending
        self._sleep = sleep
        self._requests = 0

    def enter(self, characters: int) -> None:
        """Count a request. EndpointError when the question may have no more; BudgetSpent when nobody may."""
        wanted = characters // CHARACTERS_A_TOKEN
        if self._requests >= self._limits.requests or wanted > self._limits.tokens:
            raise EndpointError("one question may cost no more requests or tokens", "budget")
        requests, tokens = self._budget.requests, self._budget.tokens
        if requests is not None and self._spending.requests >= requests:
            raise BudgetSpent(f"the run may cost {requests:,} requests, and they are spent", "budget")
        if tokens is not None and self._spending.tokens + wanted > tokens:
            raise BudgetSpent(f"the run may cost {tokens:,} tokens, and one more request would cost more", "budget")
        self._requests += 1
        self._spending.requests += 1

    def pause(self, seconds: float, status: int) -> None:
        """Wait before the next try."""
        self._sleep(seconds)


def spending_line(spending: Mapping[str, Any]) -> str:
    """One line of what questions cost, and of what failed."""
    failed = ", ".join(f"{number} {kind}" for kind, number in spending["failures"].items())
    return (
        f"asked: {spending['requests']:,} requests, {spending['tokens']:,} tokens, {spending['kept']:,} answers kept"
        f" from before; failed: {failed or 'none'}"
    )
