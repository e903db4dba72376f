from __future__ import annotations

from burnish.report.graph.layers import layered


def test_stand_ins_bridge_layers_and_are_shared() -> None:
    found = layered(5, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 3), (0, 4)])
    assert found.layer[:5] == [0, 1, 2, 3, 4]
    assert found.count == 8  # three stand-ins for both lines from 0
    assert found.chains[4] is found.chains[5]
    assert (found.reach[4], found.reach[5]) == (2, 3)
    assert (found.shared[4], found.shared[5]) == (0, 2)


def test_rows_are_ordered_so_that_lines_do_not_cross() -> None:
    found = layered(4, [(0, 3), (1, 2)])
    upper, lower = found.rows
    assert [upper.index(0) < upper.index(1), lower.index(3) < lower.index(2)] in (
        [True, True],
        [False, False],
    )


def test_an_edge_to_itself_changes_nothing() -> None:
    assert layered(2, [(0, 0), (0, 1)]).layer == [0, 1]
