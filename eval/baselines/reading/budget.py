"""Budgets of requests to an endpoint, what was spent of them by question and run, and the pace that threads share."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Final

from ....kb.endpoint.post import CHARACTERS_A_TOKEN, EndpointError
from ....kb.errors import UsageError
from ..systems.contract import Spent

_MILLION: Final = 1_000_000
#: Seconds after which a request that waits for the answers to others looks whether it was stopped.
_LOOK: Final = 0.2


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens sent and a million received; 0 where nothing is charged or known."""

    prompt: float = 0.0
    answer: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.prompt < float("inf") and 0 <= self.answer < float("inf")):
            raise UsageError("a price is a number of dollars, 0 or more, for a million tokens")

    def dollars(self, prompt_tokens: int, answer_tokens: int) -> float:
        """The price of these tokens."""
        return (prompt_tokens * self.prompt + answer_tokens * self.answer) / _MILLION


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent; None: no bound. Every request that leaves the machine counts, retries too."""

    requests: int | None = None
    tokens: int | None = None
    dollars: float | None = None

    def __post_init__(self) -> None:
        for bound in (self.requests, self.tokens, self.dollars):
            if bound is not None and not 0 <= bound < float("inf"):
                raise UsageError("a budget is a number, 0 or more")


class Account:
    """A budget being spent, shared by threads; what is taken from it is taken from ``outer`` too, or from neither.

    Before a request its tokens are set aside (a quarter of its characters, and the longest answer that was asked for);
    after the answer they become those that the server reports. So requests never pass their bound, and tokens and
    dollars pass it by no more than what the server counts beyond that estimate for the requests under way. Where only
    what is set aside for others stands in the way, a request waits for their answers.
    """

    def __init__(
        self, budget: Budget, prices: Prices | None = None, outer: Account | None = None, called: str = "the run"
    ) -> None:
        """``called`` names in errors what the budget is for. UsageError for dollars without prices."""
        self._budget = budget
        self._prices = prices or Prices()
        if budget.dollars is not None and self._prices == Prices():
            raise UsageError("a budget in dollars needs the prices of a million tokens")
        self._outer = outer
        self._called = called
        self._changed: threading.Condition = outer._changed if outer is not None else threading.Condition()
        self.requests = 0
        self.prompt_tokens = 0
        self.answer_tokens = 0
        self._aside_prompt = 0
        self._aside_answer = 0

    @property
    def prices(self) -> Prices:
        """What tokens cost."""
        return self._prices

    def take(self, prompt_tokens: int, answer_tokens: int, stop: threading.Event | None = None) -> None:
        """One request, with these tokens set aside. EndpointError, and nothing taken: of kind ``budget`` if it would be
        too much, of kind ``interrupted`` if ``stop`` was set while it waited."""
        with self._changed:
            while not all(account._room(prompt_tokens, answer_tokens) for account in self._all()):
                # Not for ever: what is set by an interrupt wakes nobody here.
                self._changed.wait(_LOOK)
                if stop is not None and stop.is_set():
                    raise _stopped()
            for account in self._all():
                account.requests += 1
                account._aside_prompt += prompt_tokens
                account._aside_answer += answer_tokens

    def settle(self, aside: tuple[int, int], prompt_tokens: int, answer_tokens: int) -> None:
        """These tokens were used; those that were set aside for them are free again."""
        with self._changed:
            for account in self._all():
                account._aside_prompt -= aside[0]
                account._aside_answer -= aside[1]
                account.prompt_tokens += prompt_tokens
                account.answer_tokens += answer_tokens
            self._changed.notify_all()

    def _all(self) -> tuple[Account, ...]:
        return (self,) if self._outer is None else (self, *self._outer._all())

    def _room(self, prompt_tokens: int, answer_tokens: int) -> bool:
        """Whether the request fits now. EndpointError if it will not fit when those under way have come back either."""
        bound = self._budget
        if bound.requests is not None and self.requests + 1 > bound.requests:
            raise EndpointError(f"{self._called} may cost {bound.requests:,} requests, and they are spent", "budget")
        if not prompt_tokens and not answer_tokens:
            # Another try: its tokens were set aside before the first.
            return True
        prompt, answer = self.prompt_tokens + prompt_tokens, self.answer_tokens + answer_tokens
        over = self._over(prompt, answer)
        if over:
            raise EndpointError(f"{self._called} may cost {over}, and one more request might cost more", "budget")
        return not self._over(prompt + self._aside_prompt, answer + self._aside_answer)

    def _over(self, prompt_tokens: int, answer_tokens: int) -> str:
        """The bound that so many tokens would pass; empty when there is none."""
        bound = self._budget
        if bound.tokens is not None and prompt_tokens + answer_tokens > bound.tokens:
            return f"{bound.tokens:,} tokens"
        if bound.dollars is not None and self._prices.dollars(prompt_tokens, answer_tokens) > bound.dollars:
            return f"{bound.dollars:g} dollars"
        return ""


class Pace:
    """When the next request may leave: threads share it, so that a wait that one is told holds for all."""

    def __init__(self, per_second: float | None = None) -> None:
        """``per_second``: how many requests may leave in a second, evenly; None: as many as there are."""
        if per_second is not None and not 0 < per_second < float("inf"):
            raise UsageError("the pace is a number of requests per second, more than 0")
        self._gap = 0.0 if per_second is None else 1.0 / per_second
        self._lock = threading.Lock()
        self._free = 0.0

    def turn(self, stop: threading.Event) -> None:
        """Wait for one's turn. EndpointError of kind ``interrupted`` when ``stop`` is set."""
        while True:
            if stop.is_set():
                raise _stopped()
            with self._lock:
                now = time.monotonic()
                wait = self._free - now
                if wait <= 0:
                    self._free = now + self._gap
                    return
            if stop.wait(wait):
                raise _stopped()

    def hold(self, seconds: float) -> None:
        """Nobody's turn comes for so long."""
        with self._lock:
            self._free = max(self._free, time.monotonic() + seconds)


