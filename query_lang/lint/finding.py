"""A finding of the linter: what is doubtful, where, and what to do; the words are in ``messages.toml``."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..errors import QueryError
from ..nodes import PatientExpression, Query

#: From the gravest: the answer cannot be what was meant; it is probably not; something to know about the answer.
SEVERITIES: Final = ("problem", "warning", "note")
#: What a finding proves of its part, of any record: nobody matches it in any world; nobody is believed to; everybody
#: is believed to; the query without the part has the same believed answer. Empty: nothing is proved.
CLAIMS: Final = ("", "nobody", "nobody believed", "everybody believed", "same without")


@dataclass(frozen=True, slots=True)
class Wording:
    """What a code stands for: how grave it is, and the message and hint into which the particulars are put."""

    severity: str
    message: str
    hint: str


@functools.cache
def wordings() -> Mapping[str, Wording]:
    """Code -> its wording, in the order of the file."""
    data = tomllib.loads((Path(__file__).parent / "messages.toml").read_text(encoding="utf-8"))
    return {code: Wording(entry["severity"], entry["message"], entry["hint"]) for code, entry in data.items()}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is doubtful in a query.

    ``code`` names the sort of finding; ``offset`` to ``end`` are the characters it is about (None when the place is
    unknown). ``claim`` is one of :data:`CLAIMS`, about ``part``: the criterion in the scopes that it stands in. Of the
    claim *same without*, ``rest`` is the query without the part.
    """

    code: str
    severity: str
    message: str
    hint: str
    text: str = ""
    offset: int | None = None
    end: int | None = None
    claim: str = ""
    part: PatientExpression | None = None
    rest: Query | None = None

    @property
    def line(self) -> int:
        """The line of the place, from 1; 0 when unknown."""
        return self._placed.line

    @property
    def column(self) -> int:
        """The column of the place, from 1; 0 when unknown."""
        return self._placed.column

    @property
    def excerpt(self) -> str:
        """The words around the place with a caret under it; empty when the place is unknown."""
        return self._placed.excerpt

    @property
    def _placed(self) -> QueryError:
        return QueryError(self.message, text=self.text, offset=self.offset, hint=self.hint)

    def as_dict(self) -> dict[str, Any]:
        """code, severity, message, hint, line, column, offset and end (null when the place is unknown)."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "hint": self.hint,
            "line": self.line,
            "column": self.column,
            "offset": self.offset,
            "end": self.end,
        }

    def as_text(self) -> str:
        """As an error is told: message, place, the words there with a caret, hint."""
        return f"{self.severity}: {self._placed} [{self.code}]"

    def as_line(self) -> str:
        """One line, for under an answer."""
        where = f" (line {self.line}, column {self.column})" if self.line else ""
        return f"{self.severity}: {self.message}{where}"
