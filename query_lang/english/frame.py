"""The frame of a question: half sentences, capitals, exclusions after their list, words put in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import book
from .chunks import Chunk, Item, Unclear

_MARKS = ("comma", "semicolon", "close")


def check_frame(chunks: Sequence[Chunk]) -> None:
    """Unclear for a sentence that stops in its midst, and for a word in capitals that may be something else."""
    stated = [
        chunk for chunk in chunks if not (chunk.is_join(*_MARKS) or chunk.type == "skip" and chunk.text in "\"'.*")
    ]
    if not stated:
        return
    last = stated[-1]
    half = book.data("words")["half_said"]["joins"]
    dangling = last.type == "join" and last.value in half and last.text.lower() not in book.listed("passive")
    if dangling and last.text.lower() != "or both" or last.type == "skip" and last.text.lower() in _unfinished():
        raise Unclear(f"the question ends with '{last.text}': what follows is missing", (last.text,))
    spoken = any(chunk.text.islower() for chunk in stated)
    for chunk in stated:
        # Such a word stands for itself in a longer phrase, and for a thing where it stands alone.
        if spoken and chunk.type in ("skip", "join") and chunk.text in book.listed("capitals"):
            raise Unclear(f"'{chunk.text}' can be an abbreviation: write it out", (chunk.text,))


def _unfinished() -> frozenset[str]:
    return book.listed("half_said")


def excluded_before(chunks: Sequence[Chunk]) -> list[Chunk]:
    """``…; brain tumors and liver mets excluded``: the word of exclusion before its list, of which each is denied."""
    found: list[Chunk] = []
    for at, chunk in enumerate(chunks):
        following = next((one for one in chunks[at + 1 :] if one.type != "skip"), None)
        closing = following is None or following.is_join(*_MARKS)
        if not (chunk.is_join("exclude") and chunk.text.lower() in book.listed("passive") and closing):
            found.append(chunk)
            continue
        begin = len(found)
        while begin > 0 and not found[begin - 1].is_join("comma", "semicolon", "colon", "open"):
            begin -= 1
        named = found[begin:]
        if all(one.type in ("skip", "join") for one in named) or any(one.is_join("not", "exclude") for one in named):
            raise Unclear(f"what '{chunk.text}' denies", (chunk.text,))
        moved = replace(chunk, text="excluding", start=named[0].start, end=named[0].start)
        found[begin:] = [moved, *(replace(one, value="or") if one.is_join("and") else one for one in named)]
    return found


def asserted(chunks: Sequence[Chunk]) -> list[Chunk]:
    """A verb after a comma ends what a denial before it reaches: ``no A or B, have C``."""
    found: list[Chunk] = []
    denied = False
    for chunk in chunks:
        denied = denied or chunk.is_join("not")
        verb = chunk.type == "skip" and chunk.text.lower() in book.listed("asserting")
        if verb and denied and found and found[-1].is_join("comma", "semicolon", "and"):
            chunk = replace(chunk, type="join", value="with")
        found.append(chunk)
    return found


def basis_first(items: Sequence[Item]) -> list[Item]:
    """``nodal stage on pathology is N1``: the basis before what it is the basis of."""
    found = list(items)
    for at in range(len(found) - 2):
        axis, basis = found[at], found[at + 1]
        if isinstance(axis, Chunk) and isinstance(basis, Chunk) and (axis.type, basis.type) == ("axis", "basis"):
            after = next((one for one in found[at + 2 :] if not (isinstance(one, Chunk) and one.type == "skip")), None)
            if isinstance(after, Chunk) and after.type in ("category", "group", "comparison"):
                found[at : at + 2] = [
                    replace(basis, start=axis.start, end=axis.start),
                    replace(axis, start=axis.start, end=basis.end),
                ]
    return found


def no_order(item: Item) -> Item:
    """A word of order beside a condition carries nothing."""
    if isinstance(item, Chunk) and item.type == "next" and item.text.lower() == "then":
        return Chunk("skip", item.text, item.start, item.end)
    return item


def shouts(chunks: Sequence[Chunk]) -> bool:
    """Whether ``ALL`` stands in capitals in a frame that does not (*Find ALL patients*): a leukemia, or everybody."""
    frame = [chunk.text for chunk in chunks if chunk.type == "skip"]
    return any("ALL" in text.split() for text in frame) and any(
        word.islower() for text in frame for word in text.split()
    )
