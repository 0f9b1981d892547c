"""How much notes differ from each other: measures that can be put beside those of any other notes.

All are of a sample of equal size in words, since each depends on size. None says that notes are true to life; what is
far more uniform than real notes shows here.
"""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from cohortium.kb.errors import UsageError

__all__ = ["read_notes", "variety", "variety_of_file"]

_WORD: Final = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*|\d+(?:[.,/]\d+)*|[%+#]")
_SENTENCE: Final = re.compile(r"[.!?;](?:\s+|$)|\n+")
_NUMBER: Final = re.compile(r"\d+(?:[.,/:-]\d+)*")


def variety_of_file(
    source: str | os.PathLike[str], *, words: int = 40_000, pairs: int = 400, seed: int = 0
) -> dict[str, Any]:
    """:func:`variety` of a file of notes (JSONL). UsageError when it holds none."""
    notes = [(note.get("type", ""), note.get("text", "")) for note in read_notes(source)]
    if not notes:
        raise UsageError(f"{source} holds no note")
    return variety(notes, words=words, pairs=pairs, seed=seed)


def read_notes(source: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The notes of a JSONL file, one at a time. UsageError when it cannot be read."""
    try:
        with Path(source).open(encoding="utf-8") as file:
            for line in file:
                if line.strip():
                    yield json.loads(line)
    except OSError as error:
        raise UsageError(f"notes cannot be read from {source}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{source} is not a file of JSON lines") from error


def variety(
    notes: Sequence[tuple[str, str]], *, words: int = 40_000, pairs: int = 400, seed: int = 0
) -> dict[str, Any]:
    """The measures of notes, each given as its type and its text; shares lie between 0 and 1.

    ``words`` is the size of the sample (whole notes, drawn at random, until it is reached), ``pairs`` the number of
    pairs of notes of one type that are compared. Given: distinct n-grams over all (n = 1, 2, 3), the ratio of types to
    tokens, the share of sentences that occur once (as they are, and with numbers made equal), the overlap of 4-grams
    between two notes of one type (mean and 95th percentile), the compression ratio (zlib) and words per note.
    """
    chance = random.Random(seed)
    order = list(range(len(notes)))
    chance.shuffle(order)
    sample: list[tuple[str, str]] = []
    size = 0
    for place in order:
        if size >= words:
            break
        sample.append(notes[place])
        size += len(notes[place][1].split())
    tokens = [_words(text) for _, text in sample]
    flat = sum(map(len, tokens))
    sentences = [sentence for _, text in sample for sentence in _sentences(text)]
    overlaps = _overlaps(sample, tokens, pairs, chance)
    lengths = sorted(len(text.split()) for _, text in notes)
    joined = "\n".join(text for _, text in sample).encode()
    return {
        "notes": len(notes),
        "sampled notes": len(sample),
        "sampled words": flat,
        **{f"distinct {n}-grams": _distinct(tokens, n) for n in (1, 2, 3)},
        "types per token": round(len({word for row in tokens for word in row}) / max(1, flat), 4),
        "sentences that occur once": _once(sentences),
        "sentences that occur once, numbers made equal": _once([_NUMBER.sub("0", one) for one in sentences]),
        "overlap of 4-grams within a type": round(statistics.fmean(overlaps), 4) if overlaps else None,
        "overlap of 4-grams within a type, p95": round(_percentile(sorted(overlaps), 95), 4) if overlaps else None,
        "compressed to": round(len(zlib.compress(joined, 9)) / max(1, len(joined)), 4),
        "words per note": {
            "mean": round(statistics.fmean(lengths), 1) if lengths else 0,
            **{f"p{share}": _percentile(lengths, share) for share in (5, 25, 50, 75, 95, 99)},
        },
        "types": len({type_ for type_, _ in notes}),
    }


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _sentences(text: str) -> list[str]:
    """Sentences and lines of three words and more."""
    return [one for part in _SENTENCE.split(text) if len((one := " ".join(part.lower().split())).split()) >= 3]


def _grams(words: Sequence[str], n: int) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(n)), strict=False)


def _distinct(tokens: Sequence[Sequence[str]], n: int) -> float:
    """Different n-grams over all n-grams."""
    seen: set[tuple[str, ...]] = set()
    count = 0
    for row in tokens:
        for gram in _grams(row, n):
            seen.add(gram)
            count += 1
    return round(len(seen) / max(1, count), 4)


def _once(sentences: Sequence[str]) -> float:
    """The share of sentences that no other equals."""
    counts = Counter(sentences)
    return round(sum(1 for count in counts.values() if count == 1) / max(1, len(sentences)), 4)


def _overlaps(
    sample: Sequence[tuple[str, str]], tokens: Sequence[Sequence[str]], pairs: int, chance: random.Random
) -> list[float]:
    """For pairs of notes of one type: the share of the shorter one's 4-grams that the longer has too."""
    by_type: dict[str, list[int]] = {}
    for place, (type_, _) in enumerate(sample):
        by_type.setdefault(type_.casefold(), []).append(place)
    groups = [places for places in by_type.values() if len(places) > 1]
    weights = [len(places) for places in groups]
    found: list[float] = []
    for _ in range(pairs if groups else 0):
        one, other = chance.sample(chance.choices(groups, weights)[0], 2)
        first, second = (set(_grams(tokens[place], 4)) for place in (one, other))
        if first and second:
            found.append(len(first & second) / min(len(first), len(second)))
    return found


def _percentile(ordered: Sequence[float], share: int) -> float:
    return ordered[min(len(ordered) - 1, len(ordered) * share // 100)] if ordered else 0
