"""Match time against the skew of attributes (specs/002 §9.4)."""

from typing import Final

from tamis.lab.claim import Claim
from tamis.lab.contest import be_gen_grid, contest
from tamis.lab.experiment import Context, Experiment, Outcome

#: "alpha > 0: PSTHash best in both; BE-Tree beats OpIndex (reverse at alpha = 0); k-index worse than SCAN".
CLAIMS: Final = tuple(
    claim
    for kind in ("dense", "sparse")
    for claim in (
        Claim(kind=kind, at=0, engine="opindex", against="betree", paper=1, good="smaller"),
        *(Claim(kind=kind, at=alpha, engine="psthash", paper=1) for alpha in (1, 5)),
        *(Claim(kind=kind, at=alpha, engine="betree", against="opindex", paper=1, good="smaller") for alpha in (1, 5)),
        Claim(kind=kind, at=5, engine="kindex", against="SCAN", paper=1, good="larger"),
    )
)


def run(context: Context) -> Outcome:
    """Compare the engines at every point."""
    return contest(context, be_gen_grid(context.scale, "alpha", (0, 1, 5)), CLAIMS, "alpha")


EXPERIMENT: Final = Experiment(
    id="002-skew",
    title="Match time against the skew of attributes",
    source="specs/002 §9.4 (thesis L1648-1780)",
    setup="BE-Gen, dense (100 dimensions) and sparse (30,000); attributes by P(r) = C / r**alpha.",
    run=run,
    grid="timed",
)
