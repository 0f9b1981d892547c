"""The many ways in which a clinician says when."""

from __future__ import annotations

import random
from datetime import date

from .tables import table

DAYS_A_MONTH = 30.44


def parse(text: str | None) -> date | None:
    """A day from its ISO form."""
    return date.fromisoformat(text) if text else None


def parts(day: date) -> dict[str, str]:
    """The pieces from which a date is written."""
    words = table("dates")
    return {
        "y": str(day.year),
        "yy": f"{day.year % 100:02d}",
        "m": str(day.month),
        "mm": f"{day.month:02d}",
        "d": str(day.day),
        "dd": f"{day.day:02d}",
        "month": words["months"][day.month - 1],
        "mon": words["short"][day.month - 1],
        "season": words["seasons"][day.month - 1],
        "weekday": words["weekdays"][day.weekday()],
    }


def count(number: int, chance: random.Random) -> str:
    """A small number as word or figure."""
    numbers = table("dates")["numbers"]
    return numbers[number] if number < len(numbers) and chance.random() < 0.6 else str(number)


def written(day: date, kind: str, chance: random.Random) -> str:
    """A date in one of the forms of a kind (exact, loose, stamp)."""
    return chance.choice(table("dates")[kind]).format(**parts(day))


def when(day: date, today: date, chance: random.Random) -> str:
    """An adverbial for a past day; empty for the day of the note or a day to come."""
    words, gap = table("dates"), (today - day).days
    if gap <= 0:
        return ""
    if chance.random() < 0.35:
        return words["on"].format(x=written(day, "exact", chance))
    if gap > 6 and chance.random() < 0.45:
        return words["in"].format(x=written(day, "loose", chance))
    return relative(day, gap, today, chance)


def relative(day: date, gap: int, today: date, chance: random.Random) -> str:
    """A day told from where the writer stands."""
    words, pieces = table("dates"), parts(day)
    if gap == 1:
        return chance.choice(words["yesterday"])
    if gap <= 6:
        return chance.choice(words["weekday"]).format(n=count(gap, chance), **pieces)
    if gap <= 75:
        weeks = max(2, round(gap / 7))
        if gap >= 12 and chance.random() < 0.6:
            return chance.choice(words["weeks"]).format(n=count(weeks, chance))
        return words["on"].format(x=written(day, "exact", chance))
    if gap <= 300 and chance.random() < 0.5:
        if day.year == today.year:
            return chance.choice(words["this_month"]).format(**pieces)
        return words["in"].format(x=pieces["month"]) if gap < 270 else words["year"][0].format(**pieces)
    if 100 < gap < 270 and day.year != today.year and chance.random() < 0.5:
        return words["last_season"][0].format(**pieces)
    return distant(day, gap, chance)


def distant(day: date, gap: int, chance: random.Random) -> str:
    """A day months or years back, told loosely."""
    words, pieces = table("dates"), parts(day)
    months = round(gap / DAYS_A_MONTH)
    if months <= 20:
        return chance.choice(words["months_ago"]).format(n=count(months, chance))
    # December belongs to the winter of the year that follows, so winters are left to plain years.
    if chance.random() < 0.3 and pieces["season"] != words["seasons"][0]:
        return chance.choice(words["season"]).format(season=pieces["season"], sy=day.year)
    rounded = round(gap / 365.25)
    if abs(gap / 365.25 - rounded) < 0.12 and chance.random() < 0.5:
        return chance.choice(words["years_ago"]).format(n=count(rounded, chance))
    return chance.choice(words["year"]).format(**pieces)


def since(day: date, today: date, chance: random.Random) -> str:
    """A day as the start of something that goes on, to stand after the word since."""
    gap = (today - day).days
    if gap <= 0:
        return ""
    if gap < 270 and chance.random() < 0.3 and gap > 31:
        return table("dates")["short"][day.month - 1]
    return written(day, "exact" if chance.random() < 0.35 else "loose", chance)


def stretch(start: date, end: date, chance: random.Random) -> str:
    """A closed stretch of time."""
    kind = "exact" if chance.random() < 0.35 else "loose"
    form = chance.choice(table("dates")[kind])
    first, last = form.format(**parts(start)), form.format(**parts(end))
    if first == last:
        return table("dates")["in" if kind == "loose" else "on"].format(x=first)
    return chance.choice(table("dates")["from_to"]).format(a=first, b=last)
