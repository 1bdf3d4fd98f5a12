"""How our number compares with the paper's, in words."""

from tamis.lab.experiment import Row

#: Two numbers are of the same order if their ratio lies within this factor, half a decade either way.
SAME_ORDER = 10**0.5
#: From this ratio on, "times" reads better than "per cent".
TIMES_FROM = 2.0


def ratio(row: Row) -> float | None:
    """Ours divided by the paper's, or None where that means nothing."""
    return None if not row.paper else row.ours / row.paper


def verdict(row: Row) -> str:
    """Return the comparison as a short phrase; every row of every result gets it from here."""
    if row.paper is None:
        return "no figure in the paper"
    if row.ours == row.paper:
        return "equal to the paper"
    quotient = ratio(row)
    if quotient is None or quotient < 0 or row.good == "exact":
        return f"differs: the paper has {row.paper:g}"
    if abs(quotient - 1) <= row.tolerance:
        return f"within {row.tolerance * 100:.3g} % of the paper"
    if row.good == "order":
        if 1 / SAME_ORDER <= quotient <= SAME_ORDER:
            return "reproduced: same order"
        return f"not reproduced: {_distance(quotient)}"
    if (row.good == "smaller" and quotient < 1) or (row.good == "larger" and quotient > 1):
        return f"better: {_distance(quotient)}"
    return _distance(quotient)


def _distance(quotient: float) -> str:
    if quotient >= TIMES_FROM:
        return f"{quotient:.3g} times the paper"
    if quotient > 1:
        return f"higher by {_percent(quotient - 1)}"
    return f"lower by {_percent(1 - quotient)}"


def _percent(share: float) -> str:
    return f"{share * 100:.2g} %" if share < 0.095 else f"{share * 100:.0f} %"
