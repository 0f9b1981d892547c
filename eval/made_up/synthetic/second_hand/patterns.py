"""Patterns: text with {slots}, [optional stretches] and <<a||b>> choices."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence, Set

SLOT = re.compile(r"\{(\w+)\}")
OPTION = re.compile(r"\[([^\[\]]*)\]")
CHOICE = re.compile(r"<<(.*?)>>", re.DOTALL)
OPTION_RATE = 0.55
# Slots of this ending bring their own space and may stay empty.
SPARE = "_sp"


def choose(pattern: str, chance: random.Random) -> str:
    """Settle every <<a||b>> choice."""
    return CHOICE.sub(lambda found: chance.choice(found.group(1).split("||")), pattern)


def needed(pattern: str) -> set[str]:
    """The slots a pattern cannot do without."""
    return set(SLOT.findall(OPTION.sub("", pattern)))


def offered(pattern: str) -> set[str]:
    """All slots a pattern may use."""
    return set(SLOT.findall(pattern))


def fits(pattern: str, slots: Mapping[str, str]) -> bool:
    """Whether the needed slots all have something to say."""
    return all(slots.get(name) for name in needed(pattern) if not name.endswith(SPARE))


def fill(pattern: str, slots: Mapping[str, str], chance: random.Random, forced: Set[str] = frozenset()) -> str:
    """Fill a pattern; an optional stretch stays by chance, or surely where it tells a forced slot."""

    def keep(found: re.Match[str]) -> str:
        """An optional stretch or nothing."""
        inner = found.group(1)
        names = set(SLOT.findall(inner))
        if not all(slots.get(name) for name in names):
            return ""
        return inner if names & forced or chance.random() < OPTION_RATE else ""

    settled = OPTION.sub(keep, choose(pattern, chance))
    return SLOT.sub(lambda found: slots.get(found.group(1), ""), settled)


def pick(
    patterns: list[str], slots: Mapping[str, str], chance: random.Random, forced: Sequence[Set[str]] = ()
) -> str | None:
    """A filled pattern that fits and can tell a slot of every forced group; None if there is none."""
    wanted = [group for group in forced if any(slots.get(name) for name in group)]
    fitting = [
        pattern for pattern in patterns if fits(pattern, slots) and all(offered(pattern) & group for group in wanted)
    ]
    if not fitting:
        return None
    return fill(chance.choice(fitting), slots, chance, frozenset().union(*wanted))
