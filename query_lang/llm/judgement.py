"""What is made of two readings of one question, a model's and the one by rules: agreement answers, difference asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..nodes import Query
from .agreement import agree
from .translator import ModelReading

#: How far a model's query is trusted that nothing confirms, and what is taken off when it needed a repair, or used
#: names that no word of the question names. They order answers, and are no measured shares.
_ALONE: Final = 0.7
_REPAIRED: Final = 0.1
_ASSUMED: Final = 0.2


@dataclass(frozen=True, slots=True)
class RuleReading:
    """What the translator by rules made of the question.

    One query in ``readings`` is its answer, several are readings between which it does not choose, none is a refusal
    for ``reason``. ``unclear`` is true when it refused since the question itself has no exact meaning, false when there
    were only words that it does not know.
    """

    readings: tuple[Query, ...] = ()
    reason: str = ""
    unclear: bool = False
    confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """``query`` is answered; without one, ``readings`` are offered to the asker, and ``reason`` says why.

    ``note`` is what the asker should know of an answer: that the model was not heard, or took names for granted.
    """

    query: Query | None = None
    readings: tuple[Query, ...] = ()
    reason: str = ""
    note: str = ""
    confidence: float = 0.0


def judge(model: ModelReading, rules: RuleReading) -> Judgement:
    """The answer, if both agree or only one can read the question and the other does not call it unclear.

    A model that gave no usable answer does not count, and the reading by rules stands alone. What the rules call
    unclear, or the model, is not answered, whatever the other made of it.
    """
    offered = _distinct((*rules.readings, *(() if model.query is None else (model.query,))))
    if model.failed:
        return _by_rules(model, rules)
    if rules.unclear:
        return Judgement(readings=offered, reason=rules.reason)
    if model.query is None or model.unread or model.unclear:
        return Judgement(readings=offered, reason=f"the model says: {model.reason}")
    if len(offered) > 1:
        reason = rules.reason if len(rules.readings) > 1 else ""
        return Judgement(readings=offered, reason=reason or "the model and the rules read the question differently")
    trust = _ALONE - _REPAIRED * model.repaired - _ASSUMED * bool(model.assumed)
    if rules.readings:
        return Judgement(rules.readings[0], offered, confidence=1 - (1 - trust) * (1 - rules.confidence))
    return Judgement(model.query, offered, note=_assumed(model), confidence=trust)


def _by_rules(model: ModelReading, rules: RuleReading) -> Judgement:
    if not rules.readings:
        reasons = [reason for reason in (model.reason, rules.reason) if reason]
        return Judgement(reason="; ".join(reasons))
    if len(rules.readings) > 1:
        return Judgement(readings=rules.readings, reason=rules.reason, note=model.reason)
    return Judgement(rules.readings[0], rules.readings, note=model.reason, confidence=rules.confidence)


def _assumed(model: ModelReading) -> str:
    if not model.assumed:
        return ""
    return (
        f"no word of the question names {', '.join(repr(name) for name in model.assumed)}: the model took it for meant"
    )


def _distinct(queries: tuple[Query, ...]) -> tuple[Query, ...]:
    kept: list[Query] = []
    for query in queries:
        if not any(agree(query, other) for other in kept):
            kept.append(query)
    return tuple(kept)
