"""The judgement on two readings of one question, a model's and the one by rules: agreement answers, difference asks."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..canonical import same_question
from ..english.translate import Reading, Translation
from .translator import ModelReading

#: How far a model's query is trusted that nothing confirms, and what is taken off when it needed a repair, or used
#: names that no word of the question names. They order answers, and are no measured shares.
_ALONE: Final = 0.7
_REPAIRED: Final = 0.1
_ASSUMED: Final = 0.2


def judge(model: ModelReading, rules: Translation) -> Translation:
    """The answer, if both agree, or if one can read the question and the other does not call it unclear.

    A model that gave no usable answer does not count, and the translation by rules stands alone, with a note. What the
    rules call unclear, or the model, is not answered, whatever the other made of it.
    """
    if model.failed:
        return _by_rules(model, rules)
    offered = _distinct((*rules.readings, *_reading(model)))
    if not rules.readings and not rules.unknown:
        return _declined(rules, offered, rules.reason)
    if model.query is None or model.unread or model.unclear:
        unread = (*model.unclear, *model.unread)
        return _declined(replace(rules, unread=unread), offered, f"the model says: {model.reason}")
    if len(offered) > 1:
        reason = rules.reason if len(rules.readings) > 1 else "the model and the rules read the question differently"
        return replace(rules, readings=offered, unread=(), reason=reason, confidence=_shared(model, offered))
    trust = _trust(model)
    if rules.readings:
        sure = 1 - (1 - trust) * (1 - rules.confidence)
        return replace(rules, readings=offered, unread=(), reason="", confidence=round(sure, 3))
    return replace(rules, readings=offered, unread=(), reason="", note=_assumed(model), confidence=trust)


def _by_rules(model: ModelReading, rules: Translation) -> Translation:
    if rules.readings:
        return replace(rules, note=f"read by rules alone, since {model.reason}")
    return replace(rules, reason="; ".join(reason for reason in (rules.reason, model.reason) if reason))


def _declined(rules: Translation, offered: tuple[Reading, ...], reason: str) -> Translation:
    """No answer. A single reading would be one, so it is only told; several are offered."""
    if len(offered) == 1:
        return replace(rules, readings=(), reason=f"{reason} (what was read: {offered[0].text})", confidence=0.0)
    return replace(rules, readings=offered, reason=reason, confidence=0.0)


def _trust(model: ModelReading) -> float:
    return round(_ALONE - _REPAIRED * model.repaired - _ASSUMED * bool(model.assumed), 3)


def _shared(model: ModelReading, offered: tuple[Reading, ...]) -> float:
    return round(_trust(model) / len(offered), 3)


def _assumed(model: ModelReading) -> str:
    if not model.assumed:
        return ""
    return (
        f"no word of the question names {', '.join(repr(name) for name in model.assumed)}: the model took it for meant"
    )


def _reading(model: ModelReading) -> tuple[Reading, ...]:
    return () if model.query is None else (Reading(model.query, model.text, model.says),)


def _distinct(readings: tuple[Reading, ...]) -> tuple[Reading, ...]:
    kept: list[Reading] = []
    for reading in readings:
        if not any(same_question(reading.query, other.query) for other in kept):
            kept.append(reading)
    return tuple(kept)
