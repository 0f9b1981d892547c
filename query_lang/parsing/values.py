"""Values as a query writes them: numbers, days, gaps, TNM categories; and the mistake that one of them can be."""

from __future__ import annotations

import calendar
import datetime
import re
from typing import Final

from lark import Token

from ..nodes import Day, Now
from ..vocabulary import DAYS_IN

TNM_SET: Final = re.compile(
    r"(?P<prefix>yp|yc|rp|[cpr])?(?P<t>T(?:is|x|[0-4](?:mi|[a-d])?))?(?P<n>N(?:x|[0-3](?:mi|[a-c])?))?(?P<m>M(?:x|[01][a-d]?))?",
    re.IGNORECASE,
)
LONGEST_NUMBER: Final = 15


class Mistake(ValueError):
    """A query that fits the grammar and still means nothing; ``hint`` says what to write instead."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def unquote(token: str) -> str:
    """The text between quotes, doubled quotes inside taken as one."""
    body = token[1:-1]
    return body.replace(token[0] * 2, token[0]) if token[0] in "'\"" else body


def short_enough(digits: str) -> str:
    if len(digits) > LONGEST_NUMBER:
        raise Mistake(f"a number has {len(digits)} digits; at most {LONGEST_NUMBER} are read")
    return digits


def whole_number(token: Token) -> int:
    if not (token.isascii() and token.isdigit()):
        raise Mistake(f"'at least {token[:LONGEST_NUMBER]} of' needs a whole number")
    return int(short_enough(token))


def years(token: Token) -> int:
    if not (token.isascii() and token.isdigit() and len(token) <= 3):
        raise Mistake(f"'{token[:LONGEST_NUMBER]}' is not an age in whole years")
    return int(token)


def days(token: Token, unit: Token) -> int:
    number = float(short_enough(token).rstrip("%"))
    if number < 0 or number > 1e6 or token.endswith("%"):
        raise Mistake(f"'{token}' is not a number of {unit.lower()}")
    return round(number * DAYS_IN[unit.lower().removesuffix("s")])


def day(token: Token, *, last: bool) -> int:
    """The first or last day that a date of year, month or day precision can mean."""
    year, month, day = ([int(part) for part in token.split("-")] + [0, 0])[:3]
    try:
        low = datetime.date(year, month or 1, day or 1)
        if not last or day:
            return low.toordinal()
        month = month or 12
        return datetime.date(year, month, calendar.monthrange(year, month)[1]).toordinal()
    except ValueError as error:
        raise Mistake(f"{token} is not a date", "dates are written 2019, 2019-03 or 2019-03-01") from error


def exact_day(token: Token) -> int | None:
    """The day that a date of day precision means; None for a month or a year."""
    first = day(token, last=False)
    return first if first == day(token, last=True) else None


def one_day(token: Token) -> Day | None:
    """Now, or the day that a date of day precision means; None for a month or a year."""
    return Now() if token.type == "NOW" else exact_day(token)


def category(text: str) -> str:
    """The usual spelling: ``t2B`` as ``T2b``, ``tx`` as ``TX``."""
    rest = text[1:].lower()
    return text[0].upper() + (rest.upper() if rest == "x" else rest)
