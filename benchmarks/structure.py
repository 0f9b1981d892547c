"""The plan of the house: by top folder its rooms, floors and arrows, and its lines.

    python -m benchmarks.structure [--root OTHER/CHECKOUT]

A room is a file or folder right below a top folder; an arrow runs from a room to one that it imports, wherever in a
file the import stands. A room stands on the floor above all that it imports; rooms on one circle share a floor.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Mapping
from pathlib import Path

import networkx

from tests.places import ROOT

TOP = ("kb", "ingest", "query_lang", "engine", "eval")


def arrows(root: Path, top: str) -> dict[str, set[str]]:
    """Each room of a top folder with the rooms of the same folder that it imports."""
    found: dict[str, set[str]] = {}
    for path in sorted((root / top).rglob("*.py")):
        inside = path.relative_to(root / top).with_suffix("").parts
        if inside == ("__init__",):
            continue
        targets = found.setdefault(inside[0], set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                stem = [top, *inside][: -node.level] + (node.module or "").split(".")
                for alias in node.names:
                    whole = [part for part in [*stem, alias.name] if part]
                    if whole[0] == top and len(whole) > 1 and whole[1] != inside[0]:
                        targets.add(whole[1])
    return {room: {target for target in targets if target in found} for room, targets in found.items()}


def floors(rooms: Mapping[str, set[str]]) -> tuple[int, int]:
    """The number of floors, and of rooms that are on a circle."""
    graph = networkx.DiGraph([(room, target) for room, targets in rooms.items() for target in targets])
    graph.add_nodes_from(rooms)
    plan = networkx.condensation(graph)
    circles = [plan.nodes[one]["members"] for one in plan if len(plan.nodes[one]["members"]) > 1]
    return networkx.dag_longest_path_length(plan) + 1, sum(map(len, circles))


def main() -> None:
    """Print the plan."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT)
    root: Path = parser.parse_args().root
    for top in TOP:
        rooms = arrows(root, top)
        high, circling = floors(rooms)
        lines = sum(path.read_text(encoding="utf-8").count("\n") for path in (root / top).rglob("*.py"))
        drawn = sum(map(len, rooms.values()))
        print(
            f"{top:10} {len(rooms):3} rooms {high:3} floors {drawn:4} arrows {circling:2} on a circle {lines:6} lines"
        )


if __name__ == "__main__":
    main()
