"""Lists of lymph nodes: below a heading one statement for each place, of how many nodes it has and how many hold tumor.

*Lymph nodes: lesser curvature 12, with metastases 6; splenic hilum 3, no metastases.* The forms of a count in prose are
in :mod:`~cohortium.ingest.recognizers.nodes`; here a heading says that nodes are counted, so that a place and a number
are enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ...kb.derivation.stations import names_place
from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("recognizers", "node_lists")
#: Nobody has more nodes taken out.
MOST_NODES: Final = 200
#: A statement of a list is no longer, and one without a count may stand between two (characters).
_STATEMENT: Final = 160

_NUMBER = r"(?:\d{1,3}|{number})(?![A-Za-z\d/]|[.,]\d|\s?[cm]m\b)"
_OF_NODES = r"(?:\s{kind}){0,2}(?:\s{nodes})?"
_HEAD = _CLASSES.compile(
    r"(?:\A|(?<=[.;:\n)/]\s)|(?<=[\-–]\s)|(?<=\s\s))(?:{before_nodes}\s){0,4}{nodes}"
    r"(?:\s(?:(?!{said})[^.:;\d\s]{1,20}|\([^()]{1,30}\))){0,6}?\s?[:.\-–]\s{1,2}",
    re.IGNORECASE,
)
_ITEM = _CLASSES.compile(
    rf"""(?P<label>(?:{{numbered}}\s?)?\(?(?:[A-Z]|\d{{1,2}}[a-z]{{0,2}})\s?[.:)]\s{{1,2}})?
    (?P<place>[A-Za-z(\#][A-Za-z'&/(),\-\s]{{0,70}}?(?:\s?(?:[IVX]{{1,4}}|\d{{1,2}})[A-Ca-cLRsbdp]{{0,2}})?)?
    [\s,:\-–(]{{0,4}}(?<![A-Za-z\d])(?:{{within}}\s)?(?:
      (?P<slash_positive>\d{{1,2}}|[OoIl])\s?/\s?(?P<slash_examined>\d{{1,3}}|[Il])(?![\w/])
    | (?P<of_positive>{_NUMBER}|{{none}})\s(?:{{of}})\s(?P<of_examined>{_NUMBER})
    | \(?(?P<with_examined>{_NUMBER})\)?{_OF_NODES}[,:]?\s{{containing}}\s{{found}}\s(?:{{within}}\s)?
      (?P<with_positive>{_NUMBER})
    | \(?(?P<some_examined>{_NUMBER})\)?{_OF_NODES}[,:;]\s(?:{{of_them}}\s)?(?P<some_positive>{_NUMBER})
      (?:\s[a-z\-]{{1,14}}){{1,5}}?\s(?:[a-z\-]{{1,14}}\s)?{{found}}
    | \(?(?P<clear_examined>{_NUMBER})\)?{_OF_NODES}(?:\s?[,:\-–]\s?|\s)(?:[a-z\-]{{1,16}}[\s,]{{1,2}}){{0,4}}?{{clear}}
    | \(?(?P<only_examined>{_NUMBER})\)?{_OF_NODES}(?=\s?(?:[.;,]\s|[\-–]\s|\Z|\.\Z))
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_TO_NEXT = re.compile(r"(?:[^.;\n]|\.(?=\d)){0,160}?(?:[.;\n]\s{0,2}|,\s(?=[A-Za-z]))")
_ENDS = _CLASSES.compile(r"\s{0,2}{ends_list}(?![a-z])", re.IGNORECASE)
#: Behind a list whose numbers say nothing of tumor: what holds of all.
_ALL_CLEAR = _CLASSES.compile(r"[^.]{0,80}?(?:[.;,]\s|[\-–]\s)?(?:{all_of}\b[^.;]{0,70}?)?{all_clear}", re.IGNORECASE)
_SUM = _CLASSES.compile(r"{sum_of_all}", re.IGNORECASE)
_SAYS = _CLASSES.compile(r"\b{said}", re.IGNORECASE)
_FORMS: Final = ("slash", "of", "with", "some")


@dataclass(frozen=True, slots=True)
class Listed:
    """A count of a list, with its place in the text; ``positive`` is open where only a number is told."""

    start: int
    end: int
    positive: int | None
    examined: int


def listed_counts(text: str, heads: Sequence[re.Match[str]], number: Callable[[str], int]) -> Iterator[Listed]:
    """The counts of the lists of a text; ``heads``: where a word for nodes may head one; ``number`` reads a number."""
    after = 0
    for word in heads:
        head = _HEAD.search(text, max(after, word.start() - 40), word.end() + 140)
        if head is None or head.end() <= after or not head.start() <= word.start() < head.end():
            continue
        found, end = _items(text, head.end(), number)
        after = max(head.end(), end)
        if not found:
            continue
        untold = [one for one in found if one.positive is None]
        # "Paratracheal (4), subcarinal (6), hilar (2) - no metastases": what the last one tells holds of all.
        last_of_all = len(untold) == len(found) - 1 and found[-1].positive == 0
        if untold and (last_of_all or len(untold) == len(found) and _ALL_CLEAR.match(text, found[-1].end)):
            yield from (Listed(one.start, one.end, 0, one.examined) for one in found)
        else:
            yield from (one for one in found if one.positive is not None)


def _items(text: str, at: int, number: Callable[[str], int]) -> tuple[list[Listed], int]:
    found: list[Listed] = []
    missed = 0
    while missed < 2 and at < len(text) and not _ENDS.match(text, at):
        item = _ITEM.match(text, at, at + _STATEMENT)
        one = _listed(item, number) if item is not None else None
        if one is not None:
            found.append(one)
            missed = 0
        else:
            missed += 1
        behind = _TO_NEXT.match(text, one.end if one is not None else at)
        if behind is None:
            break
        at = behind.end()
    return found, found[-1].end if found else at


def _listed(item: re.Match[str], number: Callable[[str], int]) -> Listed | None:
    """The count of a statement, if it stands behind a place of nodes or the label of a specimen."""
    place = item["place"] or ""
    is_sum = _SUM.fullmatch(place) is not None
    if not is_sum and not names_place(place) and not (item["label"] and len(place) < 3):
        return None
    if _SAYS.search(place.removesuffix(" in")) and not names_place(place):
        return None
    for form in _FORMS:
        if item[f"{form}_examined"]:
            start = min(item.start(f"{form}_positive"), item.start(f"{form}_examined"))
            end = max(item.end(f"{form}_positive"), item.end(f"{form}_examined"))
            told = number(item[f"{form}_positive"]), number(item[f"{form}_examined"])
            return Listed(start, end, *told) if told[0] <= told[1] and 0 < told[1] <= MOST_NODES else None
    for form, positive in (("clear", 0), ("only", None)):
        if item[f"{form}_examined"]:
            examined = number(item[f"{form}_examined"])
            if 0 < examined <= MOST_NODES:
                return Listed(*item.span(f"{form}_examined"), positive, examined)
    return None
