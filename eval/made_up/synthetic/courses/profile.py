"""Who is to be simulated: the paper's counts of tumors, sexes, stages, scores and documents, dealt out to places."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from .tables import chosen, drawn, table


@dataclass(frozen=True, slots=True)
class Allotment:
    """What the profile fixes of a patient; all else is chance. ``tumor`` is a place in ``tumors.toml``.

    ``stage`` is the stage group that is stated at diagnosis (I to IV) and ``ecog`` the last stated score; None where
    no note states one. ``brain`` tells whether the tumor goes to the brain, ``documents`` how many notes there are.
    """

    group: str
    tumor: int
    sex: str
    female: bool
    race: str
    ethnicity: str
    hospital: str
    stage: str | None
    ecog: int | None
    brain: bool
    documents: int


def allotment(index: int, seed: int) -> Allotment:
    """That of patient ``index``. Each full block of patients has the profile exactly, each in another order."""
    size = int(table("profile")["patients"])
    return _block(seed, index // size)[index % size]


def document_counts(profile: Mapping[str, Any]) -> tuple[int, ...]:
    """Documents a patient, least first: a log-normal law through the bounds of the thirds (4.2.3, Figure 6).

    Its upper third is stretched so that all add up to the total.
    """
    patients, total = int(profile["patients"]), int(profile["documents"])
    low, high = profile["document_thirds"]
    centre = (math.log(low) + math.log(high)) / 2
    spread = (math.log(high) - math.log(low)) / 2 / NormalDist().inv_cdf(2 / 3)
    law = NormalDist(centre, spread)
    plain = [math.exp(law.inv_cdf((place + 0.5) / patients)) for place in range(patients)]
    fewest = int(profile["fewest_documents"])
    held = [max(fewest, math.floor(one)) for one in plain if one < high]
    tail = [one - high for one in plain if one >= high]
    stretch = (total - sum(held) - high * len(tail)) / sum(tail)
    upper = [high + math.floor(one * stretch) for one in tail]
    missing = total - sum(held) - sum(upper)
    # What rounding left is given to the longest records, one each.
    for place in range(missing):
        upper[-1 - place % len(upper)] += 1
    return (*held, *upper)


@lru_cache(maxsize=4)
def _block(seed: int, block: int) -> tuple[Allotment, ...]:
    rng = random.Random(f"profile/{seed}/{block}")
    profile, tumors, families = table("profile"), table("tumors")["tumor"], table("families")
    places: list[dict[str, Any]] = []
    for group, count in profile["tumors"].items():
        kinds = [place for place, one in enumerate(tumors) if one["group"] == group]
        for _ in range(count):
            kind = chosen(rng, kinds, [tumors[one]["share"] for one in kinds])
            places.append(
                {"group": group, "tumor": kind, "entity": tumors[kind], "family": families[tumors[kind]["family"]]}
            )
    _deal_sexes(rng, places, profile["sex"])
    _deal_stages(rng, places, profile["stage"])
    _deal(rng, places, "brain", {True: profile["brain"]["yes"]}, _brain, False)
    _deal(rng, places, "ecog", {int(key): count for key, count in profile["ecog"].items()}, _ecog, None)
    for name in ("race", "ethnicity"):
        values = [value for value, count in profile[name].items() for _ in range(count)]
        rng.shuffle(values)
        for one, value in zip(places, values, strict=True):
            one[name] = value
    longest = sorted(range(len(places)), key=lambda at: (rng.gauss(_length(places[at]), 1), at))
    for at, count in zip(longest, document_counts(profile), strict=True):
        places[at]["documents"] = count
    hospitals = profile["hospital"]
    for one in places:
        weights = [each["share"] * each.get("more", {}).get(one["group"], 1) for each in hospitals]
        one["hospital"] = chosen(rng, hospitals, weights)["name"]
    rng.shuffle(places)
    return tuple(Allotment(**{key: one[key] for key in Allotment.__slots__}) for one in places)


def _deal_sexes(rng: random.Random, places: Sequence[dict[str, Any]], quotas: Mapping[str, int]) -> None:
    """Tumors of one sex first; breast cancer is a man's in one of a hundred; the rest by how the tumor is shared."""
    open_places = []
    for at, one in enumerate(places):
        bound = one["entity"].get("sex", "")
        if not bound and one["group"] == "breast":
            bound = "male" if rng.random() < 0.008 else "female"
        one["female"] = bound == "female"
        if not bound:
            open_places.append(at)
    women = sum(one["female"] for one in places)
    # Those of unknown sex are spread over all who are not bound to one.
    unknown = set(rng.sample(open_places, quotas["unknown"]))
    rest = [at for at in open_places if at not in unknown]
    wanted = max(0, min(len(rest), quotas["female"] - women))
    female = set(drawn(rng, [(at, places[at]["entity"].get("female", 0.5)) for at in rest], wanted))
    for at, one in enumerate(places):
        one["female"] = one["female"] or at in female or (at in unknown and rng.random() < 0.5)
        one["sex"] = "unknown" if at in unknown else "female" if one["female"] else "male"


def _deal_stages(rng: random.Random, places: Sequence[dict[str, Any]], quotas: Mapping[str, int]) -> None:
    def weight(one: Mapping[str, Any], stage: object) -> float:
        shares = one["family"]["stages"]
        held = bool(one["family"]["extents"]) or "scheme" in one["family"]
        return float(shares.get(stage, 0)) / sum(shares.values()) if held else 0.0

    _deal(rng, places, "stage", quotas, weight, None)


def _deal(
    rng: random.Random,
    places: Sequence[dict[str, Any]],
    name: str,
    quotas: Mapping[Any, int],
    weight: Callable[[Mapping[str, Any], object], float],
    default: object,
) -> None:
    for one in places:
        one[name] = default
    for value, count in quotas.items():
        options = [(at, weight(one, value)) for at, one in enumerate(places) if one[name] == default]
        for at in drawn(rng, options, count):
            places[at][name] = value


def _brain(one: Mapping[str, Any], _: object) -> float:
    if "benign" in one["entity"].get("traits", ()):
        return 0.0
    return float(one["family"]["brain"]) * {"IV": 4.0, "III": 1.5, "II": 0.6, "I": 0.3, None: 0.5}[one["stage"]]


def _ecog(one: Mapping[str, Any], value: object) -> float:
    ill = one["stage"] == "IV" or one["brain"]
    return (5.0 if ill else 1.0) if value in (2, 3, 4) else 1.0


def _length(one: Mapping[str, Any]) -> float:
    return (
        0.7 * (one["stage"] == "IV" or one["brain"]) + 0.4 * (one["stage"] == "III") + 0.3 * (one["ecog"] is not None)
    )
