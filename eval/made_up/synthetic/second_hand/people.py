"""The invented people and everyday figures of a note."""

from __future__ import annotations

import random
from datetime import date
from typing import Any

from . import dates
from .tables import table

FIGURES = {
    "hr": (58, 96),
    "rr": (12, 18),
    "spo2": (95, 100),
    "ht": (152, 188),
    "plt": (165, 340),
    "na": (135, 144),
    "bun": (8, 21),
    "glu": (78, 136),
    "alt": (9, 44),
    "ast": (11, 40),
    "hct": (36, 46),
    "enc": (10000, 99999),
}
DECIMALS = {
    "temp": (97.1, 98.9),
    "wt": (54, 98),
    "wbc": (4.1, 9.8),
    "hgb": (11.6, 15.2),
    "k": (3.6, 4.8),
    "cr": (0.6, 1.2),
    "ca": (8.6, 10.1),
    "alb": (3.6, 4.7),
    "tbili": (0.2, 1.1),
}
LOW = {"neutropenia": ("wbc", 0.9, 1.9), "anemia": ("hgb", 8.2, 9.9), "thrombocytopenia": ("plt", 45, 90)}


def figures(concepts: str, chance: random.Random) -> dict[str, str]:
    """Vital signs and counts, low only where a fact of the visit says so."""
    result = {name: str(chance.randint(*limits)) for name, limits in FIGURES.items()}
    result |= {name: f"{chance.uniform(*limits):.1f}" for name, limits in DECIMALS.items()}
    for word, (name, least, most) in LOW.items():
        if word in concepts:
            value = chance.uniform(least, most)
            result[name] = f"{value:.0f}" if name == "plt" else f"{value:.1f}"
    result["bp"] = f"{chance.randint(108, 144)}/{chance.randint(62, 88)}"
    result["clock"] = f"{chance.randint(8, 16):02d}{chance.choice(':.')}{chance.randint(0, 59):02d}"
    return result


def pronouns(male: bool) -> dict[str, str]:
    """The words that go with the patient's sex."""
    words = table("people")["male" if male else "female"]
    capitals = {key.capitalize(): value.capitalize() for key, value in words.items() if key in ("he", "his", "him")}
    return dict(words) | capitals


def cast(visit: dict[str, Any], chance: random.Random) -> dict[str, str]:
    """Names, pronouns, age and figures of one note; the patient's name stays the same from note to note."""
    filler, today, born = table("filler"), date.fromisoformat(visit["date"]), date.fromisoformat(visit["born"])
    male, steady = visit["sex"] == "male", random.Random(visit["patient_id"])
    first = steady.choice(filler["people_first_male" if male else "people_first_female"])
    last = steady.choice(filler["people_last"])
    spouse = steady.choice(filler["spouse_male" if male else "spouse_female"])
    words = pronouns(male)
    age = today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    concepts = " ".join(fact["concept"] for fact in visit["told"])
    return (
        words
        | figures(concepts, chance)
        | {
            "patient": f"{first} {last}",
            "mr": f"{words['title']} {last}",
            "initials": f"{first[0]}.{last[0]}.",
            "spouse": spouse,
            "spouse_cap": spouse.capitalize(),
            "he_cap": words["he"].capitalize(),
            "age": str(age),
            "mrn": str(steady.randint(1000000, 9999999)),
            "gp": steady.choice(filler["doctors"]),
            "doc": chance.choice(filler["doctors"]),
            "nurse": chance.choice(filler["nurses"]),
            "site": visit.get("site", filler["site"]),
            "today": dates.written(today, "exact", chance),
            "born": dates.written(born, "exact", chance),
            "yy": f"{today.year % 100:02d}",
        }
    )
