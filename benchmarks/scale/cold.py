"""A process that opens a knowledge base and answers queries for the first time; its times and memory as JSON.

    echo '["medication cisplatin"]' | python -m benchmarks.scale.cold KB

Cold is the process, not the disk: what the operating system holds of the files, it holds.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path


def peak_memory() -> int:
    """Bytes that this program held at most. What the system tells a process of its use begins with what its parent
    held when it was made, so that Linux is asked of the program alone."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Import, open, then each query of the list on standard input twice."""
    texts = json.load(sys.stdin)
    begun = time.perf_counter()
    import cohortium

    imported = time.perf_counter()
    kb = cohortium.open(sys.argv[1])
    opened = time.perf_counter()
    rows = []
    for text in texts:
        before = time.perf_counter()
        count = len(kb.find(text))
        between = time.perf_counter()
        len(kb.find(text))
        rows.append(
            {
                "text": text,
                "count": count,
                "first_ms": round((between - before) * 1000, 3),
                "again_ms": round((time.perf_counter() - between) * 1000, 3),
            }
        )
    kb.close()
    told = {
        "import_ms": round((imported - begun) * 1000, 3),
        "open_ms": round((opened - imported) * 1000, 3),
        "queries": rows,
        "peak_memory_bytes": peak_memory(),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