class Ticket:
    """The gate of one message: each of its requests waits for its turn and is paid for out of a account."""

    def __init__(self, account: Account, pace: Pace, stop: threading.Event, answer_tokens: int) -> None:
        """``answer_tokens``: the longest answer, set aside until the true length is known."""
        self._account = account
        self._pace = pace
        self._stop = stop
        self._longest = answer_tokens
        self._aside = (0, 0)
        self.spent = Spent()

    def enter(self, characters: int) -> None:
        """Before each request."""
        self._pace.turn(self._stop)
        prompt = 0 if self.spent.requests else characters // CHARACTERS_A_TOKEN
        answer = 0 if self.spent.requests else self._longest
        self._account.take(prompt, answer, self._stop)
        self._aside = (self._aside[0] + prompt, self._aside[1] + answer)
        self.spent += Spent(requests=1, retries=1 if self.spent.requests else 0)

    def pause(self, seconds: float, status: int) -> None:
        """Between two tries; an endpoint that is asked too often is left alone by all threads."""
        if status == 429:
            self._pace.hold(seconds)
        elif self._stop.wait(seconds):
            raise _stopped()

    def settle(self, prompt_tokens: int, answer_tokens: int) -> None:
        """The answer came, or broke after it was paid for."""
        self._account.settle(self._aside, prompt_tokens, answer_tokens)
        self._aside = (0, 0)
        dollars = self._account.prices.dollars(prompt_tokens, answer_tokens)
        self.spent += Spent(prompt_tokens=prompt_tokens, answer_tokens=answer_tokens, dollars=dollars)

    def release(self) -> None:
        """Whatever is still set aside is free: others wait for it. Once more does nothing."""
        if self._aside != (0, 0):
            self.settle(0, 0)

    def fail(self, error: EndpointError) -> None:
        """No answer came. What cannot be read was paid for all the same, as far as one can tell: the message was."""
        self.settle(self._aside[0] if error.kind in ("nonsense", "timeout") else 0, 0)


def _stopped() -> EndpointError:
    return EndpointError("the run was interrupted", "interrupted")
