from __future__ import annotations

import pytest

from burnish.analyze.profile import Profile, ProfiledSubject, profile, report
from burnish.core.errors import MissingCapabilityError
from burnish.engines.recording import Recording
from burnish.store.graph import GraphNode, GraphRecord
from burnish.trace.events import Trace
from timelines import run, span, trace

GRAPH = GraphRecord(
    name="g",
    nodes=(GraphNode("a", "Add", "", ("x",), ("y",), scope=("layer",)),),
    inputs=(),
    outputs=(),
    tensors={},
    constants=frozenset(),
)


def profiled(timeline: Trace | None, *, label: str = "m", engine: str = "e") -> Profile:
    found, _ = profile(Recording(timeline, (0.4, 0.5, 0.9)), ProfiledSubject(label, engine, GRAPH))
    return found


def test_a_profile_has_both_breakdowns_and_the_time_without_profiling() -> None:
    found = profiled(trace(run(0, 100), span("a", 0, 60), span("made", 70, 20)))
    assert found.named_share == pytest.approx(0.75)
    assert (found.label, found.engine, found.source) == ("m", "e", "by hand")
    assert found.by_operator.rows[0].label == "Add"
    assert found.by_node.rows[0].label == "a"
    assert [row.label for row in found.by_origin.rows] == ["a", "unattributed", "between nodes"]
    assert found.by_layer.rows[0].label == "layer"
    assert found.coverage.share == pytest.approx(0.75)
    assert found.coverage.unattributed == 1
    assert found.plain_s == pytest.approx(0.5)


def test_an_engine_without_timelines_says_which_has_one() -> None:
    with pytest.raises(MissingCapabilityError) as caught:
        profiled(None)
    assert caught.value.problem == "m: the engine e records no timeline"
    assert caught.value.hint == (
        "profile it on one that does: burnish profile MODEL --engine onnxruntime-cpu"
    )


def test_two_profiles_are_set_side_by_side() -> None:
    timeline = trace(run(0, 100), span("a", 0, 60))
    assert report((profiled(timeline),)).difference is None
    pair = report((profiled(timeline, label="x"), profiled(timeline, label="y"))).difference
    assert pair is not None
    assert (pair.baseline, pair.candidate) == ("x", "y")


def test_one_model_on_two_engines_is_told_apart_by_engine() -> None:
    timeline = trace(run(0, 100), span("a", 0, 60))
    pair = report((profiled(timeline), profiled(timeline, engine="f"))).difference
    assert pair is not None
    assert (pair.baseline, pair.candidate) == ("m on e", "m on f")


@pytest.mark.parametrize(("load", "told"), [(None, False), (0.2, False), (4.8, True)])
def test_a_busy_machine_is_told(load: float | None, told: bool) -> None:
    timeline = trace(run(0, 50), span("a", 0, 20))
    subject = ProfiledSubject("m", "e", GraphRecord("g", (), (), (), {}, frozenset()))
    found, _ = profile(Recording(timeline, (1e-3,), load), subject)
    assert told == any(
        note.startswith("the machine was busy: 4.8 programs wanted each processor")
        for note in found.notes
    )
