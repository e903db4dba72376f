from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.analyze.critical_path import critical_path
from burnish.analyze.diagnosis import Diagnosis
from burnish.analyze.event_graph import Event, EventGraph
from burnish.analyze.parallel import if_parallel
from burnish.analyze.selector import Scene
from burnish.analyze.simulate import simulate
from burnish.analyze.transform import Setting
from burnish.report.explore import page
from burnish.report.graph import groups
from burnish.report.graph.layout import layout
from burnish.report.graph.picture import Picture, PictureTiming
from burnish.store.graph import GraphRecord
from chromium import IN_CHROMIUM, Browser
from sample_picture import US, diamond, node, sample_picture, tensor

pytestmark = IN_CHROMIUM


@pytest.fixture
def opened(tab: Browser, tmp_path: Path) -> Browser:
    return show(tab, sample_picture(), tmp_path)


def show(tab: Browser, picture: Picture, folder: Path, *, scheme: str = "light") -> Browser:
    path = folder / "graph.html"
    path.write_text(page(picture))
    tab.open(path, width=1400, scheme=scheme)
    return tab


def boxes(tab: Browser) -> list[str]:
    names = "[...document.querySelectorAll('#graph .box .name')].map(t => t.textContent)"
    found: list[str] = tab.value(names)
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("timed", [True, False])
def test_the_page_opens_without_a_complaint_or_a_request(
    tab: Browser, tmp_path: Path, scheme: str, timed: bool
) -> None:
    picture = sample_picture() if timed else Picture("sample", diamond())
    show(tab, picture, tmp_path, scheme=scheme)
    assert tab.complaints == []
    assert len([url for url in tab.requested if not url.startswith("data:")]) == 1
    assert {"x", "MatMul", "Softmax", "soft_out"} <= set(boxes(tab))


@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_fits_and_begins_with_what_holds_it_back(
    tab: Browser, tmp_path: Path, width: int
) -> None:
    told = Diagnosis("compute", "it computes", 1.0, 1.0, 0.0, None, None, (), {}, ())
    path = tmp_path / "graph.html"
    path.write_text(page(replace(sample_picture(), diagnosis=told)))
    tab.open(path, width=width, scheme="dark")
    assert tab.complaints == []
    assert tab.value("document.documentElement.scrollWidth") <= width
    assert tab.value("document.querySelector('.diagnosis .sentence').textContent") == "It computes."
    assert tab.value("burnish.app.canvas.view.k") >= 0.72
    scales = """[...document.querySelectorAll('aside svg text')]
        .filter(text => text.getBoundingClientRect().width).map(text => text.getScreenCTM().a)"""
    assert tab.value(f"Math.min(...{scales})") >= 0.9


