"""Visible escapes: what text for people shows in place of characters that steer a terminal or are not seen.

Ids, notes, names and queries come from anywhere. A character that nobody sees, that turns a line about or that a
terminal obeys is shown as the escape by which it is written in code: ``\\x1b``, ``\\u202e``. Escaping twice changes
nothing. Letters of all scripts stay, combining marks among them; so do the joiners and variation selectors without
which they cannot be read, where writing needs them and nowhere else: between letters of a script that joins, between
two emoji, after a symbol, an ideograph or a Mongolian letter. Tags (the flags of England and Scotland) are always
shown: they can carry any text unseen.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

#: Controls, formats, separators of lines, lone surrogates, fillers, selectors, noncharacters: all that is not seen
#: and is no blank. The signs of numbers in Arabic and Syriac, which Unicode calls formats too, are seen.
_UNSEEN: Final = (
    "\\x00-\\x1f\\x7f-\\x9f\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
)
_ANY: Final = re.compile(f"[{_UNSEEN}]")
#: The same but for the ends of lines and tabs, of which whole pages are made.
_ANY_IN_PAGE: Final = re.compile(f"(?![\\n\\t])[{_UNSEEN}]")

_ZWNJ, _ZWJ = "\u200c", "\u200d"
#: Scripts in which joiners shape the letters: Arabic to Myanmar, Khmer and Mongolian, and what Indic blocks came later.
_JOINING: Final = re.compile("[\u0600-\u109f\u1780-\u18af\ua840-\uabff\U00010a00-\U00011fff]")
#: What stands before the joiner of an emoji: a symbol, a shade of skin, or the selector that asks for a picture.
_SHADE: Final = re.compile("[\U0001f3fb-\U0001f3ff\ufe0f]")
_KEYCAP: Final = re.compile("[0-9#*]")
_IDEOGRAPH: Final = re.compile("[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_MONGOLIAN: Final = re.compile("[\u1800-\u18af]")
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escaped(text: str) -> str:
    """``text`` on one line, all of it to be seen: line ends and tabs are escapes too."""
    return text if _ANY.search(text) is None else _ANY.sub(_shown, text)


def escaped_page(text: str) -> str:
    """The same of a text of several lines, whose line ends and tabs stay."""
    return text if _ANY_IN_PAGE.search(text) is None else _ANY_IN_PAGE.sub(_shown, text)


def escaped_json(text: str) -> str:
    """JSON whose unseen characters are written as JSON escapes: the same value to whoever reads it.

    Line ends and tabs stay: inside a string JSON has escaped them already, outside they are layout.
    """
    return text if _ANY_IN_PAGE.search(text) is None else _ANY_IN_PAGE.sub(_json_escape, text)


def one_line(value: Any) -> Any:
    """A cell of a table: text is escaped, all else stays as it is."""
    return escaped(value) if isinstance(value, str) else value


def _shown(found: re.Match[str]) -> str:
    character, text, at = found.group(), found.string, found.start()
    if _is_writing(character, text[at - 1 : at], text[at + 1 : at + 2]):
        return character
    code = ord(character)
    return _SHORT.get(character) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    )


def _is_writing(character: str, before: str, after: str) -> bool:
    """Whether a character that is not seen itself is needed to read its neighbours."""
    if not before:
        return False
    if character in (_ZWNJ, _ZWJ):
        if _JOINING.match(before) and _JOINING.match(after):
            return True
        return character == _ZWJ and bool(_is_symbol(before) or _SHADE.match(before)) and _is_symbol(after)
    code = ord(character)
    if code in (0xFE0E, 0xFE0F):
        return _is_symbol(before) or bool(_KEYCAP.match(before) and after == "\u20e3")
    if 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF:
        return bool(_IDEOGRAPH.match(before))
    return 0x180B <= code <= 0x180F and bool(_MONGOLIAN.match(before))


def _is_symbol(character: str) -> bool:
    return character >= "\u00a9" and unicodedata.category(character) in ("So", "Sm")


def _json_escape(found: re.Match[str]) -> str:
    character = found.group()
    if _is_writing(character, found.string[found.start() - 1 : found.start()], found.string[found.end() :][:1]):
        return character
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


# --- tables that a spreadsheet opens ----------------------------------------------------------------------------------

#: How a formula begins, behind blanks and quotes that a spreadsheet takes away; also the same signs in full width.
_FORMULA: Final = re.compile("[\\s\"'“”‘’\ufeff\u200b]*[=+\\-@\u2212＝＋－＠]|[\\t\\r\\n]")
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)


def csv_cell(value: Any) -> Any:
    """A cell that a spreadsheet shows and does not compute: text that would be a formula begins with an apostrophe.

    Numbers stay numbers, written as text too (``-5``, ``+1.5``); what cannot be seen is escaped as in a table.
    """
    if not isinstance(value, str):
        return value if value is None or isinstance(value, int | float) else csv_cell(str(value))
    shown = escaped(value)
    return f"'{shown}" if _FORMULA.match(value) and not _NUMBER.match(value) else shown
