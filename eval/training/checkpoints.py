"""Checkpoints of long runs: written whole or not at all, read only by the same run, never run as code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch

from ...kb.errors import UsageError

_IDENTITY: Final = "identity"


def keep(path: Path, identity: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    """Write a checkpoint beside the one of before, then put it in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    torch.save({**state, _IDENTITY: _as_text(identity)}, new)
    new.replace(path)


def kept(path: Path, identity: Mapping[str, Any]) -> dict[str, Any] | None:
    """The state that was kept; None where there is none. UsageError when it cannot be read, or is of another run."""
    if not path.exists():
        return None
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        same = state[_IDENTITY] == _as_text(identity)
    except Exception as error:  # each kind of broken file has its own
        raise UsageError(f"cannot read the checkpoint '{path}'. Hint: remove it to begin anew") from error
    if not same:
        raise UsageError(
            f"'{path}' is of a run with other settings or texts. Hint: those of that run, or another --out"
        )
    return state


def _as_text(identity: Mapping[str, Any]) -> str:
    return json.dumps(identity, sort_keys=True, default=str)
