"""Knowledge bases that were tampered with by somebody who tells the digests anew: what no digest can find."""

from __future__ import annotations

from pathlib import Path

from cohortium.kb.storage.digests import MANIFEST, manifest_bytes, read_manifest, write_digests
from cohortium.kb.storage.layout import FILES, Layout, canonical_json


def tell_digests(kb: Path, **entries: object) -> None:
    """Tell the digests of the current generation's files as they are now, with other entries in the manifest."""
    layout = Layout(kb)
    folder = layout.generation(str(layout.current()))
    told, _ = read_manifest((folder / MANIFEST).read_bytes())
    text = canonical_json({**told, FILES: write_digests(folder, folder), **entries})
    (folder / MANIFEST).write_bytes(manifest_bytes(text))
