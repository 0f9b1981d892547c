"""Who writes a note: a hospital's house style and one author's habits in it."""

from __future__ import annotations

import datetime
import functools
import hashlib
import random
from dataclasses import dataclass
from typing import Final

from .banks import Banks, House, shipped_banks

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Voice:
    """One author's habits. Shares lie between 0 and 1; ``registers`` are weights of prose, terse and form."""

    house: House
    register: str
    abbreviates: float
    day: str
    month: str
    heading: str
    bullet: str
    arrangement: str
    lower: bool
    capitals: bool
    typos: float
    wrap: int
    wordy: float
    signs: bool

    def written_day(self, day: datetime.date) -> str:
        """A day as this author writes it."""
        return _formatted(self.day, day)

    def written_month(self, day: datetime.date) -> str:
        """A month as this author writes it."""
        return _formatted(self.month, day)


def _formatted(form: str, day: datetime.date) -> str:
    month = MONTHS[day.month - 1]
    return form.format(
        d=day.day,
        dd=f"{day.day:02d}",
        m=day.month,
        mm=f"{day.month:02d}",
        yy=f"{day.year % 100:02d}",
        yyyy=day.year,
        mon=month[:3],
        month=month,
    )


def house_of(site: str, banks: Banks) -> House:
    """The house of a site: that of its name or number, any other site always the same one."""
    for house in banks.houses:
        if house.name == site or site in house.settings["sites"]:
            return house
    return banks.houses[hashlib.sha256(site.encode()).digest()[0] % len(banks.houses)]


def voice_of(house: House, kind: str, chance: random.Random) -> Voice:
    """An author of the house for a sort of note, drawn with ``chance`` out of the staff."""
    staff: int = house.settings["authors"]
    return _author(house.name, kind, int(chance.random() * staff))


@functools.lru_cache(maxsize=4096)
def _author(house_name: str, kind: str, number: int) -> Voice:
    """The same author at every call."""
    banks = shipped_banks()
    house = next(one for one in banks.houses if one.name == house_name)
    settings = house.settings
    chance = random.Random(f"author:{house_name}:{kind}:{number}")
    weights = settings["registers_of"].get(kind, settings["registers"])
    register = chance.choices(("prose", "terse", "form"), weights)[0]
    arrangements = settings["arrangements"][register]
    return Voice(
        house=house,
        register=register,
        abbreviates=chance.uniform(*settings["abbreviates"]) * (1.0 if register == "prose" else 1.5),
        day=chance.choice(settings["days"]),
        month=chance.choice(settings["months"]),
        heading=chance.choice(settings["heading_forms"]),
        bullet=chance.choice(settings["bullets"]),
        arrangement=chance.choice(arrangements),
        lower=chance.random() < settings["lower"],
        capitals=chance.random() < settings["capitals"],
        typos=chance.uniform(*settings["typos"]),
        wrap=chance.choice(settings["wrap"]),
        wordy=chance.uniform(0.75, 1.4),
        signs=chance.random() < settings["signs"],
    )
