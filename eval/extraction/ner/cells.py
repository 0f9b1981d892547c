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

from .tagging import NOWHERE, Entity
from .types import vocabulary

_BLANK: Final = frozenset({"", "nan", "none", "null"})
_TAG: Final = re.compile(r"""'([^'"\[\]\s,()]+)'|"([^'"\[\]\s,()]+)"|([^'"\[\]\s,()]+)""")
_SEPARATORS: Final = re.compile(r"[\s,]*")
#: A quoted word, which stays as it is; or a number of numpy's or a missing value, as its ``repr`` writes it. A word
#: that never ends goes to the end, so that no mark is tried twice.
_REPR: Final = re.compile(
    r"""(?P<word>'(?:[^'\\]|\\.)*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z))|\b(?:np|numpy)\.\w+\((?P<value>[^()'"]*)\)"""
    r"""|(?P<missing>\b(?:nan|null)\b)""",
    re.DOTALL,
)
#: One tuple of four in a list that is broken elsewhere.
_TUPLE: Final = re.compile(
    r"""[(\[]\s*\d+\s*,\s*\d+\s*,\s*(?:'\w+'|"\w+")\s*,\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*[)\]]""",
    re.DOTALL,
)
_NOT_A_LIST: Final = "not a list of (start, end, type, text)"
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
    """A list of ``(start, end, type, text)``. A part that is none is left out, and told by its number in the list.

    A part with type and text but no place counts as a name without one, and is told too. Of a list that is broken
    somewhere the tuples that are whole count.
    """
    reading = Reading()
    parts = _parts(cell)
    if parts is None:
        whole = [part for match in _TUPLE.finditer(cell) if (part := _literal(match.group())) is not None]
        remark = f"; {len(whole)} of its parts are" if whole else ""
        reading.reasons.append(_NOT_A_LIST + remark)
        parts = whole
    for number, part in enumerate(parts, 1):
        reason = _why_no_entity(part)
        if reason:
            reading.reasons.append(f"entity {number}: {reason}")
            continue
        start, end, kind, text = _whole(part[0]), _whole(part[1]), part[2], part[3]
        known = vocabulary().type_of(kind)
        if known is None:
            reading.unknown[kind] += 1
        elif start is None or end is None or not 0 <= start < end:
            reading.reasons.append(f"entity {number}: no place; scored by abstract alone")
            reading.entities.append(Entity(*NOWHERE, known, text))
        else:
            reading.entities.append(Entity(start, end, known, text))
    return reading


def _parts(cell: str) -> Sequence[Any] | None:
    """The members of a list, written by Python or by JSON; None where the cell is no list."""
    parts = _literal(cell.strip())
    return parts if isinstance(parts, (list, tuple)) else None


def _literal(written: str) -> Any:
    """The value of a ``repr``; None where it is of something else than words, numbers and lists."""
    plain = _REPR.sub(lambda match: match["word"] or match["value"] or "None", written)
    try:
        return ast.literal_eval(plain)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _whole(value: object) -> int | None:
    """A place; None for what is no whole number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _why_no_entity(part: object) -> str:
    """What is wrong with a part of a list of tuples; empty when nothing is."""
    if not isinstance(part, (list, tuple)) or len(part) != 4:
        return "not four values (start, end, type, text)"
    if not isinstance(part[2], str) or not isinstance(part[3], str):
        return "type and text are not words"
    return ""


def read_names(cell: str | None) -> list[str]:
    """The names of one type between bars; a blank cell, or one that says ``none``, holds none of them."""
    if cell is None or cell.strip().lower() in vocabulary().nothing:
        return []
    return [name.strip() for name in cell.split("|")]
