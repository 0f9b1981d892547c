"""The cells of a predictions file, read whatever stands in them: BIO tags, tuples, or names between bars.

Nothing here raises: what cannot be read is told as a reason, and the rest of the cell counts. No reason holds text of
the corpus.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .tagging import Entity
from .types import vocabulary

_BLANK: Final = frozenset({"", "nan", "none", "null"})
_TAG: Final = re.compile(r"""'([^'"\[\]\s,()]+)'|"([^'"\[\]\s,()]+)"|([^'"\[\]\s,()]+)""")
_SEPARATORS: Final = re.compile(r"[\s,]*")
_TAG_FORM: Final = re.compile(r"O|[BI]-.+", re.DOTALL)


@dataclass(slots=True)
class Reading:
    """What a cell says, why parts of it say nothing, and the unknown types in it, counted."""

    tags: list[str] | None = None
    entities: list[Entity] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)


def is_blank(cell: str | None) -> bool:
    """Whether a cell is empty, or holds what a table writes for an empty one."""
    return cell is None or cell.strip().lower() in _BLANK


def holds_tuples(cell: str) -> bool:
    """Whether a list holds tuples (or is meant to) and not tags."""
    return re.match(r"\s*[\[(]\s*[\[(]", cell) is not None


def read_tags(cell: str, tokens: Sequence[str]) -> Reading:
    """A list of BIO tags of these tokens, written with or without commas and quotes.

    Tags of an unknown type are outside. When their number is not that of the tokens, none of them counts.
    """
    reading = Reading()
    listed = cell.strip()
    inside = listed[1:-1]
    if listed[:1] + listed[-1:] != "[]" or not _SEPARATORS.fullmatch(_TAG.sub("", inside)):
        reading.reasons.append("not a list of BIO tags")
        return reading
    raw = [match.group(match.lastindex or 0) for match in _TAG.finditer(inside)]
    if len(raw) != len(tokens):
        reading.reasons.append(f"{len(raw)} tags for {len(tokens)} tokens")
        return reading
    reading.tags = []
    bad = 0
    for tag in raw:
        prefix, _, name = tag.partition("-")
        kind = vocabulary().type_of(name)
        if not _TAG_FORM.fullmatch(tag):
            bad += 1
            reading.tags.append("O")
        elif prefix == "O" or kind is not None:
            reading.tags.append("O" if prefix == "O" else f"{prefix}-{kind}")
        else:
            reading.unknown[name] += 1
            reading.tags.append("O")
    if bad:
        reading.reasons.append(f"{bad} of {len(raw)} tags are neither O, B-TYPE nor I-TYPE")
    return reading


def read_tuples(cell: str) -> Reading:
    """A list of ``(start, end, type, text)``. A part that is none is left out, and told by its number in the list."""
    reading = Reading()
    try:
        parts: Any = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        reading.reasons.append("not a list of (start, end, type, text)")
        return reading
    if not isinstance(parts, (list, tuple)):
        reading.reasons.append("not a list of (start, end, type, text)")
        return reading
    for number, part in enumerate(parts, 1):
        reason = _why_no_entity(part)
        if reason:
            reading.reasons.append(f"entity {number}: {reason}")
            continue
        start, end, kind, text = part
        known = vocabulary().type_of(kind)
        if known is None:
            reading.unknown[kind] += 1
        else:
            reading.entities.append(Entity(start, end, known, text))
    return reading


def _why_no_entity(part: object) -> str:
    """What is wrong with a part of a list of tuples; empty when nothing is."""
    if not isinstance(part, (list, tuple)) or len(part) != 4:
        return "not four values (start, end, type, text)"
    start, end, kind, text = part
    if any(isinstance(one, bool) or not isinstance(one, int) for one in (start, end)):
        return "start and end are not whole numbers"
    if not 0 <= start < end:
        return f"no span from {start} to {end}"
    if not isinstance(kind, str) or not isinstance(text, str):
        return "type and text are not words"
    return ""


def read_names(cell: str | None) -> list[str]:
    """The names of one type between bars; a blank cell, or one that says ``none``, holds none of them."""
    if cell is None or cell.strip().lower() in vocabulary().nothing:
        return []
    return [name.strip().lower() for name in cell.split("|")]
