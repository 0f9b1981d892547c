"""Divides a corpus by document: seeded by content, stratified by label, copies never on two sides.

Which side a document comes to depends on the seed and the texts alone: no clock, no state, not the order of the files.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ....kb.errors import UsageError
from ....kb.files.text_files import text_of
from ....kb.model import content_id
from .corpus import AnnotatedCorpus, AnnotatedDocument
from .likeness import alike, clusters, plain_words

_HEADER: Final = "part\tid"


@dataclass(frozen=True)
class Split:
    """The ids of each part, in the corpus's order."""

    parts: Mapping[str, tuple[str, ...]]

    def divide(self, corpus: AnnotatedCorpus) -> dict[str, AnnotatedCorpus]:
        """The parts as corpora. UsageError when the corpus lacks one of the ids."""
        missing = {id for ids in self.parts.values() for id in ids} - {one.id for one in corpus.documents}
        if missing:
            raise UsageError(
                f"the split names {len(missing)} documents that the corpus {corpus.name} has not (one is"
                f" {min(missing)}). Hint: it was made of another corpus, or of another version of it"
            )
        return {name: corpus.only(ids) for name, ids in self.parts.items()}

    def write(self, path: str | Path) -> None:
        """The file of ids: a line a document, its part and its id parted by a tab."""
        rows = [f"{name}\t{id}" for name, ids in self.parts.items() for id in ids]
        try:
            Path(path).write_text("\n".join([_HEADER, *rows]) + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write '{path}': {error.strerror}. Hint: name a file in a folder") from error

    @classmethod
    def read(cls, path: str | Path) -> Split:
        """What :meth:`write` wrote. UsageError when it is no such file, or names a document twice."""
        try:
            lines = text_of(Path(path)).splitlines()
        except UsageError as error:
            raise UsageError(f"{error}. Hint: part, tab, id on each line") from error
        parts: dict[str, list[str]] = {}
        seen: set[str] = set()
        for number, line in enumerate(lines, 1):
            name, tab, id = line.partition("\t")
            if line == _HEADER or not line.strip():
                continue
            if not tab or not name or not id:
                raise UsageError(f"line {number} of '{path}' is not part, tab, id. Hint: Split.write makes such a file")
            if id in seen:
                raise UsageError(f"line {number} of '{path}' names a document that an earlier line names")
            seen.add(id)
            parts.setdefault(name, []).append(id)
        return cls({name: tuple(ids) for name, ids in parts.items()})


def split(
    corpus: AnnotatedCorpus, parts: Mapping[str, float], *, seed: int | str = 0, stratified: bool = True
) -> Split:
    """A split by proportions (``{"train": 0.8, "dev": 0.2}``; they sum to 1), by number of documents.

    Documents of one group, and those of equal or nearly equal text, come to one side. ``stratified``: each label is
    divided as the documents are, the rarest first (K. Sechidis, G. Tsoumakas, I. Vlahavas, On the stratification of
    multi-label data, 2011). Where a document is a sentence, the blocks of neighbours stay together, but a sentence
    that was copied goes where its first copy is, so that a phrase that all use does not join all blocks.
    UsageError for proportions that are none, or a part that no document came to.
    """
    if not parts or any(not 0 < share <= 1 for share in parts.values()) or abs(sum(parts.values()) - 1) > 1e-6:
        raise UsageError("the parts of a split are proportions above 0 that sum to 1, for example train 0.8, dev 0.2")
    documents = corpus.documents
    sentences = corpus.unit == "sentence"
    copies = _copies(documents)
    links = [*_group_links(documents), *(() if sentences else copies)]
    units = _Units(documents, clusters(len(documents), iter(links)), seed)
    sides = _divided(units, _whole(parts, len(documents)), stratified)
    side_of = {number: name for unit, name in sides.items() for number in units.members[unit]}
    if sentences:
        for number, first in enumerate(clusters(len(documents), iter(copies))):
            side_of[number] = side_of[first]
    made = {name: tuple(one.id for at, one in enumerate(documents) if side_of[at] == name) for name in parts}
    empty = [name for name, ids in made.items() if not ids]
    if empty:
        raise UsageError(
            f"no document came to {', '.join(empty)}: {corpus.name} has {len(documents)} documents in"
            f" {len(units.members)} groups that cannot be parted. Hint: fewer parts, or more documents"
        )
    return Split(made)


def choose(
    corpus: AnnotatedCorpus, n: int, *, seed: int | str = 0, stratified: bool = True, name: str = "chosen"
) -> Split:
    """Exactly ``n`` documents, no two of them nearly equal, as the part ``name``; and as the part ``rest`` those that
    share neither group nor text with any of them.

    UsageError when the corpus has not so many different documents.
    """
    documents = corpus.documents
    copies = _copies(documents)
    one_of = clusters(len(documents), iter(copies))
    firsts = sorted(set(one_of))
    if not 0 < n <= len(firsts):
        raise UsageError(
            f"cannot choose {n} documents of {corpus.name}: it has {len(firsts)} that differ. Hint: choose 1 to"
            f" {len(firsts)}"
        )
    # Of copies the one with the smallest hash stands for all, whichever file came first.
    mark = {number: _mark(seed, documents[number]) for number in range(len(documents))}
    standing: dict[int, int] = {}
    for number in sorted(mark, key=lambda one: (mark[one], documents[one].id)):
        standing.setdefault(one_of[number], number)
    candidates = [documents[number] for number in sorted(standing.values())]
    units = _Units(candidates, list(range(len(candidates))), seed)
    sides = _divided(units, {name: n, "rest": len(candidates) - n}, stratified)
    chosen = {candidates[unit].id for unit, side in sides.items() if side == name}
    joined = clusters(len(documents), iter([*copies, *_group_links(documents)]))
    taken = {joined[at] for at, one in enumerate(documents) if one.id in chosen}
    rest = tuple(one.id for at, one in enumerate(documents) if joined[at] not in taken)
    return Split({name: tuple(one.id for one in documents if one.id in chosen), "rest": rest})


def _copies(documents: Sequence[AnnotatedDocument]) -> list[tuple[int, int]]:
    return [(pair.first, pair.second) for pair in alike([one.text for one in documents])]


def _group_links(documents: Sequence[AnnotatedDocument]) -> Iterator[tuple[int, int]]:
    first: dict[str, int] = {}
    for number, one in enumerate(documents):
        if one.group:
            yield first.setdefault(one.group, number), number


def _mark(seed: int | str, document: AnnotatedDocument) -> str:
    return content_id("split", seed, *plain_words(document.text))


class _Units:
    """What cannot be parted: members by number of document, order by content, labels counted."""

    def __init__(self, documents: Sequence[AnnotatedDocument], unit_of: Sequence[int], seed: int | str) -> None:
        self.members: dict[int, list[int]] = defaultdict(list)
        for number, unit in enumerate(unit_of):
            self.members[unit].append(number)
        marks = {
            unit: (min(_mark(seed, documents[one]) for one in numbers), min(documents[one].id for one in numbers))
            for unit, numbers in self.members.items()
        }
        self.order = sorted(self.members, key=marks.__getitem__)
        self.labels = {
            unit: Counter(span.label for one in numbers for span in documents[one].spans)
            for unit, numbers in self.members.items()
        }


def _whole(parts: Mapping[str, float], documents: int) -> dict[str, int]:
    """Documents of each part, in whole numbers that sum up: the largest remainders are rounded up."""
    exact = {name: share * documents for name, share in parts.items()}
    counts = {name: int(value + 1e-9) for name, value in exact.items()}
    left = documents - sum(counts.values())
    for name in sorted(exact, key=lambda one: counts[one] - exact[one])[:left]:
        counts[name] += 1
    return counts


def _divided(units: _Units, targets: Mapping[str, int], stratified: bool) -> dict[int, str]:
    """The side of each unit. Units of one document fill the targets exactly, larger ones as nearly as they can."""
    sides: dict[int, str] = {}
    room: dict[str, float] = dict(targets)
    total = sum(targets.values()) or 1
    labels = sum(units.labels.values(), Counter[str]()) if stratified else Counter[str]()
    wanted = {name: {label: n * count / total for label, n in labels.items()} for name, count in targets.items()}

    def put(unit: int, name: str) -> None:
        sides[unit] = name
        room[name] -= len(units.members[unit])
        for label, n in units.labels[unit].items():
            if label in wanted[name]:
                wanted[name][label] -= n

    holders: dict[str, list[int]] = {label: [] for label in labels}
    for unit in units.order:
        for label in units.labels[unit]:
            if label in holders:
                holders[label].append(unit)
    # The rarest first: a common label finds its place later, a rare one might not.
    while holders:
        left = {label: [one for one in those if one not in sides] for label, those in holders.items()}
        holders = {label: those for label, those in left.items() if those}
        if not holders:
            break
        label = min(holders, key=lambda one: (len(holders[one]), one))
        for unit in holders.pop(label):
            put(unit, _roomiest(room, len(units.members[unit]), {name: wanted[name][label] for name in targets}))
    for unit in units.order:
        if unit not in sides:
            put(unit, _roomiest(room, len(units.members[unit]), {}))
    return sides


def _roomiest(room: Mapping[str, float], size: int, wanted: Mapping[str, float]) -> str:
    """The part that most wants a unit, of those with room for it; the roomiest where none has."""
    fitting = [name for name in room if room[name] >= size] or [max(room, key=room.__getitem__)]
    return max(fitting, key=lambda name: (wanted.get(name, 0.0), room[name]))
