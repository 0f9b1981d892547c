"""Criteria and joining words to one criterion: lists, negation, exceptions, time, and what is said of one tumor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from . import book
from .chunks import Chunk, Criterion, Unclear
from .lists import ListReader
from .terms import either
from .whole import Group, by_protein, diagnosis, other_than

_LINKS: Final = frozenset({"comma", "and", "or", "and_or", "slash", "nor", "semicolon", "open", "close", "either"})
_SAME: Final = {"extent": "finding", "in_situ": "in_situ"}
_TUMOR_SORTS: Final = frozenset({"disease", "extent", "finding", "treatment"})
_HAEMATOLOGICAL: Final = "haematological_malignancy"


@dataclass
class Parser(ListReader):
    """Reads the items of a question from left to right into groups."""

    def read(self) -> list[Group]:
        """The groups of the whole question."""
        while self.at < len(self.items):
            item = self.items[self.at]
            if isinstance(item, Criterion):
                self._list(negated=False, head="any_of" if self._any_of else "")
                self._any_of = False
                continue
            if item.is_join("not", "exclude", "neither"):
                self._negated(item)
                continue
            if item.is_join("any_of"):
                self._any_of = self._criterion_ahead()
            elif item.is_join("except"):
                self._exception()
                continue
            elif item.is_join("or", "and_or", "slash"):
                self._or_open = bool(self.groups) and self._criterion_ahead()
                if self._or_open:
                    self._alternative(item)
                    continue
            elif item.is_join("treat"):
                self._treated(item)
            elif item.is_join("semicolon") and not self._headed(self.at):
                self._any_of = False
            elif item.is_join("since", "until", "another", "nor"):
                raise Unclear(f"what '{item.text}' relates to", (item.text,), unknown=True)
            self.at += 1
        lost = [item for item in self.items if isinstance(item, Criterion) and item.start not in self._used]
        if lost:
            raise Unclear("what belongs together in the question", tuple(one.text for one in lost if one.text))
        return self.groups

    def _treated(self, item: Chunk) -> None:
        """A word for being treated needs a treatment beside it."""
        later = [one for one in self.items[self.at + 1 :] if isinstance(one, Criterion)]
        before = self.groups[-1].sort if self.groups else ""
        named = before == "treatment" or any(one.sort == "treatment" or one.kind == "timed" for one in later)
        # "Treated for breast cancer", "a previous stroke": nothing is named, and nothing is missing.
        told = item.text.lower() in book.listed("nothing_missing") and bool(later)
        if not named and not told:
            raise Unclear(f"which treatment: '{item.text}' names none", (item.text,))

    def _headed(self, at: int) -> bool:
        """Whether the mark stands right after the head of a list: ``One of: (a) …``."""
        while at > 0 and self._joins(at - 1, "colon", "semicolon", "comma"):
            at -= 1
        return self._joins(at - 1, "any_of")

    def _criterion_ahead(self) -> bool:
        return any(isinstance(item, Criterion) for item in self.items[self.at :])

    def _alternative(self, item: Chunk) -> None:
        """``A or B`` of two different sorts: clear only when nothing else is said."""
        rest = [one for one in self.items[self.at :] if isinstance(one, Criterion)]
        if (
            len(self.groups) == 1
            and len(rest) == 1
            and not any(
                isinstance(one, Chunk) and one.is_join("not", "exclude", "except", "neither") for one in self.items
            )
        ):
            self.at = len(self.items)
            self._use(rest[0])
            query = either([self.groups[0].query, rest[0].query])
            self.groups = [Group("patient", query, members=(*self.groups[0].members, rest[0]))]
            return
        raise Unclear("what the 'or' joins: write the alternatives next to each other, after 'one of:'", (item.text,))

    # --- denial and exception ---------------------------------------------------------------------------------

    def _negated(self, item: Chunk) -> None:
        head = "exclude" if item.value in ("exclude", "neither") else "not"
        if item.text.lower().startswith(("exclusion", "not eligible", "ineligible")):
            head = "exclusion"
        self.at += 1
        self._free_of = item.text.lower() in book.listed("free_of")
        start = self.at
        while self._joins(
            self.at, "with", "colon", "any_of", "treat", "open", "comma", "both", "not", "neither", "and"
        ):
            if self._joins(self.at, "comma") and self._joins(self.at - 1, "treat"):
                raise Unclear(f"what '{item.text}' denies", (item.text,))
            self.at += 1
        self._inside = any(self._joins(at, "open") for at in range(start, self.at))
        criterion = self._criterion(self.at)
        treated = any(self._joins(at, "treat") for at in range(start, self.at))
        if treated and criterion is not None and criterion.sort == "disease":
            # "Never treated for their leukemia": the disease is not what is denied.
            raise Unclear(f"which treatment '{item.text}' denies", (item.text,))
        if criterion is None:
            if head != "not" or not self._criterion_ahead():
                raise Unclear(f"what '{item.text}' denies", (item.text,))
            raise Unclear(f"what '{item.text}' denies", (item.text,))
        if criterion.kind == "timed" and "reason =" in criterion.query:
            raise Unclear(f"whether the reason is that of what '{item.text}' denies", (item.text,))
        if criterion.kind == "regimen" and any(one in f" {criterion.text} " for one in (" and ", " & ", " plus ")):
            raise Unclear(f"whether each of '{criterion.text}' is denied, or only having both", (criterion.text,))
        if criterion.sort == "in_situ" or self._takes_away(criterion, item):
            self._exception()
            return
        if item.text.lower() in ("not", "are not", "is not", "not a") and not self.groups:
            self._only_one(item)
        self._list(negated=True, head=head, wide=True)

    def _only_one(self, item: Chunk) -> None:
        """A bare ``not`` before a list may deny its first member or all."""
        at, count = self.at, 0
        while (element := self._element(at)) is not None:
            count += 1
            link, at = self._link(element[1], "not")
            if link != "or":
                break
        if count > 1:
            raise Unclear("what 'not' denies: write 'none of' or 'neither … nor'", (item.text,))

    def _takes_away(self, criterion: Criterion, item: Chunk) -> bool:
        """``any systemic therapy, excluding EGFR inhibitors``: concepts are taken away, not patients."""
        if not self.groups or self.groups[-1].negated:
            return False
        last = self.groups[-1].members
        if not last or item.value == "neither" and criterion.kind != "variant":
            return False
        base = last[-1]
        if base.kind == "variant" and criterion.kind == "variant":
            return set(criterion.ids) <= set(base.ids) and "same event" in base.query
        if base.sort == criterion.sort == "treatment" and item.value == "not" and self._below(criterion, base):
            # "surgery but not mastectomy": another operation, or none of that kind?
            return self.chooser.choose("one of another kind", "none of that kind") == 0
        if base.sort == criterion.sort == "treatment" and item.value == "exclude":
            people = set(item.text.lower().split()) & set(book.data("words")["people"]["words"].split())
            return not people and base.kind == criterion.kind and bool(base.ids and criterion.ids)
        if base.sort == criterion.sort == "disease" and item.value == "exclude" and len(self.groups) == 1:
            return bool(base.ids) and all(
                any(self.concepts.related(one, other) for other in base.ids) for one in criterion.ids
            )
        return False

    def _below(self, narrow: Criterion, wide: Criterion) -> bool:
        return bool(narrow.ids and wide.ids) and all(
            one not in wide.ids and any(self.concepts.is_a(one, other) for other in wide.ids) for one in narrow.ids
        )

    def _exception(self) -> None:
        """What is taken away from the list before: concepts of it, or changes of its genes."""
        while self._joins(self.at):
            self.at += 1
        if not self.groups or self.groups[-1].negated or not self.groups[-1].members:
            raise Unclear("from what the exception is made")
        excluded: list[Criterion] = []
        while (criterion := self._criterion(self.at)) is not None:
            excluded.append(criterion)
            self._use(criterion)
            link, following = self._link(self.at + 1, "any_of")
            while self._joins(following, "not", "except", "nor", "exclude", "with"):
                following += 1
            other = self._criterion(following)
            if not link or other is None or other.sort != criterion.sort:
                self.at += 1
                break
            self.at = following
        if not excluded:
            raise Unclear("what the exception is")
        group = self.groups[-1]
        at = len(self.groups) - 1
        if excluded[0].sort == "in_situ":
            at = max((n for n, one in enumerate(self.groups) if one.sort == "disease" and not one.negated), default=-1)
            if at < 0:
                raise Unclear("which disease is meant not to be in situ")
            group = self.groups[at]
        elif group.sort != excluded[0].sort:
            at = max(
                (n for n, one in enumerate(self.groups) if one.sort == excluded[0].sort and not one.negated), default=-1
            )
            if at < 0:
                raise Unclear("from what the exception is made", (excluded[0].text,))
            group = self.groups[at]
        self.groups[at] = self._without(group, excluded)

    def _without(self, group: Group, excluded: list[Criterion]) -> Group:
        base = group.members[-1]
        if base.kind == "variant":
            if not group.query.startswith("same event (") or any(not one.query for one in excluded):
                raise Unclear("which change is taken away", (excluded[0].text,))
            inner = group.query.removeprefix("same event (").removesuffix(")")
            away = "".join(f" and not {by_protein(one.query)}" for one in excluded)
            return replace(group, query=f"same event ({inner}{away})")
        ids = tuple(dict.fromkeys(one for member in group.members for one in member.ids))
        for one in book.data("words")["remains"].values():
            if base.query == one["treatment"] and [member.ids for member in excluded] == [(one["without"],)]:
                return replace(group, query=one["means"])
        if excluded[0].sort == "in_situ":
            if not ids:
                raise Unclear("which disease is meant not to be in situ")
            return replace(group, query=diagnosis(ids, "'in situ neoplasm'", any_=True))
        away_ids = tuple(dict.fromkeys(one for member in excluded for one in member.ids))
        if not ids or not away_ids or len(group.members) > 1:
            raise Unclear("what the exception takes away", (excluded[0].text,))
        kind = {"treatment": base.kind or "medication", "disease": "diagnosis"}.get(group.sort)
        if kind is None or any(member.kind != base.kind for member in excluded):
            # An operation is not among the courses of a medication.
            raise Unclear("what the exception takes away", (excluded[0].text,))
        return replace(group, query=other_than(kind, ids, away_ids, self.concepts))
