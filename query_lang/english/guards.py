"""Guards against a plain reading of words that say more: a bracket denied whole, *currently*, *other* and *prior*."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...kb.kinds import KIND_TABLE, TREATMENTS
from . import book
from .chunks import Chunk, Unclear

#: The kinds of concept whose bare name means a treatment.
_TREATMENTS: Final = frozenset(concept for kind in TREATMENTS for concept in KIND_TABLE[kind].meant_by)
_CANCER = "malignant_neoplasm"


def check_guards(chunks: Sequence[Chunk]) -> None:
    """Unclear where what the chunks say together is more than what would be read of them one by one."""
    for at, chunk in enumerate(chunks):
        if chunk.is_join("exclude"):
            _check_excluded_pair(chunks, at)
        if chunk.is_join("not", "exclude", "except", "neither"):
            _check_denied_bracket(chunks, at)
            _check_other_cancer(chunks, at)
        elif chunk.type == "skip" and chunk.text.lower() in book.listed("at_present"):
            _check_present(chunks, at)
        elif chunk.type == "skip" and chunk.text.lower() == "ever" and "current_smoker" in _next_ids(chunks, at):
            raise Unclear("'ever': say current smoker, former smoker or never smoker", (chunk.text,))
        elif chunk.type == "lines":
            _check_lines(chunks, at)
        elif chunk.type == "line":
            _check_line_named(chunks, at)
        elif chunk.type == "biomarker" and "hormone_receptor" in chunk.ids and _joined_name(chunk):
            raise Unclear(f"whether '{chunk.text}' is each or either: give each its result", (chunk.text,))


def _treats(chunk: Chunk | None) -> bool:
    return chunk is not None and (
        chunk.type in _TREATMENTS or chunk.type == "phrase" and str(chunk.data.get("sort", "")) == "treatment"
    )


def _said_after(chunks: Sequence[Chunk], at: int, *joins: str) -> int:
    """The place of what follows, over words that carry nothing and some that join."""
    at += 1
    while at < len(chunks) and (chunks[at].type == "skip" or joins and chunks[at].is_join(*joins)):
        at += 1
    return at


def _next_ids(chunks: Sequence[Chunk], at: int) -> tuple[str, ...]:
    after = _said_after(chunks, at, "hyphen")
    return chunks[after].ids if after < len(chunks) else ()


def _check_denied_bracket(chunks: Sequence[Chunk], at: int) -> None:
    """``not (A and B)`` is not ``not A and not B``, and not ``not A and B``."""
    start = _said_after(chunks, at, "with", "colon", "treat")
    both = start < len(chunks) and chunks[start].is_join("both")
    if start < len(chunks) and not both and chunks[start].is_join("open"):
        start += 1
    elif not both:
        return
    depth, said = 1, False
    for chunk in chunks[start:]:
        depth += chunk.is_join("open") - chunk.is_join("close")
        if not depth or both and chunk.is_join("comma", "semicolon"):
            return
        joins = chunk.is_join("and") or chunk.is_join("with") and chunk.text.lower() in book.listed("has_with_it")
        if said and joins:
            raise Unclear(
                "whether each is denied, or only having both: write 'no A and no B', or ask for the two in parts",
                (chunks[at].text, chunk.text),
            )
        said = said or chunk.type not in ("skip", "join")


def _check_excluded_pair(chunks: Sequence[Chunk], at: int) -> None:
    """``except those with A and prior B``: each of them, or whoever has both."""
    words = chunks[at].text.lower().split()
    if not set(words) & {"those", "patients"}:
        return
    first = _said_after(chunks, at, "with", "treat")
    joint = _said_after(chunks, first)
    second = _said_after(chunks, joint, "treat", "with") if joint < len(chunks) else joint
    if second < len(chunks) and chunks[joint].is_join("and") and chunks[first].ids and chunks[second].type != "join":
        raise Unclear("whether each is excluded, or only having both", (chunks[at].text, chunks[joint].text))


def _check_other_cancer(chunks: Sequence[Chunk], at: int) -> None:
    """``no other malignancy`` does not deny every malignancy, and ``no prior cancer`` not one since."""
    after = _said_after(chunks, at, "treat", "with", "another")
    if after >= len(chunks):
        return
    words = " ".join(one.text.lower() for one in chunks[at : after + 1]).replace("-", " ").split()
    marked = next((one for one in words if one in book.listed("beside_or_before")), None)
    other = chunks[after].type == "phrase" and bool(chunks[after].data.get("other_disease"))
    if other or marked and _CANCER in chunks[after].ids:
        raise Unclear(f"'{marked or chunks[after].text}': than which cancer, or before what", (chunks[after].text,))


def _check_present(chunks: Sequence[Chunk], at: int) -> None:
    after = _said_after(chunks, at, "treat", "with")
    before = at - 1
    while before >= 0 and chunks[before].type == "skip":
        before -= 1
    ends = after == len(chunks) or chunks[after].type == "join"
    if after < len(chunks) and _treats(chunks[after]) or ends and before >= 0 and _treats(chunks[before]):
        raise Unclear(f"'{chunks[at].text}': say since which date the treatment was given", (chunks[at].text,))


def _check_lines(chunks: Sequence[Chunk], at: int) -> None:
    """Lines are counted over all systemic therapy, whatever was given in them."""
    after = _said_after(chunks, at, "with", "treat")
    if after == at + 1 or after >= len(chunks) or not _treats(chunks[after]):
        return
    said = chunks[after]
    if "systemic_therapy" not in (*said.ids, *_concepts(said)):
        reason = f"how many lines had {said.text}: lines of systemic therapy can be counted"
        raise Unclear(reason, (chunks[at].text, said.text))


def _concepts(chunk: Chunk) -> tuple[str, ...]:
    found = chunk.data.get("concepts", ())
    return tuple(found) if isinstance(found, list | tuple) else ()


def _check_line_named(chunks: Sequence[Chunk], at: int) -> None:
    """``first-line chemotherapy was carboplatin``: the line is the drug's, too."""
    treatment = _said_after(chunks, at, "treat")
    if treatment >= len(chunks) or not _treats(chunks[treatment]) and chunks[treatment - 1].value != "treat":
        return
    named = treatment if not _treats(chunks[treatment]) else _said_after(chunks, treatment)
    told = any(one.type == "skip" and one.text.lower() in book.listed("being") for one in chunks[at:named])
    if told and named > treatment + 1 and named < len(chunks) and _treats(chunks[named]):
        drug = chunks[named].text
        raise Unclear(f"which line {drug} was given in: write '{chunks[at].text} {drug}'", (chunks[at].text, drug))


def _joined_name(chunk: Chunk) -> bool:
    return any(sign in chunk.text.lower() for sign in ("/", "&", " and "))
