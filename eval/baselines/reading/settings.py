"""Settings of a reader: the endpoint that the environment names, what it may cost, and the leave to send notes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from ....kb.endpoint.settings import PREFIX, SEND_NOTES, Limits, Settings, check_leave
from ....kb.endpoint.settings import from_environment as endpoint_from_environment
from ....kb.errors import UsageError
from .budget import Budget, Prices

ANSWER_TOKENS: Final = "COHORTIUM_LLM_ANSWER_TOKENS"

#: For help texts: whoever switches a reader or a remote encoder on must have read it.
NOTES_ARE_SENT: Final = (
    "SENDS TEXT OF CLINICAL NOTES to the endpoint that COHORTIUM_LLM_BASE_URL names. Off unless that endpoint is set up"
    f" and {SEND_NOTES}=yes says that it may have them. See docs/reference/baselines.md."
)

#: One patient's message, not one person before a terminal: longer waits are kept, and more tries made.
_LIMITS: Final = Limits(tries=5, longest_pause=60.0, answer_tokens=600, requests=0, tokens=0)
_MOST_ANSWER_TOKENS: Final = 100_000


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """What a reader reads, and what it may spend.

    ``per_patient`` passages of a patient at most; ``passages`` bounds them over all patients of a question beside the
    cut of the retriever (the paper reads 1,000, section 4.1.2), the best are kept. ``characters`` of them go into a
    message; ``calls`` messages a patient and question are sent (the paper: three, section 4.2.5). ``threads`` ask at a
    time, ``per_second`` requests leave in a second. After ``breaks`` failures of the line in a row the rest of a
    question is given up.
    """

    per_patient: int = 12
    passages: int | None = None
    characters: int = 24_000
    calls: int = 3
    threads: int = 4
    per_second: float | None = None
    breaks: int = 20
    question: Budget = Budget()
    run: Budget = Budget()
    prices: Prices = Prices()

    def __post_init__(self) -> None:
        for name in ("per_patient", "characters", "calls", "threads", "breaks"):
            if getattr(self, name) < 1:
                raise UsageError(f"'{name}' of a reader is a whole number, 1 or more")
        if self.passages is not None and self.passages < 1:
            raise UsageError("'passages' of a reader is a whole number, 1 or more, or none at all")


def endpoint(environment: Mapping[str, str] | None = None) -> Settings:
    """The chat endpoint of the environment. UsageError when none is set up, or notes may not be sent to it."""
    settings = endpoint_from_environment(environment, hint="see docs/reference/baselines.md, or leave the reader out")
    check_leave(environment)
    held = os.environ if environment is None else environment
    tokens = held.get(ANSWER_TOKENS, "").strip() or str(_LIMITS.answer_tokens)
    if not (tokens.isascii() and tokens.isdigit() and 0 < int(tokens) <= _MOST_ANSWER_TOKENS):
        raise UsageError(f"{ANSWER_TOKENS} must be a whole number from 1 to {_MOST_ANSWER_TOKENS:,}")
    return replace(settings, limits=replace(_LIMITS, seconds=settings.limits.seconds, answer_tokens=int(tokens)))


def prices(environment: Mapping[str, str] | None = None, prefix: str = PREFIX) -> Prices:
    """What the environment says that a million tokens cost in US dollars; nothing where it says nothing."""
    held = os.environ if environment is None else environment
    return Prices(_price(held, f"{prefix}_PROMPT_PRICE"), _price(held, f"{prefix}_ANSWER_PRICE"))


def _price(held: Mapping[str, str], name: str) -> float:
    text = held.get(name, "").strip() or "0"
    try:
        price = float(text)
    except ValueError:
        price = -1.0
    if not 0 <= price < float("inf"):
        raise UsageError(f"{name} must be a number of US dollars for a million tokens")
    return price
