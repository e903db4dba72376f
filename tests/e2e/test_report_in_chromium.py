from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from burnish.report.drawings import drawings
from burnish.report.html import page
from chromium import IN_CHROMIUM, Browser
from sample_picture import sample_picture
from sample_run import sample_run

pytestmark = IN_CHROMIUM

HOSTILE = '<script>document.title="owned"</script><img src=x onerror=alert(1)>'


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    path.write_text(page(sample_run(), drawings(sample_picture())))
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_opens_without_a_complaint_or_a_request(
    tab: Browser, report: Path, scheme: str
) -> None:
    tab.open(report, width=1280, scheme=scheme)
    assert tab.complaints == []
    assert [url for url in tab.requested if not url.startswith("data:")] == [report.as_uri()]
    assert tab.value("document.querySelectorAll('svg').length") == 9


@pytest.mark.parametrize("width", [400, 800, 1280])
def test_nothing_sticks_out_sideways(tab: Browser, report: Path, width: int) -> None:
    tab.open(report, width=width, scheme="light")
    assert tab.value("document.documentElement.scrollWidth") <= width
    # on a telephone, tables of numbers are moved sideways; tables of words are not
    tables = ".scroll:has(table:not(.tight))" if width == 400 else ".scroll"
    inside = f"[...document.querySelectorAll('{tables}')]"
    assert tab.value(f"{inside}.every(b => b.scrollWidth <= b.clientWidth)")


def test_on_a_telephone_letters_of_drawings_stay_readable(tab: Browser, report: Path) -> None:
    tab.open(report, width=400, scheme="light")
    smallest = """Math.min(...[...document.querySelectorAll('svg text')]
        .filter(text => text.getBoundingClientRect().width > 0)
        .map(text => parseFloat(getComputedStyle(text).fontSize)
            * text.getScreenCTM().a))"""
    assert tab.value(smallest) >= 9.5


def test_the_page_follows_the_dark_scheme(tab: Browser, report: Path) -> None:
    background = "getComputedStyle(document.documentElement).backgroundColor"
    tab.open(report, width=1280, scheme="light")
    light = tab.value(background)
    tab.open(report, width=1280, scheme="dark")
    assert (light, tab.value(background)) == ("rgb(255, 255, 255)", "rgb(22, 24, 27)")


def test_every_label_of_a_drawing_lies_inside_it(tab: Browser, report: Path) -> None:
    tab.open(report, width=1280, scheme="light")
    outside = """[...document.querySelectorAll('svg text')].filter(text => {
        const label = text.getBoundingClientRect()
        const drawing = text.closest('svg').getBoundingClientRect()
        return label.left < drawing.left - 1 || label.right > drawing.right + 1
    }).map(text => text.textContent)"""
    assert tab.value(outside) == []


def test_a_hostile_name_stays_a_name(tab: Browser, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(page(dataclasses.replace(sample_run(), model=HOSTILE)))
    tab.open(path, width=1280, scheme="light")
    assert tab.value("document.title").startswith(HOSTILE)
    assert tab.value("document.querySelector('h1').textContent.trim()") == HOSTILE
    assert tab.value("document.scripts.length") == 0
    assert tab.complaints == []


def test_the_pipe_does_report_requests_and_complaints(tab: Browser, tmp_path: Path) -> None:
    path = tmp_path / "noisy.html"
    path.write_text("<script>console.error('loud')</script><img src='missing.png'>")
    tab.open(path, width=800, scheme="light")
    assert any(url.endswith("missing.png") for url in tab.requested)
    assert tab.complaints
