"""The card of a model for people: what it finds, how well, how sure, what it is not for, and from what it was made.

All of it comes from ``card.json``; what this program does not know of a card's scores and signature is listed as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ....ingest.models.tagging.model_card import ModelCard
from ....ingest.models.tagging.model_directory import ONNX, README

Figures = Mapping[str, Any]

#: The names of networks in the keys of scores (``exact, model.onnx``) for people; none named is the trained one.
_NETWORKS: Final = {ONNX: "onnxruntime, int8", "": "torch, float32", "weights": "torch, float32"}
_MEASURES: Final = {
    "exact": "An entity counts as found when its borders and its type are those of a gold one; the interval is of F1,"
    " 95%, by drawing documents."
}
_SCORED: Final = ("precision", "recall", "f1")
#: Parts of a signature that have a place of their own.
_PLACED: Final = ("command", "base", "settings", "corpora", "epochs", "best_epoch", "seconds", "libraries", "cohortium")
_PARTS: Final = {"train": "training", "dev": "development"}
_LIMITS: Final = (
    "It proposes; it does not know. What it finds is to be looked at, or weighed by its confidence: it is not for"
    " decisions about patients that nobody looks at.",
    "It was measured on the texts named above and on no others. On notes of another kind, specialty, hospital or"
    " language it will be worse, and its confidence may be wrong too: measure it on your own.",
)


def readme_of(card: ModelCard) -> str:
    """A card as Markdown."""
    parts = (_head, _scores, _confidence, _limits, _materials, _making)
    blocks = [block for part in parts for block in part(card)]
    return "\n\n".join(blocks) + "\n"


def _head(card: ModelCard) -> Iterator[str]:
    yield f"# {card.name}"
    if card.description:
        yield card.description
    yield f"A tagger of words for Cohortium. It finds: {', '.join(card.types)}."
    files = [(name, one.bytes) for name, one in sorted(card.files.items()) if name != README]
    if files:
        yield "Files: " + ", ".join(f"`{name}` ({size / 1e6:.1f} MB)" for name, size in files) + "."
    yield "It runs without torch and without a network: `pip install 'cohortium[ner]'`, then, with its folder as DIR,"
    yield (
        "    cohortium ingest NOTES --kb KB --model DIR      # it reads along, and proposes what the rules lack\n"
        "    cohortium eval ner --model DIR --corpus FILE    # how good it is on your texts"
    )
    yield "or in Python `cohortium.ingest.models.tagging.tagger.Tagger.load(DIR).tag(text)`."


# --- scores ----------------------------------------------------------------------------------------------------------


def _scores(card: ModelCard) -> Iterator[str]:
    measures = _by_measure(card.scores)
    others = [(name, _inline(one)) for name, one in card.scores.items() if name != "confidence" and not _is_scores(one)]
    if not measures and not others:
        return
    yield "## Scores"
    sizes = {str(one["name"]): one for one in _corpora(card, "dev")}
    for measure, networks in measures.items():
        if len(measures) > 1:
            yield f"### {measure.capitalize()}"
        if measure in _MEASURES:
            yield _MEASURES[measure]
        names = list(networks)
        yield f"Main figures: {_network(names[0])}, as it is handed on." if names[0] == ONNX else _network_line(names)
        for corpus in dict.fromkeys(name for one in networks.values() for name in one):
            held = {name: one[corpus] for name, one in networks.items() if corpus in one}
            yield f"**{_plain(corpus)}**{_size(sizes.get(corpus))}"
            yield _score_table(held)
    if sizes.keys() & {name for networks in measures.values() for one in networks.values() for name in one}:
        yield (
            "Development documents also chose the epoch and the calibration, so their figures are a little too kind."
        )
    if listed := "\n".join(f"- {_line(name)}: {one}" for name, one in others if one):
        yield listed


def _by_measure(scores: Figures) -> dict[str, dict[str, Figures]]:
    """Measure to network to corpus to figures, the network that is handed on first."""
    found: dict[str, dict[str, Figures]] = {}
    for key, figures in scores.items():
        if _is_scores(figures):
            measure, _, network = key.partition(", ")
            found.setdefault(measure, {})[network] = figures
    return {measure: dict(sorted(one.items(), key=lambda item: item[0] != ONNX)) for measure, one in found.items()}


def _is_scores(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(isinstance(one, Mapping) and isinstance(one.get("micro"), Mapping) for one in value.values())
    )


def _network(name: str) -> str:
    return _NETWORKS.get(name, name)


def _network_line(names: Sequence[str]) -> str:
    return f"Main figures: {_network(names[0])}."


def _size(corpus: Figures | None) -> str:
    if corpus is None:
        return ""
    return f" ({_cell(corpus.get('documents'))} documents, held aside from training)"


def _score_table(held: Mapping[str, Figures]) -> str:
    main, *beside = held
    rows = [[_plain(kind), *_figures(one)] for kind, one in _kinds(held[main])]
    for name in beside:
        others = dict(_kinds(held[name]))
        for row, (kind, _) in zip(rows, _kinds(held[main]), strict=True):
            row.append(_cell(others.get(kind, {}).get("f1")))
    titles = ("type", "precision", "recall", "F1", "interval", "gold entities")
    return _table((*titles, *(f"F1 of {_network(name)}" for name in beside)), rows)


def _kinds(figures: Figures) -> list[tuple[str, Figures]]:
    return [("all", figures["micro"]), *dict(figures.get("by_type") or {}).items()]


def _figures(one: Figures) -> list[str]:
    interval = " to ".join(map(_cell, one.get("ci") or ()))
    gold = one["tp"] + one["fn"] if "tp" in one and "fn" in one else None
    return [*(_cell(one.get(name)) for name in _SCORED), interval, _cell(gold)]


# --- confidence ------------------------------------------------------------------------------------------------------


def _confidence(card: ModelCard) -> Iterator[str]:
    tables = card.scores.get("confidence")
    both = [tables.get(name) for name in ("before", "after")] if isinstance(tables, Mapping) else []
    sides = [one for one in both if isinstance(one, Mapping)]
    whole = len(sides) == 2 and all(sides)
    if not card.calibration and not whole:
        return
    yield "## Confidence"
    if whole:
        way = str(tables.get("way", "")) if tables else ""
        yield (
            "The confidence of an entity is meant to be the share of such entities that is right. Seen on development"
            f" documents{f' (way: {_plain(way)})' if way else ''}, those after calibration judged on documents that it"
            " was not fitted on:"
        )
        rows = [
            [name, _cell(one.get("number")), _cell(one.get("error")), _cell(one.get("brier"))]
            for name, one in zip(("before", "after calibration"), sides, strict=True)
        ]
        yield _table(("", "entities", "expected calibration error", "Brier score"), rows)
        yield _table(
            ("confidence", "before: entities", "mean", "share right", "after: entities", "mean", "share right"),
            _bins(*(one.get("bins") or () for one in sides)),
        )
    if card.calibration:
        yield (
            "Probability under the network → confidence, straight lines between: "
            + ", ".join(f"{raw:.3f} → {sure:.3f}" for raw, sure in card.calibration)
            + "."
        )


def _bins(before: Iterable[Figures], after: Iterable[Figures]) -> Iterator[list[str]]:
    """A row for each range of confidence that either table has."""
    tables = [{(one["low"], one["high"]): one for one in side} for side in (before, after)]
    for low, high in sorted({place for table in tables for place in table}):
        cells = [table.get((low, high), {}).get(name) for table in tables for name in ("number", "confidence", "right")]
        yield [f"{_short(low)} to {_short(high)}", *map(_cell, cells)]


# --- limits, materials, making ---------------------------------------------------------------------------------------


def _limits(card: ModelCard) -> Iterator[str]:
    yield "## What it is for, and what not"
    yield "\n".join(f"- {one}" for one in (*_LIMITS, *card.limits))


def _materials(card: ModelCard) -> Iterator[str]:
    if card.materials:
        yield "## Made from"
        rows = [[_plain(cell) for cell in (one.name, one.use, one.licence, one.source)] for one in card.materials]
        yield _table(("material", "for", "terms", "from"), rows)


def _making(card: ModelCard) -> Iterator[str]:
    signature = card.signature
    if not signature:
        return
    yield "## How it was made"
    if signature.get("command"):
        yield f"    {_line(signature['command'])}"
    bases = [one.name for one in card.materials if one.use == "base" and one.name != signature.get("base")]
    lines = [
        ("Base", ", from ".join([*filter(None, [_line(signature.get("base") or "")]), *bases])),
        ("Settings", signature.get("settings")),
        ("Epochs", _epochs(signature)),
        (
            "Time",
            f"{signature['seconds'] / 60:.0f} minutes" if isinstance(signature.get("seconds"), int | float) else None,
        ),
        ("Versions", {"cohortium": signature.get("cohortium"), **dict(signature.get("libraries") or {})}),
        *((name, one) for name, one in signature.items() if name not in _PLACED),
    ]
    yield "\n".join(f"- {_line(name)}: {shown}" for name, one in lines if (shown := _inline(one)))
    rows = [
        [_plain(one["name"]), _PARTS[part], _cell(one.get("documents")), _cell(one.get("entities")), _sum(one)]
        for part in _PARTS
        for one in _corpora(card, part)
    ]
    if rows:
        yield _table(("corpus", "for", "documents", "labelled spans", "SHA-256 begins"), rows)


def _corpora(card: ModelCard, part: str) -> list[Figures]:
    corpora = card.signature.get("corpora")
    named = corpora.get(part) if isinstance(corpora, Mapping) else None
    return [one for one in named or () if isinstance(one, Mapping) and "name" in one]


def _sum(corpus: Figures) -> str:
    return str(corpus.get("sha256") or "")[:12]


def _epochs(signature: Figures) -> str:
    """Each epoch with its loss and score, the one that was kept in bold."""
    shown = []
    for one in signature.get("epochs") or ():
        if isinstance(one, Mapping) and {"number", "loss", "f1"} <= one.keys():
            number = f"**{one['number']}**" if one["number"] == signature.get("best_epoch") else str(one["number"])
            shown.append(f"{number} (loss {_cell(one['loss'])}, F1 {_cell(one['f1'])})")
    return ", ".join(shown) + ("; the bold one is kept" if shown else "")


# --- cells -----------------------------------------------------------------------------------------------------------


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] + ["---:"] * (len(titles) - 1) if "F1" in titles else ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _inline(value: Any) -> str:
    """Any value of a signature on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{_line(name)} {_inline(one)}" for name, one in value.items() if one is not None)
    if isinstance(value, list | tuple):
        return ", ".join(map(_inline, value))
    return _short(value) if isinstance(value, float) else "" if value is None else _line(value)


def _cell(value: Any) -> str:
    """Measures with three places, whole numbers with commas, nothing for none."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}" if isinstance(value, float) else _plain(value)


def _short(value: float) -> str:
    return f"{value:.6g}"


def _line(value: Any) -> str:
    return " ".join(str(value).split())


def _plain(value: Any) -> str:
    """On one line, and no end of a cell."""
    return _line(value).replace("|", "\\|")
