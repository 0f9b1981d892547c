"""The phrases about a tumor itself (``features.toml``): what each is, a margin's put together of its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def feature_entries(features: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Mapping[str, object]]]:
    """The phrases of ``features.toml``: forms, the type of chunk, its value, and what else is said of it."""
    for value, forms in features["named"].items():
        yield forms, "feature", value, {}
    for section, type_ in (("larger", "comparison"), ("larger_behind", "comparison_after")):
        for feature, operators in features[section].items():
            for operator, forms in operators.items():
                yield forms, type_, operator, {"of": feature}
    for value, forms in features["structures"].items():
        yield forms, "structure", value, {}
    for section in ("dimension", "growth", "growth_behind", "known"):
        for value, forms in features[section].items():
            yield forms, section, value, {}
    margins = features["margins"]
    names, which = ([form.strip() for form in margins[part].split("|")] for part in ("names", "which"))
    for one in ("", *which):
        called = [f"{one} {name}".strip() for name in names]
        data = {"which": one}
        yield " | ".join(called), "margin", "", data
        for result, words in margins["said"].items():
            for word in words.split("|"):
                said = word.strip()
                forms = [f"{said} {name} | {name} {said} | {name} is {said} | {name} are {said}" for name in called]
                yield " | ".join(forms), "margin", result, data
