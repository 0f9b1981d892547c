"""OncoTree, as its nested JSON: tumors by tissue. Codes are no names, for many are symbols of genes."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..files.text_files import json_of
from .terms import Term, Terms, canonical, unique


def read(sources: Sequence[Path]) -> Terms:
    """The nodes of OncoTree files. A tissue is the group of its neoplasms, not the organ that it is named after."""
    found = Terms()
    for path in sources:
        nodes = list(_nodes(json_of(path)))
        if not nodes:
            raise UsageError(f"'{path}' holds no node with a code. Hint: take OncoTree's nested tree")
        for node, parent in nodes:
            if parent is not None:
                found.add(_term(node, parent))
    return found


def _nodes(tree: object) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    """Each node with its parent; the root has none."""
    waiting: collections.deque[tuple[object, Mapping[str, Any] | None]] = collections.deque()
    if isinstance(tree, Mapping):
        waiting.extend((node, None) for node in ([tree] if "code" in tree else tree.values()))
    while waiting:
        node, parent = waiting.popleft()
        if isinstance(node, Mapping) and isinstance(node.get("code"), str):
            yield node, parent
            children = node.get("children")
            below = list(children.values()) if isinstance(children, Mapping) else children
            waiting.extend((child, node) for child in (below if isinstance(below, list) else ()))


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
