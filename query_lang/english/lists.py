"""Lists of criteria: what a joining word joins, what modifies one or all of them, what cannot be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ...kb.kinds import MOLECULAR
from ...kb.ontology.concepts import ConceptTable
from . import book
from .alterations import merged
from .choice import Chooser
from .chunks import Chunk, Criterion, Item, Unclear
from .terms import both, either
from .whole import Group, bracketed, diagnosis, split

_LINKS: Final = frozenset({"comma", "and", "or", "and_or", "slash", "nor", "semicolon", "open", "close", "either"})
_SAME: Final = {"extent": "finding", "in_situ": "in_situ"}
_TUMOR_SORTS: Final = frozenset({"disease", "extent", "finding", "treatment"})
_HAEMATOLOGICAL: Final = "haematological_malignancy"


@dataclass
class ListReader:
    """Reads one list of criteria from a place in the items of a question."""

    items: Sequence[Item]
    concepts: ConceptTable
    chooser: Chooser
    at: int = 0
    groups: list[Group] = field(default_factory=list)
    _or_open: bool = False
    #: Where the criteria begin that were used: none may be lost.
    _used: set[int] = field(default_factory=set)
    _any_of: bool = False
    #: Of the denial that is read: whether its list stands in brackets; whether its "and" means neither.
    _inside: bool = False
    _free_of: bool = False

    # --- walking ----------------------------------------------------------------------------------------------

    def _item(self, at: int) -> Item | None:
        return self.items[at] if 0 <= at < len(self.items) else None

    def _criterion(self, at: int) -> Criterion | None:
        item = self._item(at)
        return item if isinstance(item, Criterion) else None

    def _joins(self, at: int, *values: str) -> bool:
        item = self._item(at)
        return isinstance(item, Chunk) and item.is_join(*values)

    def _use(self, *criteria: Criterion) -> None:
        for one in criteria:
            self._used.add(one.start)
            self._use(*one.before, *one.after)

    # --- lists ------------------------------------------------------------------------------------------------

    def _element(self, at: int) -> tuple[Criterion, int] | None:
        """A criterion with what modifies it, and the place after it."""
        before: list[Criterion] = []
        while (criterion := self._criterion(at)) is not None and criterion.sort in ("extent", "finding"):
            following = self._criterion(at + 1)
            if following is None or following.sort not in ("disease", "extent", "finding"):
                break
            before.append(criterion)
            at += 1
        criterion = self._criterion(at)
        if criterion is None:
            return None
        if before and criterion.sort != "disease":
            # Findings one after another without a joining word, no disease behind them.
            at -= len(before)
            criterion, before = before[0], []
        end = at + 1
        after: list[Criterion] = []
        if criterion.sort == "disease":
            while True:
                inner = end
                while self._joins(inner, "comma", "open", "hyphen", "colon"):
                    inner += 1
                extent = self._criterion(inner)
                if extent is None or extent.sort != "extent" or self._then_disease(inner):
                    break
                after.append(extent)
                end = inner + 1
                while self._joins(end, "close"):
                    end += 1
        return replace(criterion, before=tuple(before), after=tuple(after)), end

    def _then_disease(self, at: int) -> bool:
        following = self._criterion(at + 1)
        return following is not None and following.sort == "disease"

    def _class(self, criterion: Criterion) -> str:
        return _SAME.get(criterion.sort, criterion.sort)

    def _list(self, *, negated: bool, head: str, wide: bool = False) -> None:
        start = self.at
        element = self._element(self.at)
        assert element is not None
        members, links = [element[0]], []
        at = element[1]
        while True:
            link, following = self._link(at, head)
            element = self._next(members[0], following) if link else None
            if element is None or not self._belongs(members[0], element[0], link, head, wide):
                break
            if self._relation_follows(following):
                break
            if self._joins(at, "slash") and not negated and head != "any_of":
                link = self._slash(members[-1], element[0])
            members.append(element[0])
            links.append(link)
            at = element[1]
        members, links, at = self._cut(members, links, at, head, start)
        self._check_end(members, links, at)
        self.at = at
        self._use(*members)
        trailing_either = self._joins(at, "any_of") or self._joins(at, "comma") and self._joins(at + 1, "any_of")
        behind = self.items[at + (0 if self._joins(at, "any_of") else 1)] if trailing_either else None
        alone = isinstance(behind, Chunk) and behind.text.lower() in ("either one", "one or the other", "or both")
        if trailing_either and (alone or not self._criterion_near(at + 1)):
            head = "any_of"
        group = self._grouped(members, links, head, negated, start)
        if "or" in links and "and" not in links and not negated and head != "any_of":
            group = self._with_next(group, members)
        self.groups += group
        self._check_mixed(members, links, head, start)

    def _check_mixed(self, members: list[Criterion], links: list[str], head: str, start: int) -> None:
        """``X and A or B and Y`` of different kinds, without a comma or bracket: what the words join is open."""
        if "or" not in links or head:
            return
        kind = self._class(members[0])
        before, after = self._criterion(start - 2), self._criterion(self.at + 1)
        plain = self._joins(start - 1, "and") and self._text(start - 1) in ("and", "&") and self._joins(self.at, "and")
        sides = [self._class(one) for one in (before, after) if one is not None]
        between = plain and len(sides) == 2 and kind not in sides
        denial = self._item(self.at)
        denied = isinstance(denial, Chunk) and denial.is_join("not") and denial.text.lower().startswith("and")
        listed = any(len(group.members) > 1 and group.sort != kind for group in self.groups)
        if between or denied and listed:
            raise Unclear("what 'and' and 'or' join: use brackets, commas, or 'one of:'", ("and", "or"))

    def _text(self, at: int) -> str:
        item = self._item(at)
        return item.text.lower() if item is not None else ""

    def _check_end(self, members: list[Criterion], links: list[str], at: int) -> None:
        """``A or B C disease``, all of them adjectives: whether C is said with B alone is open."""
        following = self._criterion(at)
        if "or" in links and members[0].sort == "extent" and following is not None and following.sort == "extent":
            raise Unclear(
                "what the 'or' between the adjectives joins", tuple(one.text for one in (*members, following))
            )

    def _with_next(self, group: list[Group], members: list[Criterion]) -> list[Group]:
        """``A or B and C``: whether C belongs to B alone or to both has no sign where nothing else parts them."""
        other = self._criterion(self.at + 1) if self._joins(self.at, "and") else None
        if other is None or members[0].sort != "finding" or other.sort != "treatment":
            return group
        if self.chooser.choose("both alternatives", "the last alternative only") == 0:
            return group
        self._use(other)
        self.at += 2
        first = [one.query for one in members[:-1]]
        return [Group("finding", either([*first, both([members[-1].query, other.query])]), members=tuple(members))]

    def _slash(self, one: Criterion, other: Criterion) -> str:
        """``ER+/HER2-`` is both, ``dMMR/MSI-H`` is either; between two changes of genes nothing tells."""
        if one.name == other.name == "receptor":
            return "and"
        if one.sort == other.sort == "treatment":
            return "or" if self.chooser.choose("any of them", "all of them") == 0 else "and"
        if {one.kind, other.kind} & MOLECULAR and one.sort == "finding":
            return "or" if self.chooser.choose("either", "both") == 0 else "and"
        return "or"

    def _next(self, first: Criterion, at: int) -> tuple[Criterion, int] | None:
        """The next member of a list; in a list of findings, what stands before a disease is a finding of the list."""
        criterion = self._criterion(at)
        if first.sort == "finding" and criterion is not None and criterion.sort == "finding":
            return criterion, at + 1
        return self._element(at)

    def _criterion_near(self, at: int) -> bool:
        while self._joins(at, "any_of", "with", "colon", "comma"):
            at += 1
        return self._criterion(at) is not None

    def _relation_follows(self, at: int) -> bool:
        return False

    def _link(self, at: int, head: str) -> tuple[str, int]:
        """The joining word from here, as one of comma, and, or, semicolon; and the place after it."""
        found = ""
        while (item := self._item(at)) is not None and isinstance(item, Chunk):
            if item.is_join("or", "and_or", "slash", "nor"):
                found = "or"
            elif head in ("not", "exclude") and (
                self._inside and item.is_join("close") or found and item.is_join("open")
            ):
                # A bracket ends what a denial reaches, and another one begins something else.
                return "", at
            elif item.is_join("and"):
                if head == "not" and item.text == "AND" and not self._inside:
                    return "", at
                if head in ("not", "exclude", "exclusion") and found == "comma" and head != "exclusion":
                    return "", at
                found = "and" if found != "or" else found
            elif item.is_join("comma", "open"):
                found = found or "comma"
            elif item.is_join("semicolon") and head in ("any_of", "exclusion"):
                found = found or "semicolon"
            elif item.is_join("close", "hyphen"):
                pass
            elif item.is_join("any_of", "treat", "both") and found:
                if head in ("not", "exclude"):
                    return "", at
            elif item.is_join("with", "colon") and found and head not in ("not", "exclude"):
                # "lung cancer or with breast cancer"
                pass
            else:
                break
            at += 1
        return found, at

    def _belongs(self, first: Criterion, other: Criterion, link: str, head: str, wide: bool) -> bool:
        if wide:
            return other.sort in ("disease", "finding", "extent", "treatment", "patient") and other.kind not in (
                "ecog", "kps",
            )  # fmt: skip
        if link == "semicolon":
            return self._class(first) == self._class(other) and self._class(first) in ("finding", "treatment") and (
                head == "any_of"
            )  # fmt: skip
        if first.sort == "patient" and "ecog" in (first.kind, other.kind):
            return False
        return self._class(first) == self._class(other)

    def _cut(
        self, members: list[Criterion], links: list[str], at: int, head: str, start: int
    ) -> tuple[list[Criterion], list[str], int]:
        """Of a denied list, what the denial reaches: over commas only where an ``or`` closes the list."""
        if head != "not":
            return members, links, at
        if self._free_of and "or" not in links:
            ended = next((number for number, link in enumerate(links) if link != "and"), len(links))
            links = [*["or"] * ended, *links[ended:]]
        last_or = max((number for number, link in enumerate(links) if link == "or"), default=-1)
        if "and" in links[:last_or]:
            raise Unclear("what is denied: write 'no A, no B and no C', or use brackets", ("and", "or"))
        stop = last_or + 1
        for number in range(last_or + 1, len(links)):
            if links[number] == "and" and self._class(members[number]) == self._class(members[number + 1]):
                raise Unclear(
                    "whether both are denied, or only having both: write 'no A or B', or 'no A and no B'", ("and",)
                )
            break
        if stop + 1 == len(members):
            return members, links, at
        kept = members[: stop + 1]
        return kept, links[:stop], self._place_after(kept[-1])

    def _place_after(self, member: Criterion) -> int:
        end = max([member.end, *(one.end for one in member.after)])
        return next((at for at, item in enumerate(self.items) if item.start >= end), len(self.items))

    # --- what lists mean --------------------------------------------------------------------------------------

    def _grouped(self, members: list[Criterion], links: list[str], head: str, negated: bool, start: int) -> list[Group]:
        if len(members) == 1:
            return self._single(members[0], negated)
        kinds = {link for link in links if link not in ("comma", "semicolon")}
        sort = self._class(members[0])
        if head in ("any_of", "exclude", "exclusion") or negated:
            return self._any(members, negated)
        if kinds == {"and", "or"}:
            return self._mixed(members, links)
        if kinds == {"or"}:
            return self._any(members, negated)
        if sort == "disease":
            if kinds == {"and"} and self.chooser.choose("either of the diseases", "both diseases") == 1:
                return [Group("patient", both([one.query for one in members]), members=tuple(members))]
            return self._any(members, negated)
        return [group for member in members for group in self._single(member, negated)]

    def _mixed(self, members: list[Criterion], links: list[str]) -> list[Group]:
        """``A and B or C`` has two readings."""
        if any(one.sort == "disease" for one in members):
            raise Unclear("what 'and' and 'or' join: use brackets, or 'one of:'", ("and", "or"))
        queries = [one.query for one in members]
        joins = list(links)
        for at in range(len(joins) - 1, -1, -1):
            if joins[at] in ("comma", "semicolon"):
                joins[at] = joins[at + 1] if at + 1 < len(joins) else joins[at - 1]
        if self.chooser.choose("'or' parts the whole", "'or' joins its neighbours only") == 0:
            query = either([both(part) for part in split(queries, joins, "or")])
        else:
            query = both([either(part) for part in split(queries, joins, "and")])
        return [Group(self._class(members[0]), query, members=tuple(members))]

    def _single(self, member: Criterion, negated: bool) -> list[Group]:
        groups = []
        modifiers = [*member.before, *member.after]
        if negated and modifiers:
            body = both([one.query for one in (*modifiers, member)])
            return [Group("disease", f"same tumor {bracketed(body)}", True, members=(member,))]
        groups += [Group(one.sort, one.query, members=(one,)) for one in modifiers]
        groups.append(
            Group(
                member.sort,
                member.query,
                negated,
                member.outside,
                member.disease,
                member.beside,
                (replace(member, before=(), after=()),),
            )
        )
        return groups

    def _any(self, members: list[Criterion], negated: bool) -> list[Group]:
        shared: list[Group] = []
        if not negated and members[0].sort == "disease":
            members, shared = self._spread(members)
        outside = any(one.outside for one in members)
        queries = []
        members = merged(members, self.concepts)
        for one in members:
            modified = [modifier.query for modifier in (*one.before, *one.after)]
            queries.append(both([one.query, *modified]) if modified else one.query)
        query = either(queries)
        sorts = {self._class(one) for one in members}
        sort = sorts.pop() if len(sorts) == 1 else "disease"
        plain = all(not one.before and not one.after and one.ids and one.kind == "diagnosis" for one in members)
        if plain and sort == "disease" and not outside:
            query = diagnosis(self._listed(tuple(dict.fromkeys(i for one in members for i in one.ids))))
        disease = "" if not outside else either([one.disease or one.query for one in members])
        return [*shared, Group(sort, query, negated, outside, disease, members=tuple(members))]

    def _listed(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        for one in book.data("words")["listed"].values():
            if set(one["members"]) <= set(ids):
                ids = (*[i for i in ids if i not in one["members"]], *one["means"])
        return ids

    def _spread(self, members: list[Criterion]) -> tuple[list[Criterion], list[Group]]:
        """Modifiers of the first or last member that hold of the whole list."""
        shared: list[Group] = []
        first, others = members[0], members[1:]
        kept = []
        for modifier in first.before:
            if modifier.only and not self._within(members, modifier.only):
                kept.append(modifier)
            elif modifier.only:
                shared.append(Group(modifier.sort, modifier.query, members=(modifier,)))
            elif self._own(others, modifier) or self._haematological(others, modifier) or self._of_first(modifier):
                kept.append(modifier)
            else:
                shared.append(Group(modifier.sort, modifier.query, members=(modifier,)))
        members = [replace(first, before=tuple(kept)), *others]
        last = members[-1]
        if (
            last.after
            and not any(one.after or one.before for one in members[:-1])
            and not self._haematological([last], last.after[0])
            and self.chooser.choose(
                f"'{last.after[0].text}' is said of all", f"'{last.after[0].text}' is said of the last only"
            )
            == 0
        ):
            shared += [Group(one.sort, one.query, members=(one,)) for one in last.after]
            members = [*members[:-1], replace(last, after=())]
        return members, shared

    def _of_first(self, modifier: Criterion) -> bool:
        """An extent before a list has two readings; a finding there is said of the whole list."""
        reading = f"'{modifier.text}' is said of"
        return modifier.sort == "extent" and self.chooser.choose(f"{reading} all", f"{reading} the first only") == 1

    def _within(self, members: Sequence[Criterion], only: tuple[str, ...]) -> bool:
        return all(
            one.ids and all(any(self.concepts.is_a(i, disease) for disease in only) for i in one.ids) for one in members
        )

    def _own(self, others: Sequence[Criterion], modifier: Criterion) -> bool:
        return any(one.sort == modifier.sort for other in others for one in (*other.before, *other.after))

    def _haematological(self, others: Sequence[Criterion], modifier: Criterion) -> bool:
        """Whether an extent cannot be said of the others: blood cancers are not locally advanced or metastatic."""
        return modifier.sort == "extent" and all(
            one.ids and all(self.concepts.is_a(i, _HAEMATOLOGICAL) for i in one.ids) for one in others
        )
