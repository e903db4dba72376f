from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from burnish.report.dashboard import page
from chromium import IN_CHROMIUM, Browser
from report.test_dashboard import MACHINES, SAMPLE, point, series

pytestmark = IN_CHROMIUM


@pytest.fixture
def opened(tab: Browser, tmp_path: Path) -> Browser:
    return show(tab, tmp_path)


def show(tab: Browser, folder: Path, *, scheme: str = "light", width: int = 1200) -> Browser:
    path = folder / "page.html"
    path.write_text(page(SAMPLE, MACHINES))
    tab.open(path, width=width, scheme=scheme)
    return tab


def texts(tab: Browser, selector: str) -> list[str]:
    found: list[str] = tab.value(
        f"[...document.querySelectorAll({selector!r})].map(t => t.textContent)"
    )
    return found


def choose(tab: Browser, field: str, value: str) -> None:
    tab.value(
        f"document.getElementById({field!r}).value = {value!r};"
        f"document.getElementById({field!r}).dispatchEvent(new Event('input', {{bubbles: true}}))"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 600])
def test_the_page_opens_without_a_complaint_or_a_request(
    tab: Browser, tmp_path: Path, scheme: str, width: int
) -> None:
    show(tab, tmp_path, scheme=scheme, width=width)
    assert tab.complaints == []
    assert len([url for url in tab.requested if not url.startswith("data:")]) == 1
    assert tab.value("document.documentElement.scrollWidth <= innerWidth")
    if os.environ.get("BURNISH_SHOTS"):
        tab.value("document.querySelector('#matrix td button').click()")
        shot = tab.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        name = f"dashboard-{scheme}-{width}.png"
        Path(os.environ["BURNISH_SHOTS"], name).write_bytes(base64.b64decode(shot))


def test_the_model_with_the_largest_gap_to_its_fastest_engine_stands_first(opened: Browser) -> None:
    assert texts(opened, "#matrix th") == [
        "model", "gap", "burnish", "onnxruntime-cpu", "openvino",
    ]  # fmt: skip
    models = [text.partition("batch")[0] for text in texts(opened, "#matrix td:first-child")]
    assert models == ["bert", "resnet", "gpt2"]
    # wrong results are no target, overlapping intervals no proof, and alone one is the fastest
    assert texts(opened, "#matrix td.gap") == ["1.40×onnxruntime-cpu", "about 1.00×onnxruntime-cpu",
                                               "fastest"]  # fmt: skip
    assert texts(opened, "#matrix td.wrong .time") == ["5 ms"]
    assert texts(opened, "#matrix td.failed .time") == ["crashed"]


LONG = "models/" + "/".join(["deep"] * 60)


def test_one_long_name_does_not_push_the_figures_out_of_sight(tab: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    named = [series(name, "burnish", point(1, 0.01)) for name in ("bert", LONG, "x" * 400)]
    path.write_text(page([*named, series("bert", "y" * 200, point(1, 0.02))], MACHINES))
    tab.open(path, width=1200, scheme="light")
    assert tab.complaints == []
    assert tab.value(
        "[...document.querySelectorAll('#matrix button')]"
        ".every(one => one.getBoundingClientRect().right <= innerWidth)"
    )
    assert LONG in " ".join(texts(tab, "#matrix td:first-child"))


def test_the_time_of_an_engine_that_did_not_last_is_crossed_out_and_says_why(
    tab: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    broken = series("m", "burnish", point(1, 0.01), point(2, 0.001, "wrong"),
                    point(3, 0.011), point(4, 0.002, "crashed"))  # fmt: skip
    path.write_text(page([broken, series("m", "openvino", point(1, 0.01))], MACHINES))
    tab.open(path, width=1200, scheme="light")
    assert texts(tab, "#matrix td.wrong .time") == ["2 ms"]
    assert texts(tab, "#matrix td.wrong small") == ["crashed"]
    assert texts(tab, "#matrix td.best .time") == ["10 ms"]
    # only what is right is joined by a line
    drawn = "document.querySelector('#matrix .spark polyline').getAttribute('points')"
    assert len(tab.value(drawn).split()) == 2
    tab.value("document.querySelector('#matrix td.wrong button').click()")
    joined = tab.value("document.querySelector('#chart polyline').getAttribute('points')")
    assert len(joined.split()) == 2
    assert tab.value("document.querySelectorAll('#chart circle.wrong').length") == 2


def test_another_engine_has_other_gaps(opened: Browser) -> None:
    choose(opened, "engine", "onnxruntime-cpu")
    assert texts(opened, "#matrix td.gap") == ["fastest", "fastest"]


def test_filters_leave_what_they_say(opened: Browser) -> None:
    choose(opened, "model", "RES")
    assert texts(opened, "#shown") == ["1 rows"]
    choose(opened, "model", "")
    choose(opened, "machine", "there")
    assert texts(opened, "#shown") == ["1 rows"]
    assert texts(opened, "#matrix td.gap") == ["fastest"]


def test_a_cell_opens_its_trend(opened: Browser) -> None:
    assert opened.value("document.getElementById('trend').hidden")
    opened.value("document.querySelector('#matrix td button').click()")
    assert not opened.value("document.getElementById('trend').hidden")
    assert texts(opened, "#title") == ["bert on burnish, batch=1"]
    assert len(texts(opened, "#points tbody tr")) == 3
    assert opened.value("document.querySelectorAll('#chart circle').length") == 3
    assert opened.value("document.querySelectorAll('#chart .changed').length") == 2
