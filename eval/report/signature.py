"""The signature by which a score can be had again: versions, hashes of data, seed, command; as data and as one line."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from ...kb.version import __version__
from .command import without_places

#: Characters of a hash that the line shows; the data hold all of them.
_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Signature:
    """What a score depends on. ``data``: a name (corpus, labels, questions) to a SHA-256; ``settings``: whatever else.

    Two scores with one signature are the same score.
    """

    command: str
    seed: int
    versions: Mapping[str, str]
    data: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As JSON, with the line."""
        return {"line": self.line, **asdict(self)}

    @property
    def line(self) -> str:
        """One line of ``name:value`` parts between bars: settings, seed, data (their hashes cut), versions.

        The form is that of sacrebleu (M. Post, A Call for Clarity in Reporting BLEU Scores, 2018). The command is
        left out, since a line must not be longer than a line.
        """
        parts = {
            **{name: str(one) for name, one in self.settings.items() if not isinstance(one, Mapping | list | tuple)},
            "seed": str(self.seed),
            **{name: digest[:_SHOWN] for name, digest in self.data.items()},
            **self.versions,
        }
        return "|".join(f"{_part(name)}:{_part(one)}" for name, one in parts.items())


def sign(
    seed: int,
    *,
    libraries: Iterable[str] = (),
    data: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Signature:
    """The signature of what runs now, by the command that was given."""
    return Signature(command_line(), seed, versions(libraries), dict(data or {}), dict(settings or {}))


def versions(libraries: Iterable[str] = ()) -> dict[str, str]:
    """Of Cohortium, Python, NumPy, and those of the ``libraries`` (names of distributions) that are installed."""
    known = {"cohortium": __version__, "python": platform.python_version()}
    for name in ("numpy", *libraries):
        try:
            known[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return known


def command_line(*program: str) -> str:
    """The command as it was given, without where on this machine the interpreter and the files lie.

    ``program``: the words by which a script is called elsewhere, where they are not its name.
    """
    name = Path(sys.argv[0]).name
    return without_places([*(program or ("cohortium" if name == "__main__.py" else name,)), *sys.argv[1:]])


def sha256_of(texts: Iterable[str]) -> str:
    """The hash of texts in their order; where one ends and the next begins counts, too."""
    total = hashlib.sha256()
    for text in texts:
        data = text.encode()
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()


def _part(text: str) -> str:
    """Without the two characters that set parts apart, so that a line can be taken apart again."""
    return text.replace("|", "/").replace(":", ";")
