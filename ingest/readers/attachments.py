"""The text of a FHIR attachment: its data unpacked, decoded by its content type and shown as text."""

from __future__ import annotations

import base64
import encodings.aliases
import functools
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .markup import lines_of_markup
from .records import LONGEST_TEXT

_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?([^\s"';]+)""", re.IGNORECASE)
_BLANKS: Final = re.compile(r"\s+")
#: Longer data cannot be a note that is read (four bytes a character, four letters of base64 for three bytes).
_LONGEST_DATA: Final = 6 * LONGEST_TEXT


@functools.cache
def formats() -> Mapping[str, Any]:
    """The tables of ``fhir.toml``."""
    return tomllib.loads((Path(__file__).parent / "fhir.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Attached:
    """An attachment's text, or the reason code why there is none. ``position`` counts from 1."""

    position: int
    text: str = ""
    fault: str = ""


Find = Callable[[str], Mapping[str, Any] | None]


def read_attachment(attachment: object, position: int, find: Find) -> Attached:
    """The text of an attachment; ``find`` gives the resource that a URL names, where it is at hand."""
    if not isinstance(attachment, Mapping):
        return Attached(position, fault="bad_attachment")
    data, declared = attachment.get("data"), attachment.get("contentType")
    if data is None and attachment.get("url") is not None:
        binary = find(str(attachment["url"]))
        if binary is None:
            return Attached(position, fault="content_elsewhere")
        data, declared = binary.get("data"), declared or binary.get("contentType")
    if data is None:
        return Attached(position, fault="missing_text")
    if not isinstance(data, str):
        return Attached(position, fault="bad_attachment")
    if len(data) > _LONGEST_DATA:
        return Attached(position, fault="text_too_long")
    try:
        content = base64.b64decode(_BLANKS.sub("", data), validate=True)
    except ValueError:
        return Attached(position, fault="bad_base64")
    return _decoded(content, declared if isinstance(declared, str) else "", position)


def _decoded(content: bytes, declared: str, position: int) -> Attached:
    known = formats()["format"]
    media = declared.partition(";")[0].strip().lower() or _guessed(content)
    packed = any(content.startswith(mark.encode()) for mark in known["marks_of_other_formats"])
    if packed or media not in {*known["plain"], *known["markup"]}:
        return Attached(position, fault="unreadable_format")
    charset = _CHARSET.search(declared)
    codec = _codecs().get(_plain(charset[1] if charset else "utf-8"))
    if codec is None:
        return Attached(position, fault="unknown_charset")
    try:
        text = content.decode(codec).removeprefix("\ufeff")
    except ValueError:
        fault = "nul_bytes" if b"\0" in content else "wrong_charset" if charset else "invalid_utf8"
        return Attached(position, fault=fault)
    return Attached(position, lines_of_markup(text) if media in known["markup"] else text)


@functools.cache
def _codecs() -> Mapping[str, str]:
    """Every name of a character set that is read → the codec of Python. A name that stands nowhere here is not looked
    up: there are codecs that take minutes, or unpack."""
    aliases = encodings.aliases.aliases
    read = [name.replace("-", "_") for name in formats()["charset"]["read"]]
    modules = {aliases.get(name, name) for name in read}
    found = {_plain(name): name for name in (*read, *modules)}
    for alias, module in aliases.items():
        if module in modules:
            found.setdefault(_plain(alias), module)
    return found


def _plain(name: str) -> str:
    """A name of a character set without what people write in it or not: ``UTF_8`` is ``utf8``."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _guessed(content: bytes) -> str:
    """Without a content type, what begins with a bracket is markup, anything else is text if it can be decoded."""
    return "text/html" if content.lstrip()[:1] == b"<" else "text/plain"


def texts_of(attachments: list[Attached]) -> tuple[list[Attached], list[Attached]]:
    """The notes that the attachments of one document make, and those to quarantine.

    Attachments are the same document in several formats, or parts of it: each text counts once (compared by its
    words), and a format that cannot be read is a fault only where no other gives the text. Damage always is one.
    """
    notes: dict[str, Attached] = {}
    for one in attachments:
        if not one.fault:
            notes.setdefault(" ".join(one.text.split()), one)
    if len(notes) > 1:
        notes.pop("", None)
    faults = [one for one in attachments if one.fault]
    if notes:
        return list(notes.values()), [one for one in faults if one.fault not in formats()["format"]["other_formats"]]
    return [], faults[:1] or [Attached(1, fault="missing_text")]
