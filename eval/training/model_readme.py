"""The card of a model for people: what it finds, how well, how sure, from what it was made, on which terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...ingest.tagging.model_card import ModelCard

_MEASURES = ("precision", "recall", "f1", "ci")


def readme_of(card: ModelCard) -> str:
    """A card as Markdown. Scores are shown as they stand in it, tables where they have precision, recall and F1."""
    lines = [f"# {card.name}", "", *([card.description, ""] if card.description else [])]
    lines += [
        f"A tagger of words for Cohortium. It finds: {', '.join(card.types)}.",
        "",
        "Use it: `cohortium eval ner --model DIR --corpus FILE`, or in Python",
        "`cohortium.ingest.tagging.tagger.Tagger.load(DIR).tag(text)`. It runs without torch (`pip install"
        " 'cohortium[ner]'`).",
        "",
        "It proposes; it does not know. It was measured on the texts named below and on no others.",
        "",
    ]
    if card.scores:
        lines += ["## Scores", "", *_told(card.scores), ""]
    if card.calibration:
        lines += [
            "## Confidence",
            "",
            "The probability of an entity under the model, and the confidence that it is given:",
            "",
            "| probability | confidence |",
            "| --- | --- |",
            *(f"| {raw:.3f} | {sure:.3f} |" for raw, sure in card.calibration),
            "",
        ]
    if card.materials:
        lines += ["## Made from", "", "| | terms | from | for |", "| --- | --- | --- | --- |"]
        lines += [f"| {one.name} | {one.licence} | {one.source} | {one.use} |" for one in card.materials]
        lines.append("")
    if card.signature:
        lines += ["## Made by", "", *_told(card.signature), ""]
    return "\n".join(lines).rstrip() + "\n"


def _told(told: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """Nested values as lists; those that are all measures as one table."""
    rows = {name: one for name, one in told.items() if isinstance(one, Mapping) and "f1" in one}
    if rows:
        yield from _table(rows)
    for name, value in told.items():
        if name in rows:
            continue
        if isinstance(value, Mapping) and value:
            if depth < 2:
                yield f"- {name}:"
                yield ""
                yield from (f"  {line}" if line else "" for line in _told(value, depth + 1))
                yield ""
            else:
                yield f"- {name}: {', '.join(f'{key} {_cell(one)}' for key, one in value.items())}"
        else:
            yield f"- {name}: {_cell(value)}"


def _table(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield "| | precision | recall | F1 | 95% interval |"
    yield "| --- | --- | --- | --- | --- |"
    for name, one in rows.items():
        yield f"| {name} | {' | '.join(_cell(one.get(measure)) for measure in _MEASURES)} |"
    yield ""


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".") if abs(value) < 1000 else f"{value:.0f}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_cell, value))
    return "" if value is None else str(value)
