"""Does one condition cover another? Can both hold?

`covers(a, b)`: every event that matches b matches a. `intersects(a, b)`: some event matches both. To match is to be
true, so unknown counts as false on both sides (specs/000 §4, specs/004 §2).

Both are exact for conditions made of comparisons, `between`, `in`, `is null` and `like 'text%'`, of any kind and
joined in any way, as long as the search for an event that tells them apart takes at most `SEARCH_LIMIT` steps. Other
patterns and `array_contains` are *filters*: here, and beyond the limit, `covers` is never wrongly yes and `intersects`
never wrongly no. Attributes are taken as independent: that `a.b = 1` leaves no room for `a = 1` is not seen.
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterator
from typing import Final, Literal, NamedTuple

from tamis.covering.patterns import common_beginning, implies, is_within, tokens_of
from tamis.covering.settled import TEXTS, fits, settled, settled_values, single_texts
from tamis.language import Expression, Like, Predicate, parse
from tamis.language.normal import AllOf, AnyOf, Atom, Clause, Form, conjunction, without_negation
from tamis.language.ranges import NOTHING, Ranges
from tamis.language.valueset import ANY_VALUE, NULL_ONLY, Filter, ValueSet, true_for

#: So many atoms are looked at before a question is given up.
SEARCH_LIMIT: Final = 16_384

_ANYTHING: Final = ANY_VALUE.union(NULL_ONLY)


class Shape(NamedTuple):
    """A condition made ready to be compared with many others."""

    form: Form
    #: Equal if and only if the forms are: as tuples, a conjunction and a disjunction of the same parts are equal, too.
    key: Hashable
    #: The form by attribute, if it is a conjunction.
    atoms: Clause | None
    #: Whether there are filters, about which not everything is known.
    filtered: bool


def shape(condition: str | Expression) -> Shape:
    """Return the shape of a condition. A text that is none is an `ExpressionError`."""
    if isinstance(condition, str):
        condition = parse(condition)
    if not isinstance(condition, Expression):
        raise TypeError(f"a condition is a text or an Expression, not {type(condition).__name__}")
    made = _shape(settled(condition))
    return _shape(False) if made.atoms is None and _search(made.form, False) is False else made


def _shape(part: Form) -> Shape:
    key = isinstance(part, AnyOf), part
    filtered = any(atom.values.filters for atom in _atoms(part))
    match part:
        case True:
            return Shape(part, key, {}, filtered)
        case Atom(attribute, values):
            return Shape(part, key, {attribute: values}, filtered)
        case AllOf(parts) if all(isinstance(each, Atom) for each in parts):
            return Shape(part, key, dict(_atoms(part)), filtered)
    return Shape(part, key, None, filtered)


def covers(a: str | Expression, b: str | Expression) -> bool:
    """Return whether it is certain that every event that matches b matches a."""
    return covering(shape(a), shape(b)) is True


def intersects(a: str | Expression, b: str | Expression, mode: Literal["sound", "thesis"] = "sound") -> bool:
    """Return whether some event may match both conditions; "no" is certain.

    `mode="thesis"` is Eq. 2.39 of specs/004 as printed: yes if some predicate of a and some predicate of b on the same
    attribute have a value in common. It loses no events only where an advertisement names every attribute that its
    publisher sends, for it says no to conditions without a common attribute.
    """
    if mode not in ("sound", "thesis"):
        raise ValueError(f"there is no mode {mode!r}; there are: sound, thesis")
    if mode == "thesis":
        return any(
            p.attribute == q.attribute and not settled_values(true_for(p).intersection(true_for(q))).is_empty
            for p in _predicates(a)
            for q in _predicates(b)
        )
    return meeting(shape(a), shape(b)) is not False


def _predicates(condition: str | Expression) -> list[Predicate]:
    if isinstance(condition, str):
        condition = parse(condition)
    return list(without_negation(condition).predicates())


def covering(a: Shape, b: Shape) -> bool | None:
    """Return whether every event that matches b matches a; None if that is not known."""
    if b.form is False:
        return True
    if a.atoms is None or b.atoms is None:
        if a.key == b.key:
            return True
        found = _search(b.form, a.form)
        return None if found is None or (found and (a.filtered or b.filtered)) else not found
    for attribute, outer in a.atoms.items():
        inner = b.atoms.get(attribute)
        if inner is None:
            return False
        if not is_subset(inner, outer):
            return None if inner.filters or (outer.filters and _has_room(inner, outer)) else False
    return True


def meeting(a: Shape, b: Shape) -> bool | None:
    """Return whether some event matches both; None if that is not known."""
    if a.form is False or b.form is False:
        return False
    if a.atoms is None or b.atoms is None:
        found = _search(conjunction((a.form, b.form)), False)
    else:
        common = a.atoms.keys() & b.atoms.keys()
        found = not any(_common(a.atoms[each], b.atoms[each]).is_empty for each in common)
    return None if found is None or (found and (a.filtered or b.filtered)) else found


def _common(a: ValueSet, b: ValueSet) -> ValueSet:
    """Return the values in both of two settled sets, settled."""
    both = a.intersection(b)
    return settled_values(both) if both.filters else both


def is_subset(inner: ValueSet, outer: ValueSet) -> bool:
    """Return whether it is certain that every value of one settled set is in another; exact without filters."""
    return _has_room(inner, outer) and all(_meets(inner, each) for each in outer.filters)


def _has_room(inner: ValueSet, outer: ValueSet) -> bool:
    """Return whether one set is in another, filters aside."""
    if (inner.null and not outer.null) or (inner.other and not outer.other):
        return False
    for small, large in zip(inner.ordered, outer.ordered, strict=True):
        if small is not large and small is not NOTHING and not _within(small, large):
            return False
    return True


def _within(inner: Ranges, outer: Ranges) -> bool:
    cuts = inner.cuts
    if inner.starts_inside:
        if not outer.starts_inside or (outer.cuts and (not cuts or outer.cuts[0] < cuts[0])):
            return False
        cuts = cuts[1:]
    for at in range(0, len(cuts), 2):
        passed = bisect_right(outer.cuts, cuts[at])
        if outer.starts_inside is (passed % 2 == 1):
            return False
        if passed < len(outer.cuts) and (at + 1 == len(cuts) or outer.cuts[passed] < cuts[at + 1]):
            return False
    return True


def _meets(values: ValueSet, wanted: Filter) -> bool:
    """Return whether it is certain that all values of a settled set meet a filter whose kind they have."""
    if wanted in values.filters:
        return True
    if not isinstance(wanted, Like):
        return False
    if any(isinstance(each, Like) and implies(each, wanted) for each in values.filters):
        return True
    texts = single_texts(values.ordered[TEXTS])
    if texts is not None:
        return all(fits(wanted, text) for text in texts)
    beginning = common_beginning(values.ordered[TEXTS])
    return not wanted.negated and is_within((*beginning, ...), tokens_of(wanted.pattern))


class _Case(NamedTuple):
    """One form is to hold and another is not, where something is known of attributes."""

    wanted: Form
    unwanted: Form
    known: Clause
    #: Atoms that do not hold, though no set of values says so.
    denied: frozenset[Atom]


def _search(wanted: Form, unwanted: Form) -> bool | None:
    """Return whether there is a case in which one form holds and another does not; None if that took too long.

    Cases are split until all is decided. With filters, yes may be wrong; no is certain.
    """
    budget = SEARCH_LIMIT
    waiting = [_Case(wanted, unwanted, {}, frozenset())]
    while waiting:
        case, work = _simplified(waiting.pop())
        if case.wanted is False or case.unwanted is True:
            continue
        if case.wanted is True and case.unwanted is False:
            return True
        budget -= work
        if budget < 0:
            return None
        waiting += _split(case)
    return False


def _split(case: _Case) -> Iterator[_Case]:
    """Yield cases that make up one: by what holds of that which is wanted, then by the atoms of the rest."""
    if case.wanted is not True:
        parts = case.wanted.parts if isinstance(case.wanted, AllOf) else (case.wanted,)
        choice = next((each for each in parts if isinstance(each, AnyOf)), None)
        if choice is None:
            yield case
            return
        rest = [each for each in parts if each is not choice]
        for each in choice.parts:
            together = (*(each.parts if isinstance(each, AllOf) else (each,)), *rest)
            yield case._replace(wanted=AllOf(together))
        return
    atom = next(_atoms(case.unwanted))
    before = case.known.get(atom.attribute, _ANYTHING)
    for values, denied in _sides(atom):
        after = _common(before, values)
        if not after.is_empty:
            yield case._replace(known=case.known | {atom.attribute: after}, denied=case.denied | denied)


def _sides(atom: Atom) -> Iterator[tuple[ValueSet, frozenset[Atom]]]:
    """Yield the values for which an atom holds, then sets that together have all for which it does not."""
    nothing: frozenset[Atom] = frozenset()
    yield atom.values, nothing
    plain = atom.values._replace(filters=())
    yield plain.complement(), nothing
    likes = [each for each in atom.values.filters if isinstance(each, Like)]
    # Of a text, `like` is never unknown.
    yield from ((plain._replace(filters=(each.negation(),)), nothing) for each in likes)
    if len(likes) < len(atom.values.filters):
        yield plain, frozenset({atom})


def _simplified(case: _Case) -> tuple[_Case, int]:
    """Return what is left of a case once what is known is put in, and how many atoms were looked at."""
    wanted, unwanted, known, denied = case
    parts = wanted.parts if isinstance(wanted, AllOf) else (wanted,)
    certain = [each for each in parts if isinstance(each, Atom)]
    if certain:
        known = dict(known)
        for attribute, values in certain:
            before = known.get(attribute)
            known[attribute] = values if before is None else _common(before, values)
            if known[attribute].is_empty:
                return _Case(False, unwanted, known, denied), len(certain)
        rest = tuple(each for each in parts if not isinstance(each, Atom))
        wanted = AllOf(rest) if rest else True
    reader = _Reader(known, denied)
    left = _Case(reader.left_of(wanted), reader.left_of(unwanted), known, denied)
    return left, reader.read + len(certain)


class _Reader:
    """Puts what is known into forms, and counts the atoms that it reads."""

    def __init__(self, known: Clause, denied: frozenset[Atom]) -> None:
        self._known = known
        self._denied = denied
        self.read = 0

    def left_of(self, part: Form) -> Form:
        """Return what is left of a form."""
        match part:
            case Atom(attribute, values):
                return self._left_of_atom(part, self._known.get(attribute), values)
            case AllOf(parts) | AnyOf(parts):
                decisive = isinstance(part, AnyOf)
                left: list[Form] = []
                for each in parts:
                    rest = self.left_of(each)
                    if rest is decisive:
                        return decisive
                    if not isinstance(rest, bool):
                        left.append(rest)
                return left[0] if len(left) == 1 else type(part)(tuple(left)) if left else not decisive
        return part

    def _left_of_atom(self, atom: Atom, known: ValueSet | None, values: ValueSet) -> Form:
        self.read += 1
        if atom in self._denied:
            return False
        if known is None:
            return atom
        if is_subset(known, values):
            return True
        return False if _common(known, values).is_empty else atom


def _atoms(part: Form) -> Iterator[Atom]:
    if isinstance(part, Atom):
        yield part
    elif isinstance(part, AllOf | AnyOf):
        for each in part.parts:
            yield from _atoms(each)
