"""Steps that touch things of all sizes, as hypothesis draws them."""

from __future__ import annotations

from hypothesis import strategies as st

from burnish.core.residency import SteppedWork, Touched


@st.composite
def works(draw: st.DrawFn) -> SteppedWork:
    """Return a few steps; each writes something new and reads some of what there is."""
    given = [f"given {n}" for n in range(draw(st.integers(1, 4)))]
    known = list(given)
    steps = []
    for number in range(draw(st.integers(1, 9))):
        reads = draw(st.lists(st.sampled_from(known), max_size=3, unique=True))
        writes = [f"made {number}.{n}" for n in range(draw(st.integers(1, 2)))]
        steps.append(Touched(tuple(reads), tuple(writes)))
        known += writes
    made = [name for step in steps for name in step.writes]
    lasting = draw(st.sets(st.sampled_from(given)))
    return SteppedWork(
        steps=tuple(steps),
        sizes={name: draw(st.integers(0, 6)) * 64 for name in known},
        given=frozenset(given),
        wanted=frozenset(draw(st.sets(st.sampled_from(made), min_size=1))),
        fixed=frozenset({*lasting, *draw(st.sets(st.sampled_from(made), max_size=2))}),
        lasting=frozenset(lasting),
    )


limits = st.integers(0, 40).map(lambda lines: 64 * lines)