def test_modules_close_and_open(opened: Browser) -> None:
    opened.value("document.querySelector('#closeall').click()")
    assert sorted(boxes(opened)) == ["Softmax", "layer.0", "soft_out", "x"]
    opened.value(
        "document.querySelector('#graph .box.group')"
        ".dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))"
    )
    assert "layer.0/attention" in boxes(opened)
    opened.value("document.querySelector('#open').click()")
    assert "layer.0/attention" not in boxes(opened)
    opened.value(
        "document.querySelector('.frame[data-module=\"layer.0\"] text')"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    assert "layer.0" in boxes(opened)
    assert opened.complaints == []


def test_a_node_is_found_opened_and_described(opened: Browser) -> None:
    opened.value("document.querySelector('#closeall').click(); burnish.app.find('query')")
    assert opened.value("document.querySelector('#found').textContent") == "1 of 1"
    assert "MatMul" in boxes(opened)
    said = opened.value("document.querySelector('#chosen').textContent")
    assert "10.0 µs, 13.3 % of the time" in said
    assert "takes x: f32[8, 8]" in said


def test_a_node_whose_time_is_elsewhere_says_where(opened: Browser) -> None:
    opened.value("burnish.app.choose('node bias', true)")
    said = opened.value("document.querySelector('#chosen').textContent")
    assert "Its time is in value_fused, shown on value." in said


def test_constants_and_sizes_appear_when_asked_for(opened: Browser) -> None:
    assert "Shape" not in boxes(opened)
    opened.value("document.querySelector('#all').click()")
    assert "Shape" in boxes(opened)


def test_nodes_of_one_kernel_become_one_box(opened: Browser) -> None:
    opened.value("document.querySelector('#kernels').click()")
    assert "MatMul 8×8×8 + Add" in boxes(opened)
    opened.value("burnish.app.choose('node bias', true)")
    said = opened.value("document.querySelector('#chosen').textContent")
    assert "30.0 µs, 40.0 % of the time" in said
    opened.value("burnish.app.setFactor(burnish.app.state.chosen, 2)")
    assert opened.value("document.querySelector('#executed').textContent").startswith(
        "75.0 µs → 60.0 µs"
    )
    assert opened.complaints == []


def test_what_one_must_know_stands_above_the_numbers(tab: Browser, tmp_path: Path) -> None:
    show(tab, replace(sample_picture(), notes=("the trace is of another model",)), tmp_path)
    assert tab.value("document.querySelector('.notes').textContent").strip() == (
        "the trace is of another model"
    )


def test_the_strip_shows_the_heat_of_the_whole_and_leads_there(opened: Browser) -> None:
    assert opened.value("document.querySelectorAll('#strip .h5').length") >= 1
    before = opened.value("burnish.app.canvas.view.y")
    opened.value(
        "document.querySelector('#strip').dispatchEvent(new PointerEvent('pointerdown',"
        "{clientY: document.querySelector('#strip').getBoundingClientRect().bottom}))"
    )
    assert opened.value("burnish.app.canvas.view.y") < before
    assert opened.complaints == []


def test_the_theme_can_be_changed(opened: Browser) -> None:
    background = "getComputedStyle(document.documentElement).backgroundColor"
    light = opened.value(background)
    opened.value("document.querySelector('#theme').click()")
    assert (light, opened.value(background)) == ("rgb(255, 255, 255)", "rgb(22, 24, 27)")


def test_a_slider_simulates_as_python_does(opened: Browser) -> None:
    opened.value(
        "const slider = document.querySelector('#sliders input[data-key=\"op MatMul\"]');"
        "slider.value = 3; slider.dispatchEvent(new Event('input'))"
    )
    timing = sample_picture().timing
    assert timing is not None
    faster = EventGraph(
        tuple(
            replace(e, duration_s=e.duration_s / 2) if e.op_type == "MatMul" else e
            for e in timing.events.events
        )
    )
    assert opened.value("burnish.app.result.executed.wall") == simulate(faster).wall_s
    shown = opened.value("document.querySelector('#executed').textContent")
    assert shown == "75.0 µs → 60.0 µs (1.25×)"
    opened.value("document.querySelector('#reset').click()")
    assert opened.value("document.querySelector('#executed').textContent") == "75.0 µs"


def test_any_what_if_gives_what_python_gives(tab: Browser, tmp_path: Path) -> None:
    picture = random_picture(60, seed=3)
    show(tab, picture, tmp_path)
    assert picture.timing is not None
    events = picture.timing.events
    chance = random.Random(5)
    for _ in range(20):
        factors = {
            place: chance.choice([1.5, 3.0, 16.0])
            for place in chance.sample(events.work, chance.randint(0, 30))
        }
        after = EventGraph(
            tuple(
                replace(e, duration_s=e.duration_s / factors.get(i, 1.0))
                for i, e in enumerate(events.events)
            )
        )
        together = if_parallel(after, picture.graph)
        path = critical_path(together)
        asked = json.dumps(list(factors.items()))
        found = tab.value(
            f"(() => {{ const r = burnish.whatIf(burnish.app.data, new Map({asked}));"
            "return [r.executed.wall, r.parallel.wall, r.path]; })()"
        )
        assert found[0] == simulate(after).wall_s
        assert found[1] == path.length_s
        assert found[2] == [events.work[place] for place in path.places]


def test_the_page_lays_out_as_python_does(tab: Browser, tmp_path: Path) -> None:
    show(tab, sample_picture(), tmp_path)
    chance = random.Random(11)
    for count in (3, 12, 40):
        sizes = [(float(chance.randint(40, 200)), 40.0) for _ in range(count)]
        edges = sorted({tuple(sorted(chance.sample(range(count), 2))) for _ in range(2 * count)})  # type: ignore[assignment]
        plan = layout(sizes, edges)  # type: ignore[arg-type]
        found = tab.value(f"burnish.layout({json.dumps(sizes)}, {json.dumps(edges)}, false)")
        assert [place["x"] for place in found["places"]] == pytest.approx(
            [place.x for place in plan.places]
        )
        assert [place["y"] for place in found["places"]] == [place.y for place in plan.places]
        for drawn, route in zip(found["routes"], plan.routes, strict=True):
            assert [tuple(point) for point in drawn] == [pytest.approx(point) for point in route]


def test_ten_thousand_nodes_stay_responsive(tab: Browser, tmp_path: Path) -> None:
    show(tab, random_picture(10_000, seed=1), tmp_path)
    drawn = "document.querySelectorAll('#graph *').length"
    assert 0 < tab.value(drawn) < 4000
    tab.value("document.querySelector('#open').click()")
    assert tab.value("burnish.app.canvas.folded.boxes.length") > 10_000
    assert 0 < tab.value(drawn) < 4000
    tab.value("document.querySelector('#fit').click()")
    assert 0 < tab.value(drawn) < 200
    tab.value("burnish.app.find('n5000')")
    assert "burnish" in tab.value("document.querySelector('h1').textContent")
    assert tab.value("document.querySelectorAll('#graph .box.chosen').length") == 1
    assert tab.complaints == []


def random_picture(count: int, *, seed: int) -> Picture:
    """Return a graph of many nodes in layers of ten, with branches, and its events."""
    chance = random.Random(seed)
    nodes, events = [], []
    for number in range(count):
        before = range(max(0, number - 12), number)
        taken = chance.sample(before, min(len(before), chance.randint(1, 2)))
        inputs = tuple(f"n{other}_out" for other in taken) or ("x",)
        scope = ("encoder", f"layer.{number // 10}")
        nodes.append(node(f"n{number}", chance.choice(["MatMul", "Add"]), inputs, scope=scope))
        after = (number - 1,) if number else ()
        length_s = chance.randint(1, 400) * US
        events.append(Event(f"e{number}", "node", "t", length_s, US, after, (f"n{number}",), "Op"))
    record = GraphRecord(
        "many", tuple(nodes), (tensor("x", 4),), (tensor(f"n{count - 1}_out", 4),), {}, frozenset()
    )
    setting = Setting(Scene(EventGraph(tuple(events)), record))
    assert groups.full(record).boxes
    return Picture("many", record, PictureTiming("onnxruntime-cpu", "by hand", setting))
