"""Coverage-guided fuzzing of the language with atheris (optional: pip install atheris).

    python -m benchmarks.engine.fuzz_language soup --seconds 120

Targets: ``text`` (any bytes as text), ``soup`` (the words of the language in any order), ``mutated`` (real queries with
pieces changed), ``english`` (questions, changed), ``circe`` (cohort definitions, changed). Each execution goes through
the whole pipeline (see ``fuzzed_texts.py``); a crash, an error that is not ours, or an answer out of proportion stops
the run with the text that made it, and tells how far the executions before it came. The last lines are atheris's own.
"""

from __future__ import annotations

import argparse
import atexit
import sys
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Final

LONGEST_TEXT: Final = 2_000


def main() -> int:
    """Run one target; 0 when nothing was found, or when atheris is not installed."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("target", choices=("text", "soup", "mutated", "english", "circe"))
    options.add_argument("--seconds", type=int, default=60)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    try:
        import atheris
    except ImportError:
        print("skipped: atheris is not installed (pip install atheris)")
        return 0
    with atheris.instrument_imports(include=["cohortium.query_lang"]):
        from tests.generated import fuzzed_texts as fuzzed

    def drawn(data: bytes) -> Random:
        return Random(data)

    targets: dict[str, Callable[[bytes], str]] = {
        "text": lambda data: fuzzed.run_query(data.decode("utf-8", "replace")[:LONGEST_TEXT]),
        "soup": lambda data: fuzzed.run_query(_words_of(data, fuzzed.words())),
        "mutated": lambda data: fuzzed.run_query(fuzzed.mutated(drawn(data), fuzzed.seeds())[:LONGEST_TEXT]),
        "english": lambda data: fuzzed.run_question(fuzzed.mutated(drawn(data), fuzzed.questions())[:LONGEST_TEXT]),
        "circe": lambda data: fuzzed.run_document(fuzzed.mutated_document(drawn(data))),
    }
    run = targets[chosen.target]
    fuzzed.ontology()[0].nearest("warm up")
    came: Counter[str] = Counter()

    def one(data: bytes) -> None:
        came[run(data)] += 1

    def tell() -> None:
        print(f"{chosen.target}: {came.total()} executions: {dict(sorted(came.items()))}", file=sys.stderr, flush=True)

    atexit.register(tell)
    limits = [f"-max_total_time={chosen.seconds}", f"-seed={chosen.seed}", "-max_len=300", "-timeout=120"]
    atheris.Setup([sys.argv[0], *limits, "-rss_limit_mb=3000", "-print_final_stats=1"], one)
    atheris.Fuzz()
    return 0


def _words_of(data: bytes, words: tuple[str, ...]) -> str:
    """Two bytes a word, so that the fuzzer can change one word and keep the others."""
    chosen = [words[int.from_bytes(data[at : at + 2], "big") % len(words)] for at in range(0, len(data) - 1, 2)]
    return " ".join(chosen)[:LONGEST_TEXT]


if __name__ == "__main__":
    sys.exit(main())
