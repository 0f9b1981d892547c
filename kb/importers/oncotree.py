"""OncoTree, as its nested JSON: tumors by tissue. Codes are no names, for many are symbols of genes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .terms import Term, Terms, canonical, lines_of, unique


def read(sources: Sequence[Path]) -> Terms:
    """The nodes of OncoTree files. A tissue is the group of its neoplasms, not the organ that it is named after."""
    found = Terms()
    for path in sources:
        try:
            tree = json.loads("\n".join(lines_of(path)))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"'{path}' is no JSON. Hint: take OncoTree's nested tree") from error
        nodes = list(_nodes(tree))
        if not nodes:
            raise UsageError(f"'{path}' holds no node with a code. Hint: take OncoTree's nested tree")
        for node, parent in nodes:
            if parent is not None:
                found.add(_term(node, parent))
    return found


def _nodes(tree: object) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    """Each node with its parent; the root has none."""
    waiting: list[tuple[object, Mapping[str, Any] | None]] = []
    if isinstance(tree, Mapping):
        waiting = [(tree, None)] if "code" in tree else [(node, None) for node in tree.values()]
    while waiting:
        node, parent = waiting.pop(0)
        if isinstance(node, Mapping) and isinstance(node.get("code"), str):
            yield node, parent
            children = node.get("children")
            below = children.values() if isinstance(children, Mapping) else children or ()
            waiting.extend((child, node) for child in below)


def _term(node: Mapping[str, Any], parent: Mapping[str, Any]) -> Term:
    name = str(node.get("name") or "")
    is_tissue = parent.get("parent") is None
    references = node.get("externalReferences")
    ncit = references.get("NCI") if isinstance(references, Mapping) else None
    ncit = ncit if isinstance(ncit, list) else []
    older = [f"ONCOTREE:{code}" for code in node.get("history") or ()]
    return Term(
        f"ONCOTREE:{node['code']}",
        f"{name} neoplasm" if is_tissue else name,
        (),
        () if is_tissue else (f"ONCOTREE:{parent['code']}",),
        # Codes of a tissue are those of the organ, and several codes of one node are not all of them its own.
        unique((*older, *(canonical(f"NCIT:{code}") for code in ncit if len(ncit) == 1 and not is_tissue))),
        "tumor",
    )
