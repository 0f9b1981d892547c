"""Stage, T, N, M, grade-free performance: ``T2b to T3c``, ``pN1 or higher``, ``ECOG 0-2`` as criteria."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from . import book
from .chunks import Chunk, Criterion, Item, Unclear
from .frame import basis_first, no_order
from .terms import both, either

_TRANSPARENT: Final = frozenset({"skip"})


@dataclass(frozen=True, slots=True)
class Bound:
    """One statement on an axis: ``t >= T2c``, ``n between N1 and N3b``."""

    axis: str
    operator: str
    low: str
    high: str = ""
    prefix: str = ""
    conditional: bool = False

    @property
    def upward(self) -> bool:
        """Whether it only bounds from below."""
        return self.operator in (">=", ">")

    def condition(self) -> str:
        """The statement as a condition on one event."""
        if self.operator == "between":
            bare = sorted({value[:2] for value in (self.low, self.high) if len(value) > 2 and value[2:].islower()})
            within = f"{self.axis} between {self.low} and {self.high}"
            return f"({self.axis} exactly in ({', '.join(bare)}) or {within})" if bare else within
        if self.operator == "in":
            return f"{self.axis} in ({self.low})"
        return f"{self.axis} {self.operator} {self.low}"


def staging(items: Sequence[Item], concepts: ConceptTable) -> list[Item]:
    """The items with statements on stage and performance as criteria."""
    if any(isinstance(item, Chunk) and _provides(item) for item in items):
        # "If N0, then T3": no order in time.
        items = [no_order(item) for item in items]
    items = basis_first(items)
    reader = _Reader(items)
    found: list[Item] = []
    bounds: list[tuple[Bound, int, int, str]] = []
    at = 0
    while at < len(items):
        performance = reader.performance(at)
        if performance is not None:
            criterion, at = performance
            found.append(criterion)
            continue
        bound = reader.bound(at, [one[0] for one in bounds])
        if bound is not None:
            made, basis, end = bound
            first, last = items[at], items[end - 1]
            place = (first.start, last.end)
            for one in made:
                bounds.append((one, *place, basis))
            found.append(Criterion("bound", str(len(bounds)), start=place[0], end=place[1], plural=len(made) > 1))
            at = end
            continue
        found.append(items[at])
        at += 1
    return _joined(found, bounds, concepts) if bounds else found


class _Reader:
    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items

    def _peek(self, at: int) -> Chunk | None:
        item = self.items[at] if 0 <= at < len(self.items) else None
        return item if isinstance(item, Chunk) else None

    def _after(self, at: int) -> int:
        while (chunk := self._peek(at)) is not None and (
            chunk.type in _TRANSPARENT or chunk.is_join("colon", "hyphen", "with")
        ):
            at += 1
        return at

    # --- performance ------------------------------------------------------------------------------------------

    def performance(self, at: int) -> tuple[Criterion, int] | None:
        chunk = self._peek(at)
        if chunk is None or chunk.type != "performance":
            return None
        scale = chunk.value or ("kps" if "kps" in chunk.ids else "ecog")
        at = self._after(at + 1)
        again = self._peek(at)
        if again is not None and again.is_join("open"):
            inner = self._peek(at + 1)
            closing = self._peek(at + 2)
            if inner is not None and inner.type == "performance" and closing is not None and closing.is_join("close"):
                at = self._after(at + 3)
        opened = (bracket := self._peek(at)) is not None and bracket.is_join("open")
        read = self._numbers(at + opened)
        if read is not None and opened:
            closing = self._peek(read[3])
            read = (*read[:3], read[3] + 1) if closing is not None and closing.is_join("close") else None
        if read is None and (after := self._peek(at)) is not None and after.type in ("rose", "doubled"):
            # "ECOG got worse": a change, which is read later.
            return None
        if read is None:
            raise Unclear(f"which value of {chunk.text}: write ECOG 0-2", (chunk.text,))
        operator, low, high, end = read
        query = _performance(scale, operator, low, high)
        return Criterion(
            "patient", query, start=chunk.start, end=self.items[end - 1].end, kind=scale, text=chunk.text
        ), end

    def _numbers(self, at: int) -> tuple[str, float, float, int] | None:
        """Operator, lower and upper value, and the place after them."""
        at = self._after(at)
        chunk = self._peek(at)
        operator = "="
        if chunk is not None and chunk.type == "comparison":
            operator = chunk.value
            at = self._after(at + 1)
            chunk = self._peek(at)
        values: list[float] = []
        end = at
        while chunk is not None and chunk.type == "number" and not chunk.text.endswith("%"):
            values.append(float(chunk.text))
            end = at + 1
            joint = self._peek(end)
            following = self._peek(self._after(end + 1))
            more = joint is not None and (
                joint.is_join("until", "hyphen", "comma", "or", "slash", "and", "with") or joint.type == "comparison"
            )
            if not more or following is None:
                break
            if joint is not None and (
                joint.is_join("hyphen", "until") or joint.text in ("to", "through") or operator == "between"
            ):
                if following.type == "number":
                    return "between", values[-1], float(following.text), self._after(end + 1) + 1
                break
            if joint is not None and joint.is_join("comma") and following.is_join("or", "and"):
                inner = self._after(self._after(end + 1) + 1)
                following, at = self._peek(inner), inner
                if following is None or following.type != "number":
                    break
                chunk = following
                continue
            if following.type != "number" or joint is None or joint.type == "comparison":
                break
            at = self._after(end + 1)
            chunk = following
        if not values:
            return None
        if operator == "between":
            return None
        after = self._peek(self._after(end))
        if after is not None and after.type == "comparison_after" and operator == "=":
            return after.value, values[0], values[0], self._after(end) + 1
        if len(values) > 1:
            if sorted(values) != [min(values) + step for step in range(len(values))]:
                raise Unclear("which values are meant: write a range (0-2)")
            return "between", min(values), max(values), end
        return operator, values[0], values[0], end

    # --- stage and TNM ----------------------------------------------------------------------------------------

    def bound(self, at: int, before: Sequence[Bound]) -> tuple[list[Bound], str, int] | None:
        """Statements that begin at a place, their basis, and the place after them."""
        basis = ""
        conditional = False
        start = at
        while (chunk := self._peek(at)) is not None:
            if chunk.type == "basis":
                basis = chunk.value
            elif _provides(chunk):
                conditional = True
            elif not (chunk.type == "skip" or chunk.is_join("comma", "semicolon")) or at == start:
                break
            at += 1
        if conditional and not before:
            conditional = False
        chunk = self._peek(at)
        if chunk is None:
            return None
        read = self._statement(at, before)
        if read is None:
            return None
        bounds, end = read
        stage = self._peek(end)
        if stage is not None and stage.type == "axis" and bounds[0].axis != "stage" and self._value_after(end) is None:
            end += 1
        while True:
            chunk = self._peek(end)
            following = self._peek(self._comma(end))
            if not basis and following is not None and following.type == "basis" and chunk is not None:
                basis = following.value
                end = self._comma(end) + 1
            else:
                break
        if conditional:
            bounds = [Bound(b.axis, b.operator, b.low, b.high, b.prefix, True) for b in bounds]
        return bounds, basis, end

    def _value_after(self, at: int) -> Chunk | None:
        """A value that a word for an axis introduces."""
        chunk = self._peek(self._after(at + 1))
        known = chunk is not None and chunk.type in ("category", "group", "comparison", "number")
        return chunk if known else None

    def _comma(self, at: int) -> int:
        while (chunk := self._peek(at)) is not None and (
            chunk.type == "skip" or chunk.is_join("comma", "open", "with", "hyphen")
        ):
            at += 1
        return at

    def _statement(self, at: int, before: Sequence[Bound]) -> tuple[list[Bound], int] | None:
        """What is said of an axis from here, and where that ends; None where nothing is."""
        chunk = self._peek(at)
        assert chunk is not None
        if chunk.type == "tnm":
            prefix = str(chunk.data["prefix"])
            made = [
                Bound(one, "=", str(chunk.data[one]), prefix=prefix) for one in ("t", "n", "m") if one in chunk.data
            ]
            return made, at + 1
        named = self._axis(chunk, at)
        if named is None:
            return None
        axis, axis_prefix, at = named
        operator = "="
        chunk = self._peek(at)
        if axis == "stage" and chunk is not None and chunk.type == "tnm":
            return self._statement(at, before)
        if chunk is not None and chunk.type == "comparison":
            operator = chunk.value
            at = self._after(at + 1)
            chunk = self._peek(at)
            if chunk is not None and chunk.type == "axis" and not axis:
                axis = chunk.value
                at = self._after(at + 1)
                chunk = self._peek(at)
        if chunk is None:
            return None
        value = self._value(chunk, axis)
        if value is None:
            if axis and chunk.type == "number":
                raise Unclear(f"there is no {axis} '{chunk.text}'", (chunk.text,))
            return None
        if (
            not axis
            and chunk.type == "group"
            and chunk.data.get("bare")
            and operator == "="
            and not any(one.axis == "stage" for one in before)
        ):
            return None
        axis = chunk.value[0].lower() if chunk.type == "category" else axis or "stage"
        prefix = str(chunk.data.get("prefix", "")) or axis_prefix
        end = at + 1
        high = self._highest(end, axis, operator)
        if high is not None:
            return [Bound(axis, "between", value, high, prefix)], self._after(end + 1) + 1
        if operator == "between":
            raise Unclear("between which two values", (chunk.text,))
        if operator != "=":
            return [Bound(axis, operator, value, prefix=prefix)], end
        compared = self._compared_after(end)
        if compared is not None:
            return [Bound(axis, compared[0], value, prefix=prefix)], compared[1]
        others, end = self._alternatives(end, axis, chunk.type)
        if others:
            return [Bound(axis, "in", ", ".join([value, *others]), prefix=prefix)], end
        return [Bound(axis, operator, value, prefix=prefix)], end

    def _axis(self, chunk: Chunk, at: int) -> tuple[str, str, int] | None:
        """The axis that is named here (none where a value speaks for itself), its prefix, and where the rest begins."""
        if chunk.type != "axis":
            return ("", "", at) if chunk.type in ("category", "group", "comparison") else None
        at = self._after(at + 1)
        repeated = self._peek(at)
        if repeated is not None and repeated.type == "axis" and repeated.value in (chunk.value, "stage"):
            at = self._after(at + 1)
        return chunk.value, str(chunk.data.get("prefix", "")), at

    def _highest(self, end: int, axis: str, operator: str) -> str | None:
        """The second value of a range (*II to IV*, *between II and IV*); None where none follows."""
        joint = self._peek(end)
        if joint is None:
            return None
        following = self._peek(self._after(end + 1))
        ranged = (
            joint.is_join("hyphen")
            or joint.text.lower() in ("to", "through", "thru")
            or (operator == "between" and joint.is_join("and"))
        )
        return self._value(following, axis) if ranged and following is not None else None

    def _compared_after(self, end: int) -> tuple[str, int] | None:
        """The comparison that follows its value (*IIC or higher*, *IIC+*), and where it ends."""
        for inner in (self._after(end), self._comma(end)):
            after = self._peek(inner)
            if after is not None and after.type == "comparison_after":
                return after.value, inner + 1
        signed = self._peek(end)
        positive = signed is not None and signed.type == "value" and signed.ids[:1] == ("positive",)
        return (">=", end + 1) if positive else None

    def _alternatives(self, end: int, axis: str, kind: str) -> tuple[list[str], int]:
        """More values, joined by *or*, and where they end."""
        values: list[str] = []
        while (joint := self._peek(end)) is not None and joint.is_join("or", "slash", "comma"):
            following = self._peek(self._after(end + 1))
            other = self._value(following, axis) if following is not None else None
            if other is None or joint.is_join("comma") or following is not None and following.type != kind:
                break
            values.append(other)
            end = self._after(end + 1) + 1
        return values, end

    def _value(self, chunk: Chunk, axis: str) -> str | None:
        if chunk.type == "category" and axis in ("", "stage", chunk.value[0].lower()):
            return chunk.value
        if chunk.type == "group" and axis in ("", "stage"):
            return _roman(chunk.value)
        if chunk.type == "number" and axis in ("t", "n", "m") and re.fullmatch(r"[0-4]", chunk.text):
            return f"{axis.upper()}{chunk.text}"
        if chunk.type == "number" and axis == "stage" and re.fullmatch(r"[0-4]", chunk.text):
            return _roman(chunk.text)
        if (
            chunk.type == "unread"
            and axis in ("t", "n", "m")
            and re.fullmatch(r"[0-4][a-d]", chunk.text, re.IGNORECASE)
        ):
            return f"{axis.upper()}{chunk.text.lower()}"
        return None


def _roman(text: str) -> str:
    digit = re.fullmatch(r"([1-4])([A-Da-d]?)", text)
    if digit is None:
        return text.upper()
    return ["I", "II", "III", "IV"][int(digit[1]) - 1] + digit[2].upper()


def _performance(scale: str, operator: str, low: float, high: float) -> str:
    name = "KPS" if scale == "kps" else "ECOG"
    if (scale, operator, low) in (("ecog", ">", 5), ("ecog", "<", 0), ("kps", ">", 100)):
        raise Unclear(f"there is no {name} {operator} {low:g}", (f"{low:g}",))
    if scale == "ecog" and not 0 <= low <= high <= 5 or scale == "kps" and not 10 <= low <= high <= 100:
        raise Unclear(f"there is no {name} of {low:g}", (f"{low:g}",))
    if operator == "between" and low == 0:
        operator, low = "<=", high
    elif operator == "between":
        return f"latest {name} between {low:g} and {high:g}"
    if operator == "<" and scale == "ecog":
        operator, low = "<=", low - 1
    if scale == "ecog" and operator in ("<=",) or (operator == "=" and low == 0 and scale == "ecog"):
        other = book.data("staging")["karnofsky"].get(str(int(low)))
        if other is not None:
            return f"(latest ECOG <= {low:g} or not performance ECOG with value documented and latest KPS >= {other})"
    return f"latest {name} {operator} {low:g}"


# --- from statements to criteria -----------------------------------------------------------------------------


def _provides(chunk: Chunk) -> bool:
    """Whether the words say under which condition a stage holds; an illness is a chunk of this type as well."""
    return chunk.type == "condition" and not chunk.ids


def _check_illness(items: list[Item], at: int) -> None:
    """Unclear for a stage that stands against an illness, and against no tumor: *CKD stage 4*."""
    beside = [one for one in (*items[at - 1 : at], *items[at + 1 : at + 2]) if isinstance(one, Chunk)]
    illness = next((one for one in beside if one.type == "condition" and one.ids), None)
    if illness is not None and not any(one.type == "tumor" for one in beside):
        raise Unclear(f"the stage of '{illness.text}': stages are held of tumors alone", (illness.text,))


def _joined(items: list[Item], bounds: list[tuple[Bound, int, int, str]], concepts: ConceptTable) -> list[Item]:
    """One criterion for what is said of T, N and M together, one for each statement on the stage."""
    tnm = [one for one, _, _, _ in bounds if one.axis in ("t", "n", "m")]
    bases = {basis for one, _, _, basis in bounds if basis and one.axis in ("t", "n", "m")}
    diseases = [item for item in items if isinstance(item, Chunk) and item.type == "tumor"]
    disease_ids = tuple(one for item in diseases for one in item.ids)
    found: list[Item] = []
    written = False
    number = 0
    alternatives = _alternative(items, bounds)
    for at, item in enumerate(items):
        if not (isinstance(item, Criterion) and item.sort == "bound"):
            found.append(item)
            continue
        last = int(item.query)
        mine = bounds[number:last]
        if any(bound.axis == "stage" for bound, *_ in mine):
            _check_illness(items, at)
        number = last
        for bound, start, end, _ in mine:
            if bound.axis == "stage":
                found.append(Criterion("finding", _stage(bound, disease_ids, concepts), start=start, end=end))
            elif not written:
                read = [tnm] if not alternatives else [[one] for one in tnm]
                query = either([_tnm(one, set(bases), disease_ids, concepts) for one in read])
                found.append(Criterion("finding", query, start=start, end=end))
                written = True
            else:
                while alternatives and isinstance(found[-1], Chunk):
                    # The "or" is in the criterion.
                    found.pop()
                found.append(Chunk("skip", "", start, end))
    return found


def _alternative(items: Sequence[Item], bounds: Sequence[tuple[Bound, int, int, str]]) -> bool:
    """Whether what is said of T, N and M are alternatives (``T4 or N2``); Unclear where only some of it may be."""
    axes = {str(at): bound.axis for at, (bound, *_) in enumerate(bounds, 1)}
    said = [item for item in items if not (isinstance(item, Chunk) and item.type == "skip")]
    of_tnm = [
        at for at, item in enumerate(said)
        if isinstance(item, Criterion) and item.sort == "bound" and axes[item.query] != "stage"
    ]  # fmt: skip
    joined = [at for at, item in enumerate(said) if isinstance(item, Chunk) and item.is_join("or", "and_or", "nor")]
    beside = [at for at in joined if at - 1 in of_tnm or at + 1 in of_tnm]
    inside = [at for at in beside if of_tnm[0] < at < of_tnm[-1]]
    if not inside:
        return False
    plain = of_tnm == list(range(of_tnm[0], of_tnm[-1] + 1, 2))
    denied = (
        of_tnm[0] and isinstance(one := said[of_tnm[0] - 1], Chunk) and one.text.lower() in ("not", "is not", "are not")
    )
    simple = not any(bound.conditional or basis for bound, _, _, basis in bounds)
    single = not any(isinstance(item, Criterion) and item.sort == "bound" and item.plural for item in said)
    if not (plain and simple and single and not denied and list(range(of_tnm[0] + 1, of_tnm[-1], 2)) == inside):
        raise Unclear("what 'or' joins of T, N and M: write each with what it belongs to, in brackets", ("or",))
    return True


def _check_scale(bound: Bound) -> None:
    """Unclear where nothing lies beyond the value: ``stage higher than IV``."""
    ends = {"stage": ("IV", "0"), "t": ("T4", "T0"), "n": ("N3", "N0"), "m": ("M1", "M0")}
    highest, lowest = ends[bound.axis]
    if bound.operator == ">" and bound.low.startswith(highest) or bound.operator == "<" and bound.low == lowest:
        raise Unclear(f"nothing is {bound.operator} {bound.low}", (bound.low,))


def _stage(bound: Bound, diseases: tuple[str, ...], concepts: ConceptTable) -> str:
    plain = f"stage {bound.condition().removeprefix('stage ')}" if bound.operator != "in" else f"stage in ({bound.low})"
    _check_scale(bound)
    if bound.operator == "in":
        plain = f"stage ({' or '.join(bound.low.split(', '))})"
    if bound.operator == "between":
        plain = f"stage between {bound.low} and {bound.high}"
    if bound.operator not in (">=", ">"):
        return plain
    for disease, groups in book.data("staging")["groups"].items():
        if diseases and all(concepts.is_a(one, disease) for one in diseases):
            order = ["I", "II", "IIA", "IIB", "IIC", "III", "IIIA", "IIIB", "IIIC", "IV", "IVA", "IVB", "IVC"]
            lowest = order.index(bound.low) if bound.low in order else -1
            if lowest < 0 or bound.low in ("IIIA", "IIIB", "IIIC") or bound.operator == ">":
                return plain
            more = [query for group, query in groups.items() if order.index(group) >= lowest]
            return either([plain, *more])
    return plain


def _tnm(bounds: list[Bound], bases: set[str], diseases: tuple[str, ...], concepts: ConceptTable) -> str:
    if len(bases) > 1:
        raise Unclear("whether clinical or pathological staging is meant", tuple(bases))
    basis = bases.pop() if bases else ""
    prefixes = {bound.prefix for bound in bounds if bound.prefix}
    for bound in bounds:
        _check_scale(bound)
    if basis == "posttreatment":
        if prefixes - {"yp"}:
            raise Unclear("whether staging before or after treatment is meant", tuple(prefixes))
        basis, prefixes = "", {"yp"}
    if prefixes == {"p"} and not basis:
        basis, prefixes = "pathological", set()
    ruled = [bound for bound in bounds if bound.conditional]
    if not ruled and len({bound.axis for bound in bounds}) < len(bounds):
        axis = next(bound.axis for bound in bounds).upper()
        raise Unclear(f"what of {axis} is asked: two things are said of one axis; write 'if N0, then T3 or higher'")
    if ruled:
        return _conditional(bounds, basis)
    if len(bounds) == 1 and (bounds[0].upward or prefixes or basis or bounds[0].axis == "m"):
        bound = bounds[0]
        if prefixes:
            return f"tnm with {bound.condition()}, prefix = {prefixes.pop()}"
        plain = f"{basis} {bound.axis.upper()} {_after_axis(bound)}".strip()
        if bound.axis == "n" and basis == "pathological" and bound.operator == ">=" and bound.low in ("N1",):
            return f"({plain} or lymph node with positive >= 1, basis = surgical)"
        if bound.axis == "m" and bound.low == "M0":
            return "('no distant spread')"
        if bound.axis == "m":
            return "('spread as recorded')"
        return plain
    inside = [bound.condition() for bound in bounds if bound.axis != "m"]
    metastatic = [bound for bound in bounds if bound.axis == "m"]
    if prefixes:
        if len(prefixes) > 1:
            raise Unclear("which basis of staging is meant", tuple(prefixes))
        inside.append(f"prefix = {prefixes.pop()}")
        return both([f"tnm with {', '.join(inside)}", *[f"tnm with {bound.condition()}" for bound in metastatic]])
    if basis:
        raise Unclear("which of T and N the basis of staging belongs to", (basis,))
    if metastatic and metastatic[0].low == "M0" and inside:
        inside.append("not m = M1")
    parts = [_any_basis(inside)] if inside else []
    parts += [_no_spread(bounds, bound, diseases, concepts) for bound in metastatic]
    return both(parts)


def _after_axis(bound: Bound) -> str:
    if bound.operator == "between":
        return f"between {bound.low} and {bound.high}"
    if bound.operator == "in":
        return f"in ({bound.low})"
    return f"{bound.operator} {bound.low}"


def _any_basis(inside: list[str]) -> str:
    """Of one staging: of a pathological one, or of a clinical one that no upfront surgery has replaced."""
    conditions = ", ".join(inside)
    return (
        f"(same event (tnm with {conditions} and tnm with prefix in (p, yp))"
        f" or same event (tnm with {conditions} and not tnm with prefix in (p, yp))"
        " and not 'staged by upfront surgery')"
    )


def _no_spread(bounds: list[Bound], bound: Bound, diseases: tuple[str, ...], concepts: ConceptTable) -> str:
    if bound.low != "M0":
        return "('spread as recorded')"
    whole = "".join(one.low for one in sorted(bounds, key=lambda one: "tnm".index(one.axis)) if one.operator == "=")
    for disease, groups in book.data("staging")["group_of"].items():
        if whole in groups and diseases and all(concepts.is_a(one, disease) for one in diseases):
            return f"('no distant spread' or stage = {groups[whole]})"
    return "'no distant spread'"


def _conditional(bounds: list[Bound], basis: str) -> str:
    """``… if N0, then T3 or higher``: the rule holds of the same staging."""
    first = next(at for at, bound in enumerate(bounds) if bound.conditional)
    if first + 1 >= len(bounds) or basis:
        raise Unclear("what must hold in that case", ("if",))
    rule = f"(not {bounds[first].condition()} or {bounds[first + 1].condition()})"
    return _any_basis([*(bound.condition() for bound in bounds[:first]), rule, *(
        bound.condition() for bound in bounds[first + 2 :]
    )])  # fmt: skip
