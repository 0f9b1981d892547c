"""An abstract as the sets of unique names that it holds, a set a type, and how two such sets compare.

Source: NeuroTrialNER, section 4.2. A partial match asks for a similarity of 0.6 by ``difflib.get_close_matches``
(footnote 15); an exact one for the same name. What the paper leaves open is taken as its published tables were
counted; ``docs/reference/ner_scores.md`` lists it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from ...measures.scoring import Counts
from .tagging import Entity
from .terminology import Terminology
from .types import vocabulary

SIMILARITY: Final = 0.6

#: type → names; not yet a set, since two names of one thing count twice where there is nothing to compare them with
Names = Mapping[str, Sequence[str]]


def names_of(entities: Iterable[Entity], long_forms: Mapping[str, str] | None) -> dict[str, list[str]]:
    """The unique names by type, in small letters and alphabetical; short forms as long ones where these are given.

    A broken piece of a word is no name.
    """
    words = vocabulary()
    found: dict[str, set[str]] = {}
    for entity in entities:
        name = entity.text
        if name.startswith(words.piece):
            continue
        if long_forms:
            name = long_forms.get(name, name)
            name = long_forms.get(name.upper(), name)
        found.setdefault(entity.type, set()).add(name.lower())
    return {
        kind: [words.joined(part) for name in sorted(names) for part in name.split("|")]
        for kind, names in found.items()
    }


def canonical_names(names: Names, terminology: Terminology) -> dict[str, list[str]]:
    """The names with each condition and drug in its canonical form."""
    return {kind: terminology.canonical(kind, some) for kind, some in names.items()}


def compare(target: Sequence[str], predicted: Sequence[str], partial: bool) -> Counts:
    """The counts of one type in one abstract, over all names of either side.

    A name counts as found (tp) when both sides have it, or one close to it; so two close names are two that are found.
    It is a false positive when only the prediction has it, a false negative when only the target has. An abstract in
    which neither has a name of the type is one true negative.
    """
    if not target or not predicted:
        return Counts(fp=len(predicted), fn=len(target), tn=int(not target and not predicted))
    matches: Callable[[str, tuple[str, ...]], bool] = _close if partial else _same
    wanted, found = tuple(sorted(set(target))), tuple(sorted(set(predicted)))
    tp = fp = fn = 0
    for name in {*wanted, *found}:
        in_target, in_prediction = matches(name, wanted), matches(name, found)
        tp += in_target and in_prediction
        fp += in_prediction and not in_target
        fn += in_target and not in_prediction
    return Counts(tp, fp, fn)


def _same(name: str, others: tuple[str, ...]) -> bool:
    return name in others


@lru_cache(maxsize=1 << 16)
def _close(name: str, others: tuple[str, ...]) -> bool:
    return bool(difflib.get_close_matches(name, others, n=1, cutoff=SIMILARITY))
