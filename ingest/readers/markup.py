"""HTML and XHTML as the lines that a browser would show: blocks end lines, list items and table cells stay apart.

The scan is linear whatever the markup: a tag that does not end, or a comment that does not, is text.
"""

from __future__ import annotations

import html
import re
from typing import Final

_TAG: Final = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]*)(?:[\s/][^<>]*)?>|<[!?][^<>]*>")
_BLANKS: Final = re.compile(r"\s+")
#: What these hold is never shown.
_UNSEEN: Final = frozenset({"head", "script", "style", "template"})
#: A line begins and ends with these; an empty line stands between paragraphs.
_LINES: Final = frozenset("address article blockquote body caption dd div dl dt footer header hr li section tr".split())
_PARAGRAPHS: Final = frozenset("h1 h2 h3 h4 h5 h6 ol p pre table ul".split())
_CELLS: Final = frozenset({"td", "th"})


def lines_of_markup(markup: str) -> str:
    """The text of HTML or XHTML, line by line; a tab parts the cells of a row, and list items begin with ``-``."""
    shown = _Shown()
    markup = _without_comments(markup)
    at = 0
    for tag in _TAG.finditer(markup):
        shown.text(markup[at : tag.start()])
        if tag["name"]:
            shown.tag(tag["name"].lower(), opens=not tag["end"])
        at = tag.end()
    shown.text(markup[at:])
    return shown.whole()


def _without_comments(markup: str) -> str:
    kept = []
    at = 0
    while (begin := markup.find("<!--", at)) >= 0 and (end := markup.find("-->", begin)) >= 0:
        kept.append(markup[at:begin])
        at = end + len("-->")
    kept.append(markup[at:])
    return "".join(kept).replace("<![CDATA[", "").replace("]]>", "")


class _Shown:
    """The lines so far."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []
        self._unseen = ""
        self._as_written = False

    def text(self, text: str) -> None:
        """Words between two tags."""
        if self._unseen or not text:
            return
        text = html.unescape(text)
        if self._as_written:
            first, *others = text.split("\n")
            self._line.append(first)
            for line in others:
                self._end_line()
                self._line.append(line)
        else:
            self._line.append(_BLANKS.sub(" ", text))

    def tag(self, name: str, opens: bool) -> None:
        """A tag that opens or closes."""
        if self._unseen:
            # A head that is not closed ends where the body begins.
            if name == "body" or (name == self._unseen and not opens):
                self._unseen = ""
            return
        if opens and name in _UNSEEN:
            self._unseen = name
        elif name == "br":
            self._end_line()
        elif name in _CELLS:
            if opens and any(part.strip() for part in self._line):
                self._line.append("\t")
        elif name in _LINES or name in _PARAGRAPHS:
            self._begin_line()
            if name in _PARAGRAPHS and self._lines and self._lines[-1]:
                self._lines.append("")
            if name == "li" and opens:
                self._line.append("- ")
            if name == "pre":
                self._as_written = opens

    def _begin_line(self) -> None:
        if any(part.strip() for part in self._line):
            self._end_line()
        self._line.clear()

    def _end_line(self) -> None:
        line = "".join(self._line)
        self._lines.append(line.rstrip() if self._as_written else _tidy(line))
        self._line.clear()

    def whole(self) -> str:
        """The text; it begins and ends with words, and no two empty lines follow each other."""
        self._begin_line()
        kept: list[str] = []
        for line in self._lines:
            if line or (kept and kept[-1]):
                kept.append(line)
        return "\n".join(kept).rstrip("\n")


def _tidy(line: str) -> str:
    return "\t".join(_BLANKS.sub(" ", cell).strip() for cell in line.split("\t")).strip()
