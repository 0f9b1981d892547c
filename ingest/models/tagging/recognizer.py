"""A tagger and a linker as a recogniser: what they propose in a note, as spans like those of any other."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from ....kb.errors import UsageError
from ....kb.kinds import DRUGS, PROCEDURES, of_domain
from ....kb.model import OF_MODEL
from ...text.frame import Frame, Recognizer, Span

#: The kinds of a linked mention that are events by themselves: a gene, a marker or a value needs a result beside it.
_BY_ITSELF: Final = DRUGS | PROCEDURES | {*of_domain("Condition"), "social"}
#: What a link rests on is kept as a helper of this rule: the name of the ontology that was matched stands behind it.
LINK: Final = "link:"
#: Probabilities are kept to so many digits: the last ones of a float differ between machines.
DIGITS: Final = 3
_SIGN: Final = re.compile(r"[\W_]+")
#: Signs that no name of a model has where it is recorded.
_NO_NAME: Final = re.compile(r"[^\w.\-]+")


class Tagged(Protocol):
    """A span that a tagger finds: characters of the text, type, and probability (0 to 1)."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def type(self) -> str: ...

    @property
    def confidence(self) -> float: ...


class Tagger(Protocol):
    """Finds typed spans in texts; what it finds in one does not depend on the others."""

    @property
    def types(self) -> Sequence[str]:
        """What it finds."""

    def tag(self, texts: list[str]) -> Sequence[Sequence[Tagged]]:
        """The spans of each text, none overlapping another."""


class Linked(Protocol):
    """What a mention was linked to: a concept (empty: to none), the name of the ontology by which, the probability."""

    @property
    def concept(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def probability(self) -> float: ...


#: Links mentions, each given by its words and its kind.
Link = Callable[[Sequence[tuple[str, str]]], Sequence[Linked]]


class PreparedRecognizer(Recognizer, Protocol):
    """A recogniser that is quicker when it sees the texts beforehand."""

    def prepare(self, texts: Sequence[str]) -> None:
        """These texts will be read next; what is found in them does not change."""


@functools.cache
def kinds_of_types() -> Mapping[str, str]:
    """``types.toml``: the kind of mention that each plain type becomes."""
    table = tomllib.loads(Path(__file__).with_name("types.toml").read_text(encoding="utf-8"))
    return {plain(name): kind for kind, names in table["kind"].items() for name in names}


def recorded_name(name: str) -> str:
    """A model's name as it is recorded: in letters, digits, points and hyphens."""
    return _NO_NAME.sub("-", name)


def plain(type_: str) -> str:
    """A type without case, blanks and signs."""
    return _SIGN.sub("", type_).lower()


class ModelRecognizer(PreparedRecognizer):
    """What a tagger finds in a note and ``types.toml`` has a use for, linked where the linker is sure."""

    def __init__(
        self,
        name: str,
        tagger: Tagger,
        link: Link | None,
        kind_of: Callable[[str], str],
        never: frozenset[str] = frozenset(),
    ) -> None:
        """UsageError if there is a use for no type of the tagger. ``link``: None leaves all unlinked. ``kind_of`` gives
        the span kind of a concept; ``never``: concepts too wide to say anything."""
        self.name = name
        known = kinds_of_types()
        self._kinds = {one: known[plain(one)] for one in tagger.types if plain(one) in known}
        if not self._kinds:
            raise UsageError(
                f"the model '{name}' finds {', '.join(sorted(tagger.types)) or 'nothing'}: reading a note has no use"
                " for any of it. Hint: a type such as Disease, Drug or Procedure is needed (tagging/types.toml)"
            )
        self._tagger, self._link, self._kind_of, self._never = tagger, link, kind_of, never
        self._ahead: dict[str, Sequence[Tagged]] = {}

    def prepare(self, texts: Sequence[str]) -> None:
        """Tag texts that :meth:`find` will see, all at once: it is quicker than one by one, and finds the same."""
        self._ahead = {}
        distinct = list(dict.fromkeys(texts))
        if distinct:
            self._ahead = dict(zip(distinct, self._tagger.tag(distinct), strict=True))

    def find(self, frame: Frame) -> Iterator[Span]:
        """The proposals, in text order. A linked one keeps the name that it was linked by as a helper."""
        text = frame.note.text
        tagged = self._ahead[text] if text in self._ahead else self._tagger.tag([text])[0]
        useful = sorted((one for one in tagged if one.type in self._kinds), key=lambda one: (one.start, one.end))
        source = OF_MODEL + self.name
        for one, linked in zip(useful, self._links(text, useful), strict=True):
            kind = self._kind_of(linked.concept) if linked is not None and self._has_meaning(linked.concept) else ""
            if linked is not None and kind in _BY_ITSELF:
                sure = round(one.confidence * linked.probability, DIGITS)
                helpers = [(one.start, one.end, LINK + linked.name)]
                yield Span(one.start, one.end, kind, linked.concept, source, helpers=helpers, confidence=sure)
            else:
                sure = round(one.confidence, DIGITS)
                yield Span(one.start, one.end, self._kinds[one.type], "", source, confidence=sure)

    def _has_meaning(self, concept: str) -> bool:
        return bool(concept) and concept not in self._never

    def _links(self, text: str, tagged: Sequence[Tagged]) -> Sequence[Linked | None]:
        if self._link is None or not tagged:
            return [None] * len(tagged)
        return self._link([(text[one.start : one.end], self._kinds[one.type]) for one in tagged])
