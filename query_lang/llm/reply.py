"""The reply of a model, read as the one JSON object that was asked for, or told what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ...kb.endpoint.objects import objects_with
from ...kb.ontology.normal_forms import normal_form

_FIELDS: Final = ("query", "unread", "unclear")
_MOST_PHRASES: Final = 30


class Unusable(Exception):
    """The reply is not the object that was asked for; the text tells the model, and is safe to show to a person."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A query as text (empty when the model writes none), and the phrases of the question that it left or doubts."""

    query: str
    unread: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()


def read_reply(text: str, question: str, longest_query: int) -> Reply:
    """The object in ``text``, bare, in a code fence or among words. Unusable if there is none, several, or a wrong one.

    Phrases must be words of the question: so nothing that the model makes up is ever shown as if the user had said it.
    """
    held = _object(text)
    missing = [name for name in _FIELDS if name not in held]
    if missing:
        raise Unusable(f"the answer has no {' and no '.join(repr(name) for name in missing)}")
    query = held["query"]
    if query is not None and not isinstance(query, str):
        raise Unusable("'query' is neither text nor null")
    if query is not None and len(query) > longest_query:
        raise Unusable(f"the query has more than {longest_query:,} characters")
    query = (query or "").strip()
    unread, unclear = (_phrases(held[name], name, question) for name in _FIELDS[1:])
    if not query and not unread and not unclear:
        raise Unusable("the answer has no query, and does not say which words stand in its way")
    return Reply(query, unread, unclear)


def _object(text: str) -> dict[str, Any]:
    """The only JSON object with a query in ``text``."""
    found = objects_with(text, "query")
    if not found:
        raise Unusable("the answer is no JSON object with 'query', 'unread' and 'unclear'")
    if len(found) > 1:
        raise Unusable("the answer holds several JSON objects, and one was asked for")
    return found[0]


def _phrases(held: object, name: str, question: str) -> tuple[str, ...]:
    if not isinstance(held, list) or not all(isinstance(one, str) for one in held) or len(held) > _MOST_PHRASES:
        raise Unusable(f"'{name}' is no list of phrases")
    asked = f" {normal_form(question)} "
    phrases = tuple(dict.fromkeys(" ".join(one.split()) for one in held if one.strip()))
    if any(f" {normal_form(one)} " not in asked for one in phrases):
        # The phrase itself is not told again: it is the model's own words.
        raise Unusable(f"'{name}' holds words that do not stand so in the question; copy them from it letter by letter")
    return phrases
