from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.analyze.event_graph import Event, EventGraph
from burnish.report.graph.overlay import followers, leads, total_s
from burnish.report.graph.picture import overlay
from burnish.report.graph.timed import overlay_of, shown_first
from sample_picture import US, changed_picture, diamond, sample_picture


def test_time_is_on_nodes_once_and_the_rest_is_unattributed() -> None:
    found = overlay(sample_picture())
    assert found is not None
    assert found.wall_s == pytest.approx(75 * US)
    assert found.attributed_s == pytest.approx(65 * US)
    assert found.unattributed_s == pytest.approx(4 * US)
    assert found.coverage == pytest.approx(65 / 69)
    assert set(leads(found)) == {"query", "value", "score", "soft"}
    assert followers(found)["bias"].nodes[0] == "value"


def test_the_path_takes_the_longer_branch_and_both_have_shares() -> None:
    found = overlay(sample_picture())
    assert found is not None
    assert found.critical == ("value", "bias", "score", "soft")
    shares = {link: round(share, 3) for link, share in found.branch_shares.items()}
    assert shares[("bias", "score")] > shares[("query", "score")]


def test_a_change_has_a_before_and_an_after() -> None:
    found = overlay(changed_picture())
    assert found is not None
    assert found.after_wall_s == pytest.approx(70 * US)
    query = leads(found)["query"]
    assert (total_s(query), total_s(query, after=True)) == pytest.approx((10 * US, 5 * US))


def test_time_of_several_nodes_is_shown_on_the_product_and_never_on_a_hidden_node() -> None:
    order = shown_first(diamond())
    assert min(("bias", "value"), key=order.__getitem__) == "value"
    assert min(("size", "flat"), key=order.__getitem__) == "flat"


NODES = [node.name for node in diamond().nodes]


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from([*NODES, "stranger"]), max_size=3), st.integers(0, 50))
    )
)
def test_attributed_and_unattributed_are_all_the_work(
    drawn: list[tuple[list[str], int]],
) -> None:
    events = EventGraph(
        tuple(
            Event(f"e{n}", "node", "t", length * US, after=(n - 1,) if n else (), nodes=(*nodes,))
            for n, (nodes, length) in enumerate(drawn)
        )
    )
    found = overlay_of(events, diamond(), engine="e")
    assert found.attributed_s + found.unattributed_s == pytest.approx(events.work_s)
    assert sum(total_s(costs) for costs in leads(found).values()) == pytest.approx(
        found.attributed_s
    )
