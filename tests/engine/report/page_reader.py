"""A page read as a browser reads it: its elements, whether each is closed, its words."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Final

#: Elements without an end.
_EMPTY: Final = frozenset({"meta", "link", "img", "br", "hr", "input", "rect", "line"})


class PageReader(HTMLParser):
    """``elements`` are the elements with their attributes, ``words`` what is shown, ``wrong`` ends without a begin."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.wrong: list[str] = []
        self._open: list[str] = []
        self._words: list[str] = []
        self.feed(page)
        self.close()
        self.wrong += self._open
        self.words = " ".join(" ".join(self._words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in _EMPTY:
            return
        if not self._open or self._open[-1] != tag:
            self.wrong.append(f"/{tag}")
        else:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self._words.append(data)

    def attributes(self, name: str) -> list[str]:
        """The values of an attribute, in the order of the page."""
        return [str(attrs[name]) for _, attrs in self.elements if name in attrs]
