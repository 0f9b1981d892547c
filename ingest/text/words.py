"""The words of a text, folded (case, spelling, plural) so that variants of one compare equal, and phrases of them.

Phrases stand in a trie: the longest match at each word is found in one pass, whatever the number of phrases.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from typing import Any, Final, Generic, NamedTuple, TypeVar

from ...kb.ontology.normal_forms import american, without_plural

#: A word with its possessive ending: "Hodgkin's" is the word Hodgkin. The group makes a split keep the words.
_WORD = re.compile(r"([^\W_]+(?:['’]s(?![^\W_]))?)")
#: The same in a text of ASCII alone, as most are: letters are told quicker by a list than by what Unicode says of them.
_ASCII_WORD = re.compile(r"([A-Za-z0-9]+(?:'s(?![A-Za-z0-9]))?)")
_POSSESSIVE = re.compile(r"['’]s$")
#: So many different words are remembered with what is known of them; then all are forgotten, and learnt again.
MOST_REMEMBERED: Final = 100_000
#: Nothing longer is a word of the language, and it comes again too seldom to be worth the memory (characters).
_LONGEST_REMEMBERED: Final = 64

Known = TypeVar("Known")


class Remembered(dict[str, Known], Generic[Known]):
    """What a function says of a word, asked for once; bounded. A dictionary, since no call is as quick as its look-up.

    >>> lengths = Remembered(len)
    >>> lengths["tumor"], list(lengths)
    (5, ['tumor'])
    """

    def __init__(
        self, find: Callable[[str], Known], most: int = MOST_REMEMBERED, longest: int = _LONGEST_REMEMBERED
    ) -> None:
        """``most``: so many are remembered, of at most ``longest`` characters."""
        super().__init__()
        self._find = find
        self._most = most
        self._longest = longest

    def __missing__(self, word: str) -> Known:
        known = self._find(word)
        if len(word) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[word] = known
        return known


def _folded(word: str) -> str:
    return without_plural(american(_POSSESSIVE.sub("", word.lower())))


_FOLDED: Final = Remembered(_folded)


def fold(word: str) -> str:
    """The key under which a single word is compared; not itself a word.

    >>> fold("Tumours") == fold("tumor"), fold("metastases") == fold("metastasis"), fold("Ewing's") == fold("Ewing")
    (True, True, True)
    """
    return _FOLDED[word]


class Words(NamedTuple):
    """The words of a text in order, as columns: as written, where each begins and ends, and folded."""

    written: list[str]
    starts: list[int]
    ends: list[int]
    norms: list[str]


def words_of(text: str) -> Words:
    """All words of ``text`` in order; punctuation and underscores separate words and are none."""
    written, starts, ends = parted(text)
    return Words(written, starts, ends, list(map(_FOLDED.__getitem__, written)))


def parted(text: str) -> tuple[list[str], list[int], list[int]]:
    """The words of ``text`` as they are written, and where each begins and ends."""
    # This runs over every word of every note: each step is one call for all of them.
    parts = (_ASCII_WORD if text.isascii() else _WORD).split(text)
    bounds = list(itertools.accumulate(map(len, parts)))
    return parts[1::2], bounds[:-1:2], bounds[1::2]


#: What may stand between two words of one phrase: a hyphen, slash or apostrophe, spaces, or one wrapped line; in a
#: change of chromosomes also a bracket or semicolon, as in ``del(17p)`` and ``t(14;16)``.
_GAP = re.compile(
    r"(?:[ \t]{0,3}(?:\r?\n)?[ \t]{0,12}|[ ]?[\-\u2010-\u2015/'’+][ ]?"
    # Lookbehinds have one width each.
    r"|(?<=[Dd]el)\(|(?<=[Ii]nv)\(|(?<=[Dd]up)\(|(?<=[Aa]dd)\(|(?<=[^A-Za-z]t)\(|(?<=^t)\(|(?<=\d);"
    # The point of NKX3.1.
    r"|(?<=\d)\.)"
)

#: What may stand where a phrase itself has a comma.
_COMMA = re.compile(r",[ \t]{0,3}(?:\r?\n)?[ \t]{0,12}")

#: The gaps of one character: nearly all.
_USUAL_GAPS = " -\n/\t'’+"

Payload = TypeVar("Payload")
#: By each folded word that may come next, where it leads to; under ``END`` the payloads of what ends here.
Node = dict[str, Any]
END: Final = ""


class PhraseMatch(NamedTuple, Generic[Payload]):
    """A phrase found: character span, first and last word (exclusive), payloads in the order they were added."""

    start: int
    end: int
    first: int
    last: int
    payloads: tuple[Payload, ...]


# The bare constructor: it checks nothing that could be wrong.
_match: Callable[[tuple[Any, ...]], PhraseMatch[Any]] = functools.partial(tuple.__new__, PhraseMatch)


class PhraseTrie(Generic[Payload]):
    """Phrases with payloads. Several payloads may share a phrase."""

    def __init__(self, phrases: Iterable[tuple[str, Payload]] = ()) -> None:
        self._root: dict[str, Any] = {}
        self.add_all((phrase, payload, False) for phrase, payload in phrases)

    def add(self, phrase: str, payload: Payload) -> None:
        """Add a phrase; one without any word is ignored."""
        self.add_all([(phrase, payload, False)])

    def add_all(self, phrases: Iterable[tuple[str, Payload, bool]]) -> None:
        """Add phrases, in their order; one without any word is ignored. Where a phrase is marked so, a comma in it may
        stand in a text too."""
        added = list(phrases)
        # The words of all of them are sought at once; none reaches over the end of a line.
        text = "\n".join([phrase for phrase, _, _ in added])
        _, starts, ends, norms = words_of(text)
        at, end = 0, -1
        for phrase, payload, commas in added:
            end += len(phrase) + 1
            behind = bisect.bisect_left(starts, end, at)
            if at == behind:
                continue
            node = self._root
            for index in range(at, behind):
                norm = norms[index]
                deeper = node.get(norm)
                if deeper is None:
                    deeper = node[norm] = {}
                if commas and index > at and _COMMA.fullmatch(text, ends[index - 1], starts[index]):
                    node["," + norm] = deeper
                node = deeper
            node[END] = (*node.get(END, ()), payload)
            at = behind

    def node(self, norm: str) -> Node | None:
        """How phrases go on that begin with this folded word; None if none does."""
        return self._root.get(norm)

    def may_begin_at(self, norms: Sequence[str]) -> list[int]:
        """The places, among folded words, of those at which a phrase may begin: by that word and the one behind it."""
        last = len(norms) - 1
        known = list(map(self._root.get, norms))
        # Most words begin no phrase, and of those that do most go on in another way.
        return [
            index
            for index, node in compress(enumerate(known), known)
            if node and (END in node or index < last and norms[index + 1] in node)
        ]

    def longest(self, text: str, words: Words, beginnings: Iterable[int], last: int) -> list[PhraseMatch[Payload]]:
        """As :meth:`find`, of the words before ``last``. ``beginnings``: as :meth:`may_begin_at` tells them."""
        found: list[PhraseMatch[Payload]] = []
        behind = 0
        for index in beginnings:
            if index >= behind:
                for match in reversed(self.matches_at(text, words, index)):
                    if match.last <= last:
                        found.append(match)
                        behind = match.last
                        break
        return found

    def matches_at(self, text: str, words: Words, index: int) -> list[PhraseMatch[Payload]]:
        """All phrases that begin with the word ``index``, shortest first."""
        _, starts, ends, norms = words
        found: list[PhraseMatch[Payload]] = []
        node = self._root.get(norms[index])
        if node is None:
            return found
        first, last = index, len(norms) - 1
        start, end = starts[index], ends[index]
        # This runs for every fourth word of a note: the usual gaps are known.
        while True:
            payloads = node.get(END)
            if payloads is not None:
                found.append(_match((start, end, first, index + 1, payloads)))
                if len(node) == 1:
                    return found
            if index == last:
                return found
            index += 1
            deeper = node.get(norms[index])
            if deeper is None:
                return found
            following = starts[index]
            if not (following - end == 1 and text[end] in _USUAL_GAPS or _GAP.fullmatch(text, end, following)):
                deeper = node.get("," + norms[index])
                if deeper is None or not _COMMA.fullmatch(text, end, following):
                    return found
            node, end = deeper, ends[index]

    def find(self, text: str, words: Words) -> Iterator[PhraseMatch[Payload]]:
        """The longest phrase at each word, left to right, without overlap. ``words``: those of ``text``."""
        return iter(self.longest(text, words, self.may_begin_at(words.norms), len(words.norms)))
