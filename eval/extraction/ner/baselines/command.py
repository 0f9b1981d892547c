"""The command ``eval ner-baseline``: a baseline of the NeuroTrialNER paper asked, written down and scored."""

from __future__ import annotations

import enum
import tempfile
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from .....kb.errors import UsageError
from .....kb.skin.options import FormatOption, OutOption
from .....kb.skin.terminal import Format, answer, check_output, print_csv
from ....report.command import SeedOption
from ..command import COLUMNS, print_scores, rows_of
from ..documents import Corpus, read_corpus
from .contract import Baseline, write_predictions

PROMPTS: Final = "v1"


class Name(enum.StrEnum):
    """The baselines."""

    DICTIONARY = "dictionary"
    AACT = "aact"
    LLM = "llm"


# Each parameter of a command is an option of it.
def ner_baseline(
    baseline: Annotated[
        Name,
        typer.Argument(
            help="dictionary: words and pairs of words of the corpus's lists. aact: the registry's own fields. llm: the"
            " chat model of COHORTIUM_LLM_BASE_URL, without training: SENDS THE TEXTS to it, which"
            " COHORTIUM_LLM_SEND_NOTES=yes must allow."
        ),
    ],
    corpus: Annotated[Path, typer.Option("--corpus", help="The annotated trials, as for 'eval ner'.")],
    predictions_out: Annotated[
        Path | None, typer.Option("--predictions-out", metavar="CSV", help="Keep the predictions here.")
    ] = None,
    terminology: Annotated[
        Path | None,
        typer.Option("--terminology", metavar="DIR", help="The corpus's lists of names, as for 'eval ner'."),
    ] = None,
    aact: Annotated[
        Path | None, typer.Option("--aact", metavar="DIR", help="With aact: the folder of its pipe-separated export.")
    ] = None,
    mesh: Annotated[bool, typer.Option("--mesh", help="With aact: the MeSH terms of conditions as well.")] = False,
    prompts: Annotated[
        str, typer.Option(metavar="v1|v2|guideline", help="With llm: which prompts; the paper has two sets.")
    ] = PROMPTS,
    answers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With llm: keep the answers here; what is kept is not asked again."),
    ] = None,
    requests: Annotated[int | None, typer.Option(min=0, help="With llm: send no more requests than these.")] = None,
    tokens: Annotated[int | None, typer.Option(min=0, help="With llm: spend no more tokens than these.")] = None,
    seed: SeedOption = 0,
    output: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Score a baseline of the NeuroTrialNER paper: look-up, registry columns, or a chat model without training."""
    from ..run import score_predictions

    check_output(output, out, rows=True)
    foreign = _foreign(baseline, aact=aact, mesh=mesh, prompts=prompts != PROMPTS, answers=answers)
    foreign = foreign or _foreign(baseline, requests=requests is not None, tokens=tokens is not None)
    if foreign:
        raise UsageError(f"{foreign} is of no use with '{baseline}'. Hint: leave it out")
    known = read_corpus(corpus)
    asked: Baseline
    if baseline is Name.DICTIONARY:
        asked = _dictionary(corpus, terminology)
    elif baseline is Name.AACT:
        asked = _registry(known, aact, mesh)
    else:
        asked = _chat(prompts, answers, requests, tokens)
    with tempfile.TemporaryDirectory() as kept:
        path = predictions_out or Path(kept) / f"{baseline}.csv"
        write_predictions(path, asked, known.documents.values())
        scores = score_predictions(corpus, path, terminology=terminology, seed=seed)
    scores["baseline"] = dict(asked.description())
    scores["signature"] |= {
        name: scores["baseline"][name] for name in ("baseline", "model", "prompts") if name in scores["baseline"]
    }
    rows = rows_of(scores)
    answer(
        scores,
        output=output,
        out=out,
        as_table=lambda: _print(scores, rows),
        as_csv=lambda: print_csv(COLUMNS, rows),
    )


def _foreign(baseline: Name, **given: object) -> str:
    """The first option that was given and is of another baseline; empty where there is none."""
    own = {Name.DICTIONARY: (), Name.AACT: ("aact", "mesh"), Name.LLM: ("prompts", "answers", "requests", "tokens")}
    return next((f"--{name}" for name, value in given.items() if value and name not in own[baseline]), "")


def _dictionary(corpus: Path, terminology: Path | None) -> Baseline:
    from ..terminology import find_folder, no_terminology, read_terminology
    from .dictionary import Dictionary

    folder = terminology or find_folder(corpus)
    return Dictionary(no_terminology() if folder is None else read_terminology(folder))


def _registry(known: Corpus, aact: Path | None, mesh: bool) -> Baseline:
    from .aact import read_export

    if aact is None:
        raise UsageError("the baseline 'aact' needs an export of the registry. Hint: --aact DIR")
    return read_export(aact, list(known.documents), mesh)


def _chat(prompts: str, answers: Path | None, requests: int | None, tokens: int | None) -> Baseline:
    from .....kb.endpoint.asking import Asking, Budget
    from .....kb.endpoint.kept import KeptAnswers
    from .....kb.endpoint.settings import check_leave, from_environment
    from .zero_shot import ZeroShot, prompts_of, temperature

    prompts_of(prompts)
    settings = from_environment(hint="see docs/guide/llm.md, or take another baseline")
    check_leave(page="docs/reference/ner_scores.md")
    asking = Asking(settings, KeptAnswers(answers), Budget(requests, tokens), temperature=temperature())
    return ZeroShot(asking, prompts)


def _print(scores: dict[str, Any], rows: list[list[Any]]) -> None:
    print_scores(scores, rows)
    given = scores["baseline"]
    if "cost" in given:
        from .....kb.endpoint.asking import spending_line

        failed = sum(given["questions_failed"].values())
        print(f"{given['questions']:,} questions, {failed:,} failed and scored as nothing found")
        print(f"{given['names']:,} names, {given['names_not_in_text']:,} of them not in their text")
        print(spending_line(given["cost"]))
    if "abstracts_not_in_export" in given:
        left_out = ", ".join(f"{number} {why}" for why, number in given["rows_left_out"].items())
        print(f"{given['rows']:,} rows of {given['trials']:,} trials; left out: {left_out or 'none'}")
        print(f"{given['abstracts_not_in_export']:,} abstracts that the export has not")
