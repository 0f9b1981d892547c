"""A chat model as the model that reads along: set up by the environment, allowed to have notes, asked for by name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Final

from ....kb.endpoint.asking import Asking, Budget, Spending
from ....kb.endpoint.kept import KeptAnswers
from ....kb.endpoint.settings import Settings, check_leave, from_environment
from ....kb.errors import UsageError
from ....kb.ontology.concepts import ConceptTable
from ...coral_schema.questions import questions_file
from ..tagging.recognizer import Link, ModelRecognizer, kinds_of_types, plain, recorded_name
from .tagger import ChatTagger, Tally, types_of_answers

ANSWERS: Final = "COHORTIUM_LLM_ANSWERS"
MOST_REQUESTS: Final = "COHORTIUM_LLM_MOST_REQUESTS"
MOST_TOKENS: Final = "COHORTIUM_LLM_MOST_TOKENS"


@dataclass(frozen=True, slots=True)
class ChatChoice:
    """An endpoint, a file of answers, a budget. ``link_of`` makes the linker under an ontology; without it nothing is
    linked.

    ``taggers`` are those that were made of it in this process: what they counted is what :meth:`told` tells.
    """

    settings: Settings
    answers: Path | None = None
    budget: Budget = Budget()
    link_of: Callable[[ConceptTable], Link] | None = None
    taggers: list[tuple[ChatTagger, Asking]] = field(default_factory=list, compare=False, repr=False)

    @property
    def name(self) -> str:
        """``llm:`` and the model, in letters, digits, points and hyphens."""
        return f"llm:{recorded_name(self.settings.model)}"

    @property
    def alone(self) -> bool:
        """The budget is that of one process."""
        return True

    @property
    def version(self) -> str:
        """The name, and a hash of what is asked and of what is made of the answers: no model tells its own weights."""
        uses = resources.files(__package__).joinpath("uses.toml").read_bytes()
        digest = hashlib.blake2b(questions_file() + b"\0" + uses, digest_size=8).hexdigest()
        return f"{self.name}+{digest}{'' if self.link_of else '+unlinked'}"

    def recognizer(
        self, concepts: ConceptTable, kind_of: Callable[[str], str], never: frozenset[str]
    ) -> ModelRecognizer:
        """The model as a recogniser. Nothing is sent before it is used. UsageError for a wrong file of answers."""
        asking = Asking(self.settings, KeptAnswers(self.answers), self.budget)
        wanted = [one for one in types_of_answers() if plain(one) in kinds_of_types()]
        tagger = ChatTagger(asking, wanted)
        self.taggers.append((tagger, asking))
        return ModelRecognizer(self.name, tagger, self.link_of and self.link_of(concepts), kind_of, never)

    def asked(self) -> dict[str, Any]:
        """What was asked so far, what of it failed, and what it cost."""
        tally, spent = Tally(), Spending()
        for tagger, asking in self.taggers:
            tally.add(tagger.tally)
            spent.requests += asking.spending.requests
            spent.tokens += asking.spending.tokens
            spent.kept += asking.spending.kept
        cost = {"requests": spent.requests, "tokens": spent.tokens, "kept": spent.kept}
        return {"model": self.name, **tally.as_dict(), **cost}


def chat_choice(
    link_of: Callable[[ConceptTable], Link] | None = None, environment: Mapping[str, str] | None = None
) -> ChatChoice:
    """The chat model of the environment. UsageError when none is set up, when it may not have notes, for a budget that
    is no number, or a file that holds something else than answers."""
    held = os.environ if environment is None else environment
    settings = from_environment(environment, hint="see docs/guide/llm_recogniser.md, or read with '--model none'")
    check_leave(environment, page="docs/guide/llm_recogniser.md")
    budget = Budget(*(_most(held, name) for name in (MOST_REQUESTS, MOST_TOKENS)))
    path = held.get(ANSWERS, "").strip()
    answers = Path(path) if path else None
    KeptAnswers(answers)  # It is read once more when the first note is: what is wrong with it is told before that.
    return ChatChoice(settings, answers, budget, link_of)


def _most(held: Mapping[str, str], name: str) -> int | None:
    text = held.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"{name} must be a whole number, 0 or more")
    return int(text)


def sentence_of(asked: Mapping[str, Any]) -> str:
    """One line of what was asked and what failed."""
    failed = ", ".join(f"{number} {kind}" for kind, number in asked["failed"].items())
    after = f" ({failed}), in {asked['texts_with_failures']:,} of {asked['texts']:,} notes" if failed else ""
    return (
        f"{asked['model']}: {asked['questions']:,} questions, {sum(asked['failed'].values()):,} failed{after};"
        f" {asked['quotes']:,} quotes, {asked['not_in_text']:,} more that do not stand in their note;"
        f" {asked['requests']:,} requests, {asked['tokens']:,} tokens, {asked['kept']:,} answers kept from before"
    )
