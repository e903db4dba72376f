from __future__ import annotations

from itertools import pairwise

from burnish.report.graph.columns import columns
from burnish.report.graph.layers import layered


def test_a_join_stands_between_what_it_joins() -> None:
    found = layered(3, [(0, 2), (1, 2)])
    centres = columns(found, [40.0, 40.0, 40.0], 10.0)
    assert centres[2] == (centres[0] + centres[1]) / 2


def test_long_lines_run_straight() -> None:
    found = layered(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)])
    centres = columns(found, [*[80.0] * 6, *[10.0] * 4], 10.0)
    line = [centres[stand_in] for stand_in in found.chains[5]]
    assert max(line) - min(line) < 1e-6


def test_a_deep_graph_does_not_drift_aside() -> None:
    edges = [(0, 5 * block) for block in range(1, 60)]
    for block in range(60):
        first = 5 * block
        edges += [(first, first + k) for k in (1, 2, 3)] + [(first + k, first + 4) for k in (1, 2)]
        edges += [(first + 3, first + 4), (first + 4, first + 5)]
    found = layered(301, edges)
    centres = columns(found, [80.0] * found.count, 10.0)
    assert max(centres) - min(centres) < 600
    for row in found.rows:
        assert all(centres[b] - centres[a] >= 90 - 1e-6 for a, b in pairwise(row))
